// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The selected block ids, as the attention reads them.
//
// A shape states, besides what select_row.h needs:
//   kTopK    ids a row
//   kIdPad   what fills a row with fewer blocks, -1
#pragma once

#include "winnow/select_rank.h"

namespace winnow {

/// Writes the k-th id of row n and head h at h * idx_head_stride + n *
/// idx_row_stride + k: strides in elements, for head-major and token-major
/// buffers and for slices of larger ones.
template <class Select>
WINNOW_DEVICE void store_selection(const Selection<Select> &selected,
                                   const SelectRow &row, i32 *idx,
                                   i64 idx_head_stride, i64 idx_row_stride) {
  i32 *ids = idx + stride_to(row.head, idx_head_stride) +
             stride_to(row.row, idx_row_stride);
#pragma unroll
  for (i32 j = 0; j < kKeptPerLane<Select>; ++j) {
    const u32 k = j * kWaveLanes + lane_index();
    const i32 block = selected.block[j];
    if (k < Select::kTopK)
      element(ids, k) = block == kNoBlock ? Select::kIdPad : block;
  }
}

} // namespace winnow
