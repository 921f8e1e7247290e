// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Workspace sizes and kernarg packing.
#include "winnow/Runtime/Launch.h"

using namespace winnow;
using namespace winnow::runtime;

namespace {

Error problem(const Launch &launch, const std::string &what) {
  return Error{"kernel '" + launch.kernel + "': " + what};
}

void pack(ResolvedLaunch &resolved, const KernelArgument &source,
          uint64_t value) {
  // Every argument is 8 bytes, so natural alignment leaves no gap.
  const auto offset = static_cast<uint32_t>(resolved.kernarg.size());
  resolved.arguments.push_back({source, offset, value});
  for (int shift = 0; shift < 64; shift += 8)
    resolved.kernarg.push_back(static_cast<std::byte>(value >> shift));
}

/// The tensors that a launch may name.
class Tensors {
public:
  Tensors(const Entry &entry, std::span<const TensorView> arguments,
          std::span<const TensorView> workspace)
      : entry(entry), arguments(arguments), workspace(workspace) {}

  const TensorView *find(const std::string &name) const {
    for (size_t i = 0; i < arguments.size(); ++i)
      if (entry.arguments[i].name == name)
        return &arguments[i];
    for (size_t i = 0; i < workspace.size(); ++i)
      if (entry.workspace[i].name == name)
        return &workspace[i];
    return nullptr;
  }

private:
  const Entry &entry;
  std::span<const TensorView> arguments, workspace;
};

Result<ResolvedLaunch> resolve(const Launch &launch, const Symbols &symbols,
                               const Tensors &tensors, bool &nothing) {
  ResolvedLaunch resolved;
  resolved.kernel = launch.kernel;
  resolved.source = launch.source;
  resolved.dynamicLdsBytes = static_cast<uint32_t>(launch.dynamicLdsBytes);
  for (int axis = 0; axis < 3; ++axis) {
    Result<int64_t> workgroups = evaluate(launch.grid[axis], symbols);
    const std::string where = "grid axis " + std::to_string(axis);
    if (!workgroups)
      return problem(launch, where + ": " + workgroups.message());
    // A dispatch packet counts work items in 32 bits (HSA specification, AQL
    // kernel dispatch packet, grid_size_x).
    const int64_t most = UINT32_MAX / launch.block[axis];
    if (*workgroups < 0 || *workgroups > most)
      return problem(launch, where + " is " + std::to_string(*workgroups) +
                                 " workgroups (" + launch.grid[axis].text() +
                                 "), wanted 0 to " + std::to_string(most));
    nothing |= *workgroups == 0;
    resolved.grid[axis] = static_cast<uint32_t>(*workgroups);
    resolved.block[axis] = static_cast<uint32_t>(launch.block[axis]);
  }
  for (const KernelArgument &argument : launch.arguments) {
    const TensorView *tensor = tensors.find(argument.tensor);
    if (!tensor)
      return problem(launch, "no tensor '" + argument.tensor + "'");
    switch (argument.kind) {
    case KernelArgument::Kind::Tensor:
      pack(resolved, argument, tensor->address);
      break;
    case KernelArgument::Kind::Stride:
      pack(resolved, argument,
           static_cast<uint64_t>(tensor->strides[argument.axis]));
      break;
    case KernelArgument::Kind::Extent:
      pack(resolved, argument,
           static_cast<uint64_t>(tensor->extents[argument.axis]));
      break;
    }
  }
  return resolved;
}

} // namespace

Result<std::vector<TensorView>>
runtime::workspaceTensors(const Entry &entry, const Symbols &symbols) {
  std::vector<TensorView> tensors;
  for (const WorkspaceTensor &wanted : entry.workspace) {
    std::vector<int64_t> extents;
    for (const Expression &extent : wanted.shape) {
      Result<int64_t> value = evaluate(extent, symbols);
      if (!value)
        return Error{"workspace '" + wanted.name + "': " + value.message()};
      if (*value < 0)
        return Error{"workspace '" + wanted.name + "': an extent of " +
                     std::to_string(*value) + " (" + extent.text() +
                     "), wanted at least 0"};
      extents.push_back(*value);
    }
    tensors.push_back(TensorView::dense(0, wanted.dtype, extents));
    // Checked here, so that a stride that overflowed is never packed.
    const TensorView &tensor = tensors.back();
    int64_t elements = byteWidth(wanted.dtype);
    for (int axis = 0; axis < tensor.rank && !tensor.empty(); ++axis)
      if (__builtin_mul_overflow(elements, tensor.extents[axis], &elements))
        return Error{"workspace '" + wanted.name + "': shape " +
                     tensor.shapeText() + " does not fit 64 bits"};
  }
  return tensors;
}

Result<std::vector<ResolvedLaunch>>
runtime::resolveLaunches(const Entry &entry, const Symbols &symbols,
                         std::span<const TensorView> arguments,
                         std::span<const TensorView> workspace) {
  if (arguments.size() != entry.arguments.size() ||
      workspace.size() != entry.workspace.size())
    return Error{
        "'" + entry.name + "' got " + std::to_string(arguments.size()) +
        " arguments and " + std::to_string(workspace.size()) +
        " workspace tensors, wanted " + std::to_string(entry.arguments.size()) +
        " and " + std::to_string(entry.workspace.size())};
  for (size_t i = 0; i < workspace.size(); ++i)
    if (!workspace[i].empty() &&
        (workspace[i].address == 0 || workspace[i].address % 16 != 0))
      return Error{"workspace '" + entry.workspace[i].name + "': address " +
                   std::to_string(workspace[i].address) +
                   ", wanted one that is not null and a multiple of 16"};

  const Tensors tensors(entry, arguments, workspace);
  std::vector<ResolvedLaunch> launches;
  for (const Launch &launch : entry.launches) {
    bool nothing = false;
    Result<ResolvedLaunch> resolved =
        resolve(launch, symbols, tensors, nothing);
    if (!resolved)
      return resolved.takeError();
    if (!nothing)
      launches.push_back(std::move(*resolved));
  }
  return launches;
}
