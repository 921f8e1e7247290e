// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks that are kept whatever their score.
//
// A shape states:
//   kInitBlocks, kLocalBlocks   blocks that are always kept, at either end
#pragma once

#include "winnow/arch/portable.h"

namespace winnow {

/// Scores that no sum of 128 fp8 products reaches (448 * 448 * 128 < 2^25).
/// Sums of 16-bit products may be larger; the order is then that of the values.
inline constexpr float kLocalScore = 1e29f;
inline constexpr float kInitScore = 1e30f;

/// Replaces the score of a block that is always kept: local before init.
/// `task.block_count` is nb(n) of the row that the lane has the score of.
template <class Score, class Task>
WINNOW_DEVICE float force(float best, const Task &task, i32 block) {
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

} // namespace winnow
