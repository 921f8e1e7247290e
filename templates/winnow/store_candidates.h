// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a rank hands to the others: the blocks that it selected, and the score
// of each.
//
// A shape states what selection_store.h needs, except kIdPad.
#pragma once

#include "winnow/select_rank.h"

namespace winnow {

/// Lane k writes the k-th block of row n and head h, and its score, read once
/// more from the shard's column; -1 and -inf past the last. A NaN counts as
/// -inf, so -inf is what the others get. Strides in elements.
template <class Select>
WINNOW_DEVICE void
store_candidates(i32 selected, const SelectRow &row, const float *score,
                 i64 score_head_stride, i32 *ids, i64 id_head_stride,
                 i64 id_row_stride, float *scores, i64 score_out_head_stride,
                 i64 score_out_row_stride) {
  const i32 lane = lane_index();
  if (lane >= Select::kTopK)
    return;
  float best = kNoScore;
  if (selected != kNoBlock) {
    const float *columns = score + row.head * score_head_stride +
                           i64(row.row) * Select::kScoreStride;
    const float own = columns[column_of_block<Select>(selected)];
    best = own == own ? own : kNoScore;
  }
  ids[row.head * id_head_stride + row.row * id_row_stride + lane] = selected;
  scores[row.head * score_out_head_stride + row.row * score_out_row_stride +
         lane] = best;
}

} // namespace winnow
