// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which blocks a wave scores and where they lie in the key cache.
// Grid: (kChunks, requests), one request a workgroup. Wave w of chunk x takes
// the logical blocks x * kWaves + w, then every kChunks * kWaves-th.
//
// A shape states, besides what rows.h needs:
//   kHeads    index heads; column t * kHeads + h of the matrix instruction is
//             head h of row t
//   kChunks   workgroups a request (grid x)
//   kWaves    waves a workgroup
#pragma once

#include "winnow/rows.h"

namespace winnow {

/// The matrix instruction's columns: one for each (row, head) of a request.
constexpr i32 kColumns = 16;

/// What one wave has to do. Scalar members are the same in all lanes.
template <class Score> struct ScoreTask {
  i32 request;     ///< scalar
  i32 first_block; ///< scalar: the wave's first block
  i32 reach;       ///< scalar: blocks that the request's last row sees
  i32 seen_by_all; ///< scalar: tokens that every row sees
  i32 column;      ///< this lane's column, t * kHeads + h
  i32 visible;     ///< c(n) of this lane's column; 0 past the last column
  i32 block_count; ///< nb(n) of this lane's column
};

template <class Score>
WINNOW_DEVICE ScoreTask<Score> score_task(const i32 *seq_lens) {
  constexpr i32 columns = Score::kHeads * Score::kQueryLen;
  static_assert(Score::kHeads >= 1 && columns <= kColumns,
                "index heads x query length have to fit in 16 columns");
  static_assert(Score::kChunks >= 1 && Score::kWaves >= 1 &&
                    Score::kWaves <= 16,
                "a workgroup has 1 to 16 waves");
  ScoreTask<Score> task;
  task.request = __builtin_amdgcn_workgroup_id_y();
  task.first_block =
      __builtin_amdgcn_workgroup_id_x() * Score::kWaves + wave_index();
  const i32 length = load_uniform(seq_lens, task.request);
  task.reach =
      block_count<Score>(causal_length<Score>(length, Score::kQueryLen - 1));
  task.seen_by_all = causal_length<Score>(length, 0);
  task.column = lane_index() % kColumns;
  const i32 t = task.column / Score::kHeads;
  task.visible = task.column < columns ? causal_length<Score>(length, t) : 0;
  task.block_count = block_count<Score>(task.visible);
  return task;
}

/// The wave's blocks in turn. Each table entry is read one step ahead; entries
/// past the request's reach are never read.
template <class Score> class PageWalk {
public:
  WINNOW_DEVICE PageWalk(const ScoreTask<Score> &task, const i32 *index_table,
                         i64 index_table_stride)
      : block(task.first_block),
        entries_(index_table + task.request * index_table_stride),
        reach_(task.reach), seen_by_all_(task.seen_by_all) {
    if (more()) {
      page = load_uniform(entries_, block);
      read_ahead();
    }
  }

  WINNOW_DEVICE bool more() const { return block < reach_; }

  WINNOW_DEVICE void next() {
    block += kStep;
    page = next_page_;
    if (more())
      read_ahead();
  }

  /// Whether the block is in memory; a negative entry says that it is not.
  WINNOW_DEVICE bool mapped() const { return page >= 0; }

  /// Whether some row does not see all of the block's tokens.
  WINNOW_DEVICE bool partial() const {
    return (block + 1) * Score::kBlockSize > seen_by_all_;
  }

  i32 block;    ///< scalar: the logical block
  i32 page = 0; ///< scalar: where it lies in the cache; negative if nowhere

private:
  static constexpr i32 kStep = Score::kChunks * Score::kWaves;

  /// On the last step this reads the row's last entry again, which costs less
  /// than a branch.
  WINNOW_DEVICE void read_ahead() {
    next_page_ = load_uniform(entries_, min(block + kStep, reach_ - 1));
  }

  const i32 *entries_;
  i32 reach_;
  i32 seen_by_all_;
  i32 next_page_ = 0;
};

} // namespace winnow
