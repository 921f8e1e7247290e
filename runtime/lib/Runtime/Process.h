// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A child process with its output caught and its time limited.
#ifndef WINNOW_LIB_RUNTIME_PROCESS_H
#define WINNOW_LIB_RUNTIME_PROCESS_H

#include "winnow/Runtime/Result.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace winnow::runtime {

struct ProcessRequest {
  std::vector<std::string> arguments; ///< the program's path first
  std::vector<std::string>
      environment;    ///< "NAME=value"; nothing else is passed
  std::string folder; ///< where it runs
  std::chrono::milliseconds timeout{0};
};

struct ProcessResult {
  bool timedOut = false;
  int signal = 0; ///< that ended it, or 0
  int exitStatus = 0;
  std::string output; ///< stdout and stderr together, at most kMaxOutput bytes
};

inline constexpr size_t kMaxOutput = size_t(1) << 20;

/// Starts a program in a process group of its own, with default signal handling
/// and /dev/null for its input. `descriptors` are pairs of a descriptor here
/// and what it is to be there, 1 and up without a gap; the child gets no other.
/// An error says why it could not be started. Thread-safe.
Result<pid_t> spawnProcess(const ProcessRequest &request,
                           const std::vector<std::pair<int, int>> &descriptors);

/// Runs a program to its end, in a process group of its own that is killed when
/// the time is over. An error is one of the system: the program could not be
/// started. Thread-safe.
Result<ProcessResult> runProcess(const ProcessRequest &request);

} // namespace winnow::runtime

#endif // WINNOW_LIB_RUNTIME_PROCESS_H
