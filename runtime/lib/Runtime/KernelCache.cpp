// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order in which code is looked for, and who compiles when many look at
// once.
#include "winnow/Runtime/KernelCache.h"
#include "CacheEntry.h"
#include "CacheFolder.h"
#include "winnow/Runtime/Visible.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <future>
#include <map>
#include <mutex>
#include <set>

using namespace winnow;
using namespace winnow::runtime;
using Clock = std::chrono::steady_clock;

namespace {

using Answer = Result<CachedCode>;

std::shared_ptr<const std::vector<std::byte>>
share(std::vector<std::byte> code) {
  return std::make_shared<const std::vector<std::byte>>(std::move(code));
}

void logToStderr(LogLevel level, const std::string &line) {
  if (level == LogLevel::Warning)
    std::fprintf(stderr, "winnow: warning: %s\n", visibleLines(line).c_str());
}

CachedCode fromEntry(CacheEntry entry, CodeOrigin origin) {
  CachedCode code;
  code.code = share(std::move(entry.code));
  code.key = hexText(entry.key);
  code.origin = origin;
  code.compiler = std::move(entry.compiler);
  code.log = std::move(entry.log);
  return code;
}

} // namespace

struct KernelCache::Impl {
  CacheOptions options;
  std::optional<CacheFolder> own, shipped;
  std::string noFolder; ///< why there is no own one

  std::mutex mutex; ///< of all below
  /// By program: what came from the bundle or the shipped folder.
  std::map<Digest, CachedCode> given;
  /// By key: what came from the own folder or a compiler, errors too.
  std::map<Digest, std::shared_future<Answer>> made;
  std::set<std::string> warned;

  /// Once for each text.
  void warn(const std::string &line) {
    {
      std::lock_guard lock(mutex);
      if (!warned.insert(line).second)
        return;
    }
    if (options.logger)
      options.logger(LogLevel::Warning, line);
    else
      logToStderr(LogLevel::Warning, line);
  }

  std::optional<CachedCode> recallGiven(const Digest &program) {
    std::lock_guard lock(mutex);
    auto at = given.find(program);
    if (at == given.end())
      return std::nullopt;
    CachedCode code = at->second;
    code.origin = CodeOrigin::Memory;
    return code;
  }

  CachedCode keepGiven(const Digest &program, CachedCode code) {
    std::lock_guard lock(mutex);
    given.emplace(program, code);
    return code;
  }

  std::optional<CachedCode> fromBundle(const Source &source,
                                       const std::string &arch,
                                       const Digest &program,
                                       std::span<const std::byte> prebuilt) {
    if (prebuilt.empty())
      return std::nullopt;
    if (Result<CodeObjectInfo> info = readCodeObject(prebuilt, arch); !info) {
      warn("the bundle's code of " + source.name +
           " is not used: " + info.message());
      return std::nullopt;
    }
    CachedCode code;
    code.code = share({prebuilt.begin(), prebuilt.end()});
    code.key = hexText(program);
    code.origin = CodeOrigin::Prebuilt;
    return code;
  }

  /// A program's entry by whatever compiler. With entries of several, that of
  /// the one at hand is taken, else the first.
  std::optional<CachedCode> ofAnyCompiler(const CacheFolder &folder,
                                          CodeOrigin origin,
                                          const std::string &arch,
                                          const Digest &program,
                                          KernelCompiler &compiler) {
    std::vector<std::string> names = folder.entriesOf(program);
    if (names.size() > 1)
      if (Result<std::string> identity = compiler.identity()) {
        auto its =
            std::find(names.begin(), names.end(),
                      entryFileName(program, keyDigest(program, *identity)));
        if (its != names.end())
          std::rotate(names.begin(), its, its + 1);
      }
    for (const std::string &name : names) {
      CacheFolder::Lookup found = folder.load(name);
      if (found.entry && found.entry->program == program &&
          found.entry->arch == arch)
        return fromEntry(std::move(*found.entry), origin);
      warn("cache entry '" + name + "' of '" + folder.path() +
           "' is not used: " +
           (found.damage.empty() ? "it is another program's" : found.damage));
    }
    return std::nullopt;
  }

