// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the scores of ragged rows go.
//
// A shape states, besides what ragged_task.h needs:
//   kScoreStride   elements from one row of scores to the next: at least the
//                  shard's blocks
#pragma once

#include "winnow/ragged_task.h"

namespace winnow {

/// Stores the block's score for every row that sees it. Entries past a row's
/// reach stay as they were.
template <class Score>
WINNOW_DEVICE void store_ragged_score(float *score, i64 score_head_stride,
                                      float best, const RaggedTask<Score> &task,
                                      i32 block) {
  static_assert(Score::kScoreStride >= kShardBlocks<Score>,
                "a row of scores holds every block");
  float *scores = score + task.head * score_head_stride +
                  i64(task.row) * Score::kScoreStride;
  if (block < task.block_count)
    scores[column_of_block<Score>(block)] = best;
}

} // namespace winnow
