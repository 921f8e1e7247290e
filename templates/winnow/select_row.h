// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One row of scores as sortable keys in registers.
// Grid: (rows, kHeads), one (row, head) a workgroup.
//
// A shape states, besides what rows.h needs:
//   kHeads          index heads
//   kScoreStride    elements from one row of scores to the next
//   kWaves, kSlots  the workgroup's kWaves waves hold kSlots scores a lane:
//                   together at least the shard's blocks
//   kTopK           blocks to keep
//   kTieHighest     whether of equal scores the larger block number wins
// and what shard.h needs.
#pragma once

#include "winnow/rows.h"
#include "winnow/shard.h"
#include "winnow/wave.h"

namespace winnow {

/// A (row, head) to select for. All members are scalar.
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

/// Candidates that are sorted in the end. So many fit that a quick lower bound
/// of the kTopK-th key nearly always leaves fewer.
template <class Select>
inline constexpr i32 kMaxCandidates = Select::kTopK <= 32 ? 64 : 128;

/// A lane's slots fall into groups of the same size, of at most so many slots:
/// what is done to a group has no branch. The last group may be a few slots
/// longer than kSlots asks for.
inline constexpr i32 kMaxGroup = 8;
template <class Select>
inline constexpr i32 kGroups = (Select::kSlots + kMaxGroup - 1) / kMaxGroup;
template <class Select>
inline constexpr i32 kGroupSlots =
    (Select::kSlots + kGroups<Select> - 1) / kGroups<Select>;

/// Places that one wave holds in a group of slots.
template <class Select>
inline constexpr i32 kGroupPlaces = kGroupSlots<Select> * kWaveLanes;

/// Places that one wave holds in its slots. Waves have neighbouring places, so
/// that a row which is short for the plan's bound is left to the first ones.
template <class Select>
inline constexpr i32 kWavePlaces = kGroups<Select> * kGroupPlaces<Select>;

/// The index of this wave, and its first place.
template <class Select> WINNOW_DEVICE i32 wave_of() {
  return Select::kWaves == 1 ? 0 : wave_index();
}
template <class Select> WINNOW_DEVICE i32 wave_begin() {
  return wave_of<Select>() * kWavePlaces<Select>;
}

/// How far element `index` is from the first. As an unsigned number of 32 bits
/// the index saves instructions.
WINNOW_DEVICE i64 stride_to(i32 index, i64 stride) {
  return static_cast<i64>(u64(static_cast<u32>(index)) * u64(stride));
}

/// Element `index` of an array of at most 2^32 bytes, whose address is the same
/// in all lanes: the lane's share of the address has 32 bits then.
template <class T> WINNOW_DEVICE T &element(T *array, u32 index) {
  return *(T *)((u8 *)array + index * u32(sizeof(T)));
}

/// Row `n`, one of uniform rows, and head `h`: both are the same in all lanes.
/// The request's cache holds `length` tokens.
template <class Select>
WINNOW_DEVICE SelectRow select_row(i32 length, i32 n, i32 h) {
  SelectRow row;
  row.row = n;
  row.head = Select::kHeads == 1 ? 0 : h;
  row.request = static_cast<i32>(static_cast<u32>(n) / Select::kQueryLen);
  row.visible = causal_length<Select>(
      length, static_cast<i32>(static_cast<u32>(n) % Select::kQueryLen));
  row.block_count = block_count<Select>(row.visible);
  return row;
}
template <class Select>
WINNOW_DEVICE SelectRow select_row(const i32 *seq_lens, i32 n, i32 h) {
  const i32 request = static_cast<i32>(static_cast<u32>(n) / Select::kQueryLen);
  return select_row<Select>(load_uniform(seq_lens, request), n, h);
}

/// The key of nothing, below those of all scores.
inline constexpr i32 kNoKey = -0x7fffffff - 1;

/// A signed integer that orders as the scores do, of one score or of a group:
/// -0.0 below +0.0, and NaN of either sign the same as -inf, which gives
/// 0x80fffffe.
template <class Bits> WINNOW_DEVICE Bits sort_key(Bits score) {
  const Bits negative = 0u - (score >> 31);
  // Flipping the magnitude of negative numbers orders them as signed integers:
  // +inf is 0x7f800000. The sum then makes it the largest integer and wraps the
  // positive NaNs round to the small end, where the negative ones are already.
  const Bits key = (score ^ (negative & 0x7fffffffu)) + 0x007fffffu;
  return max_signed(key, Bits(0x80fffffeu));
}

/// The candidate of a block that a key says there is. Tie-breaks count from 0
/// to nb - 1.
template <class Select>
WINNOW_DEVICE Candidate candidate_of(i32 key, i32 block, const SelectRow &row) {
  const u32 tie = Select::kTieHighest ? block : row.block_count - 1 - block;
  return static_cast<u64>(static_cast<u32>(key) ^ 0x80000000u) << 32 | tie;
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

/// Calls f(group) for the numbers of all groups of slots that hold some of a
/// wave's `left` places; a row that is short for the plan's bound leaves early.
/// Spelled out rather than a loop: keys stay in registers only if each group's
/// number is a constant, and the unroller gives up on some loops that leave
/// early.
template <class Select, class Function>
WINNOW_DEVICE void for_each_group(i32 left, Function f) {
  constexpr i32 groups = kGroups<Select>, places = kGroupPlaces<Select>;
  static_assert(groups <= 4, "slots of more groups do not fit in registers");
  if (left <= 0)
    return;
  f(0);
  if constexpr (groups > 1) {
    if (left <= places)
      return;
    f(1);
  }
  if constexpr (groups > 2) {
    if (left <= 2 * places)
      return;
    f(2);
  }
  if constexpr (groups > 3) {
    if (left <= 3 * places)
      return;
    f(3);
  }
}

/// How many slots those groups have.
template <class Select> WINNOW_DEVICE i32 slots_in_use(i32 left) {
  constexpr i32 places = kGroupPlaces<Select>;
  return min((left + places - 1) / places, kGroups<Select>) *
         kGroupSlots<Select>;
}

/// Whether a row of `count` places takes several waves to narrow.
template <class Select> WINNOW_DEVICE bool is_shared(i32 count) {
  return Select::kWaves > 1 &&
         count > max(kWavePlaces<Select>, kMaxCandidates<Select>);
}

/// Whether this wave has something to do for the row. The others may leave.
template <class Select, class Keys>
WINNOW_DEVICE bool takes_part(const SelectRow &row) {
  return wave_of<Select>() == 0 || is_shared<Select>(Keys::count(row));
}

/// A lane's share of what a row is selected from: the scores of the shard's
/// blocks. Place p is column p; slot s of a lane, which is key s % kGroupSlots
/// of group s / kGroupSlots, holds place wave_begin() + s * kWaveLanes + lane.
/// Not set where all places fit in the candidates, nor in groups that
/// for_each_group leaves out.
template <class Select> struct ScoreKeys {
  /// What slots are compared by. Of two places with the same value the tie is
  /// broken by their order, which is that of the blocks.
  using Value = i32;
  using Distance = u32; ///< between two values
  static constexpr Value kHighest = 0x7fffffff;
  /// Whether the value and the place tell all of a candidate.
  static constexpr bool kHasBlocks = true;

  /// How many places there are to select from.
  WINNOW_DEVICE static i32 count(const SelectRow &row) {
    return columns_of_blocks<Select>(row.block_count);
  }
  /// Above this value are all whose key is at least `key`; and how far above it
  /// the value is that all of those with a larger key are above.
  WINNOW_DEVICE static Value below(i32 key) { return key - 1; }
  WINNOW_DEVICE static Distance one_key(const SelectRow &) { return 1; }

  /// The key and block of any place, read once more from memory; what they are
  /// past the count is unspecified.
  WINNOW_DEVICE Candidate candidate(i32 place, const SelectRow &row) const {
    return candidate_of<Select>(sort_key(scores.load(place)),
                                block_of_column<Select>(place), row);
  }

  WINNOW_DEVICE explicit ScoreKeys(BoundedWords row) : scores(row) {}

  BoundedWords scores;  ///< of the row
  i32 largest = kNoKey; ///< key of this lane
  KeyGroup<kGroupSlots<Select>> group[kGroups<Select>];
};

/// Reads the values of the wave's `left` places. A function of its own: clang
/// 21 loses the upper half of the address of a variable that is returned where
/// a lambda captures it.
template <class Select>
WINNOW_DEVICE void load_values(ScoreKeys<Select> &keys, i32 left) {
  constexpr i32 slots = kGroupSlots<Select>;
  const i32 lane = lane_index();
  const u32 first = wave_begin<Select>() + lane;
  // All loads are under way before the first score is looked at.
  for_each_group<Select>(left, [&](i32 group) WINNOW_INLINE {
    keys.group[group] = keys.scores.template load_group<slots>(
        first + group * kGroupPlaces<Select>);
  });
  wait_for_loads();
  for_each_group<Select>(left, [&](i32 group) WINNOW_INLINE {
    auto own = each_key<slots>(keys.group[group], [](auto score) WINNOW_INLINE {
      return sort_key(score);
    });
    const i32 held = left - group * kGroupPlaces<Select>;
    if (held < kGroupPlaces<Select>)
      own = keys_below<slots>(own, held - lane, kNoKey);
    keys.group[group] = own;
    keys.largest = max(keys.largest, largest_key<slots>(own));
  });
}

/// Reads the scores of the row's blocks.
template <class Select>
WINNOW_DEVICE ScoreKeys<Select> load_score_row(const float *score,
                                               i64 score_head_stride,
                                               const SelectRow &row) {
  static_assert(Select::kSlots >= 1 && Select::kSlots <= 32,
                "more slots than 32 do not fit in registers");
  static_assert(Select::kWaves * kWavePlaces<Select> >= kShardBlocks<Select>,
                "the workgroup's slots have to hold the longest row");
  const i32 count = ScoreKeys<Select>::count(row);
  const float *scores = score + stride_to(row.head, score_head_stride) +
                        stride_to(row.row, Select::kScoreStride);
  ScoreKeys<Select> keys(BoundedWords(scores, count));
  if (count > kMaxCandidates<Select>)
    load_values<Select>(keys, count - wave_begin<Select>());
  return keys;
}

} // namespace winnow
