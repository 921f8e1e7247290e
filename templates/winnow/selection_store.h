// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The selected block ids, as the attention reads them.
//
// A shape states, besides what select_row.h needs:
//   kTopK    ids a row
//   kIdPad   what fills a row with fewer blocks, -1
#pragma once

#include "winnow/select_rank.h"

namespace winnow {

/// Lane k writes the k-th id of row n and head h, at h * idx_head_stride +
/// n * idx_row_stride + k: strides in elements, for head-major and token-major
/// buffers and for slices of larger ones.
template <class Select>
WINNOW_DEVICE void store_selection(i32 selected, const SelectRow &row, i32 *idx,
                                   i64 idx_head_stride, i64 idx_row_stride) {
  const i32 lane = lane_index();
  i32 *ids = idx + row.head * idx_head_stride + row.row * idx_row_stride;
  if (lane < Select::kTopK)
    ids[lane] = selected == kNoBlock ? Select::kIdPad : selected;
}

} // namespace winnow
