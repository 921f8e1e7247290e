// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Candidates by the clock of a real device: graphs of one launch over and over,
// on rotating copies of its arguments, between two events.
#include "TuneTarget.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

using namespace winnow;
using namespace winnow::tool;
using runtime::CopyDirection;

namespace {

constexpr size_t kMostCopies = 64;

/// The tensors of a call on the device, freed at the end.
class DeviceCall {
public:
  static Result<std::unique_ptr<DeviceCall>>
  upload(runtime::Device &device, void *stream, const Call &call) {
    std::unique_ptr<DeviceCall> made(new DeviceCall(device));
    for (auto [tensors, views] : {std::pair(&call.arguments, &made->arguments),
                                  std::pair(&call.workspace, &made->workspace)})
      for (const HostTensor &tensor : *tensors) {
        views->push_back(tensor.view);
        if (tensor.bytes.empty())
          continue;
        Result<void *> memory = device.allocate(tensor.bytes.size());
        if (!memory)
          return memory.takeError();
        made->memory.push_back(*memory);
        views->back().address = reinterpret_cast<uint64_t>(*memory);
        if (Status status =
                device.copy(*memory, tensor.bytes.data(), tensor.bytes.size(),
                            CopyDirection::ToDevice, stream);
            !status)
          return status.takeError();
      }
    const runtime::Entry &entry = *call.indexer->entry;
    Result<runtime::Symbols> symbols =
        runtime::bindArguments(entry, made->arguments);
    if (!symbols)
      return symbols.takeError();
    Result<std::vector<runtime::ResolvedLaunch>> launches =
        runtime::resolveLaunches(entry, *symbols, made->arguments,
                                 made->workspace);
    if (!launches)
      return launches.takeError();
    made->launches = std::move(*launches);
    return made;
  }

  ~DeviceCall() {
    for (void *each : memory)
      (void)device.free(each);
  }
  DeviceCall(const DeviceCall &) = delete;
  DeviceCall &operator=(const DeviceCall &) = delete;

  Status download(void *stream, Call &call) const {
    for (auto [views, tensors] : {std::pair(&arguments, &call.arguments),
                                  std::pair(&workspace, &call.workspace)})
      for (size_t i = 0; i < tensors->size(); ++i)
        if (std::vector<std::byte> &bytes = (*tensors)[i].bytes; !bytes.empty())
          if (Status status = device.copy(
                  bytes.data(), reinterpret_cast<void *>((*views)[i].address),
                  bytes.size(), CopyDirection::FromDevice, stream);
              !status)
            return status;
    return {};
  }

  std::vector<runtime::ResolvedLaunch> launches;

private:
  explicit DeviceCall(runtime::Device &device) : device(device) {}

  runtime::Device &device;
  std::vector<void *> memory;
  std::vector<runtime::TensorView> arguments, workspace;
};

class DeviceTarget : public TuneTarget {
public:
  DeviceTarget(std::shared_ptr<runtime::Device> device,
               const DeviceTiming &timing, void *stream, void *begin, void *end)
      : device(std::move(device)), timing(timing), stream(stream), begin(begin),
        end(end), name(runtime::baseArch(this->device->info().arch)) {}
  ~DeviceTarget() override {
    (void)device->destroyEvent(begin);
    (void)device->destroyEvent(end);
    (void)device->destroyStream(stream);
  }

  const std::string &arch() const override { return name; }
  std::string method() const override {
    return fmt::format("medians of {} graph replays on {} ({})", timing.repeats,
                       device->info().name, device->info().product);
  }

  Status run(Call &call, const std::vector<LoadedCode> &codes) override {
    Result<Loaded> loaded = load(codes);
    if (!loaded)
      return loaded.takeError();
    auto on = DeviceCall::upload(*device, stream, call);
    if (!on)
      return on.takeError();
    for (const runtime::ResolvedLaunch &launch : (*on)->launches)
      if (Status status = enqueue(*loaded, launch); !status)
        return status;
    if (Status status = device->synchronize(stream); !status)
      return status;
    return (*on)->download(stream, call);
  }

