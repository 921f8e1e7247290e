// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rebase_table and rebase_slots: numbers of one side become numbers of a cache
// that interleaves several sides of a block.
//
// A shape states:
//   kSides       sides of a block, at least 1
//   kBlockSize   (slots) tokens of a block
//   kChunks      (tables) workgroups a row
//   kThreads     lanes a workgroup
#pragma once

#include "winnow/arch/portable.h"

namespace winnow {

/// Workgroup (x, y) scales the entries of row x from y * threads on, in steps
/// of all chunks' threads. Unsigned, as what no row reaches may be anything.
/// `in` and `out` may be the same: each entry is read before it is written, by
/// the one lane that has it.
template <class Shape>
WINNOW_DEVICE void rebase_table(const i32 *in, i64 in_stride, i64 columns,
                                i32 *out, i64 out_stride) {
  constexpr i32 threads = Shape::kThreads;
  const i64 row = workgroup_x();
  const i64 first = i64(workgroup_y()) * threads + thread_index();
  for (i64 j = first; j < columns; j += i64(Shape::kChunks) * threads)
    out[row * out_stride + j] = static_cast<i32>(
        static_cast<u32>(in[row * in_stride + j]) * u32(Shape::kSides));
}

/// Lane i of the launch moves slot i to its block's first side; a negative
/// slot stays as it is.
template <class Shape>
WINNOW_DEVICE void rebase_slots(const i32 *in, i64 count, i32 *out) {
  const i64 i = i64(workgroup_x()) * Shape::kThreads + thread_index();
  if (i >= count)
    return;
  const i32 slot = in[i];
  const u32 start = slot < 0 ? 0u
                             : static_cast<u32>(slot) / u32(Shape::kBlockSize) *
                                   u32(Shape::kBlockSize);
  out[i] =
      static_cast<i32>(static_cast<u32>(slot) + start * u32(Shape::kSides - 1));
}

} // namespace winnow
