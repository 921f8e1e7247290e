// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which blocks a wave scores and where they lie in the key cache.
// Grid: (kChunks, requests), one request a workgroup. Wave w of chunk x takes
// the logical blocks x * kWaves + w, then every kChunks * kWaves-th.
//
// A shape states, besides what rows.h needs:
//   kHeads    index heads; kHeads * kQueryLen is at most 16
//   kChunks   workgroups a request (grid x)
//   kWaves    waves a workgroup
// and what shard.h needs. Of a shard's blocks wave w takes every
// kChunks * kWaves-th.
#pragma once

#include "winnow/matrix.h"
#include "winnow/rows.h"
#include "winnow/shard.h"
#include "winnow/wave.h"

namespace winnow {

/// The queries of a request; each takes one of the matrix's 16 rows. Query
/// t * kHeads + h is head h of the request's row t.
template <class Score>
inline constexpr i32 kQueries = Score::kHeads * Score::kQueryLen;

/// Result registers that hold a query in some lane.
template <class Score>
inline constexpr i32 kResults = (kQueries<Score> + 3) / 4;

/// Where queries sit in the matrix. Result register i of the lanes 16 * g to
/// 16 * g + 15 is row 4 * g + i; query 4 * i + g lies there, so that up to four
/// queries need one result register, up to eight need two.
WINNOW_DEVICE constexpr i32 query_of_row(i32 matrix_row) {
  return matrix_row % 4 * 4 + matrix_row / 4;
}

/// The result register whose maximum a lane ends up with: reduce() parts them
/// by bit 3 of the lane number, then by bit 2.
WINNOW_DEVICE constexpr i32 result_of_lane(i32 lane) {
  return lane / 8 % 2 + lane / 4 % 2 * 2;
}

/// What one wave has to do. Scalar members are the same in all lanes.
template <class Score> struct ScoreTask {
  i32 request;     ///< scalar
  i32 first_block; ///< scalar: the wave's first block
  i32 reach;       ///< scalar: blocks that the request's last row sees
  i32 full_blocks; ///< scalar: blocks that every row sees whole
  /// c(n) of the query in result register i of this lane.
  i32 visible[kResults<Score>];
  /// The query whose score this lane ends up with, and nb(n) of its row: 0 in
  /// lanes that do not store it.
  i32 query;
  i32 block_count;
};

template <class Score>
WINNOW_DEVICE ScoreTask<Score> score_task(const i32 *seq_lens) {
  static_assert(Score::kHeads >= 1 && kQueries<Score> <= kMatrixRows,
                "index heads x query length are at most 16");
  static_assert(Score::kChunks >= 1 && Score::kWaves >= 1 &&
                    Score::kWaves <= 16,
                "a workgroup has 1 to 16 waves");
  ScoreTask<Score> task;
  task.request = __builtin_amdgcn_workgroup_id_y();
  task.first_block = block_of_column<Score>(
      __builtin_amdgcn_workgroup_id_x() * Score::kWaves + wave_index());
  const i32 length = load_uniform(seq_lens, task.request);
  task.reach =
      block_count<Score>(causal_length<Score>(length, Score::kQueryLen - 1));
  task.full_blocks =
      read_first_lane(causal_length<Score>(length, 0)) / Score::kBlockSize;

  const i32 lane = lane_index(), group = lane / 16;
  for (i32 i = 0; i < kResults<Score>; ++i)
    task.visible[i] =
        causal_length<Score>(length, (4 * i + group) / Score::kHeads);
  task.query = 4 * result_of_lane(lane) + group;
  const bool stores = lane % 4 == 0 && task.query < kQueries<Score>;
  const i32 visible = causal_length<Score>(length, task.query / Score::kHeads);
  task.block_count = stores ? block_count<Score>(visible) : 0;
  return task;
}

/// The wave's blocks in turn. The lanes hold the table entries of the next 64:
/// one load for all of them, long before the pages are needed. Entries past the
/// request's reach are never read.
template <class Score> class PageWalk {
public:
  WINNOW_DEVICE PageWalk(const ScoreTask<Score> &task, const i32 *index_table,
                         i64 index_table_stride)
      : block(task.first_block),
        table_(index_table + task.request * index_table_stride),
        reach_(task.reach), full_blocks_(task.full_blocks) {
    load_entries();
  }

  WINNOW_DEVICE bool more() const { return block < reach_; }

  WINNOW_DEVICE void next() {
    block += kStep;
    ++step_;
    if (Score::kMaxBlocks > kStep * kWaveLanes && step_ == kWaveLanes)
      load_entries();
    else
      page = read_lane(entries_, step_);
  }

  /// Whether the block is in memory; a negative entry says that it is not.
  WINNOW_DEVICE bool mapped() const { return page >= 0; }

  /// Whether some row does not see all of the block's tokens.
  WINNOW_DEVICE bool partial() const { return block >= full_blocks_; }

  i32 block; ///< scalar: the logical block
  i32 page;  ///< scalar: where it lies in the cache; negative if nowhere

private:
  static constexpr i32 kStep =
      Score::kChunks * Score::kWaves * Score::kShardWorld;

  /// The first entry is taken out at once, so that later steps need not wait
  /// for memory.
  WINNOW_DEVICE void load_entries() {
    const i32 mine = block + lane_index() * kStep;
    entries_ = mine < reach_ ? table_[mine] : -1;
    step_ = 0;
    page = read_lane(entries_, 0);
  }

  const i32 *table_;
  i32 reach_;
  i32 full_blocks_;
  i32 step_;
  u32 entries_;
};

} // namespace winnow
