// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the scores of uniform rows go.
//
// A shape states, besides what score_walk.h needs:
//   kScoreStride   elements from one row of scores to the next: at least the
//                  shard's blocks
#pragma once

#include "winnow/score_walk.h"

namespace winnow {

/// Stores the block's score for every row that sees it. Entries past a row's
/// reach stay as they were.
template <class Score>
WINNOW_DEVICE void store_score(float *score, i64 score_head_stride, float best,
                               const ScoreTask<Score> &task, i32 block) {
  static_assert(Score::kScoreStride >= kShardBlocks<Score>,
                "a row of scores holds every block");
  const i32 t = task.query / Score::kHeads;
  const i32 head = task.query % Score::kHeads;
  const i64 row = i64(task.request) * Score::kQueryLen + t;
  float *scores = score + head * score_head_stride + row * Score::kScoreStride;
  if (block < task.block_count)
    scores[column_of_block<Score>(block)] = best;
}

} // namespace winnow
