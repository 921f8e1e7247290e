// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Machines as the schedule model and the tuner see them: a few figures each.
#ifndef WINNOW_CODEGEN_MACHINE_H
#define WINNOW_CODEGEN_MACHINE_H

#include <cstdint>
#include <span>
#include <string_view>

namespace winnow {

struct Machine {
  std::string_view arch;
  std::string_view product; ///< whose figures these are
  double units;             ///< compute units, or multiprocessors
  double simds;             ///< units that issue instructions, of each
  double clockHz;
  double bytesPerSecond; ///< of memory
  int64_t localBytes;    ///< local memory of a unit
  int64_t waveLanes;
  int64_t registers;    ///< vector registers of a SIMD, 32 bits a lane
  int64_t wavesOfSimd;  ///< waves on a SIMD at once, at most
  int64_t groupsOfUnit; ///< workgroups on a unit at once, at most
  std::string_view source;
};

/// Those that are known.
std::span<const Machine> machines();

/// The one of an architecture ("gfx950"); for others one that is like none of
/// them and small in everything.
const Machine &machineFor(std::string_view arch);

/// What no data sheet gives. Assumed alike for all machines, and for every
/// schedule that is compared: a load's way to memory and back under load, the
/// same to the second-level cache, what a launch takes besides its work, and
/// waves that are started a clock.
inline constexpr double kMemorySeconds = 800e-9, kCacheSeconds = 200e-9,
                        kLaunchSeconds = 2e-6, kWavesStartedPerClock = 8;

} // namespace winnow

#endif // WINNOW_CODEGEN_MACHINE_H
