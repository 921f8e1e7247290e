// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dot products of the parts of two registers, added to a third operand: of
// VOP3P, and those of VOP2 that add to their destination.
#include "CheckedLanes.h"
#include "FloatFormats.h"
#include "FloatMath.h"

namespace winnow::sim {
namespace {

using u32 = uint32_t;
using i32 = int32_t;

/// Sum of the products of `Bits` wide integers; it wraps.
template <unsigned Bits, bool Signed> u32 integerDot(u32 a, u32 b, u32 sum) {
  for (unsigned at = 0; at < 32; at += Bits) {
    u32 x = a << (32 - Bits - at), y = b << (32 - Bits - at);
    sum += Signed ? u32((i32(x) >> (32 - Bits)) * (i32(y) >> (32 - Bits)))
                  : (x >> (32 - Bits)) * (y >> (32 - Bits));
  }
  return sum;
}

float halfAt(u32 v, unsigned i) { return halfToFloat(uint16_t(v >> (16 * i))); }
float bfloatAt(u32 v, unsigned i) {
  return bfloatToFloat(uint16_t(v >> (16 * i)));
}

/// tmp = S2; tmp += x0 * y0; tmp += x1 * y1 (CDNA4 ISA, V_DOT2_F32_F16).
/// Products of f16 are exact in f32.
float halfDot(u32 a, u32 b, float c) {
  for (unsigned i = 0; i < 2; ++i)
    c = addOf(c, mulOf(halfAt(a, i), halfAt(b, i)));
  return c;
}
/// tmp = x0 * y0; tmp += x1 * y1; tmp += S2 (V_DOT2_F32_BF16).
float bfloatDot(u32 a, u32 b, float c) {
  float sum = addOf(mulOf(bfloatAt(a, 0), bfloatAt(b, 0)),
                    mulOf(bfloatAt(a, 1), bfloatAt(b, 1)));
  return addOf(sum, c);
}
/// The manual does not say in which order the VOP2 form adds.
Checked<float> bfloatDotAccumulating(u32 a, u32 b, float c) {
  float other = c, first = bfloatDot(a, b, c);
  for (unsigned i = 0; i < 2; ++i)
    other = addOf(other, mulOf(bfloatAt(a, i), bfloatAt(b, i)));
  if (std::bit_cast<u32>(first) != std::bit_cast<u32>(other))
    return {0, "the order of its sum, which matters for these values, is not "
               "documented"};
  return {first};
}

/// The signs of float halves are flipped by neg_lo and neg_hi.
void readPairs(Wave &w, const Instruction &in, unsigned which, bool isFloating,
               u32 *out) {
  const Operand &s = in.source[which];
  u32 flip = isFloating
                 ? (s.negate ? 0x8000u : 0) | (s.negateHigh ? 0x80000000u : 0)
                 : 0;
  u32 uniform = s.kind == Operand::Kind::Vgpr ? 0 : readScalar32(w, s);
  const u32 *row = s.kind == Operand::Kind::Vgpr ? w.row(s.index) : nullptr;
  for (unsigned l = 0; l < kLanes; ++l)
    out[l] = (row ? row[l] : uniform) ^ flip;
}

/// Fn(a, b, c) with c an integer or an f32. Assemblers for gfx940 and later
/// refuse to pick halves by op_sel, so that what it does is not known.
template <typename C, auto Fn> void dot(Wave &w, const Instruction &in) {
  constexpr bool isFloating = std::is_same_v<C, float>;
  for (unsigned i = 0; i < 3; ++i) {
    const Operand &s = in.source[i];
    if (s.highHalf || !s.highOfHigh)
      return w.stop(in, "op_sel of a dot product is not simulated");
    if ((s.negate || s.negateHigh) && (!isFloating || i == 2))
      return w.stop(in, "neg of such an operand is not simulated");
  }
  if (in.clamp)
    return w.stop(in, "clamp of a dot product is not simulated");
  if (isFloating && !w.plainFloat)
    return w.stop(in, "a float dot product with flushed denormals is not "
                      "simulated");
  if (isFloating && !roundsToNearest(w, in))
    return;
  LaneBuffer a, b, out;
  readPairs(w, in, 0, isFloating, a.low);
  readPairs(w, in, 1, isFloating, b.low);
  const Operand &s = in.source[2];
  const u32 *row = s.kind == Operand::Kind::Vgpr ? w.row(s.index) : nullptr;
  u32 uniform = row ? 0 : readScalar32(w, s);
  for (unsigned l = 0; l < kLanes; ++l)
    out.low[l] = std::bit_cast<u32>(
        Fn(a.low[l], b.low[l], std::bit_cast<C>(row ? row[l] : uniform)));
  commit(w, in.destination.index, out.low, w.exec());
}
template <typename C, auto Fn> constexpr Operation dotOp(const char *name) {
  return {name,
          &dot<C, Fn>,
          InstructionClass::Valu,
          typeOf<C>(),
          {ValueType::B32, ValueType::B32, typeOf<C>()},
          kPacked};
}

const Operation table[] = {
    dotOp<float, &halfDot>("v_dot2_f32_f16"),
    dotOp<float, &bfloatDot>("v_dot2_f32_bf16"),
    dotOp<u32, &integerDot<16, true>>("v_dot2_i32_i16"),
    dotOp<u32, &integerDot<16, false>>("v_dot2_u32_u16"),
    dotOp<u32, &integerDot<8, true>>("v_dot4_i32_i8"),
    dotOp<u32, &integerDot<8, false>>("v_dot4_u32_u8"),
    dotOp<u32, &integerDot<4, true>>("v_dot8_i32_i4"),
    dotOp<u32, &integerDot<4, false>>("v_dot8_u32_u4"),
    checkedOp<[](u32 a, u32 b, float c) {
      return Checked<float>{halfDot(a, b, c)};
    }>("v_dot2c_f32_f16", kAccumulates),
    checkedOp<[](u32 a, u32 b, float c) {
      return bfloatDotAccumulating(a, b, c);
    }>("v_dot2c_f32_bf16", kAccumulates),
    vectorOp<[](u32 a, u32 b, u32 c) { return integerDot<16, true>(a, b, c); }>(
        "v_dot2c_i32_i16", kAccumulates),
    vectorOp<[](u32 a, u32 b, u32 c) { return integerDot<8, true>(a, b, c); }>(
        "v_dot4c_i32_i8", kAccumulates),
    vectorOp<[](u32 a, u32 b, u32 c) { return integerDot<4, true>(a, b, c); }>(
        "v_dot8c_i32_i4", kAccumulates),
};

} // namespace

std::span<const Operation> vectorDotOperations() { return table; }

} // namespace winnow::sim
