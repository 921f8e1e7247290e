// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One launch: the initial state of waves, and the loop that runs them.
#ifndef WINNOW_SIM_LAUNCH_H
#define WINNOW_SIM_LAUNCH_H

#include "CodeObjectImpl.h"
#include "Wave.h"
#include "winnow/Sim/Device.h"

namespace winnow::sim {

struct LaunchInput {
  const CodeObject::Impl *object = nullptr;
  const Kernel *kernel = nullptr;
  const Program *program = nullptr;
  Memory *memory = nullptr;
  Dim3 grid, block;
  LaunchOptions options;
  uint32_t poison = 0;
  /// Of one work item.
  uint32_t scratchBytes = 0;
  /// Device addresses.
  uint64_t codeBase = 0, kernarg = 0, dispatchPacket = 0;
  /// The kernarg segment's bytes, for preloading.
  std::vector<uint8_t> kernargBytes;
};

/// "kernel 'k', workgroup (0, 0, 0), wave 1, at +0x18 `text` (file:line)".
std::string placeOf(const LaunchInput &input, const Wave &wave,
                    const Instruction &in);

Result<LaunchStats> runLaunch(const LaunchInput &input);

/// The kernarg segment with hidden arguments filled in.
Result<std::vector<uint8_t>>
buildKernarg(const KernelInfo &kernel, Dim3 grid, Dim3 block,
             std::span<const std::byte> explicitBytes, uint32_t dynamicLds,
             uint32_t poison);

} // namespace winnow::sim

#endif // WINNOW_SIM_LAUNCH_H
