// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loaded AMDGPU code object: what the simulated device runs, and what tools
// print about a kernel (registers, LDS, spills, arguments) without running it.
#ifndef WINNOW_SIM_CODEOBJECT_H
#define WINNOW_SIM_CODEOBJECT_H

#include "winnow/Runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::sim {

/// One entry of a kernel's argument list, as the code object's metadata names
/// it. `offset` and `size` are bytes in the kernarg segment.
struct KernelArgument {
  std::string name;
  uint32_t offset = 0;
  uint32_t size = 0;
  /// "by_value", "global_buffer", "hidden_block_count_x", ...
  std::string valueKind;

  bool isHidden() const { return valueKind.starts_with("hidden_"); }
};

/// The static facts of one kernel. Sizes are bytes; register counts are those
/// of one wave, per lane for VGPRs and AGPRs.
struct KernelInfo {
  std::string name;
  uint32_t kernargSize = 0;
  uint32_t kernargAlign = 0;
  /// LDS of a workgroup, dynamic LDS not included.
  uint32_t groupSegmentSize = 0;
  /// Scratch of one work item.
  uint32_t privateSegmentSize = 0;
  bool usesDynamicStack = false;
  uint32_t vgprCount = 0;
  uint32_t agprCount = 0;
  uint32_t sgprCount = 0;
  uint32_t vgprSpillCount = 0;
  uint32_t sgprSpillCount = 0;
  uint32_t maxFlatWorkgroupSize = 0;
  /// Zeros unless the source fixed it (reqd_work_group_size).
  uint32_t requiredWorkgroupSize[3] = {0, 0, 0};
  uint32_t wavefrontSize = 64;
  /// Machine code, from the kernel's symbol.
  uint64_t codeSize = 0;
  std::vector<KernelArgument> arguments;
};

/// An immutable code object for gfx950 (amdhsa, linked). Thread-safe to share.
class CodeObject {
public:
  struct Impl;

  /// Reads `bytes` (copied). Every offset and size in them is checked: a
  /// truncated, hostile or foreign file is an error that says what is wrong.
  static Result<std::shared_ptr<const CodeObject>>
  load(std::span<const std::byte> bytes);

  /// What a code object for any AMDGPU says of its kernels, in the order of its
  /// metadata; checked as by `load`.
  static Result<std::vector<KernelInfo>>
  describe(std::span<const std::byte> bytes);

  ~CodeObject();
  CodeObject(const CodeObject &) = delete;
  CodeObject &operator=(const CodeObject &) = delete;

  /// Every kernel, in the order of the metadata.
  const std::vector<KernelInfo> &kernels() const;

  /// The kernel of that name; an error lists the names that exist.
  Result<const KernelInfo *> find(std::string_view name) const;

  /// The kernel's machine code as assembler text, one instruction a line, with
  /// its offset from the kernel's first byte.
  Result<std::string> disassemble(std::string_view name) const;

  /// The kernel's instructions that would stop a launch when reached, one
  /// "+offset text: reason" each; empty when all of it is simulated.
  Result<std::vector<std::string>> unsupported(std::string_view name) const;

  /// For the device.
  const Impl &impl() const { return *state; }

private:
  explicit CodeObject(std::unique_ptr<Impl> state);
  std::unique_ptr<Impl> state;
};

} // namespace winnow::sim

#endif // WINNOW_SIM_CODEOBJECT_H
