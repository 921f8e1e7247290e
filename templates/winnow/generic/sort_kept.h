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

/// Gathers the blocks of a source from `cut` on and sorts them.
template <class Select, class Source>
WINNOW_DEVICE void sort_kept(const Source &source, u64 cut,
                             SelectStorage<Select> &storage) {
  const i32 size = sort_size(min(source.count, Select::kTopK));
  // Also what is not sorted: a compiler reads places ahead of the test that
  // skips them.
  for (i32 i = thread_index(); i < sort_size(Select::kTopK);
       i += Select::kThreads)
    storage.entry[i] = 0;
  if (thread_index() == 0)
    storage.count = 0;
  local_barrier();
  for (i32 place = thread_index(); place < source.count;
       place += Select::kThreads) {
    const u64 order = source.order(place);
    if (order < cut || (Source::kSparse && order == 0))
      continue;
    const u32 at = add_local(&storage.count, 1);
    // Blocks that a caller brought twice may be more than are kept.
    if (Source::kSparse && at >= Select::kTopK)
      continue;
    // By ascending number: the complement puts the smallest first.
    const u32 number = ~static_cast<u32>(source.block(place));
    storage.entry[at] = Select::kOrderAscending ? u64(number) : order;
  }
  local_barrier();
  sort_entries<Select>(size, storage);
}

/// The same of a row of scores.
template <class Select>
WINNOW_DEVICE void sort_kept(const float *score, i64 score_head_stride, u64 cut,
                             const SelectRow &row,
                             SelectStorage<Select> &storage) {
  sort_kept<Select>(score_row<Select>(score, score_head_stride, row), cut,
                    storage);
}

/// Blocks that a row keeps, after sort_kept.
template <class Select>
WINNOW_DEVICE i32 kept_blocks(const SelectStorage<Select> &storage) {
  return min(static_cast<i32>(storage.count), Select::kTopK);
}

/// The block at place `i` of the selection, which has to be below
/// kept_blocks(storage).
template <class Select>
WINNOW_DEVICE i32 selected_block(const SelectStorage<Select> &storage, i32 i) {
  const u32 low = static_cast<u32>(storage.entry[i]);
  return static_cast<i32>(
      Select::kOrderAscending || !Select::kTieHighest ? ~low : low);
}

} // namespace winnow::generic