  /// The own folder, a lock on the key, the folder again, the compiler.
  Answer make(const Source &source, const std::string &arch,
              const Digest &program, const Digest &key,
              const std::string &identity, KernelCompiler &compiler) {
    const std::string name = entryFileName(program, key);
    CacheFolder::Lookup found;
    if (own) {
      found = own->load(name, &key);
      if (found.entry) {
        compiler.release();
        return fromEntry(std::move(*found.entry), CodeOrigin::Disk);
      }
    }
    if (options.neverCompile) {
      compiler.release();
      return Error{
          missing(source, arch, "key " + hexText(key), found.damage).message +
          "; nothing may be compiled"};
    }
    KeyLock lock;
    if (own) {
      const auto deadline =
          std::chrono::steady_clock::now() + options.lockTimeout;
      // An entry that ended the wait may be evicted before it is read: then
      // again. A file system without locks ends each wait at once, so the
      // number of times has a bound.
      for (int attempt = 0; attempt < 100; ++attempt) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        lock = own->lock(key, found.damage.empty() ? name : "",
                         std::max(left, std::chrono::milliseconds(0)));
        // Another process may have made it, or mended it, meanwhile.
        found = own->load(name, &key);
        if (found.entry) {
          compiler.release();
          return fromEntry(std::move(*found.entry), CodeOrigin::Disk);
        }
        if (lock.held() || !found.damage.empty() || left.count() <= 0 ||
            !own->canLock())
          break;
      }
      if (!found.damage.empty())
        setAside(name, found.damage);
      else if (!lock.held() && own->canLock())
        warn("key " + hexText(key) + " of " + source.name +
             " is compiled without its lock, which another process holds for "
             "longer than " +
             std::to_string(options.lockTimeout.count()) +
             " ms, or the file system does not have");
    }
    Result<CompiledKernel> compiled = compiler.compile({&source, arch});
    if (!compiled)
      return compiled.takeError();
    return keepCompiled(source, arch, program, identity, compiler,
                        std::move(*compiled));
  }

  Answer keepCompiled(const Source &source, const std::string &arch,
                      const Digest &program, const std::string &identity,
                      KernelCompiler &compiler, CompiledKernel compiled) {
    // It was replaced since it was asked who it is: the code goes under the
    // name of the one that made it.
    if (compiled.from != identity)
      compiler.forgetIdentity();
    CacheEntry entry;
    entry.program = program;
    entry.key = keyDigest(program, compiled.from);
    entry.source = source.name;
    entry.arch = arch;
    entry.compiler = compiled.from;
    entry.log = compiled.log;
    Result<CodeObjectInfo> info = readCodeObject(compiled.code, arch);
    if (!info)
      return Error{"the code of " + source.name +
                   " cannot be used: " + info.message()};
    entry.kernels = std::move(info->kernels);
    entry.code = std::move(compiled.code);
    if (own) {
      const std::string name = entryFileName(program, entry.key);
      const std::vector<std::byte> bytes = encodeEntry(entry);
      if (bytes.size() > options.maxBytes)
        warn("the code of " + source.name + ", " +
             std::to_string(bytes.size()) +
             " bytes, is not kept: the cache may have " +
             std::to_string(options.maxBytes));
      else if (Status stored = own->store(name, bytes); !stored)
        warn("code is compiled but not kept: " + stored.message());
      else
        own->evict(options.maxBytes, name);
    }
    return fromEntry(std::move(entry), CodeOrigin::Compiled);
  }

  void setAside(const std::string &name, const std::string &damage) {
    std::string line = "cache entry '" + own->path() + "/v" +
                       std::to_string(kCacheFormat) + "/" + name +
                       "' is compiled anew: " + damage;
    if (Status moved = own->setAside(name); !moved)
      line += "; it stays: " + moved.message();
    warn(line);
  }

  /// Names the code, and every place that does not have it.
  Error missing(const Source &source, const std::string &arch,
                const std::string &name, const std::string &damage) const {
    std::string text = "no code for " + source.name + " on " + arch + ": " +
                       name + " is not in the bundle";
    if (shipped)
      text += ", not in the shipped folder '" + shipped->path() + "'";
    if (!own)
      text += "; " + noFolder;
    else if (!damage.empty())
      text += "; in '" + own->path() + "' it is damaged: " + damage;
    else
      text += ", not in '" + own->path() + "'";
    return Error{text};
  }
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

std::string runtime::defaultCacheFolder() {
  const char *cache = std::getenv("XDG_CACHE_HOME");
  // The specification has relative ones ignored.
  if (cache && *cache == '/')
    return std::string(cache) + "/winnow";
  const char *home = std::getenv("HOME");
  return home && *home == '/' ? std::string(home) + "/.cache/winnow" : "";
}

KernelCache::KernelCache(const CacheOptions &options)
    : impl(std::make_unique<Impl>()) {
  impl->options = options;
  if (!options.shipped.empty())
    impl->shipped = CacheFolder::openShipped(options.shipped);
  Result<CacheFolder> own = CacheFolder::openOwn(
      options.folder.empty() ? defaultCacheFolder() : options.folder);
  if (own) {
    impl->own = std::move(*own);
  } else {
    impl->noFolder = own.message();
    impl->warn("code is kept in memory only: " + own.message());
  }
}

