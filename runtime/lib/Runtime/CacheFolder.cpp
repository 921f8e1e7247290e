// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CacheFolder.h"
#include "Posix.h"
#include "winnow/Runtime/Files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace winnow;
using namespace winnow::runtime;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

constexpr char kTemporary[] = ".tmp-", kLock[] = ".lock-";
/// Damaged files that are kept to be looked at.
constexpr size_t kMostSetAside = 32;

std::string randomName() {
  uint8_t random[12] = {};
  size_t have = 0;
  while (have < sizeof random) {
    const ssize_t count = ::getrandom(random + have, sizeof random - have, 0);
    if (count <= 0 && errno != EINTR)
      break; // the names are still made exclusively, only tried more often
    have += count > 0 ? static_cast<size_t>(count) : 0;
  }
  return hexText(random);
}

bool same(const struct stat &a, const struct stat &b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Whether the descriptor is what the path names now.
bool stillThere(int fd, const std::string &path) {
  struct stat held, there;
  return ::fstat(fd, &held) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         same(held, there);
}

/// Removes a file that a killed process left: nobody holds its lock.
void removeUnheld(const std::string &path) {
  Descriptor file(
      ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (file.get() >= 0 && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 &&
      stillThere(file.get(), path))
    ::unlink(path.c_str());
}

} // namespace

KeyLock::KeyLock(KeyLock &&other) noexcept
    : fd(std::exchange(other.fd, -1)), path(std::move(other.path)) {}

KeyLock &KeyLock::operator=(KeyLock &&other) noexcept {
  std::swap(fd, other.fd);
  std::swap(path, other.path);
  return *this;
}

KeyLock::~KeyLock() {
  if (fd < 0)
    return;
  // While it is held: whoever waits sees that its file is gone and opens anew.
  // Unlinked, it also no longer matters if a forked child has the descriptor.
  ::unlink(path.c_str());
  ::close(fd);
}

std::string CacheFolder::entries() const {
  return root + "/v" + std::to_string(kCacheFormat);
}

CacheFolder CacheFolder::openShipped(const std::string &path) {
  return CacheFolder(path, false);
}

Result<CacheFolder> CacheFolder::openOwn(const std::string &path) {
  std::string at = path; // the folder that a problem is with
  auto problem = [&](const std::string &what) {
    return Error{"cache folder '" + at + "': " + what};
  };
  CacheFolder folder(path, true);
  if (path.empty())
    return problem("it has no name: neither XDG_CACHE_HOME nor HOME is an "
                   "absolute path");
  const fs::path parent = fs::path(path).parent_path();
  if (!parent.empty() && ::access(path.c_str(), F_OK) != 0)
    if (Status made = makeFolders(parent.string()); !made)
      return problem(made.message());
  for (const std::string &each : {path, folder.entries()}) {
    at = each;
    if (::mkdir(each.c_str(), 0700) != 0 && errno != EEXIST)
      // A read-only folder may hold entries, and one without any is empty.
      if (each == path)
        return problem("cannot be created: " + reason(errno));
    struct stat info;
    if (::stat(each.c_str(), &info) != 0) {
      if (each == path)
        return problem(reason(errno));
      continue;
    }
    if (!S_ISDIR(info.st_mode))
      return problem("not a folder");
    if (info.st_uid != ::geteuid())
      return problem("belongs to user " + std::to_string(info.st_uid) +
                     ", not to " + std::to_string(::geteuid()));
    if (info.st_mode & (S_IWGRP | S_IWOTH))
      return problem("others may write into it; chmod 700 makes it usable");
  }
  return folder;
}

CacheFolder::Lookup CacheFolder::load(const std::string &name,
                                      const Digest *key) const {
  const std::string path = entries() + "/" + name;
  Lookup lookup;
  // O_NONBLOCK: a pipe of that name must not hold us up.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    if (errno != ENOENT && errno != ENOTDIR)
      lookup.damage = reason(errno);
    return lookup;
  }
  struct stat info;
  if (::fstat(file.get(), &info) != 0) {
    lookup.damage = reason(errno);
    return lookup;
  }
  if (!S_ISREG(info.st_mode) ||
      static_cast<uint64_t>(info.st_size) > kMaxEntryBytes) {
    lookup.damage = S_ISREG(info.st_mode)
                        ? std::to_string(info.st_size) + " bytes"
                        : "not a file";
    return lookup;
  }
  // Entries never change once they have their name: a rename puts a whole file
  // there, and an eviction leaves the opened one as it is.
  std::vector<std::byte> bytes(static_cast<size_t>(info.st_size));
  size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t count =
        ::pread(file.get(), bytes.data() + have, bytes.size() - have,
                static_cast<off_t>(have));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0) {
      lookup.damage = count < 0 ? reason(errno) : "it ends early";
      return lookup;
    }
    have += static_cast<size_t>(count);
  }
  Result<CacheEntry> entry = decodeEntry(bytes, key);
  if (!entry) {
    lookup.damage = entry.message();
    return lookup;
  }
  if (own) // for the eviction; not every file system lets us
    (void)::futimens(file.get(), nullptr);
  lookup.entry = std::move(*entry);
  return lookup;
}

