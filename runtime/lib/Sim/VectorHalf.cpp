// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f16 arithmetic of one lane, through float or double with one rounding, and
// the three-operand 16-bit integer forms.
#include "FloatFormats.h"
#include "FloatMath.h"

#include <algorithm>

namespace winnow::sim {
namespace {

float half(Half h) { return halfToFloat(h.bits); }
Half toHalf(float v) { return {floatToHalf(v)}; }

} // namespace

/// a * b + c in f16 with one rounding: the product is exact in double, the sum
/// is rounded to odd there so that the second rounding does no harm.
Half fmaHalf(Half a, Half b, Half c) {
  double product = double(half(a)) * double(half(b)), addend = half(c);
  double sum = product + addend;
  if (std::isnan(sum) || std::isinf(sum))
    return toHalf(float(sum));
  double back = sum - product;
  double lost = (product - (sum - back)) + (addend - back);
  uint64_t bits = std::bit_cast<uint64_t>(sum);
  if (lost != 0 && !(bits & 1))
    sum = std::bit_cast<double>((lost > 0) == (sum > 0) ? bits + 1 : bits - 1);
  return {doubleToHalf(sum)};
}

namespace {

/// The same in any rounding mode; see roundedOp.
Half negated(Half v) { return {uint16_t(v.bits ^ 0x8000)}; }
constexpr auto addRounded = [](Rounding r, Half a, Half b) {
  return exact::add(a, b, r);
};
constexpr auto subRounded = [](Rounding r, Half a, Half b) {
  return exact::add(a, negated(b), r);
};
constexpr auto subrevRounded = [](Rounding r, Half a, Half b) {
  return exact::add(b, negated(a), r);
};
constexpr auto mulRounded = [](Rounding r, Half a, Half b) {
  return exact::multiply(a, b, r);
};
constexpr auto fmaRounded = [](Rounding r, Half a, Half b, Half c) {
  return exact::fma(a, b, c, r);
};

template <bool Ieee>
constexpr auto maxHalf =
    [](Half a, Half b) { return toHalf(maxOf<Ieee>(half(a), half(b))); };
template <bool Ieee>
constexpr auto minHalf =
    [](Half a, Half b) { return toHalf(minOf<Ieee>(half(a), half(b))); };

template <bool Ieee>
constexpr auto max3Half = [](Half a, Half b, Half c) {
  return toHalf(maxOf<Ieee>(maxOf<Ieee>(half(a), half(b)), half(c)));
};
template <bool Ieee>
constexpr auto min3Half = [](Half a, Half b, Half c) {
  return toHalf(minOf<Ieee>(minOf<Ieee>(half(a), half(b)), half(c)));
};
template <bool Ieee>
constexpr auto med3Half = [](Half a, Half b, Half c) {
  return toHalf(med3Of<Ieee>(half(a), half(b), half(c)));
};

/// Functions of one operand, correctly rounded; an invalid one gives the
/// positive default NaN.
template <auto F>
constexpr auto ofHalf = [](Half x) {
  float v = half(x);
  if (v != v)
    return toHalf(quiet(v));
  double r = F(double(v));
  return Half{doubleToHalf(r)};
};

template <typename T> T median(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}
using u16 = uint16_t;
using i16 = int16_t;

const Operation table[] = {
    roundedOp<[](Half a, Half b) { return toHalf(addOf(half(a), half(b))); },
              addRounded>("v_add_f16"),
    roundedOp<[](Half a, Half b) { return toHalf(addOf(half(a), -half(b))); },
              subRounded>("v_sub_f16"),
    roundedOp<[](Half a, Half b) { return toHalf(addOf(half(b), -half(a))); },
              subrevRounded>("v_subrev_f16"),
    roundedOp<[](Half a, Half b) { return toHalf(mulOf(half(a), half(b))); },
              mulRounded>("v_mul_f16"),
    roundedOp<[](Half a, Half b, Half c) { return fmaHalf(a, b, c); },
              fmaRounded>("v_fma_f16", kKeepsOtherHalf),
    ieeeOp<maxHalf<true>, maxHalf<false>>("v_max_f16"),
    ieeeOp<minHalf<true>, minHalf<false>>("v_min_f16"),
    ieeeOp<max3Half<true>, max3Half<false>>("v_max3_f16", kKeepsOtherHalf),
    ieeeOp<min3Half<true>, min3Half<false>>("v_min3_f16", kKeepsOtherHalf),
    ieeeOp<med3Half<true>, med3Half<false>>("v_med3_f16", kKeepsOtherHalf),
    vectorOp<ofHalf<[](double x) { return 1 / x; }>>("v_rcp_f16"),
    vectorOp<ofHalf<[](double x) { return std::sqrt(x); }>>("v_sqrt_f16"),
    vectorOp<ofHalf<[](double x) { return 1 / std::sqrt(x); }>>("v_rsq_f16"),
    vectorOp<ofHalf<[](double x) { return std::exp2(x); }>>("v_exp_f16"),
    vectorOp<ofHalf<[](double x) { return std::log2(x); }>>("v_log_f16"),
    vectorOp<ofHalf<[](double x) { return std::floor(x); }>>("v_floor_f16"),
    vectorOp<ofHalf<[](double x) { return std::ceil(x); }>>("v_ceil_f16"),
    vectorOp<ofHalf<[](double x) { return std::trunc(x); }>>("v_trunc_f16"),
    vectorOp<ofHalf<[](double x) { return std::nearbyint(x); }>>("v_rndne_f16"),
    roundedOp<[](Half x, i16 n) { return exact::scale(x, n, Rounding()); },
              [](Rounding r, Half x, i16 n) { return exact::scale(x, n, r); }>(
        "v_ldexp_f16"),
    vectorOp<[](Half q, Half d, Half n) {
      return toHalf(divFixup(half(q), half(d), half(n)));
    }>("v_div_fixup_f16", kKeepsOtherHalf),
    vectorOp<[](u16 a, u16 b, u16 c) { return std::max({a, b, c}); }>(
        "v_max3_u16", kKeepsOtherHalf),
    vectorOp<[](u16 a, u16 b, u16 c) { return std::min({a, b, c}); }>(
        "v_min3_u16", kKeepsOtherHalf),
    vectorOp<[](u16 a, u16 b, u16 c) { return median(a, b, c); }>(
        "v_med3_u16", kKeepsOtherHalf),
    vectorOp<[](i16 a, i16 b, i16 c) { return std::max({a, b, c}); }>(
        "v_max3_i16", kKeepsOtherHalf),
    vectorOp<[](i16 a, i16 b, i16 c) { return std::min({a, b, c}); }>(
        "v_min3_i16", kKeepsOtherHalf),
    vectorOp<[](i16 a, i16 b, i16 c) { return median(a, b, c); }>(
        "v_med3_i16", kKeepsOtherHalf),
};

} // namespace

std::span<const Operation> vectorHalfOperations() { return table; }

} // namespace winnow::sim
