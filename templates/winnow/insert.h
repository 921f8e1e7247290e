// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// insert_keys: new tokens into a key cache, converted to its number format.
//
// A shape states:
//   kHeadDim     elements of a key, a multiple of 8
//   kBlockSize   tokens of a block
//   kThreads     lanes a workgroup
#pragma once

#include "winnow/convert.h"

namespace winnow {

/// Each lane converts 8 elements of one token. A negative slot is skipped, and
/// its key is not read.
template <class Shape, class From, class To>
WINNOW_DEVICE void insert_keys(const From *keys, i64 key_stride, i64 count,
                               const i32 *slots, To *cache, i64 page_stride,
                               i64 token_stride) {
  constexpr i32 run = 8, runs = Shape::kHeadDim / run;
  static_assert(Shape::kHeadDim % run == 0, "head dims are multiples of 8");
  const i64 lane = i64(workgroup_x()) * Shape::kThreads + thread_index();
  const i64 token = lane / runs;
  if (token >= count)
    return;
  const i32 slot = slots[token];
  if (slot < 0)
    return;
  const i64 first = lane % runs * run;
  const From *from = keys + token * key_stride + first;
  // 64 bits: a cache may pass 2^31 elements.
  To *to = cache + i64(slot / Shape::kBlockSize) * page_stride +
           i64(slot % Shape::kBlockSize) * token_stride + first;
#pragma unroll
  for (i32 d = 0; d < run; ++d)
    narrow_to(widen(from[d]), to[d]);
}

} // namespace winnow
