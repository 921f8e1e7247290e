// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kept blocks in their final order, in local memory.
#pragma once

#include "winnow/generic/select_row.h"

namespace winnow::generic {

/// Sorts the first `size` entries, largest first; a bitonic network, `size` a
/// power of two.
template <class Select>
WINNOW_DEVICE void sort_entries(i32 size, SelectStorage<Select> &storage) {
  for (i32 run = 2; run <= size; run *= 2)
    for (i32 step = run / 2; step > 0; step /= 2) {
      for (i32 i = thread_index(); i < size / 2; i += Select::kThreads) {
        // The pair's lower place: i with a 0 put in at the bit of `step`.
        const i32 low = 2 * i - (i & (step - 1)), high = low + step;
        const u64 a = storage.entry[low], b = storage.entry[high];
        const bool descending = (low & run) == 0;
        if (descending ? a < b : a > b) {
          storage.entry[low] = b;
          storage.entry[high] = a;
        }
      }
      local_barrier();
    }
}

/// Gathers the blocks from `cut` on and sorts them.
template <class Select>
WINNOW_DEVICE void sort_kept(const float *score, i64 score_head_stride, u64 cut,
                             const SelectRow &row,
                             SelectStorage<Select> &storage) {
  const float *scores = scores_of_row<Select>(score, score_head_stride, row);
  const i32 size = sort_size(kept_blocks<Select>(row));
  for (i32 i = thread_index(); i < size; i += Select::kThreads)
    storage.entry[i] = 0;
  if (thread_index() == 0)
    storage.count = 0;
  local_barrier();
  for (i32 block = thread_index(); block < row.block_count;
       block += Select::kThreads) {
    const u64 order = order_of_block<Select>(scores, block);
    // By ascending number: the complement puts the smallest first.
    if (order >= cut)
      storage.entry[add_local(&storage.count, 1)] =
          Select::kOrderAscending ? static_cast<u64>(~static_cast<u32>(block))
                                  : order;
  }
  local_barrier();
  sort_entries<Select>(size, storage);
}

/// The block at place `i` of the selection, which has to be below
/// kept_blocks(row).
template <class Select>
WINNOW_DEVICE i32 selected_block(const SelectStorage<Select> &storage, i32 i) {
  const u32 low = static_cast<u32>(storage.entry[i]);
  return static_cast<i32>(
      Select::kOrderAscending || !Select::kTieHighest ? ~low : low);
}

} // namespace winnow::generic