KernelCache::~KernelCache() = default;

Result<CachedCode> KernelCache::codeFor(const Source &source,
                                        const std::string &arch,
                                        KernelCompiler &any,
                                        std::span<const std::byte> prebuilt) {
  const auto start = Clock::now();
  KernelCompiler &compiler = any.forTarget(arch);
  auto timed = [&](Answer answer) {
    if (answer)
      answer->time = std::chrono::duration_cast<std::chrono::microseconds>(
          Clock::now() - start);
    return answer;
  };
  const Digest program = programDigest(source, arch);
  if (std::optional<CachedCode> code = impl->recallGiven(program))
    return timed(std::move(*code));
  if (std::optional<CachedCode> code =
          impl->fromBundle(source, arch, program, prebuilt))
    return timed(impl->keepGiven(program, std::move(*code)));
  // Whoever shipped a folder chose the compiler.
  if (impl->shipped)
    if (std::optional<CachedCode> code = impl->ofAnyCompiler(
            *impl->shipped, CodeOrigin::Shipped, arch, program, compiler))
      return timed(impl->keepGiven(program, std::move(*code)));

  Result<std::string> identity = compiler.identity();
  if (!identity) {
    // Where there is no compiler, one that was there before will do.
    if (impl->own)
      if (std::optional<CachedCode> code = impl->ofAnyCompiler(
              *impl->own, CodeOrigin::Disk, arch, program, compiler))
        return timed(impl->keepGiven(program, std::move(*code)));
    return Error{
        impl->missing(source, arch, "program " + hexText(program), "").message +
        "; no compiler: " + identity.message()};
  }
  const Digest key = keyDigest(program, *identity);

  // The first to come makes it, the others wait for the same answer.
  std::promise<Answer> promise;
  std::shared_future<Answer> answer;
  bool first = false;
  {
    std::lock_guard lock(impl->mutex);
    auto [at, inserted] = impl->made.try_emplace(key);
    if (inserted)
      at->second = promise.get_future().share();
    answer = at->second;
    first = inserted;
  }
  if (!first) {
    Answer known = answer.get();
    if (known)
      known->origin = CodeOrigin::Memory;
    return timed(std::move(known));
  }
  Answer made = Error{"out of memory"};
  try {
    made = impl->make(source, arch, program, key, *identity, compiler);
  } catch (const std::exception &exception) {
    made = Error{std::string("the code of ") + source.name +
                 " cannot be had: " + exception.what()};
  }
  promise.set_value(made);
  // What is missing now may be there the next time.
  if (!made && impl->options.neverCompile) {
    std::lock_guard lock(impl->mutex);
    impl->made.erase(key);
  }
  return timed(std::move(made));
}

Result<std::vector<CacheEntryInfo>> KernelCache::list(bool setAside) const {
  if (!impl->own)
    return Error{impl->noFolder};
  Result<std::vector<CacheFolder::File>> files = impl->own->files();
  if (!files)
    return files.takeError();
  std::vector<CacheEntryInfo> entries;
  for (const CacheFolder::File &file : *files) {
    CacheEntryInfo info;
    info.file = file.name;
    info.bytes = file.bytes;
    info.lastUsed = file.lastUsed;
    CacheFolder::Lookup found =
        CacheFolder::openShipped(impl->own->path()).load(file.name);
    if (found.entry &&
        entryFileName(found.entry->program, found.entry->key) != file.name)
      found.damage = "it is the entry of key " + hexText(found.entry->key);
    if (found.entry && found.damage.empty()) {
      info.key = hexText(found.entry->key);
      info.source = found.entry->source;
      info.arch = found.entry->arch;
      info.compiler = found.entry->compiler;
      for (const KernelResources &kernel : found.entry->kernels)
        info.kernels.push_back(kernel.name);
    } else if (found.damage.empty()) {
      continue; // evicted since it was listed
    } else {
      info.problem = found.damage;
      if (setAside)
        if (Status moved = impl->own->setAside(file.name); !moved)
          info.problem += "; it stays: " + moved.message();
    }
    entries.push_back(std::move(info));
  }
  return entries;
}

Result<PruneResult> KernelCache::prune(uint64_t maxBytes) {
  if (!impl->own)
    return Error{impl->noFolder};
  PruneResult result = impl->own->evict(maxBytes);
  impl->own->clearSetAside(result);
  return result;
}

const std::string &KernelCache::folder() const {
  static const std::string none;
  return impl->own ? impl->own->path() : none;
}
