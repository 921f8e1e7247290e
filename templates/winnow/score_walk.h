// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which blocks a wave scores and where they lie in the key cache.
// Grid: (kChunks, requests), one request a workgroup. kSplit waves share a
// block, so that few requests are work for all of the device: team w / kSplit
// of chunk x takes the logical blocks x * kTeams + w / kSplit, then every
// kChunks * kTeams-th. Each wave of a team has some of a block's slices.
//
// A shape states, besides what rows.h needs:
//   kHeads    index heads; kHeads * kQueryLen is at most 16
//   kChunks   workgroups a request (grid x)
//   kWaves    waves a workgroup
//   kSplit    waves that share a block: at most as many as it has slices
//   kPages    blocks of a wave whose keys are in flight at once (PageWalk)
// and what shard.h needs. Of a shard's blocks a team takes every
// kChunks * kTeams-th.
#pragma once

#include "winnow/rows.h"
#include "winnow/shard.h"
#include "winnow/wave.h"

namespace winnow {

/// The queries of a request. Query t * kHeads + h is head h of the request's
/// row t.
template <class Score>
inline constexpr i32 kQueries = Score::kHeads * Score::kQueryLen;

/// The groups of waves that a workgroup's waves are, each with blocks of its
/// own, and this wave's place in its own.
template <class Score>
inline constexpr i32 kTeams = Score::kWaves / Score::kSplit;
template <class Score> WINNOW_DEVICE i32 place_in_team() {
  // Unsigned, so that the compiler sees that it is below kSplit.
  return Score::kSplit == 1 ? 0 : u32(wave_index()) % Score::kSplit;
}

/// Lanes and matrix rows without a query repeat the last one: nobody looks at
/// their scores, and of a single query nothing depends on the lane.
template <class Score> WINNOW_DEVICE i32 existing_query(i32 query) {
  return min(query, kQueries<Score> - 1);
}

/// How they and their products lie over the lanes.
template <class Score> using QueryLayout = FewQueries<kQueries<Score>>;

/// What one wave has to do. Scalar members are the same in all lanes.
template <class Score> struct ScoreTask {
  i32 request;     ///< scalar
  i32 length;      ///< scalar: tokens that the request's cache holds
  i32 first_block; ///< scalar: the wave's first block
  i32 reach;       ///< scalar: blocks that the request's last row sees
  i32 full_blocks; ///< scalar: blocks that every row sees whole
  /// c(n) of the query in slot i of this lane.
  i32 visible[QueryLayout<Score>::kSlots];
  /// The query whose score this lane ends up with, and nb(n) of its row: 0 in
  /// lanes that do not store it.
  i32 query;
  i32 block_count;
};

/// The wave's first column of scores.
template <class Score> WINNOW_DEVICE i32 first_column() {
  return workgroup_x() * kTeams<Score> + wave_index() / Score::kSplit;
}

template <class Score>
WINNOW_DEVICE ScoreTask<Score> score_task(const i32 *seq_lens) {
  static_assert(Score::kHeads >= 1 && kQueries<Score> <= kMatrixRows,
                "index heads x query length are at most 16");
  static_assert(Score::kSplit >= 1 && Score::kWaves % Score::kSplit == 0,
                "all waves share blocks with as many others");
  static_assert(Score::kChunks >= 1 && Score::kWaves >= 1 &&
                    Score::kWaves <= 16,
                "a workgroup has 1 to 16 waves");
  ScoreTask<Score> task;
  task.request = workgroup_y();
  task.first_block = block_of_column<Score>(first_column<Score>());
  const i32 length = load_uniform(seq_lens, task.request);
  task.length = length;
  task.reach =
      block_count<Score>(causal_length<Score>(length, Score::kQueryLen - 1));
  task.full_blocks =
      read_first_lane(causal_length<Score>(length, 0)) / Score::kBlockSize;

  for (i32 i = 0; i < QueryLayout<Score>::kSlots; ++i)
    task.visible[i] = causal_length<Score>(
        length,
        existing_query<Score>(QueryLayout<Score>::query(i)) / Score::kHeads);
  const i32 query = QueryLayout<Score>::own_query();
  task.query = existing_query<Score>(query);
  // The first wave of a team stores for all of it.
  const bool stores = place_in_team<Score>() == 0 &&
                      QueryLayout<Score>::stores() && query < kQueries<Score>;
  const i32 visible = causal_length<Score>(length, task.query / Score::kHeads);
  task.block_count = stores ? block_count<Score>(visible) : 0;
  return task;
}

/// The wave's blocks in turn. The lanes hold one of its next table entries
/// each: one load for all of them, long before the pages are needed. Entries
/// past the request's reach are never read.
///
/// With kPages > 1 it goes on past the request's last block, to a multiple of
/// that: such blocks are in no memory, and no row sees them.
template <class Score> class PageWalk {
public:
  WINNOW_DEVICE PageWalk(const ScoreTask<Score> &task, const i32 *index_table,
                         i64 index_table_stride)
      : block(task.first_block),
        table_(index_table + task.request * index_table_stride),
        reach_(task.reach), full_blocks_(task.full_blocks) {
    static_assert(kTeams<Score> == 1 || Score::kSplit == 1,
                  "waves that share blocks are all of a workgroup");
    static_assert(kWaveLanes % Score::kPages == 0,
                  "the lanes hold the entries of all pages in flight");
    if (more())
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
    if (Score::kPages > 1 && !more())
      page = -1;
  }

  /// Whether the block is in memory; a negative entry says that it is not.
  WINNOW_DEVICE bool mapped() const { return page >= 0; }

  /// Whether some row does not see all of the block's tokens.
  WINNOW_DEVICE bool partial() const { return block >= full_blocks_; }

  /// Where the wave's i-th block from this one on lies, of kPages in flight;
  /// negative if nowhere, or if there is none.
  WINNOW_DEVICE i32 page_after(i32 i) const {
    return block + i * kStep < reach_
               ? static_cast<i32>(read_lane(entries_, step_ + i))
               : -1;
  }

  /// The wave's slices of a block are this one and every kSplit-th after it.
  WINNOW_DEVICE static i32 first_slice() { return place_in_team<Score>(); }

  i32 block; ///< scalar: the logical block
  i32 page;  ///< scalar: where it lies in the cache; negative if nowhere

private:
  static constexpr i32 kStep =
      Score::kChunks * kTeams<Score> * Score::kShardWorld;

  /// The first entry is taken out at once, so that later steps need not wait
  /// for memory. Lanes whose block is past the reach repeat the last entry,
  /// which spares the loads a condition.
  WINNOW_DEVICE void load_entries() {
    const i32 mine = block + lane_index() * kStep;
    entries_ = table_[static_cast<u32>(min(mine, reach_ - 1))];
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
