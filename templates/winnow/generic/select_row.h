// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The generic selection's task, and the order of blocks. A row may be of any
// length: it stays in memory and is read once a pass. Grid: (rows, kHeads).
//
// A shape states, besides what rows.h needs:
//   kScoreStride      elements from one row of scores to the next
//   kTopK             blocks to keep
//   kTieHighest       whether of equal scores the larger block number wins
//   kOrderAscending   whether the kept ids come ascending rather than best
//                     first
//   kThreads          lanes of a workgroup, at least 256
// and what shard.h needs.
#pragma once

#include "winnow/rows.h"
#include "winnow/shard.h"

namespace winnow::generic {

/// The same in all lanes.
struct SelectRow {
  i32 row;         ///< n
  i32 head;        ///< h
  i32 request;     ///< r
  i32 visible;     ///< c(n)
  i32 block_count; ///< nb(n)
};

inline constexpr i32 kDigitBits = 8;
inline constexpr i32 kBins = 1 << kDigitBits;

/// A power of two that holds a selection.
WINNOW_DEVICE constexpr i32 sort_size(i32 keep) {
  i32 size = 1;
  while (size < keep)
    size *= 2;
  return size;
}

/// Local memory of the workgroup.
template <class Select> struct SelectStorage {
  u64 entry[sort_size(Select::kTopK)]; ///< the kept blocks, best first
  u32 bins[kBins];
  u32 group[kBins / 16]; ///< sums of 16 bins each
  u32 bin, above, inside;
  u32 count; ///< of the kept blocks, once they are sorted
  u32 sums[Select::kThreads];
  i32 page[Select::kTopK]; ///< of the full blocks, in selection order
  i32 tail;
};

/// The row of uniform rows.
template <class Select>
WINNOW_DEVICE SelectRow select_row(const i32 *seq_lens, i32 row_number,
                                   i32 head) {
  SelectRow row;
  row.row = row_number;
  row.head = head;
  row.request = row.row / Select::kQueryLen;
  row.visible =
      causal_length<Select>(seq_lens[row.request], row.row % Select::kQueryLen);
  row.block_count = block_count<Select>(row.visible);
  return row;
}
template <class Select>
WINNOW_DEVICE SelectRow select_row(const i32 *seq_lens) {
  return select_row<Select>(seq_lens, workgroup_x(), workgroup_y());
}

/// An unsigned integer that orders as the scores do: NaN as -inf, -0.0 below
/// +0.0. It is not 0 for any score.
WINNOW_DEVICE u32 order_of_score(u32 bits) {
  if ((bits & 0x7fffffff) > 0x7f800000)
    bits = 0xff800000;
  return bits & 0x80000000 ? ~bits : bits | 0x80000000;
}

/// What a block is ordered by: its score, then its number. No two blocks are
/// equal, and none is 0.
template <class Select>
WINNOW_DEVICE u64 order_of_block(float score, i32 block) {
  const u32 bits = bits_of_float(score);
  const u32 tie = Select::kTieHighest ? block : ~block;
  return static_cast<u64>(order_of_score(bits)) << 32 | tie;
}

/// What a row is selected from: the scores of the shard's blocks, in turn.
template <class Select> struct ScoreRow {
  /// Whether places may hold no block.
  static constexpr bool kSparse = false;

  WINNOW_DEVICE i32 block(i32 place) const {
    return block_of_column<Select>(place);
  }
  WINNOW_DEVICE u64 order(i32 place) const {
    return order_of_block<Select>(scores[place], block(place));
  }

  const float *scores;
  i32 count; ///< of the places
};

template <class Select>
WINNOW_DEVICE ScoreRow<Select>
score_row(const float *score, i64 score_head_stride, const SelectRow &row) {
  return {score + row.head * score_head_stride +
              i64(row.row) * Select::kScoreStride,
          columns_of_blocks<Select>(row.block_count)};
}

} // namespace winnow::generic
