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
template <class Select, class Keys>
WINNOW_DEVICE void collect(Candidate floor, const Keys &keys,
                           const SelectRow &row,
                           NarrowStorage<Select> &storage) {
  for_each_slot<Select>(Keys::count(row), [&](i32 slot, i32 first) {
    const Candidate candidate =
        keys.candidate(slot, first + thread_index(), row);
    if (candidate >= floor) {
      const u32 at = add_local(&storage.count, 1);
      if (at < kMaxCandidates)
        storage.candidates[at] = candidate;
    }
  });
  local_barrier();
}

/// Moves the wave's candidates to its first lanes.
WINNOW_DEVICE Candidate close_ranks(Candidate own) {
  const LaneMask held = ballot(is_candidate(own));
  const i32 lane = is_candidate(own) ? count_before(held)
                                     : count_lanes(held) + count_before(~held);
  return send_to_lane(own, lane);
}

/// At most 64 candidates, one a lane from lane 0 of the first wave on, among
/// which are the row's top kTopK; lanes past them hold none. The other waves
/// get none and have nothing left to do.
template <class Select, class Keys>
WINNOW_DEVICE Candidate narrow(const Keys &keys, const SelectRow &row,
                               NarrowStorage<Select> &storage) {
  static_assert(Select::kTopK >= 1 && Select::kTopK <= kMaxCandidates,
                "one wave ranks at most 64 blocks");
  if (Keys::count(row) <= kMaxCandidates) { // The first wave holds them all.
    const Candidate own = keys.candidate(0, thread_index(), row);
    return Keys::kSparse ? close_ranks(own) : own;
  }

  const u32 pivot = find_pivot<Select>(keys, row, storage);
  Candidate floor = static_cast<u64>(pivot) << 32;
  collect<Select>(floor, keys, row, storage);
  if (read_first_lane(storage.count) > kMaxCandidates) {
    floor = find_floor<Select>(pivot, keys, row, storage);
    if constexpr (Keys::kSparse) // An empty place is candidate 0.
      floor = floor >> 32 ? floor : Candidate(1) << 32;
    // find_floor has waited for all waves since they read the count.
    storage.count = 0;
    local_barrier();
    collect<Select>(floor, keys, row, storage);
  }
  const i32 thread = thread_index();
  const i32 found = static_cast<i32>(storage.count);
  return thread < (Keys::kSparse ? min(found, kMaxCandidates) : found)
             ? storage.candidates[thread]
             : 0;
}

} // namespace winnow
