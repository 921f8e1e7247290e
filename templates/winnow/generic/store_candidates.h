// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a rank hands to the others: the blocks that it selected, and the score
// of each.
//
// A shape states what select_row.h needs.
#pragma once

#include "winnow/generic/sort_kept.h"

namespace winnow::generic {

/// Writes the blocks of row n and head h and their scores, -1 and -inf past
/// the last. A NaN counts as -inf, so -inf is what the others get. Strides in
/// elements.
template <class Select>
WINNOW_DEVICE void
store_candidates(const SelectRow &row, const SelectStorage<Select> &storage,
                 const float *score, i64 score_head_stride, i32 *ids,
                 i64 id_head_stride, i64 id_row_stride, float *scores,
                 i64 score_out_head_stride, i64 score_out_row_stride) {
  const ScoreRow<Select> source =
      score_row<Select>(score, score_head_stride, row);
  ids += row.head * id_head_stride + row.row * id_row_stride;
  scores += row.head * score_out_head_stride + row.row * score_out_row_stride;
  const i32 kept = kept_blocks(storage);
  for (i32 i = thread_index(); i < Select::kTopK; i += Select::kThreads) {
    i32 block = -1;
    float best = kNoScore;
    if (i < kept) {
      block = selected_block<Select>(storage, i);
      const float own = source.scores[column_of_block<Select>(block)];
      best = own == own ? own : kNoScore;
    }
    ids[i] = block;
    scores[i] = best;
  }
}

} // namespace winnow::generic
