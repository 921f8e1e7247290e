// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalar instructions that pick registers by M0 or work on masks of quads, and
// messages to the outside of the wave.
#include "IndexedOperands.h"
#include "Wave.h"

namespace winnow::sim {
namespace {

using u32 = uint32_t;
using u64 = uint64_t;

/// S_MOVRELS and S_MOVRELD: one operand's register number is moved by M0.
template <typename T, bool Source>
void moveRelative(Wave &w, const Instruction &in) {
  const Operand &named = Source ? in.source[0] : in.destination;
  if (named.kind != Operand::Kind::Sgpr)
    return w.stop(in, "its indexed operand is no scalar register");
  u64 index = u64(named.index) + w.sgpr[kM0];
  constexpr unsigned count = sizeof(T) / 4;
  if (index + count > kFlatScratch || (count == 2 && index % 2))
    return w.stop(in, "M0 = " + std::to_string(w.sgpr[kM0]) +
                          " moves it to register " + std::to_string(index) +
                          ", past the scalar registers or off a pair");
  Operand operand = named;
  operand.index = uint16_t(index);
  if constexpr (count == 2)
    w.setPair(Source ? in.destination.index : operand.index,
              readScalar64(w, Source ? operand : in.source[0]));
  else
    w.sgpr[Source ? in.destination.index : operand.index] =
        readScalar32(w, Source ? operand : in.source[0]);
}

/// Every fourth bit says whether one of its quad is set.
u64 quadsIn(u64 mask) {
  mask |= mask >> 1;
  mask |= mask >> 2;
  return mask & 0x1111111111111111ull;
}
template <typename T> void wholeQuads(Wave &w, const Instruction &in) {
  u64 s = sizeof(T) == 8 ? readScalar64(w, in.source[0])
                         : readScalar32(w, in.source[0]);
  // Quads do not reach over bit 32: shifting in zeros from above is enough.
  T result = T(quadsIn(s) * 15);
  if constexpr (sizeof(T) == 8)
    w.setPair(in.destination.index, result);
  else
    w.sgpr[in.destination.index] = result;
  w.scc = result != 0;
}
template <typename T> void quadMask(Wave &w, const Instruction &in) {
  u64 s = sizeof(T) == 8 ? readScalar64(w, in.source[0])
                         : readScalar32(w, in.source[0]);
  u64 quads = quadsIn(s), result = 0;
  for (unsigned i = 0; i < 16; ++i)
    result |= (quads >> (4 * i) & 1) << i;
  if constexpr (sizeof(T) == 8)
    w.setPair(in.destination.index, result);
  else
    w.sgpr[in.destination.index] = u32(result);
  w.scc = result != 0;
}

void replicateBits(Wave &w, const Instruction &in) {
  u32 s = readScalar32(w, in.source[0]);
  u64 result = 0;
  for (unsigned i = 0; i < 32; ++i)
    result |= u64(s >> i & 1) * 3 << (2 * i);
  w.setPair(in.destination.index, result);
}

// MODE.gpr_idx_en and M0: [7:0] the index, [15:12] which operands it moves
// (CDNA4 ISA, "VGPR Indexing").
void setIndexBits(Wave &w, u32 mask, u32 value) {
  w.sgpr[kM0] = (w.sgpr[kM0] & ~mask) | (value & mask);
}
void indexingOn(Wave &w, const Instruction &in) {
  setIndexBits(w, 0xff, readScalar32(w, in.source[0]));
  setIndexBits(w, 0xf000, u32(in.immediate) << 12);
  w.mode |= kModeIndexing;
  w.state = WaveState::Indexing;
}
void indexingOff(Wave &w, const Instruction &) {
  w.mode &= ~u32(kModeIndexing);
  w.state = WaveState::Running;
}
void setIndex(Wave &w, const Instruction &in) {
  setIndexBits(w, 0xff, readScalar32(w, in.source[0]));
}
void setIndexMode(Wave &w, const Instruction &in) {
  setIndexBits(w, 0xf000, u32(in.immediate) << 12);
}

void sendMessage(Wave &w, const Instruction &in) {
  // An interrupt tells the host, which does not listen here; the others go to
  // fixed-function hardware (LLVM AMDGPUUsage, "s_sendmsg").
  if (unsigned message = unsigned(in.immediate) & 15; message != 1)
    w.stop(in, "message " + std::to_string(message) +
                   " is not simulated: only an interrupt (1) is");
}
void nothing(Wave &, const Instruction &) {}

constexpr InstructionClass kSalu = InstructionClass::Salu,
                           kWait = InstructionClass::Wait;
constexpr ValueType B32 = ValueType::B32, B64 = ValueType::B64,
                    None = ValueType::None;

const Operation table[] = {
    {"s_movrels_b32", &moveRelative<u32, true>, kSalu, B32, {B32, None, None}},
    {"s_movrels_b64", &moveRelative<u64, true>, kSalu, B64, {B64, None, None}},
    {"s_movreld_b32", &moveRelative<u32, false>, kSalu, B32, {B32, None, None}},
    {"s_movreld_b64", &moveRelative<u64, false>, kSalu, B64, {B64, None, None}},
    {"s_wqm_b32", &wholeQuads<u32>, kSalu, B32, {B32, None, None}},
    {"s_wqm_b64", &wholeQuads<u64>, kSalu, B64, {B64, None, None}},
    {"s_quadmask_b32", &quadMask<u32>, kSalu, B32, {B32, None, None}},
    {"s_quadmask_b64", &quadMask<u64>, kSalu, B64, {B64, None, None}},
    {"s_bitreplicate_b64_b32", &replicateBits, kSalu, B64, {B32, None, None}},
    {"s_set_gpr_idx_on", &indexingOn, kSalu, None, {B32, None, None}},
    {"s_set_gpr_idx_off", &indexingOff, kSalu},
    {"s_set_gpr_idx_idx", &setIndex, kSalu, None, {B32, None, None}},
    {"s_set_gpr_idx_mode", &setIndexMode, kSalu},
    {"s_sendmsg", &sendMessage, kWait},
    // No wave sleeps here, and no exception or translation is kept.
    {"s_wakeup", &nothing, kWait},
    {"s_atc_probe", &nothing, kWait},
    {"s_atc_probe_buffer", &nothing, kWait},
    {"v_clrexcp", &nothing, InstructionClass::Valu},
};

} // namespace

std::span<const Operation> scalarIndexOperations() { return table; }

bool shiftOperands(Wave &w, const Instruction &in, unsigned registers,
                   Instruction &out) {
  out = in;
  u32 m0 = w.sgpr[kM0];
  if (in.kind == InstructionClass::Mfma) {
    w.stop(in, "a matrix instruction with VGPR indexing is not simulated");
    return false;
  }
  if (in.kind != InstructionClass::Valu || !in.operation || !(m0 >> 12 & 15))
    return true;
  std::string_view name = in.operation->name;
  if (in.isDpp || in.isSdwa || name.find("lane") != name.npos ||
      in.operation->flags & (kSwaps | kAccumulates | kWritesScalar |
                             kAccSource | kAccDestination)) {
    w.stop(in, "VGPR indexing of such an instruction is not simulated");
    return false;
  }
  auto move = [&](Operand &operand, unsigned bit, unsigned count) {
    if (operand.kind != Operand::Kind::Vgpr || !(m0 >> bit & 1))
      return true;
    unsigned index = operand.index + (m0 & 0xff);
    if (index + count > registers) {
      w.stop(in, "M0 indexes v" + std::to_string(index) + ", the kernel has " +
                     std::to_string(registers) + " vector registers");
      return false;
    }
    operand.index = uint16_t(index);
    return true;
  };
  for (unsigned i = 0; i < 3; ++i)
    if (!move(out.source[i], 12 + i, registersOf(in.sourceType[i])))
      return false;
  return move(out.destination, 15, registersOf(in.resultType));
}

} // namespace winnow::sim
