// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Session.h"

#include <algorithm>
#include <chrono>
#include <cmath>

using namespace winnow;
using namespace winnow::bench;
using runtime::CopyDirection;

namespace {

void *pointer(uint64_t address) {
  return reinterpret_cast<void *>(address); // NOLINT: an address of the device
}

} // namespace

Spread bench::spreadOf(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  auto at = [&](double part) {
    return samples[size_t(std::lround(part * double(samples.size() - 1)))];
  };
  return {at(0.5), at(0.1), at(0.9)};
}

Result<std::unique_ptr<Session>> Session::open(const std::string &device,
                                               int replays) {
  std::unique_ptr<Session> session(new Session);
  Result<std::shared_ptr<runtime::Device>> gpu = runtime::openDevice(device);
  if (!gpu)
    return gpu.takeError();
  session->gpu = std::move(*gpu);
  session->replays = replays;
  Result<void *> stream = session->gpu->createStream();
  if (!stream)
    return stream.takeError();
  session->queue = *stream;
  return session;
}

Session::~Session() {
  if (!gpu)
    return;
  if (queue) {
    (void)gpu->synchronize(queue);
    (void)gpu->destroyStream(queue);
  }
  for (void *block : memory)
    (void)gpu->free(block);
}

Result<uint64_t> Session::allocate(uint64_t bytes) {
  Result<void *> block = gpu->allocate(std::max<uint64_t>(bytes, 1));
  if (!block)
    return block.takeError();
  memory.push_back(*block);
  return uint64_t(reinterpret_cast<uintptr_t>(*block));
}

void Session::release(uint64_t address) {
  std::erase(memory, pointer(address));
  (void)gpu->free(pointer(address));
}

Status Session::write(uint64_t address, std::span<const std::byte> bytes) {
  return gpu->copy(pointer(address), bytes.data(), bytes.size(),
                   CopyDirection::ToDevice, queue);
}

Status Session::read(uint64_t address, std::span<std::byte> bytes) {
  return gpu->copy(bytes.data(), pointer(address), bytes.size(),
                   CopyDirection::FromDevice, queue);
}

Status Session::fill(uint64_t address, uint8_t byte, uint64_t bytes) {
  return gpu->fill(pointer(address), byte, bytes, queue);
}

Result<Spread> Session::time(int64_t count,
                             const std::function<Status()> &enqueue) {
  if (Status status = gpu->beginCapture(queue); !status)
    return status.takeError();
  Status enqueued = enqueue();
  Result<void *> graph = gpu->endCapture(queue);
  if (!enqueued)
    return enqueued.takeError();
  if (!graph)
    return graph.takeError();
  Result<Spread> spread =
      timeRuns(count, [&] { return gpu->launchGraph(*graph, queue); });
  (void)gpu->destroyGraph(*graph);
  return spread;
}

Result<Spread> Session::timeEager(int64_t count,
                                  const std::function<Status()> &enqueue) {
  return timeRuns(count, enqueue);
}

Result<Spread> Session::timeRuns(int64_t count,
                                 const std::function<Status()> &run) {
  Result<void *> start = gpu->createEvent(), end = gpu->createEvent();
  if (!start || !end)
    return start ? end.takeError() : start.takeError();
  std::vector<double> samples;
  Status status;
  constexpr int warmUps = 3;
  for (int replay = 0; replay < warmUps + replays && status; ++replay) {
    status = gpu->record(*start, queue);
    if (status)
      status = run();
    if (status)
      status = gpu->record(*end, queue);
    if (!status)
      break;
    Result<float> milliseconds = gpu->elapsed(*start, *end);
    if (!milliseconds)
      status = milliseconds.takeError();
    else if (replay >= warmUps)
      samples.push_back(1e3 * double(*milliseconds) / double(count));
  }
  (void)gpu->destroyEvent(*start);
  (void)gpu->destroyEvent(*end);
  if (!status)
    return status.takeError();
  return spreadOf(std::move(samples));
}

Result<Spread> Session::timeCalls(const std::function<Status()> &call,
                                  bool waits) {
  constexpr int calls = 1024, together = 32;
  using Clock = std::chrono::steady_clock;
  std::vector<double> samples;
  for (int i = 0; i < calls; ++i) {
    const auto start = Clock::now();
    Status status = call();
    if (status && waits)
      status = synchronize();
    samples.push_back(
        std::chrono::duration<double, std::micro>(Clock::now() - start)
            .count());
    if (status && i % together == together - 1)
      status = synchronize();
    if (!status)
      return status.takeError();
  }
  return spreadOf(std::move(samples));
}
