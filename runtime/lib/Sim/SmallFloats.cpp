// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One rounding routine for every small format, by its layout.
//
// Stochastic rounding adds the upper bits of the random number to the bits that
// are cut off, aligned at the top, and truncates: section 7.3 of the manual,
// and the widths in V_CVT_SR_FP8_F32 and V_CVT_SR_BF8_F32 (S1[31:12] and
// S1[31:11]). The pseudocode there also names rounding to nearest even, which
// would round twice; it is not followed.
#include "SmallFloats.h"

#include <cmath>

namespace winnow::sim {
namespace {

struct Layout {
  int fractionBits, bias;
  uint32_t largest;
  /// Codes of what is too large and of NaN, 0 where there are none.
  uint32_t overflow, nan;
  unsigned signAt;
};
constexpr Layout kLayouts[] = {
    {3, 7, 0x7e, 0x7f, 0x7f, 7},  // e4m3
    {2, 15, 0x7b, 0x7c, 0x7f, 7}, // e5m2
    {3, 1, 0x1f, 0, 0, 5},        // e2m3
    {2, 3, 0x1f, 0, 0, 5},        // e3m2
    {1, 1, 0x7, 0, 0, 3},         // e2m1
};
constexpr Layout kHalf{10, 15, 0x7bff, 0x7c00, 0x7fff, 15};
constexpr Layout kBfloat{7, 127, 0x7f7f, 0x7f80, 0x7fff, 15};

Checked<uint32_t> rounded(double value, const Layout &f, const Narrowing &how) {
  uint32_t sign = uint32_t(std::signbit(value)) << f.signAt;
  uint32_t tooLarge = how.saturates || !f.overflow ? f.largest : f.overflow;
  if (value != value) {
    if (!f.nan)
      return {0, "a NaN in a format without one is not documented"};
    return {sign | f.nan};
  }
  double magnitude = std::fabs(value);
  if (magnitude == 0)
    return {sign};
  if (std::isinf(value))
    return {sign | tooLarge};
  int exponent;
  std::frexp(magnitude, &exponent); // [0.5, 1) * 2^exponent
  int unbiased = std::max(exponent - 1, 1 - f.bias);
  // Units in the last place of the binade, exact in double.
  double units = std::ldexp(magnitude, f.fractionBits - unbiased);
  double whole;
  if (how.isStochastic) {
    if (exponent - 1 < 1 - f.bias)
      return {0, "stochastic rounding below the smallest normal number is not "
                 "documented"};
    unsigned cut = 23u - unsigned(f.fractionBits);
    uint32_t all = uint32_t(std::ldexp(units, int(cut)));
    whole = double((all + (how.seed >> (32 - cut))) >> cut);
  } else {
    whole = std::nearbyint(units);
  }
  // A normal's hidden bit adds one to the exponent field: codes are linear.
  double code =
      whole + std::ldexp(double(unbiased + f.bias - 1), f.fractionBits);
  return {sign | (code > f.largest ? tooLarge : uint32_t(code))};
}

} // namespace

Checked<uint32_t> toSmallFloat(double value, unsigned format,
                               const Narrowing &how) {
  return rounded(value, kLayouts[format], how);
}
Checked<uint32_t> toHalfStochastic(float value, uint32_t seed) {
  return rounded(value, kHalf, {true, seed, false});
}
Checked<uint32_t> toBfloatStochastic(float value, uint32_t seed) {
  return rounded(value, kBfloat, {true, seed, false});
}

} // namespace winnow::sim
