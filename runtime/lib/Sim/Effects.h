// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an instruction does, seen from outside of its handler: registers it
// touches, memory it reaches, counters it moves, time it takes. Checks and
// profiles work from this, so that handlers need not know of them.
#ifndef WINNOW_SIM_EFFECTS_H
#define WINNOW_SIM_EFFECTS_H

#include "CodeObjectImpl.h"
#include "MemoryAccess.h"

#include <array>
#include <vector>

namespace winnow::sim {

struct RegisterRange {
  uint16_t first = 0;
  uint8_t count = 1;
  bool isVector = false;
  bool isWritten = false;
};

enum class Space : uint8_t { None, Global, Flat, Scratch, Lds, Scalar };

struct Effects {
  std::array<RegisterRange, 8> registers;
  uint8_t registerCount = 0;

  Space space = Space::None;
  AccessKind access = AccessKind::Load;
  /// Bytes of one access of a lane, or of the wave.
  uint8_t bytes = 0;
  /// LDS instructions may access two places; offsets are bytes.
  uint8_t accesses = 1;
  uint32_t offsets[2] = {0, 0};
  /// LDS: lanes at 4 * lane from M0, or one access of the wave at the offset,
  /// instead of at the address register.
  enum class LdsAddress : uint8_t { Register, Lane, Wave };
  LdsAddress ldsAddress = LdsAddress::Register;
  /// The data goes on to LDS, at M0.
  bool loadsLds = false;
  /// A store of a register's high half.
  bool isHighHalf = false;
  /// Scope in the cache bits of a load or store: an atomic one, among the waves
  /// of a workgroup or of the device.
  bool isCoherentInGroup = false;
  bool isCoherent = false;

  /// Counters that it raises until it is done (CDNA4 ISA, "Data Dependency
  /// Resolution"): its results may be used after waiting on them.
  bool countsVm = false;
  bool countsLgkm = false;
  /// Scalar loads and flat accesses pass others of their counter.
  bool isUnordered = false;
  bool isWait = false;
  uint8_t waitVm = 63, waitLgkm = 15;
  bool isBarrier = false;
  /// Write-back of what was stored, and invalidation of what was read, for the
  /// whole device.
  bool isDeviceRelease = false, isDeviceAcquire = false;

  /// Matrix instructions: passes of four clocks, multiplications.
  uint8_t passes = 0;
  uint32_t products = 0;
  /// Clocks that it occupies its unit, what memory adds left out.
  uint16_t cycles = 4;
};

/// Of one instruction that is simulated; its first word has cache bits.
Effects effectsOf(const Instruction &in, uint32_t firstWord);

/// One for each instruction of the program.
std::vector<Effects> effectsOf(const Program &program,
                               const CodeObject::Impl &object);

} // namespace winnow::sim

#endif // WINNOW_SIM_EFFECTS_H
