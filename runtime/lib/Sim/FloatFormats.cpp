// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One rounding routine for every small format: a format is its exponent and
// fraction widths and what its top exponent means.
#include "FloatFormats.h"

#include <array>
#include <cmath>
#include <limits>

namespace winnow::sim {

namespace {

struct Layout {
  int exponentBits, fractionBits, bias;
  /// Top exponent holds infinity and NaN (f16, e5m2); else it holds numbers.
  bool isIeee;
};

constexpr Layout kHalf{5, 10, 15, true};
constexpr Layout kE4m3{4, 3, 7, false};
constexpr Layout kE5m2{5, 2, 15, true};

/// Magnitude code of |value| (finite), rounded to nearest even or toward zero;
/// may exceed the format's largest code, which the caller handles.
uint32_t roundMagnitude(double magnitude, const Layout &f, bool towardZero) {
  if (magnitude == 0)
    return 0;
  int exponent;
  std::frexp(magnitude, &exponent); // magnitude = m * 2^exponent, m in [0.5, 1)
  int unbiased = std::max(exponent - 1, 1 - f.bias);
  // Units in the last place of the binade: exact in double.
  double units = std::ldexp(magnitude, f.fractionBits - unbiased);
  double whole = towardZero ? std::floor(units) : std::nearbyint(units);
  // A normal's hidden bit adds one to the exponent field, so codes are linear.
  return uint32_t(int64_t(whole) +
                  (int64_t(unbiased + f.bias - 1) << f.fractionBits));
}

uint16_t toHalf(double value, bool towardZero) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double magnitude = std::fabs(value);
  if (std::isinf(value))
    return sign | 0x7c00;
  if (magnitude >= 131072.0)
    return sign | (towardZero ? 0x7bff : 0x7c00);
  uint32_t code = roundMagnitude(magnitude, kHalf, towardZero);
  if (code >= 0x7c00)
    code = towardZero ? 0x7bff : 0x7c00;
  return uint16_t(sign | code);
}

uint16_t halfNan(uint32_t bits) {
  return uint16_t((bits >> 16 & 0x8000) | 0x7e00 | (bits >> 13 & 0x3ff));
}

uint8_t toFp8(float value, const Layout &f, uint8_t largest, uint8_t overflow,
              uint8_t nan, bool saturate) {
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value))
    return uint8_t(sign | nan);
  if (std::isinf(value))
    return uint8_t(sign | (saturate ? largest : overflow));
  double magnitude = std::fabs(double(value));
  uint32_t code =
      magnitude >= 1048576.0 ? 0xffu : roundMagnitude(magnitude, f, false);
  if (code > largest)
    code = saturate ? largest : overflow;
  return uint8_t(sign | code);
}

float decodeSmall(unsigned code, int exponentBits, int fractionBits, int bias) {
  unsigned sign = code >> (exponentBits + fractionBits) & 1;
  int exponent = int(code >> fractionBits & ((1u << exponentBits) - 1));
  int fraction = int(code & ((1u << fractionBits) - 1));
  double magnitude =
      exponent ? std::ldexp(double((1 << fractionBits) + fraction),
                            exponent - bias - fractionBits)
               : std::ldexp(double(fraction), 1 - bias - fractionBits);
  return float(sign ? -magnitude : magnitude);
}

struct Tables {
  std::array<float, 256> values[5];

  Tables() {
    float nan = std::numeric_limits<float>::quiet_NaN();
    float infinity = std::numeric_limits<float>::infinity();
    for (unsigned code = 0; code < 256; ++code) {
      values[kFp8][code] = decodeSmall(code, 4, 3, 7);
      if ((code & 0x7f) == 0x7f)
        values[kFp8][code] = nan;
      values[kBf8][code] = decodeSmall(code, 5, 2, 15);
      if ((code & 0x7c) == 0x7c)
        values[kBf8][code] =
            code & 3 ? nan : (code & 0x80 ? -infinity : infinity);
      values[kFp6][code] = decodeSmall(code & 63, 2, 3, 1);
      values[kBf6][code] = decodeSmall(code & 63, 3, 2, 3);
      values[kFp4][code] = decodeSmall(code & 15, 2, 1, 1);
    }
  }
};

} // namespace

uint16_t floatToHalf(float value) {
  if (std::isnan(value))
    return halfNan(std::bit_cast<uint32_t>(value));
  return toHalf(double(value), false);
}

uint16_t floatToHalfTowardZero(float value) {
  if (std::isnan(value))
    return halfNan(std::bit_cast<uint32_t>(value));
  return toHalf(double(value), true);
}

uint16_t doubleToHalf(double value) {
  if (std::isnan(value))
    return 0x7e00;
  return toHalf(value, false);
}

uint16_t floatToBfloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

uint8_t floatToFp8(float value, bool saturate) {
  return toFp8(value, kE4m3, 0x7e, 0x7f, 0x7f, saturate);
}
uint8_t floatToBf8(float value, bool saturate) {
  return toFp8(value, kE5m2, 0x7b, 0x7c, 0x7f, saturate);
}

const float *smallFloatTable(unsigned format) {
  static const Tables tables;
  return tables.values[format].data();
}

} // namespace winnow::sim
