// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The simulated gfx950 (AMD CDNA4): memory and kernel launches. It executes the
// machine code of a code object, so a kernel can be checked without the GPU.
// What the hardware leaves undefined gets the least helpful value; what the
// simulator does not know stops the launch by name.
#ifndef WINNOW_SIM_DEVICE_H
#define WINNOW_SIM_DEVICE_H

#include "winnow/Runtime/Result.h"
#include "winnow/Sim/Checks.h"
#include "winnow/Sim/CodeObject.h"
#include "winnow/Sim/Profile.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::sim {

struct Dim3 {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;
};

struct DeviceOptions {
  /// Fresh memory repeats this 32-bit word: a signaling NaN as f32, NaN bytes
  /// among its fp8 bytes, and an index far outside anything as an integer.
  uint32_t poison = 0x7FBADBADu;
};

struct LaunchOptions {
  /// Added to the kernel's own group segment size.
  uint32_t dynamicLdsBytes = 0;
  /// Stack of a work item of kernels that recurse or call through pointers,
  /// beyond the scratch that the compiler reckoned with.
  uint32_t stackBytes = 4096;
  /// Wave instructions that one workgroup may execute before the launch stops
  /// as a runaway loop.
  uint64_t instructionLimit = uint64_t(1) << 32;
  /// Host threads over workgroups; 0 means one per core. Results of kernels
  /// that do not race are the same for any number.
  unsigned threads = 1;
  /// What to look for. With a check that watches instructions, or a profile,
  /// the launch runs on one thread, in the order of the workgroups unless it is
  /// shuffled.
  Checks checks;
  /// Compute units (an MI355X has 256): together with registers, LDS and waves
  /// they bound how many workgroups are there at once. A workgroup that waits
  /// for another one makes room for it only within this bound.
  uint32_t computeUnits = 256;
  /// Not 0: workgroups start in an order drawn from this seed, and they and
  /// their waves take turns of random lengths, a few workgroups at a time. The
  /// same seed gives the same order on one thread.
  uint64_t shuffle = 0;
  /// Count by instruction, into LaunchStats::profile.
  bool profile = false;
};

/// What one launch executed. Instruction counts are wave instructions.
struct LaunchStats {
  uint64_t workgroups = 0;
  uint64_t waves = 0;
  uint64_t instructions = 0;
  uint64_t valu = 0;
  uint64_t salu = 0;
  uint64_t scalarMemory = 0;
  uint64_t vectorLoads = 0;
  uint64_t vectorStores = 0;
  uint64_t vectorAtomics = 0;
  uint64_t lds = 0;
  uint64_t mfma = 0;
  uint64_t branches = 0;
  /// s_waitcnt, s_nop, s_sleep, s_barrier and the like.
  uint64_t waits = 0;
  /// Bytes that active lanes asked global memory for (scalar loads included).
  uint64_t bytesLoaded = 0;
  uint64_t bytesStored = 0;
  /// What checks with CheckAction::Warn found, in the order they were met.
  std::vector<Finding> findings;
  /// Null unless LaunchOptions::profile asked for it.
  std::shared_ptr<const KernelProfile> profile;
};

/// One simulated device. Not thread-safe: one caller at a time.
class Device {
public:
  explicit Device(DeviceOptions options = {});
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  /// Allocates `bytes` (may be 0) at an address above 4 GiB, 4096-byte aligned,
  /// with unmapped space on both sides. Addresses are never used twice. `label`
  /// names the allocation in faults.
  Result<uint64_t> alloc(uint64_t bytes, std::string_view label);
  Status free(uint64_t address);

  /// Copies; [address, address + size) has to lie in one live allocation.
  Status write(uint64_t address, std::span<const std::byte> bytes);
  Status read(uint64_t address, std::span<std::byte> bytes) const;
  Status fill(uint64_t address, uint64_t bytes, uint8_t value);

  /// Runs `kernel` to its end with `grid` workgroups of `block` work items.
  /// `kernarg` holds the explicit arguments at their metadata offsets; it may
  /// stop before the hidden ones, which the device fills in. A fault, an
  /// unknown instruction or a runaway loop is an error that names kernel,
  /// instruction, offset, workgroup and wave; memory keeps what was written
  /// before it.
  Result<LaunchStats> launch(const std::shared_ptr<const CodeObject> &object,
                             std::string_view kernel, Dim3 grid, Dim3 block,
                             std::span<const std::byte> kernarg,
                             const LaunchOptions &options = {});

private:
  struct Impl;
  std::unique_ptr<Impl> state;
};

} // namespace winnow::sim

#endif // WINNOW_SIM_DEVICE_H
