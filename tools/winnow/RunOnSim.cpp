// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A call on the simulated gfx950: its memory filled from the host's tensors,
// the launches as the runtime packs them, everything read back.
#include "Execute.h"

#include <ctime>

using namespace winnow;
using namespace winnow::tool;

namespace {

/// Copies tensors to the device; answers with their views there.
Result<std::vector<runtime::TensorView>>
upload(sim::Device &device, const std::vector<HostTensor> &tensors) {
  std::vector<runtime::TensorView> views;
  for (const HostTensor &tensor : tensors) {
    Result<uint64_t> address = device.alloc(tensor.bytes.size(), tensor.name);
    if (!address)
      return address.takeError();
    if (!tensor.bytes.empty())
      if (Status status = device.write(*address, tensor.bytes); !status)
        return status.takeError();
    views.push_back(tensor.view);
    views.back().address = *address;
  }
  return views;
}

Status download(const sim::Device &device,
                const std::vector<runtime::TensorView> &views,
                std::vector<HostTensor> &tensors) {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (!tensors[i].bytes.empty())
      if (Status status = device.read(views[i].address, tensors[i].bytes);
          !status)
        return status;
  return {};
}

sim::Dim3 dim3(const std::array<uint32_t, 3> &extents) {
  return {extents[0], extents[1], extents[2]};
}

} // namespace

Result<std::vector<LaunchRecord>>
tool::runOnSim(Call &call, const std::vector<LoadedCode> &codes,
               const SimRun &run) {
  const runtime::Entry &entry = *call.indexer->entry;
  sim::Device device;
  Result<std::vector<runtime::TensorView>> arguments =
      upload(device, call.arguments);
  if (!arguments)
    return arguments.takeError();
  Result<std::vector<runtime::TensorView>> workspace =
      upload(device, call.workspace);
  if (!workspace)
    return workspace.takeError();
  Result<runtime::Symbols> symbols = runtime::bindArguments(entry, *arguments);
  if (!symbols)
    return symbols.takeError();
  Result<std::vector<runtime::ResolvedLaunch>> launches =
      runtime::resolveLaunches(entry, *symbols, *arguments, *workspace);
  if (!launches)
    return launches.takeError();

  std::vector<LaunchRecord> records;
  for (runtime::ResolvedLaunch &launch : *launches) {
    if (!run.only.empty() && launch.kernel != run.only)
      continue;
    const LoadedCode *code = nullptr;
    for (const LoadedCode &candidate : codes)
      if (candidate.source == launch.source)
        code = &candidate;
    if (!code)
      return Error{"kernel '" + launch.kernel + "': source " +
                   std::to_string(launch.source) + " has no code object"};
    sim::LaunchOptions options;
    options.dynamicLdsBytes = launch.dynamicLdsBytes;
    options.threads = run.threads;
    options.checks = run.checks;
    options.profile = run.profile;
    options.shuffle = run.shuffle;
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t processorStart = std::clock();
    Result<sim::LaunchStats> stats =
        device.launch(code->object, launch.kernel, dim3(launch.grid),
                      dim3(launch.block), launch.kernarg, options);
    if (!stats)
      return stats.takeError();
    using std::chrono::microseconds;
    const auto time = std::chrono::steady_clock::now() - start;
    const std::clock_t processor = std::clock() - processorStart;
    records.push_back(
        {std::move(launch), *stats,
         std::chrono::duration_cast<microseconds>(time),
         microseconds(int64_t(1e6 * double(processor) / CLOCKS_PER_SEC))});
  }
  if (Status status = download(device, *arguments, call.arguments); !status)
    return status.takeError();
  if (Status status = download(device, *workspace, call.workspace); !status)
    return status.takeError();
  return records;
}
