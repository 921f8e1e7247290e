// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The matrix cores, one interface for every element type: 16 rows of 128
// elements times 16 columns of 128 elements.
//
// v_mfma_f32_16x16x128_f8f6f4 covers 128 fp8 elements at once,
// v_mfma_f32_16x16x32_{bf16,f16} 32 elements (CDNA4 ISA, "Matrix core"). In
// either, lane l holds part of row (A) or column (B) l % 16, and result
// register i of lane l is row 4 * (l / 16) + i of column l % 16. Which part a
// lane holds does not matter as long as A and B agree, because the sum over
// them is the same: here 16 bytes from 64 * p + 16 * (l / 16) on for each part
// p, so that a load of 16 bytes a lane covers 64 consecutive bytes of 16 rows.
#pragma once

#include "winnow/base.h"

namespace winnow {

/// Rows and columns of one matrix instruction.
inline constexpr i32 kMatrixRows = 16;

/// Elements of a query or key that the matrix instructions here cover.
inline constexpr i32 kMatrixDepth = 128;

template <class Element>
inline constexpr i32 kRowBytes =
    kMatrixDepth * static_cast<i32>(sizeof(Element));

/// Bytes of a row between the parts of one lane.
inline constexpr i32 kPartBytes = 64;

template <class Element>
inline constexpr i32 kParts = kRowBytes<Element> / kPartBytes;

/// One lane's share of 16 rows or columns.
template <class Element> struct Fragment {
  i32x4 part[kParts<Element>];
};

/// The byte at which a lane's first 16 bytes of a row begin.
WINNOW_DEVICE i32 lane_row_offset() { return lane_index() / 16 * 16; }

/// rows * columns + sum. Format selectors 0 are fp8 e4m3 (OCP) for both
/// operands; scale operands that are the constant 0 select the instruction
/// without scales.
WINNOW_DEVICE f32x4 multiply(const Fragment<u8> &rows,
                             const Fragment<u8> &columns, f32x4 sum) {
  const i32x8 a = __builtin_shufflevector(rows.part[0], rows.part[1], 0, 1, 2,
                                          3, 4, 5, 6, 7);
  const i32x8 b = __builtin_shufflevector(columns.part[0], columns.part[1], 0,
                                          1, 2, 3, 4, 5, 6, 7);
  return __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a, b, sum, 0, 0, 0, 0,
                                                          0, 0);
}
WINNOW_DEVICE f32x4 multiply(const Fragment<bf16> &rows,
                             const Fragment<bf16> &columns, f32x4 sum) {
#pragma unroll
  for (i32 p = 0; p < kParts<bf16>; ++p)
    sum = __builtin_amdgcn_mfma_f32_16x16x32_bf16(
        __builtin_bit_cast(bf16x8, rows.part[p]),
        __builtin_bit_cast(bf16x8, columns.part[p]), sum, 0, 0, 0);
  return sum;
}
WINNOW_DEVICE f32x4 multiply(const Fragment<f16> &rows,
                             const Fragment<f16> &columns, f32x4 sum) {
#pragma unroll
  for (i32 p = 0; p < kParts<f16>; ++p)
    sum = __builtin_amdgcn_mfma_f32_16x16x32_f16(
        __builtin_bit_cast(f16x8, rows.part[p]),
        __builtin_bit_cast(f16x8, columns.part[p]), sum, 0, 0, 0);
  return sum;
}

/// The larger of two numbers of which neither is NaN. v_med3_f32 with +inf as
/// the third operand takes one instruction; before maxnum the compiler would
/// quiet signalling NaNs, because it cannot see that a swizzled register holds
/// none. It must not see the constant, or it makes a maxnum of it.
WINNOW_DEVICE float max_of_numbers(float a, float b) {
  float largest = __builtin_huge_valf();
  __asm__("" : "+s"(largest));
  return __builtin_amdgcn_fmed3f(a, b, largest);
}

} // namespace winnow
