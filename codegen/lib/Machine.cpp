// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Figures of machines, each with where it is from. Clocks are the highest that
// the data sheet names; a few per cent more or less move no choice.
#include "winnow/Codegen/Machine.h"

using namespace winnow;

static constexpr int64_t kKiB = 1024;

static constexpr Machine kMachines[] = {
    {"gfx950", "MI355X", 256, 4, 2.4e9, 8.0e12, 160 * kKiB, 64, 512, 8, 32,
     "AMD Instinct MI355X data sheet; CDNA4 ISA (LDS, registers); LLVM "
     "AMDGPUUsage (waves)"},
    {"gfx942", "MI300X", 304, 4, 2.1e9, 5.3e12, 64 * kKiB, 64, 512, 8, 32,
     "AMD Instinct MI300X data sheet; CDNA3 ISA; LLVM AMDGPUUsage"},
    {"gfx90a", "MI250X, one of its two dies", 110, 4, 1.7e9, 1.6e12, 64 * kKiB,
     64, 512, 8, 32,
     "AMD Instinct MI250X data sheet, halved; MI200 ISA; LLVM AMDGPUUsage"},
    {"gfx1100", "RX 7900 XTX", 96, 2, 2.5e9, 0.96e12, 64 * kKiB, 32, 1536, 16,
     32, "AMD Radeon RX 7900 XTX specifications; RDNA3 ISA; LLVM AMDGPUUsage"},
    {"gfx1201", "RX 9070 XT", 64, 2, 2.97e9, 0.64e12, 64 * kKiB, 32, 1536, 16,
     32, "AMD Radeon RX 9070 XT specifications; RDNA4 ISA; LLVM AMDGPUUsage"},
    {"sm_90", "H200", 132, 4, 1.98e9, 4.8e12, 227 * kKiB, 32, 512, 16, 32,
     "NVIDIA H200 data sheet; CUDA C++ Programming Guide, compute capability "
     "9.0"},
};

/// What the generic lowering's kernels are sized for: one source serves every
/// target, so it must not depend on which one asks.
static constexpr Machine kAny = {
    "",  "any", 128,       4,
    2e9, 2e12,  64 * kKiB, 64,
    256, 8,     16,        "no machine: at most what each of the others has"};

std::span<const Machine> winnow::machines() { return kMachines; }

const Machine &winnow::machineFor(std::string_view arch) {
  for (const Machine &machine : kMachines)
    if (machine.arch == arch)
      return machine;
  return kAny;
}
