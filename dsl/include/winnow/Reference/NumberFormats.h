// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the small number formats of a key cache read and write, in portable
// arithmetic: the reference, the tools and the tests agree on this one header.
#ifndef WINNOW_REFERENCE_NUMBERFORMATS_H
#define WINNOW_REFERENCE_NUMBERFORMATS_H

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace winnow::reference {

/// The element types of queries and keys. f8E4M3FN and f8E5M2 are the OCP
/// formats (OCP 8-bit Floating Point Specification, section 5), never FNUZ.
enum class NumberFormat { F8E4M3FN, F8E5M2, BF16, F16, F32 };

/// The format of MLIR's spelling ("f8E4M3FN", "bf16", ...); nothing for a name
/// that is none of them.
inline std::optional<NumberFormat> parseNumberFormat(std::string_view name) {
  if (name == "f8E4M3FN")
    return NumberFormat::F8E4M3FN;
  if (name == "f8E5M2")
    return NumberFormat::F8E5M2;
  if (name == "bf16")
    return NumberFormat::BF16;
  if (name == "f16")
    return NumberFormat::F16;
  if (name == "f32")
    return NumberFormat::F32;
  return std::nullopt;
}

/// Bytes of one element.
inline int64_t byteWidth(NumberFormat format) {
  switch (format) {
  case NumberFormat::F8E4M3FN:
  case NumberFormat::F8E5M2:
    return 1;
  case NumberFormat::BF16:
  case NumberFormat::F16:
    return 2;
  case NumberFormat::F32:
    return 4;
  }
  return 0;
}

/// OCP e4m3 "fn": bias 7, no infinity, NaN is S.1111.111 alone, largest 448.
inline float decodeF8E4M3FN(uint8_t code) {
  int exponent = (code >> 3) & 0xf;
  int mantissa = code & 0x7;
  float magnitude;
  if (exponent == 0xf && mantissa == 0x7)
    magnitude = std::numeric_limits<float>::quiet_NaN();
  else if (exponent == 0)
    magnitude = std::ldexp(static_cast<float>(mantissa), -9);
  else
    magnitude = std::ldexp(static_cast<float>(8 + mantissa), exponent - 10);
  return code & 0x80 ? -magnitude : magnitude;
}

/// Round to nearest, ties to even; saturates to +-448, infinities included;
/// NaN stays NaN; the sign of zero is kept.
inline uint8_t encodeF8E4M3FN(float value) {
  uint8_t sign = std::signbit(value) ? 0x80 : 0x00;
  if (std::isnan(value))
    return sign | 0x7f;
  float magnitude = std::fabs(value);
  // Halfway between 448 and the next step (480) rounds away from the even
  // mantissa to what would be NaN's code: saturation takes that too.
  if (magnitude >= 448.0f)
    return sign | 0x7e;
  // Below 2^-6 the step is 2^-9, above it is 2^-3 of the leading power of two.
  int exponent = -6;
  if (magnitude >= std::ldexp(1.0f, -6))
    exponent = std::ilogb(magnitude);
  // Exact: a scaling by a power of two, and at most 24 significant bits.
  float scaled = std::ldexp(magnitude, 3 - exponent);
  float whole = std::floor(scaled);
  float rest = scaled - whole;
  int steps = static_cast<int>(whole);
  if (rest > 0.5f || (rest == 0.5f && (steps & 1)))
    ++steps;
  if (steps < 8) // only possible at the smallest exponent: a subnormal
    return sign | static_cast<uint8_t>(steps);
  if (steps == 16) { // rounded up into the next power of two
    steps = 8;
    ++exponent;
  }
  return sign | static_cast<uint8_t>((exponent + 7) << 3) |
         static_cast<uint8_t>(steps - 8);
}

/// OCP e5m2: IEEE-like, bias 15, with infinities; the upper byte of an f16.
inline float decodeF16(uint16_t code) {
  int exponent = (code >> 10) & 0x1f;
  int mantissa = code & 0x3ff;
  float magnitude;
  if (exponent == 0x1f)
    magnitude = mantissa ? std::numeric_limits<float>::quiet_NaN()
                         : std::numeric_limits<float>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(static_cast<float>(mantissa), -24);
  else
    magnitude = std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
  return code & 0x8000 ? -magnitude : magnitude;
}

inline float decodeF8E5M2(uint8_t code) {
  return decodeF16(static_cast<uint16_t>(code << 8));
}

inline float decodeBF16(uint16_t code) {
  return std::bit_cast<float>(static_cast<uint32_t>(code) << 16);
}

/// Round to nearest, ties to even; what rounds past 65504 is infinity; NaN is
/// the quiet one without a payload; the sign is kept.
inline uint16_t encodeF16(float value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0x0000;
  if (std::isnan(value))
    return sign | 0x7e00;
  const float magnitude = std::fabs(value);
  if (magnitude >= 65520.0f)
    return sign | 0x7c00;
  // Below 2^-14 the step is 2^-24, above it is 2^-10 of the leading power.
  int exponent = -14;
  if (magnitude >= std::ldexp(1.0f, -14))
    exponent = std::ilogb(magnitude);
  const float scaled = std::ldexp(magnitude, 10 - exponent);
  const float whole = std::floor(scaled);
  const float rest = scaled - whole;
  int steps = static_cast<int>(whole);
  if (rest > 0.5f || (rest == 0.5f && (steps & 1)))
    ++steps;
  if (steps < 1024) // a subnormal
    return sign | static_cast<uint16_t>(steps);
  // 2048 steps are the next power of two, and carry into the exponent.
  return sign | static_cast<uint16_t>(((exponent + 15) << 10) + steps - 1024);
}

/// Round to nearest, ties to even; a NaN keeps its sign and upper payload and
/// becomes quiet.
inline uint16_t encodeBF16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  const uint32_t rest = bits & 0xffff;
  const uint32_t upper = bits >> 16;
  return static_cast<uint16_t>(
      upper + (rest > 0x8000 || (rest == 0x8000 && (upper & 1))));
}

} // namespace winnow::reference

#endif // WINNOW_REFERENCE_NUMBERFORMATS_H
