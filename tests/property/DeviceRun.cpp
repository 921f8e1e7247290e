// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DeviceRun.h"

#include <algorithm>
#include <fmt/format.h>

using namespace winnow;
using namespace winnow::test;
using runtime::CopyDirection;

Result<DeviceKernels>
DeviceKernels::load(const runtime::Bundle &bundle,
                    const std::shared_ptr<runtime::Device> &device) {
  DeviceKernels kernels;
  for (uint32_t i = 0; i < bundle.sources.size(); ++i) {
    const runtime::CodeObject *found = nullptr;
    for (const runtime::CodeObject &object : bundle.codeObjects)
      if (object.source == i &&
          runtime::runsOn(object.arch, device->info().arch))
        found = &object;
    if (!found)
      return Error{"source '" + bundle.sources[i].name + "' has no code for " +
                   device->info().arch};
    auto module = device->loadModule(found->bytes);
    if (!module)
      return module.takeError();
    kernels.modules[i] = std::move(*module);
  }
  return kernels;
}

Result<void *> DeviceKernels::function(uint32_t source,
                                       const std::string &kernel,
                                       uint32_t dynamicLdsBytes) {
  void *&known =
      functions[fmt::format("{} {} {}", source, kernel, dynamicLdsBytes)];
  if (known)
    return known;
  auto found = modules.at(source)->function(kernel, dynamicLdsBytes);
  if (found)
    known = *found;
  return found;
}

/// The tensors of one call in memory of their own, and its launches.
class DeviceRunner::Copy {
public:
  Copy(runtime::Device &device, uint64_t guard, void *stream)
      : device(device), guard(guard), stream(stream) {}
  ~Copy() {
    for (Place &place : places)
      (void)device.free(place.memory);
    if (graph)
      (void)device.destroyGraph(graph);
  }
  Copy(const Copy &) = delete;
  Copy &operator=(const Copy &) = delete;

  Status make(const MadeCall &made, DeviceKernels &kernels) {
    std::vector<runtime::TensorView> arguments, workspace;
    if (Status status = place(made.given.arguments, arguments); !status)
      return status;
    argumentCount = places.size();
    if (Status status = place(made.given.workspace, workspace); !status)
      return status;
    const runtime::Entry &entry = *made.given.indexer->entry;
    auto symbols = runtime::bindArguments(entry, arguments);
    if (!symbols)
      return symbols.takeError();
    auto resolved =
        runtime::resolveLaunches(entry, *symbols, arguments, workspace);
    if (!resolved)
      return resolved.takeError();
    if (made.scoresGiven)
      resolved->erase(resolved->begin(), resolved->end() - 1);
    launches = std::move(*resolved);
    for (const runtime::ResolvedLaunch &launch : launches) {
      auto function = kernels.function(launch.source, launch.kernel,
                                       launch.dynamicLdsBytes);
      if (!function)
        return function.takeError();
      functions.push_back(*function);
    }
    return {};
  }

  /// The workspace may stay as a run has left it.
  Status upload(const tool::Call &call, bool withWorkspace, bool bare) {
    const auto &arguments = call.indexer->entry->arguments;
    size_t i = 0;
    for (const auto *tensors : {&call.arguments, &call.workspace})
      for (const tool::HostTensor &tensor : *tensors) {
        const size_t index = i;
        const Place &to = places[i++];
        if (tensors == &call.workspace && !withWorkspace)
          continue;
        // Counters of arrivals are read as they are found: they may hold
        // anything, and tell so.
        const bool isOutput =
            index >= arguments.size()
                ? tensor.name != "arrivals"
                : arguments[index].access == runtime::Access::Write;
        if (bare && isOutput)
          continue;
        if (withWorkspace && guard)
          if (Status status = device.fill(to.memory, kGuard, to.bytes, stream);
              !status)
            return status;
        if (!tensor.bytes.empty())
          if (Status status = device.copy(to.tensor(guard), tensor.bytes.data(),
                                          tensor.bytes.size(),
                                          CopyDirection::ToDevice, stream);
              !status)
            return status;
      }
    return {};
  }

  /// What lies in the workspace before a launch is nobody's business.
  Status fillWorkspace(int byte) {
    for (size_t i = argumentCount; i < places.size(); ++i)
      if (Status status = device.fill(places[i].tensor(guard), byte,
                                      places[i].bytes - 2 * guard, stream);
          !status)
        return status;
    return {};
  }

