// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The selected block ids, as the attention reads them.
//
// A shape states, besides what select_row.h needs:
//   kIdPad   what fills a row with fewer blocks
#pragma once

#include "winnow/generic/sort_kept.h"

namespace winnow::generic {

/// Writes the ids of row n and head h at h * idx_head_stride +
/// n * idx_row_stride: strides in elements, for head-major and token-major
/// buffers and for slices of larger ones.
template <class Select>
WINNOW_DEVICE void
store_selection(const SelectRow &row, const SelectStorage<Select> &storage,
                i32 *idx, i64 idx_head_stride, i64 idx_row_stride) {
  i32 *ids = idx + row.head * idx_head_stride + row.row * idx_row_stride;
  const i32 kept = kept_blocks(storage);
  for (i32 i = thread_index(); i < Select::kTopK; i += Select::kThreads)
    ids[i] = i < kept ? selected_block<Select>(storage, i) : Select::kIdPad;
}

} // namespace winnow::generic
