// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vector instructions that move values between lanes, register files or both.
#include "Lanes.h"

#include <bit>

namespace winnow::sim {
namespace {

void readFirstLane(Wave &w, const Instruction &in) {
  uint64_t exec = w.exec();
  // With no active lane it reads lane 0 (CDNA4 ISA, V_READFIRSTLANE_B32).
  unsigned lane = exec ? unsigned(std::countr_zero(exec)) : 0;
  const Operand &s = in.source[0];
  w.sgpr[in.destination.index] =
      s.kind == Operand::Kind::Vgpr ? w.row(s.index)[lane] : readScalar32(w, s);
}

void readLane(Wave &w, const Instruction &in) {
  if (in.source[1].kind == Operand::Kind::Vgpr)
    return w.stop(in, "its lane select is a vector register");
  unsigned lane = readScalar32(w, in.source[1]) & 63;
  const Operand &s = in.source[0];
  w.sgpr[in.destination.index] =
      s.kind == Operand::Kind::Vgpr ? w.row(s.index)[lane] : readScalar32(w, s);
}

void writeLane(Wave &w, const Instruction &in) {
  if (in.source[0].kind == Operand::Kind::Vgpr ||
      in.source[1].kind == Operand::Kind::Vgpr)
    return w.stop(in, "it takes scalar operands");
  unsigned lane = readScalar32(w, in.source[1]) & 63;
  w.row(in.destination.index)[lane] = readScalar32(w, in.source[0]);
}

/// Swaps the odd groups of `Width` lanes of the destination with the even ones
/// of the source (CDNA4 ISA, V_PERMLANE16_SWAP_B32, V_PERMLANE32_SWAP_B32).
template <unsigned Width> void permlaneSwap(Wave &w, const Instruction &in) {
  if (w.exec() != ~uint64_t(0))
    return w.stop(in, "a lane swap with inactive lanes is not simulated");
  if (in.source[0].kind != Operand::Kind::Vgpr)
    return w.stop(in, "its source is no vector register");
  uint32_t *a = w.row(in.destination.index), *b = w.row(in.source[0].index);
  for (unsigned l = 0; l < kLanes; l += 2 * Width)
    for (unsigned i = 0; i < Width; ++i)
      std::swap(a[l + Width + i], b[l + i]);
}

void swapRegisters(Wave &w, const Instruction &in) {
  if (in.source[0].kind != Operand::Kind::Vgpr)
    return w.stop(in, "its source is no vector register");
  uint32_t *a = w.row(in.destination.index), *b = w.row(in.source[0].index);
  uint64_t exec = w.exec();
  for (unsigned l = 0; l < kLanes; ++l)
    if (exec >> l & 1)
      std::swap(a[l], b[l]);
}

constexpr ValueType B32 = ValueType::B32;
constexpr ValueType None = ValueType::None;

constexpr auto copy = [](uint32_t v) { return v; };

const Operation table[] = {
    {"v_readfirstlane_b32",
     &readFirstLane,
     InstructionClass::Valu,
     B32,
     {B32, None, None},
     kWritesScalar},
    {"v_readlane_b32",
     &readLane,
     InstructionClass::Valu,
     B32,
     {B32, B32, None},
     kWritesScalar},
    {"v_writelane_b32",
     &writeLane,
     InstructionClass::Valu,
     B32,
     {B32, B32, None}},
    {"v_permlane16_swap_b32",
     &permlaneSwap<16>,
     InstructionClass::Valu,
     B32,
     {B32, None, None},
     kSwaps},
    {"v_permlane32_swap_b32",
     &permlaneSwap<32>,
     InstructionClass::Valu,
     B32,
     {B32, None, None},
     kSwaps},
    {"v_swap_b32",
     &swapRegisters,
     InstructionClass::Valu,
     B32,
     {B32, None, None},
     kSwaps},
    vectorOp<copy>("v_accvgpr_read_b32", kAccSource),
    vectorOp<copy>("v_accvgpr_write_b32", kAccDestination),
    vectorOp<copy>("v_accvgpr_mov_b32", kAccSource | kAccDestination),
};

} // namespace

std::span<const Operation> crossLaneOperations() { return table; }

} // namespace winnow::sim
