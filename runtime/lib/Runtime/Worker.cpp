// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Worker.h"
#include "Posix.h"
#include "Process.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace winnow;
using namespace winnow::runtime;
using Clock = std::chrono::steady_clock;

namespace {

/// A name that nobody else has; the worker makes the folder, so that it is the
/// worker's own, and refuses one that exists.
std::string folderName() {
  const char *root = std::getenv("TMPDIR");
  unsigned char random[8] = {};
  if (::getrandom(random, sizeof random, 0) !=
      static_cast<ssize_t>(sizeof random)) {
    const auto now = Clock::now();
    std::memcpy(random, &now, sizeof random);
  }
  std::string name =
      std::string(root && *root ? root : "/tmp") + "/winnow-rtc-";
  for (unsigned char byte : random) {
    name += "0123456789abcdef"[byte >> 4];
    name += "0123456789abcdef"[byte & 15];
  }
  return name;
}

} // namespace

Result<std::unique_ptr<Worker>> Worker::start(const WorkerCommand &command) {
  std::unique_ptr<Worker> worker(new Worker);
  worker->folder = folderName();
  ProcessRequest request;
  request.arguments = command.arguments;
  request.arguments.push_back("--folder=" + worker->folder);
  request.environment = command.environment;
  request.environment.push_back("TMPDIR=" + worker->folder);
  request.environment.push_back("HOME=" + worker->folder);

  int sockets[2], log[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return Error{"cannot start a compile worker: " + reason(errno)};
  worker->socket = sockets[0];
  if (::pipe2(log, O_CLOEXEC) != 0) {
    const int code = errno;
    ::close(sockets[1]);
    return Error{"cannot start a compile worker: " + reason(code)};
  }
  worker->log = log[0];
  Result<pid_t> pid = spawnProcess(
      request, {{log[1], 1}, {log[1], 2}, {sockets[1], worker::kSocket}});
  ::close(sockets[1]);
  ::close(log[1]);
  if (!pid) {
    worker->folder.clear();
    return pid.takeError();
  }
  worker->pid = *pid;
  ::fcntl(worker->log, F_SETFL, O_NONBLOCK);
  ::fcntl(worker->socket, F_SETFL, O_NONBLOCK);
  return worker;
}

Worker::~Worker() {
  if (pid > 0) {
    ::kill(-pid, SIGKILL);
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (socket >= 0)
    ::close(socket);
  if (log >= 0)
    ::close(log);
  if (!folder.empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
}

bool Worker::waiting() const {
  pollfd poll = {socket, POLLIN | POLLRDHUP, 0};
  return ::poll(&poll, 1, 0) == 0;
}

void Worker::drainLog() {
  char chunk[4096];
  while (log >= 0) {
    const ssize_t count = ::read(log, chunk, sizeof chunk);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && errno == EAGAIN)
      return;
    if (count <= 0) {
      ::close(log);
      log = -1;
      return;
    }
    // What is over the limit is read all the same, or the worker would block.
    said.append(chunk, std::min<size_t>(static_cast<size_t>(count),
                                        kMaxOutput - said.size()));
  }
}

Error Worker::ended(const std::string &how) {
  ::kill(-pid, SIGKILL); // before its number can be another's
  drainLog();
  while (said.ends_with('\n'))
    said.pop_back();
  return Error{how + (said.empty() ? "" : ":\n" + said)};
}

Error Worker::endedByItself(Clock::time_point deadline, size_t answered) {
  const std::string after =
      answered == 0
          ? std::string()
          : " after " + std::to_string(answered) + " bytes of an answer";
  siginfo_t info;
  while (true) {
    info.si_pid = 0;
    // Not collected yet: its group can only be killed safely while it is there.
    const int result = ::waitid(P_PID, static_cast<id_t>(pid), &info,
                                WEXITED | WNOHANG | WNOWAIT);
    if (result != 0 && errno != EINTR)
      return ended("ended"); // a caller that ignores SIGCHLD took the status
    if (result == 0 && info.si_pid == pid)
      break;
    if (Clock::now() >= deadline)
      return ended("closed its connection and went on until it was stopped");
    drainLog();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  if (info.si_code == CLD_EXITED)
    return ended("ended with exit status " + std::to_string(info.si_status) +
                 (answered == 0 ? " and no answer" : after));
  return ended("was ended by signal " + std::to_string(info.si_status) + " (" +
               ::strsignal(info.si_status) + ")" + after);
}

Result<worker::Message> Worker::ask(const worker::Message &request,
                                    std::chrono::milliseconds timeout) {
  const Clock::time_point deadline = Clock::now() + timeout;
  const std::string out = worker::encode(request);
  size_t sent = 0;
  std::string in;
  std::vector<char> chunk(size_t(1) << 16);
  while (true) {
    pollfd polls[2] = {
        {socket, static_cast<short>(POLLIN | (sent < out.size() ? POLLOUT : 0)),
         0},
        {log, POLLIN, 0}};
    const int ready = ::poll(polls, 2, millisecondsUntil(deadline));
    if (ready < 0 && errno != EINTR)
      return ended("cannot be listened to: " + reason(errno));
    if (Clock::now() >= deadline)
      return ended("was stopped after " + std::to_string(timeout.count()) +
                   " ms");
    if (ready <= 0)
      continue;
    if (polls[1].revents)
      drainLog();
    if (polls[0].revents & POLLOUT) {
      const ssize_t count = ::send(socket, out.data() + sent, out.size() - sent,
                                   MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count > 0)
        sent += static_cast<size_t>(count);
      else if (count < 0 && errno != EAGAIN && errno != EINTR)
        return endedByItself(deadline, in.size());
    }
    if (polls[0].revents & (POLLIN | POLLHUP | POLLERR)) {
      const ssize_t count = ::recv(socket, chunk.data(), chunk.size(), 0);
      if (count < 0 && (errno == EAGAIN || errno == EINTR))
        continue;
      if (count <= 0)
        return endedByItself(deadline, in.size());
      in.append(chunk.data(), static_cast<size_t>(count));
      Result<std::optional<worker::Message>> message = worker::decode(in);
      if (!message)
        return ended("answered with garbage (" + message.message() + ")");
      if (*message)
        return std::move(**message);
    }
  }
}
