// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gfx950 (CDNA4): matrix instructions of 128 fp8 or 32 16-bit elements, and
// swaps between rows of lanes.
#pragma once

#include "winnow/arch/cdna.h"

namespace winnow {

using i32x8 = i32 __attribute__((ext_vector_type(8)));
using bf16x8 = __bf16 __attribute__((ext_vector_type(8)));
using f16x8 = _Float16 __attribute__((ext_vector_type(8)));

// --- Between rows of lanes ---

/// v_permlane32_swap exchanges the upper half of its first register with the
/// lower half of its second, v_permlane16_swap the odd rows of the first with
/// the even rows of the second (CDNA4 ISA, VOP1).
WINNOW_DEVICE u32x2 swap_halves(u32 a, u32 b) {
  return __builtin_amdgcn_permlane32_swap(a, b, false, false);
}
WINNOW_DEVICE u32x2 swap_rows(u32 a, u32 b) {
  return __builtin_amdgcn_permlane16_swap(a, b, false, false);
}

/// The larger of two numbers in the registers of a swap: the lanes that kept
/// the first have the maximum of it and its other half, the others that of the
/// second.
WINNOW_DEVICE float max_of_pair(u32x2 pair) {
  // Copies, as a bit cast of a vector's element takes the vector's first.
  const u32 x = pair.x, y = pair.y;
  return max_of_numbers(float_of_bits(x), float_of_bits(y));
}
WINNOW_DEVICE float join_halves(float a, float b) {
  return max_of_pair(swap_halves(bits_of_float(a), bits_of_float(b)));
}
WINNOW_DEVICE float join_rows(float a, float b) {
  return max_of_pair(swap_rows(bits_of_float(a), bits_of_float(b)));
}

/// The maximum of each number over the four lanes that share a place in their
/// row of 16; number i is left in the i-th of `Tiles` groups of lanes.
template <i32 Tiles>
WINNOW_DEVICE float join_tiles(const TileMaxima<Tiles> &best) {
  const float even = join_halves(best.of[0], best.of[Tiles / 2]);
  if constexpr (Tiles == 4)
    return join_rows(even, join_halves(best.of[1], best.of[3]));
  return join_rows(even, even);
}

// --- Matrix units ---

/// The matrix unit takes rows as they are in memory.
template <class Element, i32 Rows = kLaneRows>
using Operand = Fragment<Element, Rows>;
template <class Element, i32 Rows>
WINNOW_DEVICE Operand<Element, Rows>
operand_of(const Fragment<Element, Rows> &fragment) {
  return fragment;
}

/// rows * columns + sum. v_mfma_f32_16x16x128_f8f6f4 covers 128 fp8 elements
/// at once, v_mfma_f32_16x16x32_{bf16,f16} 32 elements (CDNA4 ISA, "Matrix
/// core"). Format selectors 0 are fp8 e4m3 (OCP) for both operands; scale
/// operands that are the constant 0 select the instruction without scales.
WINNOW_DEVICE f32x4 multiply_tile(const Fragment<u8> &rows,
                                  const Fragment<u8> &columns, f32x4 sum) {
  const Part(&a)[2] = rows.part[0], (&b)[2] = columns.part[0];
  return __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(
      __builtin_shufflevector(a[0], a[1], 0, 1, 2, 3, 4, 5, 6, 7),
      __builtin_shufflevector(b[0], b[1], 0, 1, 2, 3, 4, 5, 6, 7), sum, 0, 0, 0,
      0, 0, 0);
}
WINNOW_DEVICE f32x4 multiply_tile(const Fragment<bf16> &rows,
                                  const Fragment<bf16> &columns, f32x4 sum) {
#pragma unroll
  for (i32 p = 0; p < kParts<bf16>; ++p)
    sum = __builtin_amdgcn_mfma_f32_16x16x32_bf16(
        __builtin_bit_cast(bf16x8, rows.part[0][p]),
        __builtin_bit_cast(bf16x8, columns.part[0][p]), sum, 0, 0, 0);
  return sum;
}
WINNOW_DEVICE f32x4 multiply_tile(const Fragment<f16> &rows,
                                  const Fragment<f16> &columns, f32x4 sum) {
#pragma unroll
  for (i32 p = 0; p < kParts<f16>; ++p)
    sum = __builtin_amdgcn_mfma_f32_16x16x32_f16(
        __builtin_bit_cast(f16x8, rows.part[0][p]),
        __builtin_bit_cast(f16x8, columns.part[0][p]), sum, 0, 0, 0);
  return sum;
}

} // namespace winnow
