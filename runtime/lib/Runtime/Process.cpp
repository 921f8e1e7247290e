// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Child processes by posix_spawn: safe in a process with threads, where fork
// and code of one's own before exec is not.
#include "Process.h"
#include "Posix.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace winnow;
using namespace winnow::runtime;
using Clock = std::chrono::steady_clock;

namespace {

/// The two posix_spawn objects, destroyed with the scope.
struct SpawnSetup {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  SpawnSetup() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }
  ~SpawnSetup() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnSetup(const SpawnSetup &) = delete;
  SpawnSetup &operator=(const SpawnSetup &) = delete;
};

int prepare(SpawnSetup &setup, const std::string &folder,
            const std::vector<std::pair<int, int>> &descriptors) {
  int code = 0;
  auto note = [&](int result) { code = code ? code : result; };
  if (!folder.empty())
    note(
        ::posix_spawn_file_actions_addchdir_np(&setup.actions, folder.c_str()));
  note(::posix_spawn_file_actions_addopen(&setup.actions, 0, "/dev/null",
                                          O_RDONLY, 0));
  int first = 1;
  for (auto [here, there] : descriptors) {
    note(::posix_spawn_file_actions_adddup2(&setup.actions, here, there));
    first = std::max(first, there + 1);
  }
  // The caller's other descriptors are none of the child's business.
  note(::posix_spawn_file_actions_addclosefrom_np(&setup.actions, first));

  // A caller may block or ignore signals; the child starts with the defaults.
  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  note(::posix_spawnattr_setsigmask(&setup.attributes, &none));
  note(::posix_spawnattr_setsigdefault(&setup.attributes, &all));
  note(::posix_spawnattr_setpgroup(&setup.attributes, 0));
  note(::posix_spawnattr_setflags(
      &setup.attributes,
      POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP));
  return code;
}

std::vector<char *> pointers(const std::vector<std::string> &strings) {
  std::vector<char *> list;
  list.reserve(strings.size() + 1);
  for (const std::string &string : strings)
    list.push_back(const_cast<char *>(string.c_str()));
  list.push_back(nullptr);
  return list;
}

/// Reads until every writer is gone. False when the time is over first.
bool drain(int fd, Clock::time_point deadline, std::string &output) {
  char chunk[4096];
  while (true) {
    pollfd poll = {fd, POLLIN, 0};
    const int left = millisecondsUntil(deadline);
    const int ready = ::poll(&poll, 1, left);
    if (ready < 0 && errno != EINTR)
      return true;
    if (ready <= 0) {
      if (millisecondsUntil(deadline) == 0)
        return false;
      continue;
    }
    const ssize_t count = ::read(fd, chunk, sizeof chunk);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return true;
    // What is over the limit is read all the same, or the child would block.
    output.append(chunk, std::min<size_t>(static_cast<size_t>(count),
                                          kMaxOutput - output.size()));
  }
}

/// Waits for the child. False when the time is over first: a child may close
/// its output and live on.
bool reap(pid_t child, Clock::time_point deadline, int &status) {
  while (true) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child)
      return true;
    if (ended < 0 && errno != EINTR) {
      status = 0; // a caller that ignores SIGCHLD took the status from us
      return true;
    }
    if (Clock::now() >= deadline)
      return false;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

} // namespace

Result<pid_t>
runtime::spawnProcess(const ProcessRequest &request,
                      const std::vector<std::pair<int, int>> &descriptors) {
  const std::string &program = request.arguments.front();
  auto problem = [&](int code) {
    return Error{"cannot run '" + program + "': " + reason(code)};
  };
  // One that has the number of another's place would be lost on the way there.
  constexpr int free = 16;
  std::vector<std::pair<int, int>> moved;
  int code = 0;
  for (auto [here, there] : descriptors) {
    int fd = ::fcntl(here, F_DUPFD_CLOEXEC, free);
    if (fd < 0)
      code = errno;
    else
      moved.emplace_back(fd, there);
  }
  pid_t child = -1;
  SpawnSetup setup;
  if (code == 0)
    code = prepare(setup, request.folder, moved);
  if (code == 0) {
    std::vector<char *> arguments = pointers(request.arguments);
    std::vector<char *> environment = pointers(request.environment);
    code =
        ::posix_spawn(&child, program.c_str(), &setup.actions,
                      &setup.attributes, arguments.data(), environment.data());
  }
  for (auto [fd, there] : moved)
    ::close(fd);
  if (code != 0)
    return problem(code);
  return child;
}

Result<ProcessResult> runtime::runProcess(const ProcessRequest &request) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return Error{"cannot run '" + request.arguments.front() +
                 "': " + reason(errno)};
  Result<pid_t> spawned = spawnProcess(request, {{ends[1], 1}, {ends[1], 2}});
  ::close(ends[1]);
  if (!spawned) {
    ::close(ends[0]);
    return spawned.takeError();
  }
  const pid_t child = *spawned;

  const Clock::time_point deadline = Clock::now() + request.timeout;
  ProcessResult result;
  int status = 0;
  const bool ended =
      drain(ends[0], deadline, result.output) && reap(child, deadline, status);
  if (!ended) {
    result.timedOut = true;
    ::kill(-child, SIGKILL);
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  ::close(ends[0]);
  if (WIFSIGNALED(status))
    result.signal = WTERMSIG(status);
  else if (WIFEXITED(status))
    result.exitStatus = WEXITSTATUS(status);
  return result;
}
