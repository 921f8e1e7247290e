// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code objects in memory, from the bundle, or compiled.
#include "winnow/Runtime/KernelCache.h"

#include <map>
#include <mutex>

using namespace winnow;
using namespace winnow::runtime;

struct KernelCache::Impl {
  CacheOptions options;
  std::mutex mutex;
  std::map<std::string, Result<CachedCode>> known;
};

const char *runtime::originName(CodeOrigin origin) {
  switch (origin) {
  case CodeOrigin::Memory:
    return "memory";
  case CodeOrigin::Prebuilt:
    return "bundle";
  case CodeOrigin::Shipped:
    return "shipped folder";
  case CodeOrigin::Disk:
    return "disk cache";
  case CodeOrigin::Compiled:
    return "compiler";
  }
  return "";
}

KernelCache::KernelCache(const CacheOptions &options)
    : impl(std::make_unique<Impl>()) {
  impl->options = options;
}
KernelCache::~KernelCache() = default;

Result<CachedCode> KernelCache::codeFor(const Source &source,
                                        const std::string &arch,
                                        KernelCompiler &compiler,
                                        std::span<const std::byte> prebuilt) {
  CachedCode found;
  found.key = source.name + " for " + arch;
  if (!prebuilt.empty()) {
    found.origin = CodeOrigin::Prebuilt;
    found.code = std::make_shared<const std::vector<std::byte>>(
        prebuilt.begin(), prebuilt.end());
    return found;
  }
  if (impl->options.neverCompile)
    return Error{found.key + " is not there, and nothing may be compiled"};
  std::lock_guard lock(impl->mutex);
  const std::string key = arch + "\n" + source.text;
  if (auto at = impl->known.find(key); at != impl->known.end()) {
    Result<CachedCode> again = at->second;
    if (again)
      again->origin = CodeOrigin::Memory;
    return again;
  }
  Result<CompiledKernel> compiled = compiler.compile({&source, arch});
  Result<CachedCode> result = Error{};
  if (!compiled) {
    result = compiled.takeError();
  } else {
    found.code = std::make_shared<const std::vector<std::byte>>(
        std::move(compiled->code));
    found.compiler = compiled->from;
    found.log = compiled->log;
    found.time = compiled->time;
    result = std::move(found);
  }
  impl->known.emplace(key, result);
  return result;
}
