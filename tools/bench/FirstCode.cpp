// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a fresh process does for its first plan's code, and nothing else: read a
// bundle, find the code of its first source in a cache folder. Timed as a whole
// by the benchmarks.
#include "winnow/Runtime/Bundle.h"
#include "winnow/Runtime/KernelCache.h"

#include <cstdio>
#include <cstring>

using namespace winnow;
using namespace winnow::runtime;

/// winnow-first-code BUNDLE FOLDER WORKER; exit code 0 if the code was in the
/// folder.
int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  Result<Bundle> bundle = readBundleFile(argv[1]);
  if (!bundle) {
    std::fprintf(stderr, "%s\n", bundle.message().c_str());
    return 1;
  }
  CacheOptions options;
  options.folder = argv[2];
  WorkerOptions workers;
  workers.worker = argv[3];
  workers.identityFolder = options.folder;
  KernelCache cache(options);
  Result<CachedCode> code = cache.codeFor(bundle->sources.front(), "gfx950",
                                          *makeClangCompiler(workers));
  if (!code) {
    std::fprintf(stderr, "%s\n", code.message().c_str());
    return 1;
  }
  return code->origin == CodeOrigin::Disk ? 0 : 3;
}
