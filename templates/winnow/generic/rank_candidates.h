// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The candidates of all ranks for one row, in place of the scores of its
// blocks.
//
// A shape states, besides what select_row.h needs:
//   kRankKeep   candidates of a rank
// and nothing of shard.h: a merge sees the blocks of every rank.
#pragma once

#include "winnow/generic/find_cut.h"
#include "winnow/generic/sort_kept.h"

namespace winnow::generic {

/// What a merge selects from. Place i is candidate i % kRankKeep of rank
/// i / kRankKeep; a number that is negative or past the row's reach is none.
template <class Merge> struct RankCandidates {
  static constexpr bool kSparse = true;

  WINNOW_DEVICE i32 block(i32 place) const {
    return ids[place / Merge::kRankKeep * id_rank_stride +
               place % Merge::kRankKeep];
  }
  WINNOW_DEVICE u64 order(i32 place) const {
    const i32 own = block(place);
    if (static_cast<u32>(own) >= static_cast<u32>(reach))
      return 0;
    return order_of_block<Merge>(
        scores[place / Merge::kRankKeep * score_rank_stride +
               place % Merge::kRankKeep],
        own);
  }

  const i32 *ids;
  i64 id_rank_stride;
  const float *scores;
  i64 score_rank_stride;
  i32 reach; ///< nb(n)
  i32 count; ///< of the places
};

/// The candidates of a row. A padding row has nothing to select from, whatever
/// its places hold. Strides in elements, from rank to rank, head to head and
/// row to row.
template <class Merge>
WINNOW_DEVICE RankCandidates<Merge>
rank_candidates(const i32 *ids, i64 id_rank_stride, i64 id_head_stride,
                i64 id_row_stride, const float *scores, i64 score_rank_stride,
                i64 score_head_stride, i64 score_row_stride, i64 world,
                const SelectRow &row) {
  const i32 places = static_cast<i32>(world) * Merge::kRankKeep;
  return {ids + row.head * id_head_stride + row.row * id_row_stride,
          id_rank_stride,
          scores + row.head * score_head_stride + row.row * score_row_stride,
          score_rank_stride,
          row.block_count,
          row.block_count > 0 ? places : 0};
}

} // namespace winnow::generic