  Result<std::vector<LaunchTime>>
  time(const Call &call, const std::vector<LoadedCode> &codes) override {
    Result<Loaded> loaded = load(codes);
    if (!loaded)
      return loaded.takeError();
    uint64_t bytes = 1;
    for (const auto *tensors : {&call.arguments, &call.workspace})
      for (const HostTensor &tensor : *tensors)
        bytes += tensor.bytes.size();
    const size_t copies =
        std::clamp<size_t>(timing.coldBytes / bytes + 1, 1, kMostCopies);
    std::vector<std::unique_ptr<DeviceCall>> calls;
    for (size_t i = 0; i < copies; ++i) {
      auto on = DeviceCall::upload(*device, stream, call);
      if (!on)
        return on.takeError();
      calls.push_back(std::move(*on));
    }
    // What a launch reads is what those before it wrote: all once, in order.
    for (const std::unique_ptr<DeviceCall> &on : calls)
      for (const runtime::ResolvedLaunch &launch : on->launches)
        if (Status status = enqueue(*loaded, launch); !status)
          return status.takeError();
    std::vector<LaunchTime> times;
    for (size_t i = 0; i < calls.front()->launches.size(); ++i) {
      Result<LaunchTime> time = timeLaunch(*loaded, calls, i);
      if (!time)
        return time.takeError();
      times.push_back(std::move(*time));
    }
    return times;
  }

private:
  using Loaded = std::map<uint32_t, std::shared_ptr<runtime::Module>>;

  Result<Loaded> load(const std::vector<LoadedCode> &codes) {
    Loaded loaded;
    for (const LoadedCode &code : codes) {
      Result<std::shared_ptr<runtime::Module>> module =
          device->loadModule(code.bytes);
      if (!module)
        return module.takeError();
      loaded[code.source] = std::move(*module);
    }
    return loaded;
  }

  Status enqueue(const Loaded &loaded, const runtime::ResolvedLaunch &launch) {
    const auto module = loaded.find(launch.source);
    if (module == loaded.end())
      return Error{"kernel '" + launch.kernel + "' has no code object"};
    Result<void *> function = module->second->function(launch.kernel);
    if (!function)
      return function.takeError();
    const uint32_t grid[3] = {launch.grid[0], launch.grid[1], launch.grid[2]};
    const uint32_t block[3] = {launch.block[0], launch.block[1],
                               launch.block[2]};
    return device->launch(*function, grid, block, launch.dynamicLdsBytes,
                          stream, launch.kernarg.data(), launch.kernarg.size());
  }

  Result<LaunchTime>
  timeLaunch(const Loaded &loaded,
             const std::vector<std::unique_ptr<DeviceCall>> &calls,
             size_t index) {
    const size_t count = std::max(calls.size(), timing.launchesOfGraph);
    if (Status status = device->beginCapture(stream); !status)
      return status.takeError();
    Status failed;
    for (size_t i = 0; i < count && failed; ++i)
      failed = enqueue(loaded, calls[i % calls.size()]->launches[index]);
    Result<void *> graph = device->endCapture(stream);
    if (!failed)
      return failed.takeError();
    if (!graph)
      return graph.takeError();
    Result<std::vector<double>> seconds = replay(*graph, count);
    if (Status status = device->destroyGraph(*graph); !status)
      return status.takeError();
    if (!seconds)
      return seconds.takeError();
    std::sort(seconds->begin(), seconds->end());
    const size_t n = seconds->size();
    const double median = (*seconds)[n / 2];
    return LaunchTime{calls.front()->launches[index].kernel, median,
                      ((*seconds)[n * 3 / 4] - (*seconds)[n / 4]) / 2 /
                          std::max(median, 1e-12)};
  }

  /// Seconds of one launch, in each of the replays but the first.
  Result<std::vector<double>> replay(void *graph, size_t count) {
    std::vector<double> seconds;
    for (unsigned i = 0; i <= timing.repeats; ++i) {
      for (const Status &status :
           {device->record(begin, stream), device->launchGraph(graph, stream),
            device->record(end, stream)})
        if (!status)
          return Error{status.message()};
      Result<float> milliseconds = device->elapsed(begin, end);
      if (!milliseconds)
        return milliseconds.takeError();
      if (i > 0)
        seconds.push_back(double(*milliseconds) * 1e-3 / double(count));
    }
    return seconds;
  }

  std::shared_ptr<runtime::Device> device;
  DeviceTiming timing;
  void *stream, *begin, *end;
  std::string name;
};

} // namespace

Result<std::unique_ptr<TuneTarget>>
tool::tuneOnDevice(std::shared_ptr<runtime::Device> device,
                   const DeviceTiming &timing) {
  if (device->info().platform == "host")
    return Error{"device '" + device->info().name +
                 "' runs no kernels, so there is nothing to time; wanted sim, "
                 "hip:N or cuda:N"};
  Result<void *> stream = device->createStream();
  if (!stream)
    return stream.takeError();
  Result<void *> begin = device->createEvent();
  if (!begin)
    return begin.takeError();
  Result<void *> end = device->createEvent();
  if (!end)
    return end.takeError();
  return std::unique_ptr<TuneTarget>(std::make_unique<DeviceTarget>(
      std::move(device), timing, *stream, *begin, *end));
}
