// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime's end of one winnow-rtc-worker process: started, asked, and gone
// with everything that it started and wrote, whatever it does in between.
#ifndef WINNOW_LIB_RUNTIME_WORKER_H
#define WINNOW_LIB_RUNTIME_WORKER_H

#include "WorkerProtocol.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

namespace winnow::runtime {

struct WorkerCommand {
  /// The program first. "--folder=..." is added.
  std::vector<std::string> arguments;
  std::vector<std::string> environment; ///< "NAME=value"
};

/// To be used by one thread at a time.
class Worker {
public:
  static Result<std::unique_ptr<Worker>> start(const WorkerCommand &command);
  /// Kills it with its process group and removes its folder.
  ~Worker();
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;

  /// Sends a request and waits for the answer. An error ("was ended by signal
  /// 11 (Segmentation fault):" and what it had printed) leaves a worker that is
  /// of no further use.
  Result<worker::Message> ask(const worker::Message &request,
                              std::chrono::milliseconds timeout);

  /// Whether it is still there to be asked.
  bool waiting() const;

private:
  Worker() = default;
  Error ended(const std::string &how);
  Error endedByItself(std::chrono::steady_clock::time_point deadline,
                      size_t answered);
  void drainLog();

  pid_t pid = -1;
  int socket = -1, log = -1;
  std::string folder;
  std::string said; ///< what it printed, cut off
};

} // namespace winnow::runtime

#endif // WINNOW_LIB_RUNTIME_WORKER_H
