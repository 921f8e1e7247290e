// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What becomes of a block's score once its maximum is known.
//
// A shape states, besides what score_walk.h needs:
//   kInitBlocks, kLocalBlocks   blocks that are always kept, at either end
//   kScoreStride                elements from one row of scores to the next
#pragma once

#include "winnow/score_walk.h"

namespace winnow {

/// Scores that no sum of 128 fp8 products reaches (448 * 448 * 128 < 2^25).
inline constexpr float kLocalScore = 1e29f;
inline constexpr float kInitScore = 1e30f;

/// Replaces the score of a block that is always kept: local before init.
template <class Score>
WINNOW_DEVICE float force(float best, const ScoreTask<Score> &task, i32 block) {
  static_assert(Score::kInitBlocks >= 0 && Score::kLocalBlocks >= 0,
                "counts of forced blocks are not negative");
  if constexpr (Score::kInitBlocks > 0)
    if (block < Score::kInitBlocks)
      best = kInitScore;
  if constexpr (Score::kLocalBlocks > 0)
    if (block >= task.block_count - Score::kLocalBlocks)
      best = kLocalScore;
  return best;
}

/// Stores the block's score for every row that sees it. Entries past a row's
/// reach stay as they were.
template <class Score>
WINNOW_DEVICE void store_score(float *score, i64 score_head_stride, float best,
                               const ScoreTask<Score> &task, i32 block) {
  static_assert(Score::kScoreStride >= Score::kMaxBlocks,
                "a row of scores holds every block");
  const i32 t = task.query / Score::kHeads;
  const i32 head = task.query % Score::kHeads;
  const i64 row = i64(task.request) * Score::kQueryLen + t;
  float *scores = score + head * score_head_stride + row * Score::kScoreStride;
  if (block < task.block_count)
    scores[block] = best;
}

} // namespace winnow
