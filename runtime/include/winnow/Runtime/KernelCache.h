// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code objects by what they are made of: the process's memory, the bundle, a
// shipped folder, the user's folder, and a compiler as the last resort.
//
// A cache never makes things worse: whatever is wrong with a file or a folder
// is a miss and one warning, and the code is compiled instead.
#ifndef WINNOW_RUNTIME_KERNELCACHE_H
#define WINNOW_RUNTIME_KERNELCACHE_H

#include "winnow/Runtime/KernelCompiler.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace winnow::runtime {

/// How launches hand arguments to kernels; one more whenever kernels of an
/// older bundle can no longer be launched.
inline constexpr uint32_t kKernelAbiVersion = 1;

enum class LogLevel { Info, Warning };
/// Called from any thread; must not call back into the cache.
using Logger = std::function<void(LogLevel level, const std::string &line)>;

struct CacheOptions {
  /// The user's folder; created with mode 0700. Empty: defaultCacheFolder().
  std::string folder;
  /// A folder in the same format that is only read; empty: none.
  std::string shipped;
  /// The most that the entries of `folder` may take; the least recently used go
  /// first.
  uint64_t maxBytes = uint64_t(512) << 20;
  /// A miss is an error that names what is missing.
  bool neverCompile = false;
  /// How long to wait for another process that compiles the same; then it is
  /// compiled here too.
  std::chrono::milliseconds lockTimeout{90000};
  /// Empty: warnings go to stderr.
  Logger logger;
};

/// Where code came from.
enum class CodeOrigin { Memory, Prebuilt, Shipped, Disk, Compiled };
/// "memory", "bundle", "shipped folder", "disk cache", "compiler".
const char *originName(CodeOrigin origin);

struct CachedCode {
  std::shared_ptr<const std::vector<std::byte>> code;
  /// Hexadecimal; of the bundle's code, the digest of its program.
  std::string key;
  CodeOrigin origin = CodeOrigin::Compiled;
  std::string compiler;              ///< its identity; empty for prebuilt code
  std::string log;                   ///< of the compiler
  std::chrono::microseconds time{0}; ///< this look-up
};

/// $XDG_CACHE_HOME/winnow, or ~/.cache/winnow; empty if neither is known.
std::string defaultCacheFolder();

/// One file of a folder.
struct CacheEntryInfo {
  std::string file; ///< its name in the folder
  uint64_t bytes = 0;
  int64_t lastUsed = 0; ///< seconds since 1970
  /// Why it would be no hit; empty for a sound entry.
  std::string problem;
  // Of sound entries:
  std::string key, source, arch, compiler;
  std::vector<std::string> kernels;
};

struct PruneResult {
  uint64_t entries = 0, bytes = 0; ///< removed
  uint64_t leftEntries = 0, leftBytes = 0;
};

/// Thread-safe, and safe against other processes on the same folder.
class KernelCache {
public:
  explicit KernelCache(const CacheOptions &options = {});
  ~KernelCache();
  KernelCache(const KernelCache &) = delete;
  KernelCache &operator=(const KernelCache &) = delete;

  /// The code object of `source` for `arch`. `prebuilt` is the bundle's own
  /// code for it, if any. Calls for one key that meet wait for one answer; a
  /// failure is remembered for its key as long as this object lives.
  Result<CachedCode> codeFor(const Source &source, const std::string &arch,
                             KernelCompiler &compiler,
                             std::span<const std::byte> prebuilt = {});

  /// The entries of the user's folder, by name, each read whole and checked;
  /// with `setAside`, the damaged are moved out of the way.
  Result<std::vector<CacheEntryInfo>> list(bool setAside = false) const;
  /// Removes what is over `maxBytes`, least recently used first, what was set
  /// aside and what killed processes left.
  Result<PruneResult> prune(uint64_t maxBytes);

  /// The user's folder in use; empty when none could be had.
  const std::string &folder() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace winnow::runtime

#endif // WINNOW_RUNTIME_KERNELCACHE_H
