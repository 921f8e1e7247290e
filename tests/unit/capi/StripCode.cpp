// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strip-code IN OUT: a bundle without its code objects, so that who opens it
// has to compile.
#include "winnow/Runtime/Bundle.h"
#include "winnow/Runtime/Files.h"

#include <cstdio>

using namespace winnow;

int main(int argc, char **argv) {
  auto bundle = runtime::readBundleFile(argc == 3 ? argv[1] : "");
  if (!bundle)
    return std::fprintf(stderr, "%s\n", bundle.message().c_str()), 1;
  bundle->codeObjects.clear();
  auto bytes = runtime::writeBundle(*bundle);
  Status status = bytes ? runtime::writeFileAtomically(argv[2], *bytes)
                        : Status(bytes.takeError());
  if (!status)
    return std::fprintf(stderr, "%s\n", status.message().c_str()), 1;
  return 0;
}
