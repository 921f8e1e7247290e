// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions between f32 and the small formats of CDNA4: f16, bf16 and the OCP
// fp8 (e4m3, e5m2), fp6 (e2m3, e3m2) and fp4 (e2m1).
#ifndef WINNOW_SIM_FLOATFORMATS_H
#define WINNOW_SIM_FLOATFORMATS_H

#include <bit>
#include <cstdint>

namespace winnow::sim {

/// f16 to f32, exactly; a NaN keeps its payload.
inline float halfToFloat(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16;
  uint32_t exponent = half >> 10 & 31, fraction = half & 0x3ff;
  if (exponent == 31)
    return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent == 0) {
    // fraction * 2^-24 is exact.
    float magnitude = float(fraction) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

/// f32 to f16, to nearest even.
uint16_t floatToHalf(float value);
/// f32 to f16, toward zero.
uint16_t floatToHalfTowardZero(float value);
/// A double that fits f16's range, rounded once to nearest even.
uint16_t doubleToHalf(double value);

inline float bfloatToFloat(uint16_t bits) {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}
uint16_t floatToBfloat(float value);

/// The element formats of the f8f6f4 matrix instructions, by their encoding in
/// cbsz and blgp.
enum SmallFormat : uint8_t {
  kFp8 = 0, // e4m3
  kBf8 = 1, // e5m2
  kFp6 = 2, // e2m3
  kBf6 = 3, // e3m2
  kFp4 = 4, // e2m1
};
constexpr unsigned bitsOf(unsigned format) {
  return format < 2 ? 8 : format < 4 ? 6 : 4;
}

/// Values of every code of a format; 256 entries for the 8-bit ones, 64 and 16.
const float *smallFloatTable(unsigned format);

/// To OCP fp8, to nearest even. Overflow gives infinity or NaN as the format
/// has them, or the largest value when `saturate`.
uint8_t floatToFp8(float value, bool saturate);
uint8_t floatToBf8(float value, bool saturate);

} // namespace winnow::sim

#endif // WINNOW_SIM_FLOATFORMATS_H
