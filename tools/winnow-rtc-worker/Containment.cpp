// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Containment.h"

#include "Posix.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace winnow;
using namespace winnow::rtc;
using runtime::reason;
namespace fs = std::filesystem;

namespace {

std::string ownFolder;
constexpr std::string_view kPrefix = "winnow-rtc-";

bool same(const struct stat &a, const struct stat &b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Makes the folder and locks it as long as the process lives: who finds one
/// that is not locked knows that nobody uses it.
Status makeLocked(const std::string &path) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    if (::mkdir(path.c_str(), 0700) != 0)
      return Error{"cannot create the folder '" + path + "': " + reason(errno)};
    const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat held, there;
    // File systems without locks are never swept, either.
    if (fd >= 0 &&
        (::flock(fd, LOCK_EX) == 0 || errno == ENOLCK || errno == EOPNOTSUPP) &&
        ::fstat(fd, &held) == 0 && ::stat(path.c_str(), &there) == 0 &&
        same(held, there))
      return {};
    if (fd >= 0)
      ::close(fd); // a sweeper was faster than the lock
  }
  return Error{"the folder '" + path + "' vanishes as it is made"};
}

/// Removes what workers left that were killed together with their starters.
void sweep(const std::string &root) {
  std::error_code code;
  for (fs::directory_iterator at(root, code), end; !code && at != end;
       at.increment(code)) {
    const std::string name = at->path().filename().string();
    struct stat info;
    if (!name.starts_with(kPrefix) || at->path() == ownFolder ||
        ::lstat(at->path().c_str(), &info) != 0 || !S_ISDIR(info.st_mode) ||
        info.st_uid != ::geteuid())
      continue;
    const int fd = ::open(at->path().c_str(),
                          O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && ::flock(fd, LOCK_EX | LOCK_NB) == 0) {
      std::error_code ignored;
      fs::remove_all(at->path(), ignored);
    }
    if (fd >= 0)
      ::close(fd);
  }
}

[[noreturn]] void endGroup() {
  std::error_code ignored;
  if (!ownFolder.empty())
    fs::remove_all(ownFolder, ignored);
  // Started by hand, the group is that of somebody's shell.
  if (::getpgrp() == ::getpid())
    ::kill(0, SIGKILL);
  ::_exit(1);
}

void watch(int socket, std::chrono::milliseconds timeout,
           const std::string &root) {
  sweep(root);
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                          deadline - std::chrono::steady_clock::now())
                          .count();
    // Only the end of the connection is of interest, not its bytes.
    pollfd poll = {socket, POLLRDHUP, 0};
    const int ready =
        ::poll(&poll, 1,
               timeout.count() == 0
                   ? -1
                   : static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX)));
    if (ready > 0 || (ready == 0 && timeout.count() != 0))
      endGroup();
  }
}

} // namespace

Status rtc::contain(const Containment &limits, int socket) {
  const rlimit none = {0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  if (limits.maxMemory != 0) {
    const rlimit memory = {limits.maxMemory, limits.maxMemory};
    if (::setrlimit(RLIMIT_AS, &memory) != 0)
      return Error{"cannot limit the address space to " +
                   std::to_string(limits.maxMemory) +
                   " bytes: " + reason(errno)};
  }
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  if (Status status = makeLocked(limits.folder); !status)
    return status;
  ownFolder = limits.folder;
  if (::chdir(ownFolder.c_str()) != 0)
    return Error{"cannot enter '" + ownFolder + "': " + reason(errno)};
  std::thread(watch, socket, limits.timeout,
              fs::path(ownFolder).parent_path().string())
      .detach();
  return {};
}

void rtc::leave(int status) {
  std::error_code ignored;
  if (!ownFolder.empty())
    fs::remove_all(ownFolder, ignored);
  ::_exit(status);
}
