// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launching a plan.
#include "winnow/Runtime/Plan.h"

using namespace winnow;
using namespace winnow::runtime;

HostProgram::~HostProgram() = default;

std::vector<std::string> Plan::describeShapes(const Entry &entry) {
  std::vector<std::string> shapes;
  for (const TensorArgument &argument : entry.arguments) {
    std::string text;
    for (const Extent &extent : argument.shape)
      text += (text.empty() ? "[" : ", ") + extent.text();
    shapes.push_back(text + "]");
  }
  return shapes;
}

Status Plan::launch(void *stream, std::span<const TensorView> arguments,
                    void *workspace, uint64_t workspaceBytes,
                    ErrorKind &kind) const {
  kind = ErrorKind::Argument;
  PackBuffer buffer;
  const auto memory = reinterpret_cast<uint64_t>(workspace);
  if (!prepared.bind(arguments, buffer))
    return prepared.whyNot(arguments, memory);
  if (host) [[unlikely]]
    return runOnHost(arguments, buffer);
  if (buffer.workspaceBytes > workspaceBytes)
    return tooSmall(buffer, workspaceBytes);
  if (!prepared.pack(arguments, memory, buffer))
    return prepared.whyNot(arguments, memory);
  if (buffer.launchCount == 0)
    return nothingToDo(buffer);

  kind = ErrorKind::Device;
  for (uint32_t i = 0; i < buffer.launchCount; ++i) {
    const PackedLaunch &packed = buffer.launches[i];
    const ReadyKernel &kernel = kernels[packed.index];
    Status status = device->launch(kernel.function, packed.grid, kernel.block,
                                   kernel.dynamicLdsBytes, stream,
                                   packed.kernarg, packed.kernargBytes);
    if (!status) [[unlikely]]
      return Error{"kernel '" + entry().launches[packed.index].kernel +
                   "', launch " + std::to_string(i + 1) + " of " +
                   std::to_string(buffer.launchCount) + ": " +
                   status.message()};
  }
  return {};
}

Status Plan::runOnHost(std::span<const TensorView> arguments,
                       const PackBuffer &buffer) const {
  if (const int requests = prepared.symbol("requests");
      requests >= 0 && buffer.symbols[requests] == 0)
    return nothingToDo(buffer);
  return host->run(arguments);
}

Error Plan::tooSmall(const PackBuffer &buffer, uint64_t workspaceBytes) const {
  std::string call;
  for (const char *name : {"requests", "rows"})
    if (const int symbol = prepared.symbol(name); symbol >= 0)
      call += (call.empty() ? "" : ", ") + std::string(name) + " = " +
              std::to_string(buffer.symbols[symbol]);
  return Error{"'" + entry().name + "' got a workspace of " +
               std::to_string(workspaceBytes) + " bytes, wanted at least " +
               std::to_string(buffer.workspaceBytes) + " for " + call + " (" +
               std::to_string(facts.workspaceBytes) +
               " serve every call within the plan's bounds)"};
}

Error Plan::nothingToDo(const PackBuffer &buffer) const {
  std::string zeros;
  for (size_t i = 0; i < entry().symbols.size(); ++i) {
    if (buffer.symbols[i] != 0)
      continue;
    const SymbolDefinition &symbol = entry().symbols[i];
    zeros += (zeros.empty() ? "" : ", ") + symbol.name + " = 0";
    if (const auto *dim = std::get_if<ArgumentAxis>(&symbol.source))
      zeros += " (argument '" + dim->argument + "', axis " +
               std::to_string(dim->axis) + ")";
  }
  return Error{"'" + entry().name + "' has nothing to do: " + zeros +
               ", wanted at least 1"};
}
