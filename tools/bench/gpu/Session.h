// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device that is measured: its memory, and the time of work that is put into
// a graph.
#ifndef WINNOW_BENCH_GPU_SESSION_H
#define WINNOW_BENCH_GPU_SESSION_H

#include "winnow/Runtime/DeviceApi.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace winnow::bench {

/// Microseconds: the median, and the 10th and 90th percentile.
struct Spread {
  double median = 0, low = 0, high = 0;
};
Spread spreadOf(std::vector<double> samples);

class Session {
public:
  static Result<std::unique_ptr<Session>> open(const std::string &device,
                                               int replays);
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  runtime::Device &device() { return *gpu; }
  void *stream() { return queue; }
  bool isCuda() const { return gpu->info().platform == "cuda"; }

  /// Memory that lives as long as the session, or until `release`.
  Result<uint64_t> allocate(uint64_t bytes);
  void release(uint64_t address);
  Status write(uint64_t address, std::span<const std::byte> bytes);
  Status read(uint64_t address, std::span<std::byte> bytes);
  Status fill(uint64_t address, uint8_t byte, uint64_t bytes);
  Status synchronize() { return gpu->synchronize(queue); }

  /// Captures what `enqueue` puts on the stream, `count` pieces of work, and
  /// replays it: the time of one piece, from one replay each.
  Result<Spread> time(int64_t count, const std::function<Status()> &enqueue);
  /// The same without a graph: for few pieces that take long.
  Result<Spread> timeEager(int64_t count,
                           const std::function<Status()> &enqueue);

  /// The host's time of single calls, each waited for or not; the device is
  /// waited for between every few, so that its queue never fills.
  Result<Spread> timeCalls(const std::function<Status()> &call, bool waits);

private:
  Session() = default;
  Result<Spread> timeRuns(int64_t count, const std::function<Status()> &run);
  std::shared_ptr<runtime::Device> gpu;
  void *queue = nullptr;
  int replays = 0;
  std::vector<void *> memory;
};

} // namespace winnow::bench

#endif // WINNOW_BENCH_GPU_SESSION_H