std::vector<std::string> CacheFolder::entriesOf(const Digest &program) const {
  const std::string prefix = entryPrefix(program);
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator at(entries(), code), end; !code && at != end;
       at.increment(code)) {
    std::string name = at->path().filename().string();
    if (name.starts_with(prefix) && looksLikeEntryName(name))
      names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

KeyLock CacheFolder::lock(const Digest &key, const std::string &name,
                          std::chrono::milliseconds timeout) const {
  const std::string path = entries() + "/" + kLock + hexText(key);
  const std::string entry = entries() + "/" + name;
  auto appeared = [&] {
    return !name.empty() && ::access(entry.c_str(), F_OK) == 0;
  };
  const Clock::time_point deadline = Clock::now() + timeout;
  auto pause = std::chrono::microseconds(500);
  while (true) {
    const int fd =
        ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
      return {}; // a read-only folder: each compiles for itself
    while (true) {
      if (::flock(fd, LOCK_EX | LOCK_NB) == 0) {
        if (stillThere(fd, path))
          return KeyLock(fd, path);
        break; // its holder is done and removed it
      }
      if ((errno != EWOULDBLOCK && errno != EINTR) ||
          Clock::now() >= deadline) {
        ::close(fd);
        return {};
      }
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, std::chrono::microseconds(20000));
      if (appeared() || !stillThere(fd, path))
        break;
    }
    ::close(fd);
    if (appeared() || Clock::now() >= deadline)
      return {};
  }
}

bool CacheFolder::canLock() const {
  return ::access(entries().c_str(), W_OK) == 0;
}

