// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a rank hands to the others: the blocks that it selected, and the score
// of each.
//
// A shape states what selection_store.h needs, except kIdPad.
#pragma once

#include "winnow/select_rank.h"

namespace winnow {

/// Writes the k-th block of row n and head h, and its score, read once more
/// from the shard's column; -1 and -inf past the last. A NaN counts as -inf, so
/// -inf is what the others get. Strides in elements.
template <class Select>
WINNOW_DEVICE void
store_candidates(const Selection<Select> &selected, const SelectRow &row,
                 const float *score, i64 score_head_stride, i32 *ids,
                 i64 id_head_stride, i64 id_row_stride, float *scores,
                 i64 score_out_head_stride, i64 score_out_row_stride) {
  const float *columns = score + stride_to(row.head, score_head_stride) +
                         stride_to(row.row, Select::kScoreStride);
  ids +=
      stride_to(row.head, id_head_stride) + stride_to(row.row, id_row_stride);
  scores += stride_to(row.head, score_out_head_stride) +
            stride_to(row.row, score_out_row_stride);
#pragma unroll
  for (i32 j = 0; j < kKeptPerLane<Select>; ++j) {
    const i32 k = j * kWaveLanes + lane_index();
    const i32 block = selected.block[j];
    if (k >= Select::kTopK)
      continue;
    float best = kNoScore;
    if (block != kNoBlock) {
      const float own = element(columns, column_of_block<Select>(block));
      best = own == own ? own : kNoScore;
    }
    element(ids, k) = block;
    element(scores, k) = best;
  }
}

} // namespace winnow
