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

/// How many places hold a block; only asked where some may not.
template <class Select, class Source>
WINNOW_DEVICE i32 count_blocks(const Source &source,
                               SelectStorage<Select> &storage) {
  if (thread_index() == 0)
    storage.count = 0;
  local_barrier();
  u32 own = 0;
  for (i32 place = thread_index(); place < source.count;
       place += Select::kThreads)
    own += source.order(place) != 0;
  add_local(&storage.count, own);
  local_barrier();
  const i32 count = static_cast<i32>(storage.count);
  local_barrier(); // the next stage counts anew
  return count;
}

/// The least order_of_block of a source that is kept; every lane gets it.
template <class Select, class Source>
WINNOW_DEVICE u64 find_cut(const Source &source,
                           SelectStorage<Select> &storage) {
  static_assert(Select::kThreads >= kBins, "a lane clears a bin");
  static_assert(sizeof(SelectStorage<Select>) <= 64 * 1024,
                "every target has 64 KiB of local memory for a workgroup");
  i32 count = source.count;
  if constexpr (Source::kSparse)
    count = count_blocks<Select>(source, storage);
  if (count <= Select::kTopK)
    return 0;
  u64 prefix = 0;
  u32 wanted = Select::kTopK;
  for (i32 shift = 64 - kDigitBits;; shift -= kDigitBits) {
    if (thread_index() < kBins)
      storage.bins[thread_index()] = 0;
    local_barrier();
    for (i32 place = thread_index(); place < source.count;
         place += Select::kThreads) {
      const u64 order = source.order(place), digits = order >> shift;
      if (digits >> kDigitBits == prefix && (!Source::kSparse || order != 0))
        add_local(&storage.bins[digits % kBins], 1);
    }
    local_barrier();
    find_bin<Select>(wanted, storage);
    prefix = prefix << kDigitBits | storage.bin;
    wanted -= storage.above;
    // A bin that is kept whole needs no finer look; with all bits seen, each
    // bin holds one block, unless a caller brought one twice.
    if (storage.inside == wanted || (Source::kSparse && shift == 0))
      return prefix << shift;
    local_barrier();
  }
}

/// The same of a row of scores.
template <class Select>
WINNOW_DEVICE u64 find_cut(const float *score, i64 score_head_stride,
                           const SelectRow &row,
                           SelectStorage<Select> &storage) {
  return find_cut<Select>(score_row<Select>(score, score_head_stride, row),
                          storage);
}

} // namespace winnow::generic