Status CacheFolder::store(const std::string &name,
                          std::span<const std::byte> bytes) const {
  const std::string folder = entries();
  const std::string path = folder + "/" + name;
  auto problem = [&](int code) {
    return Error{"cannot write into '" + folder + "': " + reason(code)};
  };
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string temporary = folder + "/" + kTemporary + randomName();
    Descriptor file(::open(temporary.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.get() < 0) {
      if (errno == EEXIST)
        continue;
      return problem(errno);
    }
    // Held while it is written, so that nobody takes it for a dead process's.
    // Where there are no locks, nobody can take it for one, either.
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      continue; // somebody has just taken it for one
    if (!stillThere(file.get(), temporary))
      continue;
    int code = writeAll(file.get(), bytes);
    if (code == 0 && ::fsync(file.get()) != 0)
      code = errno;
    if (code == 0 && ::rename(temporary.c_str(), path.c_str()) != 0)
      code = errno;
    if (code != 0) {
      ::unlink(temporary.c_str());
      return problem(code);
    }
    Descriptor parent(
        ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (parent.get() >= 0)
      (void)::fsync(parent.get());
    return {};
  }
  return problem(EEXIST);
}

Status CacheFolder::setAside(const std::string &name) const {
  const std::string folder = root + "/set-aside";
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return Error{"cannot create '" + folder + "': " + reason(errno)};
  std::error_code code;
  size_t kept = 0;
  for (fs::directory_iterator at(folder, code), end; !code && at != end;
       at.increment(code))
    ++kept;
  const std::string from = entries() + "/" + name;
  if (kept >= kMostSetAside) {
    if (::unlink(from.c_str()) == 0 || errno == ENOENT)
      return {};
    return Error{"cannot remove '" + from + "': " + reason(errno)};
  }
  const std::string to = folder + "/" + name + "." + randomName();
  if (::rename(from.c_str(), to.c_str()) != 0 && errno != ENOENT)
    return Error{"cannot move '" + from + "' to '" + to +
                 "': " + reason(errno)};
  return {};
}

Result<std::vector<CacheFolder::File>> CacheFolder::files() const {
  std::vector<File> found;
  std::error_code code;
  fs::directory_iterator at(entries(), code), end;
  if (code == std::errc::no_such_file_or_directory)
    return found;
  if (code)
    return Error{"cannot read '" + entries() + "': " + code.message()};
  for (; !code && at != end; at.increment(code)) {
    const std::string name = at->path().filename().string();
    struct stat info;
    // It may have been evicted since it was listed.
    if (looksLikeEntryName(name) && ::lstat(at->path().c_str(), &info) == 0)
      found.push_back({name, static_cast<uint64_t>(info.st_size),
                       static_cast<int64_t>(info.st_mtim.tv_sec)});
  }
  std::sort(found.begin(), found.end(),
            [](const File &a, const File &b) { return a.name < b.name; });
  return found;
}

PruneResult CacheFolder::evict(uint64_t maxBytes,
                               const std::string &keep) const {
  std::error_code code;
  for (fs::directory_iterator at(entries(), code), end; !code && at != end;
       at.increment(code))
    if (const std::string name = at->path().filename().string();
        name.starts_with(kTemporary) || name.starts_with(kLock))
      removeUnheld(at->path().string());

  PruneResult result;
  Result<std::vector<File>> listed = files();
  if (!listed)
    return result;
  // A last use that is still to come tells nothing, the clock was set back: it
  // counts as the oldest, so that such entries do not crowd out new ones.
  const int64_t now = static_cast<int64_t>(std::time(nullptr)) + 60;
  auto age = [&](const File &file) {
    return file.lastUsed > now ? INT64_MIN : file.lastUsed;
  };
  std::sort(listed->begin(), listed->end(), [&](const File &a, const File &b) {
    return std::pair(age(a), std::string_view(a.name)) <
           std::pair(age(b), std::string_view(b.name));
  });
  for (const File &file : *listed) {
    result.leftBytes += file.bytes;
    ++result.leftEntries;
  }
  for (const File &file : *listed) {
    if (result.leftBytes <= maxBytes)
      break;
    if (file.name == keep ||
        ::unlink((entries() + "/" + file.name).c_str()) != 0)
      continue;
    ++result.entries;
    result.bytes += file.bytes;
    --result.leftEntries;
    result.leftBytes -= file.bytes;
  }
  return result;
}

void CacheFolder::clearSetAside(PruneResult &result) const {
  std::error_code code;
  for (fs::directory_iterator at(root + "/set-aside", code), end;
       !code && at != end; at.increment(code)) {
    std::error_code ignored;
    const uint64_t bytes = fs::file_size(at->path(), ignored);
    if (fs::remove(at->path(), ignored)) {
      ++result.entries;
      result.bytes += bytes == static_cast<uint64_t>(-1) ? 0 : bytes;
    }
  }
}
