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
/// rank i / kRankKeep; places without a candidate have key 0.
template <class Merge> struct CandidateKeys {
  static constexpr bool kSparse = true;

  /// A padding row has nothing to select from, whatever its places hold.
  WINNOW_DEVICE static i32 count(const SelectRow &row) {
    return row.block_count > 0 ? Merge::kRanks * Merge::kRankKeep : 0;
  }

  WINNOW_DEVICE Candidate candidate(i32 slot, i32, const SelectRow &row) const {
    return key[slot] != 0 ? candidate_of<Merge>(key[slot], block[slot], row)
                          : 0;
  }

  u32 key[Merge::kSlots];
  i32 block[Merge::kSlots];
};

/// Reads the row's candidates. A number that is negative or past the row's
/// reach is none. Strides in elements, from rank to rank, head to head and row
/// to row.
template <class Merge>
WINNOW_DEVICE CandidateKeys<Merge>
load_candidates(const i32 *ids, i64 id_rank_stride, i64 id_head_stride,
                i64 id_row_stride, const float *scores, i64 score_rank_stride,
                i64 score_head_stride, i64 score_row_stride,
                const SelectRow &row) {
  constexpr i32 places = Merge::kRanks * Merge::kRankKeep;
  static_assert(Merge::kSlots >= 1 && Merge::kSlots <= 16,
                "more slots than 16, of two registers, do not fit");
  static_assert(Merge::kSlots * kThreads<Merge> >= places,
                "the workgroup's slots have to hold all candidates");
  ids += row.head * id_head_stride + row.row * id_row_stride;
  scores += row.head * score_head_stride + row.row * score_row_stride;
  const i32 count = CandidateKeys<Merge>::count(row);
  CandidateKeys<Merge> keys;
  keys.key[0] = 0;
  keys.block[0] = -1;
  // Lanes past the end read the last place again.
  for_each_slot<Merge>(count, [&](i32 slot, i32 first) {
    const u32 place = min(first + thread_index(), places - 1);
    const i64 rank = place / Merge::kRankKeep;
    const u32 own = place % Merge::kRankKeep;
    keys.block[slot] = ids[rank * id_rank_stride + own];
    keys.key[slot] = bits_of_float(scores[rank * score_rank_stride + own]);
  });
  for_each_slot<Merge>(count, [&](i32 slot, i32 first) {
    const bool holds =
        first + thread_index() < places &&
        static_cast<u32>(keys.block[slot]) < static_cast<u32>(row.block_count);
    const u32 key = sort_key(keys.key[slot]);
    keys.key[slot] = holds ? key : 0;
  });
  return keys;
}

} // namespace winnow
