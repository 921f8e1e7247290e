// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which blocks of a row are kept: a radix select over (score, block number),
// eight bits a pass, exact for any scores.
#pragma once

#include "winnow/generic/select_row.h"

namespace winnow::generic {

/// Finds where the bins' running count, from the top bin down, reaches
/// `wanted`: leaves the bin, what lies above it and what lies in it.
template <class Select>
WINNOW_DEVICE void find_bin(u32 wanted, SelectStorage<Select> &storage) {
  constexpr i32 groups = kBins / 16;
  if (thread_index() < groups) {
    u32 sum = 0;
    for (i32 i = 0; i < 16; ++i)
      sum += storage.bins[thread_index() * 16 + i];
    storage.group[thread_index()] = sum;
  }
  local_barrier();
  if (thread_index() == 0) {
    u32 above = 0;
    i32 group = groups - 1;
    while (group > 0 && above + storage.group[group] < wanted)
      above += storage.group[group--];
    i32 bin = group * 16 + 15;
    while (bin > 0 && above + storage.bins[bin] < wanted)
      above += storage.bins[bin--];
    storage.bin = bin;
    storage.above = above;
    storage.inside = storage.bins[bin];
  }
  local_barrier();
}

/// The least order_of_block that is kept; every lane gets it.
template <class Select>
WINNOW_DEVICE u64 find_cut(const float *score, i64 score_head_stride,
                           const SelectRow &row,
                           SelectStorage<Select> &storage) {
  static_assert(Select::kThreads >= kBins, "a lane clears a bin");
  static_assert(sizeof(SelectStorage<Select>) <= 64 * 1024,
                "every target has 64 KiB of local memory for a workgroup");
  if (row.block_count <= Select::kTopK)
    return 0;
  const float *scores = scores_of_row<Select>(score, score_head_stride, row);
  u64 prefix = 0;
  u32 wanted = Select::kTopK;
  for (i32 shift = 64 - kDigitBits;; shift -= kDigitBits) {
    if (thread_index() < kBins)
      storage.bins[thread_index()] = 0;
    local_barrier();
    for (i32 block = thread_index(); block < row.block_count;
         block += Select::kThreads) {
      const u64 digits = order_of_block<Select>(scores, block) >> shift;
      if (digits >> kDigitBits == prefix)
        add_local(&storage.bins[digits % kBins], 1);
    }
    local_barrier();
    find_bin<Select>(wanted, storage);
    prefix = prefix << kDigitBits | storage.bin;
    wanted -= storage.above;
    // A bin that is kept whole needs no finer look; with all bits seen, each
    // bin holds one block.
    if (storage.inside == wanted)
      return prefix << shift;
    local_barrier();
  }
}

} // namespace winnow::generic
