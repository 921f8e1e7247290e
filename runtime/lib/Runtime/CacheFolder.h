// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A folder of cache entries, shared with other processes that may be killed at
// any moment, run in other containers, or hold the folder on another machine.
//
// Nothing here decides by the clock or by process numbers: who holds a file or
// a key is known by flock, which the kernel drops with the process.
#ifndef WINNOW_LIB_RUNTIME_CACHEFOLDER_H
#define WINNOW_LIB_RUNTIME_CACHEFOLDER_H

#include "CacheEntry.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace winnow::runtime {

/// A key's lock, held until destroyed or the process ends.
class KeyLock {
public:
  KeyLock() = default;
  KeyLock(int fd, std::string path) : fd(fd), path(std::move(path)) {}
  KeyLock(KeyLock &&other) noexcept;
  KeyLock &operator=(KeyLock &&other) noexcept;
  ~KeyLock();
  bool held() const { return fd >= 0; }

private:
  int fd = -1;
  std::string path;
};

class CacheFolder {
public:
  /// What `load` found.
  struct Lookup {
    std::optional<CacheEntry> entry;
    /// Why a file that is there is no entry; empty on a hit or when none is.
    std::string damage;
  };

  /// The user's folder, made with mode 0700. One that is somebody else's or
  /// that others may write into is an error: its code would be theirs.
  static Result<CacheFolder> openOwn(const std::string &path);
  /// A folder that is only read, which need not exist.
  static CacheFolder openShipped(const std::string &path);

  const std::string &path() const { return root; }

  /// An entry by name; of an own folder, its last use becomes now.
  Lookup load(const std::string &name, const Digest *key = nullptr) const;
  /// The file names of a program's entries, sorted.
  std::vector<std::string> entriesOf(const Digest &program) const;

  /// Waits for the key's lock, at most `timeout` and no longer than until the
  /// file `name` (unless empty) is there; without the lock on return, one goes
  /// on all the same.
  KeyLock lock(const Digest &key, const std::string &name,
               std::chrono::milliseconds timeout) const;

  /// Whether locks can be had at all: not in a read-only folder.
  bool canLock() const;

  /// A temporary file in the folder, synced and renamed.
  Status store(const std::string &name, std::span<const std::byte> bytes) const;
  /// Moves a damaged file out of the way, where people can look at it.
  Status setAside(const std::string &name) const;

  struct File {
    std::string name;
    uint64_t bytes = 0;
    int64_t lastUsed = 0; ///< seconds since 1970
  };
  Result<std::vector<File>> files() const;

  /// Removes least recently used entries until the rest has at most `maxBytes`,
  /// never `keep`; and what killed writers left.
  PruneResult evict(uint64_t maxBytes, const std::string &keep = "") const;
  /// Removes what was set aside.
  void clearSetAside(PruneResult &result) const;

private:
  explicit CacheFolder(std::string path, bool own)
      : root(std::move(path)), own(own) {}
  std::string entries() const;

  std::string root;
  bool own = false;
};

} // namespace winnow::runtime

#endif // WINNOW_LIB_RUNTIME_CACHEFOLDER_H
