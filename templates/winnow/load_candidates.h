// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The candidates of all ranks for one row, in place of the scores of its
// blocks: from here on they are selected from as those are.
//
// A shape states, besides what select_narrow.h needs:
//   kRanks      how many ranks there are
//   kRankKeep   candidates of each
// and nothing of shard.h: a merge sees the blocks of every rank.
#pragma once

#include "winnow/select_row.h"

namespace winnow {

/// A lane's share of a row's candidates. Place i is candidate i % kRankKeep of
/// rank i / kRankKeep; slots as those of ScoreKeys.
template <class Merge> struct CandidateKeys {
  /// Whole candidates: places are in no order that could break ties. Places
  /// that hold none have the value 0.
  using Value = Candidate;
  using Distance = u64;
  static constexpr Value kHighest = ~Value(0);
  static constexpr bool kHasBlocks = false;
  static constexpr i32 kPlaces = Merge::kRanks * Merge::kRankKeep;

  /// A padding row has nothing to select from, whatever its places hold.
  WINNOW_DEVICE static i32 count(const SelectRow &row) {
    return row.block_count > 0 ? kPlaces : 0;
  }
  WINNOW_DEVICE static Value below(i32 key) {
    return (u64(static_cast<u32>(key) ^ 0x80000000u) << 32) - 1;
  }
  WINNOW_DEVICE static Distance one_key(const SelectRow &row) {
    return row.block_count;
  }

  /// What a place holds, if it is within the count. A number that is negative
  /// or past the row's reach is none.
  WINNOW_DEVICE Candidate candidate(i32 place, const SelectRow &row) const {
    if (place >= count(row))
      return 0;
    const i64 rank = static_cast<u32>(place) / Merge::kRankKeep;
    const u32 own = static_cast<u32>(place) % Merge::kRankKeep;
    return of(ids[rank * id_rank_stride + own],
              scores[rank * score_rank_stride + own], row);
  }

  WINNOW_DEVICE static Candidate of(i32 block, u32 score,
                                    const SelectRow &row) {
    return static_cast<u32>(block) < static_cast<u32>(row.block_count)
               ? candidate_of<Merge>(sort_key(score), block, row)
               : 0;
  }

  const i32 *ids;    ///< of the row
  const u32 *scores; ///< of the row
  i64 id_rank_stride, score_rank_stride;
  i32 largest; ///< key of this lane
  Value group[kGroups<Merge>][kGroupSlots<Merge>];
};

/// Reads the values of the wave's places, of `count` in the row. A function of
/// its own for load_score_row's reason.
template <class Merge>
WINNOW_DEVICE void load_values(CandidateKeys<Merge> &keys, i32 count,
                               const SelectRow &row) {
  const i32 left = count - wave_begin<Merge>();
  const i32 first = wave_begin<Merge>() + lane_index();
  constexpr i32 slots = kGroupSlots<Merge>;
  i32 block[kGroups<Merge> * slots];
  u32 score[kGroups<Merge> * slots];
  // All loads are under way before the first candidate is looked at. Lanes past
  // the end read the last place again.
  for_each_group<Merge>(left, [&](i32 group) WINNOW_INLINE {
#pragma unroll
    for (i32 i = 0; i < slots; ++i) {
      const i32 slot = group * slots + i;
      const u32 place = min(first + slot * kWaveLanes, count - 1);
      const i64 rank = place / Merge::kRankKeep;
      const u32 own = place % Merge::kRankKeep;
      block[slot] = keys.ids[rank * keys.id_rank_stride + own];
      score[slot] = keys.scores[rank * keys.score_rank_stride + own];
    }
  });
  for_each_group<Merge>(left, [&](i32 group) WINNOW_INLINE {
#pragma unroll
    for (i32 i = 0; i < slots; ++i) {
      const i32 slot = group * slots + i;
      const bool within = first + slot * kWaveLanes < count;
      Candidate &own = keys.group[group][i];
      own =
          CandidateKeys<Merge>::of(within ? block[slot] : -1, score[slot], row);
      keys.largest =
          max(keys.largest,
              static_cast<i32>(static_cast<u32>(own >> 32) ^ 0x80000000u));
    }
  });
}

/// Reads the row's candidates. Strides in elements, from rank to rank, head to
/// head and row to row.
template <class Merge>
WINNOW_DEVICE CandidateKeys<Merge>
load_candidates(const i32 *ids, i64 id_rank_stride, i64 id_head_stride,
                i64 id_row_stride, const float *scores, i64 score_rank_stride,
                i64 score_head_stride, i64 score_row_stride,
                const SelectRow &row) {
  static_assert(Merge::kSlots >= 1 && Merge::kSlots <= 16,
                "more slots than 16, of two registers, do not fit");
  static_assert(Merge::kWaves * kWavePlaces<Merge> >=
                    CandidateKeys<Merge>::kPlaces,
                "the workgroup's slots have to hold all candidates");
  CandidateKeys<Merge> keys;
  keys.ids = ids + stride_to(row.head, id_head_stride) +
             stride_to(row.row, id_row_stride);
  keys.scores = reinterpret_cast<const u32 *>(
      scores + stride_to(row.head, score_head_stride) +
      stride_to(row.row, score_row_stride));
  keys.id_rank_stride = id_rank_stride;
  keys.score_rank_stride = score_rank_stride;
  keys.largest = kNoKey;
  const i32 count = CandidateKeys<Merge>::count(row);
  if (count > kMaxCandidates<Merge>)
    load_values<Merge>(keys, count, row);
  return keys;
}

} // namespace winnow
