// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Block scores without matrix instructions: a lane takes a token's key through
// the dot products with all queries of the group, the workgroup reduces over
// the tokens of each block.
//
// A shape states, besides what score_task.h needs:
//   kReduction                  what becomes of a block's tokens (below)
//   kInitBlocks, kLocalBlocks   blocks that are always kept, at either end
//   kScoreStride                elements from one row of scores to the next: at
//                               least the shard's blocks
#pragma once

#include "winnow/generic/score_task.h"

namespace winnow::generic {

/// A shape's kReduction.
inline constexpr i32 kMax = 0;  ///< a NaN product is passed over
inline constexpr i32 kSum = 1;  ///< a NaN product makes the score NaN
inline constexpr i32 kMean = 2; ///< the sum by the tokens that the row sees

/// Scores of forced blocks. Ordinary ones may be larger in bf16, where the
/// description's author has to know what to do with such scores.
inline constexpr float kLocalScore = 1e29f;
inline constexpr float kInitScore = 1e30f;

template <class Score>
inline constexpr float kNothing = Score::kReduction == kMax ? kNoScore : 0.0f;

template <class Score> WINNOW_DEVICE float combine(float a, float b) {
  if constexpr (Score::kReduction == kMax)
    return b > a ? b : a; // not for a NaN b
  return a + b;
}

/// The dot products of one key with all queries of the group.
template <class Score>
WINNOW_DEVICE void multiply(const u8 *key, const ScoreStorage<Score> &storage,
                            float (&product)[Score::kQueryGroup]) {
#pragma unroll
  for (i32 i = 0; i < Score::kQueryGroup; ++i)
    product[i] = 0.0f;
#pragma unroll 1
  for (i32 d = 0; d < Score::kHeadDim; d += kVector) {
    float values[kVector];
    load_vector<Score::kFormat>(key + d * kBytes<Score::kFormat>, values);
#pragma unroll
    for (i32 i = 0; i < Score::kQueryGroup; ++i)
#pragma unroll
      for (i32 j = 0; j < kVector; ++j)
        product[i] =
            multiply_add(values[j], storage.query[i][d + j], product[i]);
  }
}

/// Leaves in `partial` what this lane's tokens of `block` come to.
template <class Score>
WINNOW_DEVICE void score_tokens(const u8 *keys, i64 key_page_stride,
                                i64 key_token_stride, i32 page, i32 block,
                                const ScoreTask<Score> &task,
                                ScoreStorage<Score> &storage) {
  float best[Score::kQueryGroup];
#pragma unroll
  for (i32 i = 0; i < Score::kQueryGroup; ++i)
    best[i] = kNothing<Score>;
  if (page >= 0) {
    // Tokens are counted within the block: the number of the last one past a
    // row's end might not fit 32 bits.
    const i32 first = block * Score::kBlockSize;
    const i32 end = min(task.longest - first, Score::kBlockSize);
    for (i32 token = thread_index() % kBlockLanes<Score>; token < end;
         token += kBlockLanes<Score>) {
      const i64 element = page * key_page_stride + token * key_token_stride;
      float product[Score::kQueryGroup];
      multiply<Score>(keys + element * kBytes<Score::kFormat>, storage,
                      product);
#pragma unroll
      for (i32 i = 0; i < Score::kQueryGroup; ++i)
        if (token < task.visible[i] - first)
          best[i] = combine<Score>(best[i], product[i]);
    }
  }
#pragma unroll
  for (i32 i = 0; i < Score::kQueryGroup; ++i)
    storage.partial[i][thread_index()] = best[i];
}

/// Combines the lanes of each block; the first of them gets the result.
template <class Score>
WINNOW_DEVICE void reduce_tokens(ScoreStorage<Score> &storage) {
  constexpr i32 lanes = kBlockLanes<Score>;
  i32 step = 1;
  while (step < lanes)
    step *= 2;
  const i32 lane = thread_index() % lanes;
  const bool used = thread_index() < lanes * kRun<Score>;
  for (step /= 2; step > 0; step /= 2) {
    local_barrier();
    if (used && lane < step && lane + step < lanes)
#pragma unroll
      for (i32 i = 0; i < Score::kQueryGroup; ++i)
        storage.partial[i][thread_index()] =
            combine<Score>(storage.partial[i][thread_index()],
                           storage.partial[i][thread_index() + step]);
  }
  local_barrier();
}

/// The final score of a block from its tokens'.
template <class Score>
WINNOW_DEVICE float finish_score(float value, i32 page, i32 block,
                                 i32 visible) {
  if (page < 0)
    return kNoScore; // not in memory, forced or not
  if (block >= block_count<Score>(visible) - Score::kLocalBlocks)
    return kLocalScore;
  if (block < Score::kInitBlocks)
    return kInitScore;
  if constexpr (Score::kReduction == kMean)
    value /= static_cast<float>(
        min(visible - block * Score::kBlockSize, Score::kBlockSize));
  return value;
}

/// Scores the chunk's share of the shard for every query of the group, and
/// stores those that the query's row sees. Strides in elements.
template <class Score>
WINNOW_DEVICE void
score_blocks(const void *keys, i64 key_page_stride, i64 key_token_stride,
             const i32 *index_table, i64 index_table_stride, float *score,
             i64 score_head_stride, const ScoreTask<Score> &task,
             ScoreStorage<Score> &storage) {
  static_assert(Score::kScoreStride >= kShardBlocks<Score>,
                "a row of scores holds every block");
  constexpr i32 run = kRun<Score>;
  const i32 *table = index_table + task.request * index_table_stride;
  for (i32 first = task.chunk * run; first < task.columns;
       first += Score::kChunks * run) {
    const i32 own = thread_index() / kBlockLanes<Score>;
    const i32 block = block_of_column<Score>(first + own);
    const bool used = own < run && first + own < task.columns;
    score_tokens<Score>(static_cast<const u8 *>(keys), key_page_stride,
                        key_token_stride, used ? table[block] : -1, block, task,
                        storage);
    reduce_tokens<Score>(storage);
    // One result a lane: column i % run of the run, for query i / run.
    for (i32 i = thread_index(); i < run * Score::kQueryGroup;
         i += Score::kThreads) {
      const i32 column = first + i % run, query = task.first_query + i / run;
      const i32 block = block_of_column<Score>(column);
      if (i / run >= task.queries)
        continue;
      const i64 row = task.first_row + query / Score::kHeads;
      const i32 visible =
          causal_length<Score>(task.length, task.rows, query / Score::kHeads);
      if (block < block_count<Score>(visible))
        score[query % Score::kHeads * score_head_stride +
              row * Score::kScoreStride + column] =
            finish_score<Score>(
                storage.partial[i / run][i % run * kBlockLanes<Score>],
                table[block], block, visible);
    }
    local_barrier();
  }
}

} // namespace winnow::generic
