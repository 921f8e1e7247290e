// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gfx942 (CDNA3): matrix instructions of 16 16-bit elements. Its fp8 is FNUZ,
// which reads the bytes of OCP's otherwise, so those are made f16 first: every
// e4m3 value is an f16.
#pragma once

#include "winnow/arch/cdna.h"

namespace winnow {

using i16x4 = short __attribute__((ext_vector_type(4)));
using i16x8 = short __attribute__((ext_vector_type(8)));
using f16x2 = _Float16 __attribute__((ext_vector_type(2)));
using f16x4 = _Float16 __attribute__((ext_vector_type(4)));
using f16x8 = _Float16 __attribute__((ext_vector_type(8)));

// --- Between rows of lanes ---

/// One step of a maximum over lanes. Lanes with bit `N` clear go on with `a`,
/// the others with `b`, each with what the lane across that bit knows of it.
template <i32 N> WINNOW_DEVICE float join_across(float a, float b) {
  const bool takes_b = lane_index() & N;
  const u32 given = bits_of_float(takes_b ? a : b);
  return max_of_numbers(takes_b ? b : a,
                        float_of_bits(fetch_lane(given, lane_index() ^ N)));
}

/// The maximum of each number over the four lanes that share a place in their
/// row of 16; number i is left in the i-th of `Tiles` groups of lanes.
template <i32 Tiles>
WINNOW_DEVICE float join_tiles(const TileMaxima<Tiles> &best) {
  const float even = join_across<32>(best.of[0], best.of[Tiles / 2]);
  if constexpr (Tiles == 4)
    return join_across<16>(even, join_across<32>(best.of[1], best.of[3]));
  return join_across<16>(even, even);
}

// --- Matrix units ---

/// Parts as the matrix unit takes them: fp8 as f16, two for one.
template <class Element, i32 Rows = kLaneRows> struct Operand {
  static constexpr i32 kCount =
      kParts<Element> * (sizeof(Element) == 1 ? 2 : 1);
  Part part[Rows][kCount];
};

/// Two e4m3 codes as f16. `magnitudes` has the bits below the sign, each in
/// bits 7 to 13 of its half: read as an f16 that is the value times 2^-8,
/// denormals included. `signs` has the signs in bit 15 and may have more. A
/// NaN, all bits of the code set, carries into bit 14 when a unit is added:
/// with that bit the exponent is an f16's NaN.
WINNOW_DEVICE u32 half_pair(u32 magnitudes, u32 signs) {
  magnitudes &= 0x3f803f80u;
  const u32 bits = magnitudes | ((magnitudes + 0x00800080u) & 0x40004000u) |
                   (signs & 0x80008000u);
  const f16x2 scale = 256;
  return __builtin_bit_cast(u32, __builtin_bit_cast(f16x2, bits) * scale);
}

template <class Element, i32 Rows>
WINNOW_DEVICE Operand<Element, Rows>
operand_of(const Fragment<Element, Rows> &fragment) {
  Operand<Element, Rows> operand;
#pragma unroll
  for (i32 j = 0; j < Rows; ++j)
#pragma unroll
    for (i32 p = 0; p < kParts<Element>; ++p)
      if constexpr (sizeof(Element) == 1) {
        // Of each word first the bytes at even places, then those at odd ones:
        // queries and keys agree in their order.
        const Part codes = fragment.part[j][p];
#pragma unroll
        for (i32 i = 0; i < 4; ++i) {
          const u32 four = codes[i];
          operand.part[j][2 * p + i / 2][i % 2 * 2] =
              half_pair(four << 7, four << 8);
          operand.part[j][2 * p + i / 2][i % 2 * 2 + 1] =
              half_pair(four >> 1, four);
        }
      } else {
        operand.part[j][p] = fragment.part[j][p];
      }
  return operand;
}

/// rows * columns + sum: v_mfma_f32_16x16x16_{f16,bf16} cover 16 elements, so
/// half of a part of each of the four lanes that share a row (CDNA3 ISA,
/// "Matrix core").
WINNOW_DEVICE f32x4 multiply_halves(Part row, Part column, f32x4 sum) {
  const f16x8 a = __builtin_bit_cast(f16x8, row);
  const f16x8 b = __builtin_bit_cast(f16x8, column);
  sum = __builtin_amdgcn_mfma_f32_16x16x16f16(a.lo, b.lo, sum, 0, 0, 0);
  return __builtin_amdgcn_mfma_f32_16x16x16f16(a.hi, b.hi, sum, 0, 0, 0);
}
WINNOW_DEVICE f32x4 multiply_tile(const Operand<u8> &rows,
                                  const Operand<u8> &columns, f32x4 sum) {
#pragma unroll
  for (i32 p = 0; p < Operand<u8>::kCount; ++p)
    sum = multiply_halves(rows.part[0][p], columns.part[0][p], sum);
  return sum;
}
WINNOW_DEVICE f32x4 multiply_tile(const Operand<f16> &rows,
                                  const Operand<f16> &columns, f32x4 sum) {
#pragma unroll
  for (i32 p = 0; p < Operand<f16>::kCount; ++p)
    sum = multiply_halves(rows.part[0][p], columns.part[0][p], sum);
  return sum;
}
WINNOW_DEVICE f32x4 multiply_tile(const Operand<bf16> &rows,
                                  const Operand<bf16> &columns, f32x4 sum) {
#pragma unroll
  for (i32 p = 0; p < Operand<bf16>::kCount; ++p) {
    const i16x8 a = __builtin_bit_cast(i16x8, rows.part[0][p]);
    const i16x8 b = __builtin_bit_cast(i16x8, columns.part[0][p]);
    sum = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a.lo, b.lo, sum, 0, 0, 0);
    sum = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a.hi, b.hi, sum, 0, 0, 0);
  }
  return sum;
}

} // namespace winnow
