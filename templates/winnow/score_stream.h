// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pages of a request through local memory, for targets with bulk copies:
// each wave has slices of keys copied ahead of the one that it multiplies.
// Registers then hold one slice, whatever is in flight, and the loads cost a
// wave one instruction a slice.
//
// A shape states what score_tiles.h needs, and:
//   kStages   slices that a wave has in flight
// All tiles of a slice are there when it is multiplied (kTilesAhead).
#pragma once

#include "winnow/score_join.h"
#include "winnow/score_tiles.h"

namespace winnow {

/// The local memory of the walk. A stage, which one copy fills, is filled while
/// nobody reads it.
template <class Score, class Element> struct StreamStorage {
  static constexpr i32 kParts =
      kSliceTokens<Score> * kRowBytes<Element> / kPieceBytes;
  alignas(128) Part part[Score::kWaves][Score::kStages][kParts];
  BulkCopy copy[Score::kWaves][Score::kStages];
  JoinStorage<Score> joined;
};

/// The blocks of a wave in turn. The lanes hold one of the next table entries
/// each: those of the block that is asked for next, and on. Entries past the
/// request's reach are never read.
template <class Score, class Element> class StreamWalk {
public:
  WINNOW_DEVICE StreamWalk(const ScoreTask<Score> &task, const i32 *index_table,
                           i64 index_table_stride, const Element *keys,
                           StreamStorage<Score, Element> &storage)
      : block(task.first_block),
        table_(index_table + task.request * index_table_stride),
        keys_(reinterpret_cast<const u8 *>(keys)), storage_(storage),
        reach_(task.reach), full_blocks_(task.full_blocks),
        asked_block_(task.first_block), asked_slice_(first_slice()) {
    static_assert(is_sliced_block<Score>(),
                  "slices are equal parts of a block of 32, 64, 128 or 256");
    static_assert(Score::kSplit <= kSlices<Score>,
                  "each wave of a block has a slice of it");
    static_assert(Score::kStages >= 1, "a wave has a slice in flight");
    if (lane_index() == 0)
      for (i32 stage = 0; stage < Score::kStages; ++stage)
        storage_.copy[wave_index()][stage].prepare();
    wave_barrier();
    load_entries();
    mapped_ = entries_mapped_;
    for (i32 stage = 0; stage < Score::kStages; ++stage)
      ask(stage);
  }

  WINNOW_DEVICE bool more() const { return block < reach_; }

  WINNOW_DEVICE void next() {
    block += kStep;
    mapped_ >>= 1;
    if (kRefills && ++step_ == kWaveLanes) {
      step_ = 0;
      // Past many blocks that are not in memory the copies are further ahead.
      mapped_ = entries_block_ == block ? entries_mapped_
                                        : ballot(entry_from(block) >= 0);
    }
  }

  /// Whether the block is in memory; a negative entry says that it is not.
  WINNOW_DEVICE bool mapped() const { return mapped_ & 1; }

  /// Whether some row does not see all of the block's tokens.
  WINNOW_DEVICE bool partial() const { return block >= full_blocks_; }

  /// The wave's slices of a block are this one and every kSplit-th after it.
  WINNOW_DEVICE static i32 first_slice() { return place_in_team<Score>(); }

  /// The wave's next slice. Its place is filled again while it is multiplied.
  WINNOW_DEVICE KeyTiles<Score, Element> take() {
    constexpr i32 row_parts = kRowBytes<Element> / kPieceBytes;
    const i32 stage = Score::kStages == 1 ? 0 : taken_ % Score::kStages;
    storage_.copy[wave_index()][stage].wait(taken_ / Score::kStages);
    ++taken_;
    const Part *parts = storage_.part[wave_index()][stage];
    KeyTiles<Score, Element> tiles;
#pragma unroll
    for (i32 t = 0; t < Score::kSliceTiles; ++t)
#pragma unroll
      for (i32 j = 0; j < kLaneRows; ++j)
#pragma unroll
        for (i32 p = 0; p < kParts<Element>; ++p) {
          const i32 row = t * kTileTokens + lane_row(j);
          tiles.tile[t].part[j][p] =
              parts[row * row_parts +
                    (p * kPartBytes + lane_row_offset()) / kPieceBytes];
        }
    wave_barrier();
    ask(stage);
    return tiles;
  }

  /// The maximum over the waves that share the block, for the first of them.
  /// All have to come here for every block.
  WINNOW_DEVICE float join(float best) {
    return join_waves(best, storage_.joined, joined_);
  }

  i32 block; ///< the logical block

private:
  static constexpr i32 kStep =
      Score::kChunks * kTeams<Score> * Score::kShardWorld;
  static constexpr bool kRefills = Score::kMaxBlocks > kStep *kWaveLanes;

  /// This lane's of the entries from a block of the wave on; negative past the
  /// request's reach.
  WINNOW_DEVICE i32 entry_from(i32 first) const {
    const i32 mine = first + lane_index() * kStep;
    return mine < reach_ ? table_[mine] : -1;
  }

  WINNOW_DEVICE void load_entries() {
    const i32 entry = entry_from(asked_block_);
    entries_ = entry;
    entries_block_ = asked_block_;
    entries_mapped_ = ballot(entry >= 0);
    asked_step_ = 0;
  }

  /// Asks for the next slice of a block that is in memory, if there is one.
  WINNOW_DEVICE void ask(i32 stage) {
    constexpr i32 slice_bytes =
        StreamStorage<Score, Element>::kParts * kPieceBytes;
    while (asked_block_ < reach_) {
      const i32 page = read_lane(entries_, asked_step_);
      const i32 slice = asked_slice_;
      asked_slice_ += Score::kSplit;
      if (asked_slice_ >= kSlices<Score>) {
        asked_slice_ = first_slice();
        asked_block_ += kStep;
        if (++asked_step_ == kWaveLanes && kRefills)
          load_entries();
      }
      if (page < 0)
        continue;
      // 64 bits: a large cache has more than 2^31 bytes.
      if (lane_index() == 0)
        storage_.copy[wave_index()][stage].template ask<Score::kNonTemporal>(
            storage_.part[wave_index()][stage],
            keys_ + i64(page) * (Score::kBlockSize * kRowBytes<Element>)+slice *
                        slice_bytes,
            slice_bytes);
      return;
    }
  }

  const i32 *table_;
  const u8 *keys_;
  StreamStorage<Score, Element> &storage_;
  i32 reach_;
  i32 full_blocks_;
  i32 step_ = 0;
  i32 taken_ = 0;
  i32 joined_ = 0;
  LaneMask mapped_; ///< a bit for each block from this one on
  // What is asked for next, and the entries that its own is one of.
  i32 asked_block_;
  i32 asked_slice_;
  i32 asked_step_;
  u32 entries_;
  i32 entries_block_;
  LaneMask entries_mapped_;
};

} // namespace winnow
