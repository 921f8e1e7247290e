// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The state of a wave and of its workgroup. Registers are kept as a structure
// of arrays, one row of 64 lanes a vector register, so that loops over lanes
// vectorise. All state hangs off the workgroup: workgroups run independently.
#ifndef WINNOW_SIM_WAVE_H
#define WINNOW_SIM_WAVE_H

#include "Instruction.h"
#include "Memory.h"
#include "winnow/Sim/Checks.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace winnow::sim {

constexpr unsigned kLanes = 64;

/// Scalar register numbers, as operands encode them (CDNA4 ISA, "Scalar
/// Operands").
enum ScalarRegister : uint8_t {
  kFlatScratch = 102,
  kXnackMask = 104,
  kVcc = 106,
  kTtmp0 = 108,
  kM0 = 124,
  kExec = 126,
  kScalarRegisters = 128,
};

/// Bits of the MODE register (CDNA4 ISA, "MODE Register").
enum ModeBits : uint32_t {
  kModeRound32 = 3u << 0,
  kModeRound16_64 = 3u << 2,
  kModeDenorm32 = 3u << 4,
  kModeDenorm16_64 = 3u << 6,
  kModeDx10Clamp = 1u << 8,
  kModeIeee = 1u << 9,
  /// Exceptions that would trap.
  kModeTraps = 0x1ffu << 12,
  kModeFp16Overflow = 1u << 23,
  kModeIndexing = 1u << 27,
};

/// Windows of the flat address space that mean LDS and scratch, as the ROCm
/// driver programs them (SH_MEM_BASES).
constexpr uint64_t kSharedBase = uint64_t(1) << 48;
constexpr uint64_t kPrivateBase = uint64_t(2) << 48;
constexpr uint64_t kApertureSize = uint64_t(1) << 32;

class Findings;

enum class WaveState : uint8_t {
  Running,
  /// Running with VGPR indexing on.
  Indexing,
  AtBarrier,
  Ended,
  Stopped
};

struct Workgroup {
  uint32_t id[3] = {0, 0, 0};
  uint64_t linearId = 0;
  std::vector<uint8_t> lds;
  std::vector<Wave> waves;
  /// Where the code object is loaded: added to code addresses.
  uint64_t codeBase = 0;
  const Program *program = nullptr;
  uint32_t privateSegmentSize = 0;
  uint64_t bytesLoaded = 0;
  uint64_t bytesStored = 0;
  /// Wave instructions so far: the clock that s_memtime reads.
  uint64_t executed = 0;
  /// Goes up whenever what other waves or a later moment can see has changed:
  /// memory, LDS, or a reading of the clock. Waves that repeat their state
  /// while it stands still spin.
  uint64_t changes = 0;
  /// Stores of the value that is there already do not count as changes: dearer,
  /// and only wanted while looking for waves that spin.
  bool comparesStores = false;
  Findings *findings = nullptr;
  /// What undefined values are.
  uint32_t poison = 0;
  /// The first fault; the launch adds kernel and instruction to it.
  bool isStopped = false;
  std::string fault;
};

struct Wave {
  explicit Wave(Memory &memory) : memory(memory) {}

  uint32_t *vgprs = nullptr;
  alignas(8) uint32_t sgpr[kScalarRegisters] = {};
  bool scc = false;
  /// The usual mode, which the host's arithmetic does by itself: denormals are
  /// kept; results are rounded to nearest even and overflow to infinity.
  bool plainFloat = true;
  bool plainRounding = true;
  WaveState state = WaveState::Running;
  uint8_t index = 0;
  uint32_t mode = 0;
  /// Next instruction.
  int32_t pc = 0;
  Workgroup *group = nullptr;
  MemoryPort memory;
  std::vector<uint32_t> registers;
  /// Scratch of lane l begins at l * privateSegmentSize.
  std::vector<uint8_t> scratch;
  /// What stopped it.
  const Instruction *stoppedAt = nullptr;
  /// Where accesses outside of everything go when they do not stop.
  alignas(16) uint8_t sink[64] = {};

  // Set by Launch before a wave runs, which an analyzer of one file cannot see.
  // NOLINTNEXTLINE(clang-analyzer-core.NullPointerArithm)
  uint32_t *row(unsigned index) { return vgprs + index * kLanes; }

  uint64_t pair(unsigned index) const {
    return uint64_t(sgpr[index + 1]) << 32 | sgpr[index];
  }
  void setPair(unsigned index, uint64_t value) {
    sgpr[index] = uint32_t(value);
    sgpr[index + 1] = uint32_t(value >> 32);
  }
  uint64_t exec() const { return pair(kExec); }
  uint64_t vcc() const { return pair(kVcc); }
  bool isActive(unsigned lane) const { return exec() >> lane & 1; }

  /// Stops the launch; `what` says what this instruction did wrong.
  void stop(const Instruction &at, std::string what) {
    if (state == WaveState::Stopped)
      return;
    state = WaveState::Stopped;
    stoppedAt = &at;
    group->isStopped = true;
    group->fault = std::move(what);
  }

  /// An access outside of what there is: stops the launch and gives null, or
  /// goes on in `sink`.
  uint8_t *outside(const Instruction &at, CheckKind kind,
                   const std::string &what);

  void setMode(uint32_t value) {
    mode = value;
    plainFloat = (value & (kModeDenorm32 | kModeDenorm16_64)) ==
                 (kModeDenorm32 | kModeDenorm16_64);
    plainRounding =
        !(value & (kModeRound32 | kModeRound16_64 | kModeFp16Overflow));
  }
};

/// The value of a scalar operand; 64-bit reads take a register pair.
inline uint32_t readScalar32(const Wave &w, const Operand &operand) {
  switch (operand.kind) {
  case Operand::Kind::Sgpr:
    return w.sgpr[operand.index];
  case Operand::Kind::Vccz:
    return w.vcc() == 0;
  case Operand::Kind::Execz:
    return w.exec() == 0;
  case Operand::Kind::Scc:
    return w.scc;
  default:
    return uint32_t(operand.value);
  }
}
inline uint64_t readScalar64(const Wave &w, const Operand &operand) {
  if (operand.kind == Operand::Kind::Sgpr)
    return w.pair(operand.index);
  if (operand.kind == Operand::Kind::Constant)
    return operand.value;
  return readScalar32(w, operand);
}

/// Copies the active lanes of `values` into a vector register.
inline void commit(Wave &w, unsigned index, const uint32_t *values,
                   uint64_t mask) {
  uint32_t *to = w.row(index);
  if (mask == ~uint64_t(0)) {
    std::memcpy(to, values, kLanes * sizeof(uint32_t));
    return;
  }
  for (unsigned half = 0; half < 2; ++half) {
    uint32_t bits = uint32_t(mask >> (32 * half));
    uint32_t *target = to + 32 * half;
    const uint32_t *from = values + 32 * half;
    for (unsigned i = 0; i < 32; ++i) {
      uint32_t keep = 0u - (bits >> i & 1);
      target[i] = (from[i] & keep) | (target[i] & ~keep);
    }
  }
}

} // namespace winnow::sim

#endif // WINNOW_SIM_WAVE_H