  Status capture() {
    if (Status status = device.beginCapture(stream); !status)
      return status;
    Status launched = enqueue();
    auto made = device.endCapture(stream);
    if (!launched)
      return launched;
    if (!made)
      return made.takeError();
    graph = *made;
    return {};
  }

  Status enqueue() {
    for (size_t i = 0; i < launches.size(); ++i) {
      const runtime::ResolvedLaunch &launch = launches[i];
      const uint32_t grid[3] = {launch.grid[0], launch.grid[1], launch.grid[2]};
      const uint32_t block[3] = {launch.block[0], launch.block[1],
                                 launch.block[2]};
      if (Status status = device.launch(
              functions[i], grid, block, launch.dynamicLdsBytes, stream,
              launch.kernarg.data(), launch.kernarg.size());
          !status)
        return Error{"kernel '" + launch.kernel + "': " + status.message()};
    }
    return {};
  }
  Status start() {
    return graph ? device.launchGraph(graph, stream) : enqueue();
  }

  Status wait() { return device.synchronize(stream); }

  /// Waits. `call` is one with tensors of the same sizes.
  Status download(tool::Call &call) {
    if (Status status = wait(); !status)
      return status;
    size_t i = 0;
    for (auto *tensors : {&call.arguments, &call.workspace})
      for (tool::HostTensor &tensor : *tensors) {
        const Place &from = places[i++];
        if (!tensor.bytes.empty())
          if (Status status = device.copy(
                  tensor.bytes.data(), from.tensor(guard), tensor.bytes.size(),
                  CopyDirection::FromDevice, stream);
              !status)
            return status;
      }
    return {};
  }

  /// The name of a tensor around which something was written; empty: none.
  Result<std::string> touchedGuard(const tool::Call &call) {
    std::vector<std::byte> around(guard);
    size_t i = 0;
    for (const auto *tensors : {&call.arguments, &call.workspace})
      for (const tool::HostTensor &tensor : *tensors) {
        const Place &place = places[i++];
        for (const std::byte *at :
             {place.memory, place.tensor(guard) + tensor.bytes.size()}) {
          if (guard == 0)
            continue;
          if (Status status = device.copy(around.data(), at, guard,
                                          CopyDirection::FromDevice, stream);
              !status)
            return status.takeError();
          for (std::byte byte : around)
            if (byte != std::byte(kGuard))
              return tensor.name;
        }
      }
    return std::string();
  }

private:
  static constexpr int kGuard = 0xa5;

  struct Place {
    std::byte *memory = nullptr;
    uint64_t bytes = 0; ///< guards too
    std::byte *tensor(uint64_t guard) const { return memory + guard; }
  };

  Status place(const std::vector<tool::HostTensor> &tensors,
               std::vector<runtime::TensorView> &views) {
    for (const tool::HostTensor &tensor : tensors) {
      Place place;
      // An empty tensor has an address all the same.
      place.bytes = std::max<uint64_t>(tensor.bytes.size(), 1) + 2 * guard;
      auto memory = device.allocate(place.bytes);
      if (!memory)
        return memory.takeError();
      place.memory = static_cast<std::byte *>(*memory);
      places.push_back(place);
      views.push_back(tensor.view);
      views.back().address = reinterpret_cast<uint64_t>(place.tensor(guard));
    }
    return {};
  }

  runtime::Device &device;
  const uint64_t guard;
  void *stream;
  std::vector<Place> places; ///< arguments, then workspace
  size_t argumentCount = 0;
  std::vector<runtime::ResolvedLaunch> launches;
  std::vector<void *> functions;
  void *graph = nullptr;
};

Result<DeviceRunner> DeviceRunner::make(std::shared_ptr<runtime::Device> device,
                                        const DeviceRunOptions &options) {
  DeviceRunner runner;
  runner.device = std::move(device);
  runner.options = options;
  for (int i = 0; i < std::max(options.copies, 1); ++i) {
    auto stream = runner.device->createStream();
    if (!stream)
      return stream.takeError();
    runner.streams.push_back(*stream);
  }
  return Result<DeviceRunner>(std::move(runner));
}

DeviceRunner::~DeviceRunner() {
  for (void *stream : streams)
    (void)device->destroyStream(stream);
}

