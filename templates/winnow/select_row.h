// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One row of scores as sortable keys in registers.
// Grid: (rows, kHeads), one (row, head) a workgroup.
//
// A shape states, besides what rows.h needs:
//   kScoreStride    elements from one row of scores to the next
//   kWaves, kSlots  the workgroup's 64 * kWaves lanes hold kSlots scores each:
//                   together at least the shard's blocks
//   kTieHighest     whether of equal scores the larger block number wins
// and what shard.h needs.
#pragma once

#include "winnow/rows.h"
#include "winnow/shard.h"
#include "winnow/wave.h"

namespace winnow {

/// The (row, head) of a workgroup. All members are scalar.
struct SelectRow {
  i32 row;         ///< n
  i32 head;        ///< h
  i32 request;     ///< r
  i32 visible;     ///< c(n)
  i32 block_count; ///< nb(n)
};

/// What a block is sorted by: its key in the upper half, its tie-break in the
/// lower, so that no two blocks of a row are equal. Keys of blocks are not 0: a
/// candidate whose upper half is 0 is none.
using Candidate = u64;

template <class Select>
inline constexpr i32 kThreads = Select::kWaves * kWaveLanes;

/// Of uniform rows; `row_number` and `head` are the same in all lanes.
template <class Select>
WINNOW_DEVICE SelectRow select_row(const i32 *seq_lens, i32 row_number,
                                   i32 head) {
  SelectRow row;
  row.row = row_number;
  row.head = head;
  row.request = row.row / Select::kQueryLen;
  const i32 length = load_uniform(seq_lens, row.request);
  row.visible = causal_length<Select>(length, row.row % Select::kQueryLen);
  row.block_count = block_count<Select>(row.visible);
  return row;
}
template <class Select>
WINNOW_DEVICE SelectRow select_row(const i32 *seq_lens) {
  return select_row<Select>(seq_lens, workgroup_x(), workgroup_y());
}

/// An unsigned integer that orders as the scores do: -0.0 below +0.0, and NaN
/// of either sign the same as -inf, which gives 0x00fffffe; never 0.
WINNOW_DEVICE u32 sort_key(u32 score_bits) {
  const u32 negative = static_cast<i32>(score_bits) >> 31;
  // Flipping the magnitude of negative numbers orders them as signed integers:
  // +inf is 0x7f800000. The sum then makes it the largest unsigned integer and
  // wraps the positive NaNs round to the small end, where the negative ones
  // are already.
  const u32 key = (score_bits ^ negative >> 1) + 0x807fffffu;
  return max(key, 0x00fffffeu);
}

/// The candidate of a block that a key says there is. Tie-breaks count from 0
/// to nb - 1, so that those of a row share their leading bits.
template <class Select>
WINNOW_DEVICE Candidate candidate_of(u32 key, i32 block, const SelectRow &row) {
  const u32 tie = Select::kTieHighest ? block : row.block_count - 1 - block;
  return static_cast<u64>(key) << 32 | tie;
}

WINNOW_DEVICE bool is_candidate(Candidate candidate) {
  return candidate >> 32 != 0;
}

/// The block of a candidate that is one.
template <class Select>
WINNOW_DEVICE i32 block_of(Candidate candidate, const SelectRow &row) {
  const i32 tie = static_cast<i32>(static_cast<u32>(candidate));
  return Select::kTieHighest ? tie : row.block_count - 1 - tie;
}

/// A lane's share of what a row is selected from: the scores of the shard's
/// blocks. Slot s is the key of column s * 64 * kWaves + thread; 0 is no block.
/// Slots of a group that for_each_slot leaves out are not set.
template <class Select> struct ScoreKeys {
  /// Whether places within the count may hold no block.
  static constexpr bool kSparse = false;

  /// How many there are to select from.
  WINNOW_DEVICE static i32 count(const SelectRow &row) {
    return columns_of_blocks<Select>(row.block_count);
  }

  /// The candidate at `place`, which slot `slot` of this lane holds. Key 0, no
  /// block, gives none.
  WINNOW_DEVICE Candidate candidate(i32 slot, i32 place,
                                    const SelectRow &row) const {
    return candidate_of<Select>(key[slot], block_of_column<Select>(place), row);
  }

  u32 key[Select::kSlots];
};

/// Slots that are worked on together, without a branch between them.
inline constexpr i32 kSlotGroup = 4;

/// Calls f(slot, the slot's first place) for all slots of the groups that hold
/// some of `count`; a row that is short for the plan's bound leaves early.
/// Recursion rather than a loop: keys stay in registers only if each slot
/// number is a constant, and the unroller gives up on some loops that leave
/// early.
template <class Select, i32 S = 0, class Function>
WINNOW_DEVICE void for_each_slot(i32 count, Function f) {
  if (S * kThreads<Select> < count) {
#pragma unroll
    for (i32 s = S; s < min(S + kSlotGroup, Select::kSlots); ++s)
      f(s, s * kThreads<Select>);
    if constexpr (S + kSlotGroup < Select::kSlots)
      for_each_slot<Select, S + kSlotGroup>(count, f);
  }
}

/// Reads the scores of the row's blocks.
template <class Select>
WINNOW_DEVICE ScoreKeys<Select> load_score_row(const float *score,
                                               i64 score_head_stride,
                                               const SelectRow &row) {
  static_assert(Select::kSlots >= 1 && Select::kSlots <= 32,
                "more slots than 32 do not fit in registers");
  static_assert(Select::kSlots * kThreads<Select> >= kShardBlocks<Select>,
                "the workgroup's slots have to hold the longest row");
  const float *scores = score + row.head * score_head_stride +
                        i64(row.row) * Select::kScoreStride;
  const i32 count = ScoreKeys<Select>::count(row);
  ScoreKeys<Select> keys;
  keys.key[0] = 0;
  // All loads are under way before the first score is looked at. Lanes past the
  // end read the last score again, which is cheaper than masking them off.
  for_each_slot<Select>(count, [&](i32 slot, i32 first) {
    const u32 column = min(first + thread_index(), count - 1);
    keys.key[slot] = bits_of_float(scores[column]);
  });
  for_each_slot<Select>(count, [&](i32 slot, i32 first) {
    const u32 key = sort_key(keys.key[slot]);
    keys.key[slot] = first + thread_index() < count ? key : 0;
  });
  return keys;
}

} // namespace winnow
