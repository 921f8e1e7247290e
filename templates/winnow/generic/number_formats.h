// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queries and keys as floats, decoded in software: no target has to know the
// formats. Every value of each format is a float, so decoding is exact.
#pragma once

#include "winnow/arch/portable.h"

namespace winnow::generic {

/// How an element is stored: a shape's kFormat.
inline constexpr i32 kF8E4M3FN = 0; ///< OCP: 0x7f and 0xff are NaN, no infinity
inline constexpr i32 kF8E5M2 = 1;
inline constexpr i32 kBF16 = 2;
inline constexpr i32 kF16 = 3;

template <i32 Format>
inline constexpr i32 kBytes = Format == kF8E4M3FN || Format == kF8E5M2 ? 1 : 2;

/// The exponent's bias moves from 7 to 127; denormals count units of 2^-9. No
/// float denormal appears on the way, which a target might flush.
WINNOW_DEVICE float decode_f8e4m3fn(u32 code) {
  const u32 magnitude = code & 0x7f;
  const float normal = float_of_bits((magnitude << 20) + (120u << 23));
  const float denormal = static_cast<float>(magnitude) * 0x1p-9f;
  u32 bits = bits_of_float(magnitude < 8 ? denormal : normal);
  if (magnitude == 0x7f)
    bits = 0x7fc00000;
  return float_of_bits(bits | (code & 0x80) << 24);
}

/// The bias moves from 15 to 127, and once more for infinity and NaN;
/// denormals count units of 2^-24.
WINNOW_DEVICE float decode_f16(u32 code) {
  const u32 magnitude = code & 0x7fff;
  u32 bits = (magnitude << 13) + (112u << 23);
  if (magnitude >= 0x7c00)
    bits += 112u << 23;
  if (magnitude < 0x400)
    bits = bits_of_float(static_cast<float>(magnitude) * 0x1p-24f);
  return float_of_bits(bits | (code & 0x8000) << 16);
}

/// The elements of four bytes: four of fp8, two of the others.
template <i32 Format> WINNOW_DEVICE void decode_word(u32 word, float *values) {
  if constexpr (Format == kF8E4M3FN) {
#pragma unroll
    for (i32 i = 0; i < 4; ++i)
      values[i] = decode_f8e4m3fn(word >> 8 * i & 0xff);
  } else if constexpr (Format == kF8E5M2) {
    // The upper byte of an f16.
#pragma unroll
    for (i32 i = 0; i < 4; ++i)
      values[i] = decode_f16((word >> 8 * i & 0xff) << 8);
  } else if constexpr (Format == kBF16) {
    values[0] = float_of_bits(word << 16);
    values[1] = float_of_bits(word & 0xffff0000);
  } else {
    static_assert(Format == kF16, "a format that this file decodes");
    values[0] = decode_f16(word & 0xffff);
    values[1] = decode_f16(word >> 16);
  }
}

/// Elements that are loaded together; head dims are multiples of it.
inline constexpr i32 kVector = 8;

/// kVector elements from `address` on, which need not be aligned.
template <i32 Format>
WINNOW_DEVICE void load_vector(const u8 *address, float (&values)[kVector]) {
  constexpr i32 words = kVector * kBytes<Format> / 4;
  u32 word[words];
#pragma unroll
  for (i32 i = 0; i < words; ++i)
    word[i] = load_word(address + 4 * i);
#pragma unroll
  for (i32 i = 0; i < words; ++i)
    decode_word<Format>(word[i], values + i * (kVector / words));
}

} // namespace winnow::generic
