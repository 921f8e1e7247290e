// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernarg segment: what the caller gives, and the hidden arguments that a
// runtime adds (LLVM AMDGPUUsage, "Code Object Metadata").
#include "Launch.h"

#include <algorithm>

namespace winnow::sim {

Result<std::vector<uint8_t>>
buildKernarg(const KernelInfo &kernel, Dim3 grid, Dim3 block,
             std::span<const std::byte> explicitBytes, uint32_t dynamicLds,
             uint32_t poison) {
  uint32_t explicitEnd = 0;
  for (const KernelArgument &a : kernel.arguments)
    if (!a.isHidden())
      explicitEnd = std::max(explicitEnd, a.offset + a.size);
  if (explicitBytes.size() < explicitEnd)
    return Error{"kernel '" + kernel.name + "' takes " +
                 std::to_string(explicitEnd) + " bytes of arguments, got " +
                 std::to_string(explicitBytes.size())};
  if (explicitBytes.size() > kernel.kernargSize)
    return Error{"kernel '" + kernel.name + "' has a kernarg segment of " +
                 std::to_string(kernel.kernargSize) + " bytes, got " +
                 std::to_string(explicitBytes.size())};
  std::vector<uint8_t> out(kernel.kernargSize);
  for (size_t i = 0; i + 4 <= out.size(); i += 4)
    std::memcpy(out.data() + i, &poison, 4);
  if (!explicitBytes.empty())
    std::memcpy(out.data(), explicitBytes.data(), explicitBytes.size());
  const uint32_t counts[3] = {grid.x, grid.y, grid.z};
  const uint32_t sizes[3] = {block.x, block.y, block.z};
  for (const KernelArgument &a : kernel.arguments) {
    if (!a.isHidden())
      continue;
    uint64_t value = 0;
    unsigned axis =
        a.valueKind.empty() ? 0 : unsigned(a.valueKind.back() - 'x');
    std::string_view kind = a.valueKind;
    if (kind.starts_with("hidden_block_count_") && axis < 3)
      value = counts[axis];
    else if (kind.starts_with("hidden_group_size_") && axis < 3)
      value = sizes[axis];
    else if (kind.starts_with("hidden_remainder_"))
      value = 0; // grids are whole workgroups
    else if (kind.starts_with("hidden_global_offset_"))
      value = 0;
    else if (kind == "hidden_grid_dims")
      value = counts[2] * sizes[2] > 1 ? 3 : counts[1] * sizes[1] > 1 ? 2 : 1;
    else if (kind == "hidden_private_base")
      value = kPrivateBase >> 32;
    else if (kind == "hidden_shared_base")
      value = kSharedBase >> 32;
    else if (kind == "hidden_dynamic_lds_size")
      value = dynamicLds;
    // The rest (printf, hostcall, heap, queues) are pointers to services that
    // do not exist: null, so that their use faults.
    size_t size = std::min<size_t>(a.size, 8);
    if (a.offset + size <= out.size())
      for (size_t i = 0; i < size; ++i)
        out[a.offset + i] = uint8_t(value >> (8 * i));
  }
  return out;
}

} // namespace winnow::sim
