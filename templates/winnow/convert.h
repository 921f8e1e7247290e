// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Number formats in integer arithmetic, so that every architecture and compiler
// makes the same bits: round to nearest even, fp8 saturates, NaN stays NaN.
#pragma once

#include "winnow/arch/portable.h"

namespace winnow {

/// Storage of an element, told apart by format where the bits are alike.
struct f32_element {
  u32 bits;
};
struct bf16_element {
  u16 bits;
};
struct f16_element {
  u16 bits;
};
struct f8e4m3fn_element {
  u8 bits;
};

inline constexpr u32 kSignBit = 0x80000000u;
inline constexpr u32 kInfinity = 0x7f800000u;

/// The bits of the f32 that equals the element.
WINNOW_DEVICE u32 widen(f32_element element) { return element.bits; }
WINNOW_DEVICE u32 widen(bf16_element element) {
  return static_cast<u32>(element.bits) << 16;
}
WINNOW_DEVICE u32 widen(f16_element element) {
  const u32 sign = static_cast<u32>(element.bits & 0x8000u) << 16;
  const u32 exponent = (element.bits >> 10) & 0x1fu;
  const u32 mantissa = element.bits & 0x3ffu;
  // A NaN is the quiet one of its sign, whatever its payload.
  if (exponent == 0x1fu)
    return sign | kInfinity | (mantissa ? 0x400000u : 0u);
  // A subnormal counts steps of 2^-24; it is a normal f32, and exact.
  if (exponent == 0)
    return sign | bits_of_float(static_cast<float>(mantissa) * 0x1p-24f);
  return sign | (exponent + 112) << 23 | mantissa << 13;
}

/// `magnitude` (an f32 without its sign) in steps of 2^`exponent`, rounded to
/// nearest even: for results below the smallest normal number.
WINNOW_DEVICE u32 subnormal_steps(u32 magnitude, i32 exponent) {
  const i32 biased = static_cast<i32>(magnitude >> 23);
  // The value is significand * 2^(biased - 150).
  const u32 significand = (magnitude & 0x7fffffu) | (biased ? 0x800000u : 0u);
  const i32 shift = exponent + 150 - biased;
  if (shift > 24) // less than half a step
    return 0;
  const u32 steps = significand >> shift;
  const u32 rest = significand & ((1u << shift) - 1);
  const u32 half = 1u << (shift - 1);
  return steps + (rest > half || (rest == half && (steps & 1)));
}

/// `magnitude` with its last `dropped` bits rounded away, to nearest even. A
/// carry into the exponent is the right one.
WINNOW_DEVICE u32 round_bits(u32 magnitude, u32 dropped) {
  return (magnitude + (1u << (dropped - 1)) - 1 +
          ((magnitude >> dropped) & 1)) >>
         dropped;
}

/// From an f32's bits to an element.
WINNOW_DEVICE void narrow_to(u32 value, f8e4m3fn_element &element) {
  const u32 sign = (value & kSignBit) >> 24;
  const u32 magnitude = value & ~kSignBit;
  u32 code;
  if (magnitude > kInfinity)
    code = 0x7f; // the one NaN of each sign
  else if (magnitude >= 0x43e00000u)
    code = 0x7e; // 448 and all that is larger
  else if (magnitude < 0x3c800000u)
    code = subnormal_steps(magnitude, -9); // below 2^-6
  else
    code = round_bits(magnitude, 20) - ((127 - 7) << 3);
  element.bits = static_cast<u8>(sign | code);
}
WINNOW_DEVICE void narrow_to(u32 value, bf16_element &element) {
  // Rounding could carry a NaN's mantissa away: its upper bits stay, quiet.
  element.bits = static_cast<u16>((value & ~kSignBit) > kInfinity
                                      ? (value >> 16) | 0x40u
                                      : (value & kSignBit) >> 16 |
                                            round_bits(value & ~kSignBit, 16));
}
WINNOW_DEVICE void narrow_to(u32 value, f16_element &element) {
  const u32 sign = (value & kSignBit) >> 16;
  const u32 magnitude = value & ~kSignBit;
  u32 code;
  if (magnitude > kInfinity)
    code = 0x7e00;
  else if (magnitude >= 0x47800000u)
    code = 0x7c00; // 65536 and more; rounding takes 65520 there too
  else if (magnitude < 0x38800000u)
    code = subnormal_steps(magnitude, -24); // below 2^-14
  else
    code = round_bits(magnitude, 13) - ((127 - 15) << 10);
  element.bits = static_cast<u16>(sign | code);
}

} // namespace winnow
