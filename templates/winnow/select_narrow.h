// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a row of any length to at most 64 candidates that hold its top kTopK:
// by a pivot where that is enough, by an exact radix histogram where not.
//
// A shape states what select_storage.h needs.
#pragma once

#include "winnow/select_histogram.h"

namespace winnow {

/// Lists the row's candidates from `floor` up, in no particular order; counts
/// those that find no room without storing them.
template <class Select>
WINNOW_DEVICE void collect(Candidate floor, const ScoreKeys<Select> &keys,
                           const SelectRow &row,
                           NarrowStorage<Select> &storage) {
  for_each_slot<Select>(row, [&](i32 slot, i32 first) {
    const Candidate candidate =
        candidate_of<Select>(keys.slot[slot], first + thread_index(), row);
    if (candidate >= floor) {
      const u32 at = add_local(&storage.count, 1);
      if (at < kMaxCandidates)
        storage.candidates[at] = candidate;
    }
  });
  local_barrier();
}

/// At most 64 candidates, one a lane from lane 0 of the first wave on, among
/// which are the row's top kTopK; lanes past them hold none. The other waves
/// get none and have nothing left to do.
template <class Select>
WINNOW_DEVICE Candidate narrow(const ScoreKeys<Select> &keys,
                               const SelectRow &row,
                               NarrowStorage<Select> &storage) {
  static_assert(Select::kTopK >= 1 && Select::kTopK <= kMaxCandidates,
                "one wave ranks at most 64 blocks");
  if (row.block_count <= kMaxCandidates) // The first wave holds the whole row.
    return candidate_of<Select>(keys.slot[0], thread_index(), row);

  const u32 pivot = find_pivot<Select>(keys, row, storage);
  Candidate floor = static_cast<u64>(pivot) << 32;
  collect<Select>(floor, keys, row, storage);
  if (read_first_lane(storage.count) > kMaxCandidates) {
    floor = find_floor<Select>(pivot, keys, row, storage);
    // find_floor has waited for all waves since they read the count.
    storage.count = 0;
    local_barrier();
    collect<Select>(floor, keys, row, storage);
  }
  const i32 thread = thread_index();
  return thread < static_cast<i32>(storage.count) ? storage.candidates[thread]
                                                  : 0;
}

} // namespace winnow
