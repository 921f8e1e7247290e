// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f16 functions of one lane beside its arithmetic: fractions, exponents, sine
// and cosine, and the legacy forms that clear the upper half of their result.
#include "CheckedLanes.h"
#include "FloatFormats.h"
#include "FloatMath.h"

namespace winnow::sim {
namespace {

constexpr uint16_t kInfinity = 0x7c00;
// The manual's examples of invalid operations have this one.
constexpr uint16_t kInvalid = 0xfe00;

float value(Half h) { return halfToFloat(h.bits); }
Half quieted(Half h) { return {uint16_t(h.bits | 0x200)}; }
bool isNan(Half h) { return (h.bits & 0x7fff) > kInfinity; }
bool isInfinite(Half h) { return (h.bits & 0x7fff) == kInfinity; }

/// S0 - floor(S0), to half a unit (CDNA4 ISA, V_FRACT_F16).
Checked<Half> fraction(Half x) {
  if (isNan(x))
    return {quieted(x)};
  if (isInfinite(x))
    return {{kInvalid}};
  double v = value(x), r = v - std::floor(v);
  Half rounded{doubleToHalf(r)};
  if (value(rounded) == 1)
    return {{}, "a fraction that rounds up to one is not documented"};
  return {rounded};
}

/// Sine or cosine of 2 pi x, exact where x is a multiple of a quarter.
template <bool Cosine> Half trigonometric(Half x) {
  if (isNan(x))
    return quieted(x);
  if (isInfinite(x))
    return {kInvalid};
  double v = value(x), turn = v - std::floor(v);
  if (Cosine)
    turn += turn >= 0.75 ? -0.75 : 0.25;
  if (turn == 0 || turn == 0.5) // a sine of -0 is -0
    return {uint16_t(!Cosine && v == 0 ? x.bits : 0)};
  if (turn == 0.25 || turn == 0.75)
    return {uint16_t(turn == 0.25 ? 0x3c00 : 0xbc00)};
  return {doubleToHalf(std::sin(6.283185307179586476925 * turn))};
}

Half mantissa(Half x) {
  int e;
  if (isNan(x) || isInfinite(x))
    return x;
  return {doubleToHalf(std::frexp(double(value(x)), &e))};
}
int16_t exponent(Half x) {
  int e = 0;
  if (!isNan(x) && !isInfinite(x) && value(x) != 0)
    std::frexp(double(value(x)), &e);
  return int16_t(e);
}

/// Two lanes of f16 in a register, added to the destination.
uint32_t packedFma(uint32_t a, uint32_t b, uint32_t c) {
  auto low = [](uint32_t v) { return Half{uint16_t(v)}; };
  auto high = [](uint32_t v) { return Half{uint16_t(v >> 16)}; };
  return uint32_t(fmaHalf(high(a), high(b), high(c)).bits) << 16 |
         fmaHalf(low(a), low(b), low(c)).bits;
}
/// Its operands have no float type, so what MODE asks of floats is checked
/// here.
void packedFmaAccumulating(Wave &w, const Instruction &in) {
  if (!w.plainFloat)
    return w.stop(in, "packed f16 with flushed denormals is not simulated");
  if (roundsToNearest(w, in))
    lanes<[](uint32_t a, uint32_t b, uint32_t c) {
      return packedFma(a, b, c);
    }>(w, in);
}

const Operation table[] = {
    checkedOp<[](Half x) { return fraction(x); }>("v_fract_f16"),
    checkedOp<[](Half x) { return Checked<Half>{trigonometric<false>(x)}; }>(
        "v_sin_f16"),
    checkedOp<[](Half x) { return Checked<Half>{trigonometric<true>(x)}; }>(
        "v_cos_f16"),
    vectorOp<[](Half x) { return mantissa(x); }>("v_frexp_mant_f16"),
    vectorOp<[](Half x) { return exponent(x); }>("v_frexp_exp_i16_f16"),
    checkedOp<[](Half a, Half b, Half c) {
      return Checked<Half>{fmaHalf(a, b, c)};
    }>("v_fma_legacy_f16"),
    vectorOp<[](Half q, Half d, Half n) {
      return Half{floatToHalf(divFixup(value(q), value(d), value(n)))};
    }>("v_div_fixup_legacy_f16"),
    {"v_pk_fmac_f16",
     &packedFmaAccumulating,
     InstructionClass::Valu,
     ValueType::B32,
     {ValueType::B32, ValueType::B32, ValueType::B32},
     kAccumulates},
};

} // namespace

std::span<const Operation> vectorHalfFunctionOperations() { return table; }

} // namespace winnow::sim
