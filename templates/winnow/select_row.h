// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One row of scores as sortable keys in registers.
// Grid: (rows, kHeads), one (row, head) a workgroup.
//
// A shape states, besides what rows.h needs:
//   kScoreStride    elements from one row of scores to the next
//   kWaves, kSlots  the workgroup's 64 * kWaves lanes hold kSlots scores each:
//                   together at least kMaxBlocks
//   kTieHighest     whether of equal scores the larger block number wins
#pragma once

#include "winnow/rows.h"
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

/// What a candidate is sorted by: its key above, its tie-break below, so that
/// no two blocks of a row are equal. 0 is no candidate.
using Candidate = u64;

/// The scores of slot s belong to block s * 64 * kWaves + thread; 0 is no
/// block.
template <class Select> struct ScoreKeys {
  u32 slot[Select::kSlots];
};

template <class Select> constexpr i32 kThreads = Select::kWaves * kWaveLanes;

template <class Select>
WINNOW_DEVICE SelectRow select_row(const i32 *seq_lens) {
  SelectRow row;
  row.row = __builtin_amdgcn_workgroup_id_x();
  row.head = __builtin_amdgcn_workgroup_id_y();
  row.request = row.row / Select::kQueryLen;
  const i32 length = load_uniform(seq_lens, row.request);
  row.visible = causal_length<Select>(length, row.row % Select::kQueryLen);
  row.block_count = block_count<Select>(row.visible);
  return row;
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

/// Calls f(slot, first block of the slot) for the slots that hold part of the
/// row. Recursion rather than a loop: keys stay in registers only if each slot
/// number is a constant, and the unroller gives up on some loops that leave
/// early. A row that is short for the plan's bound costs one branch.
template <class Select, i32 S = 0, class Function>
WINNOW_DEVICE void for_each_slot(const SelectRow &row, Function f) {
  if constexpr (S < Select::kSlots)
    if (S * kThreads<Select> < row.block_count) {
      f(S, S * kThreads<Select>);
      for_each_slot<Select, S + 1>(row, f);
    }
}

/// Reads the row's nb(n) scores.
template <class Select>
WINNOW_DEVICE ScoreKeys<Select> load_score_row(const float *score,
                                               i64 score_head_stride,
                                               const SelectRow &row) {
  static_assert(Select::kSlots * kThreads<Select> >= Select::kMaxBlocks,
                "the workgroup's slots have to hold the longest row");
  const float *scores = score + row.head * score_head_stride +
                        i64(row.row) * Select::kScoreStride;
  ScoreKeys<Select> keys = {};
  for_each_slot<Select>(row, [&](i32 slot, i32 first) {
    const i32 block = first + thread_index();
    if (block < row.block_count)
      keys.slot[slot] = sort_key(__builtin_bit_cast(u32, scores[block]));
  });
  return keys;
}

/// The candidate of a key, 0 for no block. Tie-breaks count from 0 to nb - 1,
/// so that those of one row share their leading bits.
template <class Select>
WINNOW_DEVICE Candidate candidate_of(u32 key, i32 block, const SelectRow &row) {
  const u32 tie = Select::kTieHighest ? block : row.block_count - 1 - block;
  return key == 0 ? 0 : static_cast<u64>(key) << 32 | tie;
}

/// The block of a candidate that is one.
template <class Select>
WINNOW_DEVICE i32 block_of(Candidate candidate, const SelectRow &row) {
  const i32 tie = static_cast<i32>(static_cast<u32>(candidate));
  return Select::kTieHighest ? tie : row.block_count - 1 - tie;
}

} // namespace winnow