namespace {

/// The first tensor in which two results of one call differ.
std::optional<std::string> difference(const tool::Call &first,
                                      const tool::Call &other,
                                      bool withWorkspace = true) {
  for (auto group : {&tool::Call::arguments, &tool::Call::workspace})
    for (size_t i = 0; i < (first.*group).size(); ++i) {
      const tool::HostTensor &a = (first.*group)[i], &b = (other.*group)[i];
      if (group == &tool::Call::workspace && !withWorkspace)
        break;
      for (size_t byte = 0; byte < a.bytes.size(); ++byte)
        if (a.bytes[byte] != b.bytes[byte])
          return fmt::format("'{}' at byte {}: {:#04x}, the first run had "
                             "{:#04x}",
                             a.name, byte, std::to_integer<int>(b.bytes[byte]),
                             std::to_integer<int>(a.bytes[byte]));
    }
  return std::nullopt;
}

void spoilOutput(tool::Call &call) {
  const auto &arguments = call.indexer->entry->arguments;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].access != runtime::Access::Read &&
        !call.arguments[i].bytes.empty()) {
      call.arguments[i].bytes.front() ^= std::byte(1);
      return;
    }
}

} // namespace

std::optional<Failure> DeviceRunner::run(const MadeCall &made,
                                         DeviceKernels &kernels) {
  std::vector<std::unique_ptr<Copy>> copies;
  auto all = [&]() -> Status {
    for (size_t i = 0; i < streams.size(); ++i) {
      copies.push_back(
          std::make_unique<Copy>(*device, options.guard, streams[i]));
      if (Status status = copies[i]->make(made, kernels); !status)
        return status;
      if (Status status = copies[i]->upload(made.given, true,
                                            options.bare && !made.scoresGiven);
          !status)
        return status;
      if (i == 1)
        if (Status status = copies[i]->capture(); !status)
          return status;
    }
    // Nothing waits between these: they share the device. A step that works in
    // place is not repeated.
    const bool repeats = made.before.indexer->steps.empty();
    for (size_t i = 0; i < copies.size(); ++i)
      for (int j = 0; j < (i == 1 && repeats ? options.replays : 1); ++j)
        if (Status status = copies[i]->start(); !status)
          return status;
    return {};
  };
  if (Status status = all(); !status)
    return Failure{"device", status.message()};

  tool::Call first = made.given;
  for (size_t i = 0; i < copies.size(); ++i) {
    tool::Call result = made.given;
    tool::Call &to = i == 0 ? first : result;
    // A copy of what nothing wrote would be such a read.
    if (Status status =
            options.bare ? copies[i]->wait() : copies[i]->download(to);
        !status)
      return Failure{"device", status.message()};
    if (options.bare)
      continue;
    auto touched = copies[i]->touchedGuard(to);
    if (!touched)
      return Failure{"device", touched.message()};
    if (!touched->empty())
      return Failure{"untouched",
                     "memory around '" + *touched + "' was written to"};
    if (i == 0) {
      if (options.spoil)
        spoilOutput(first);
      if (auto failure = judge(made, first))
        return failure;
    } else if (auto differs = difference(first, result)) {
      return Failure{"repeat",
                     fmt::format("copy {} of the call, at the same "
                                 "time{}: {}",
                                 i, i == 1 ? " as a graph" : "", *differs)};
    }
  }
  if (!options.again || options.bare)
    return std::nullopt;
  // As the first run left it, what counts arrivals in the workspace has to be
  // ready for the next; and other bytes mean nothing.
  for (const int byte : {-1, 0, 0xff}) {
    if (byte >= 0 && made.scoresGiven)
      break;
    tool::Call result = made.given;
    for (const auto step : {0, 1, 2, 3}) {
      Status status = step == 0 && byte >= 0 ? copies[0]->fillWorkspace(byte)
                      : step == 1 ? copies[0]->upload(made.given, false, false)
                      : step == 2 ? copies[0]->start()
                      : step == 3 ? copies[0]->download(result)
                                  : Status();
      if (!status)
        return Failure{"device", status.message()};
    }
    if (auto differs = difference(first, result, byte < 0))
      return Failure{
          "repeat",
          (byte < 0 ? std::string("a second run in the same workspace: ")
                    : fmt::format("a run in a workspace of {:#x}: ", byte)) +
              *differs};
  }
  return std::nullopt;
}
