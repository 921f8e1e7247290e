// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The exact bound of a row's top kTopK, whatever the scores: a radix histogram
// in local memory, most significant digit first, over whole candidates (key,
// then tie-break). Candidates are distinct, so the last digit always separates
// them. For the rows that a pivot alone does not narrow: plateaus of equal
// scores, or large scores that recur every 64 blocks.
//
// A shape states what select_storage.h needs.
#pragma once

#include "winnow/select_pivot.h"

namespace winnow {

/// Lane l looks after bins 255 - 4 * l and the three below.
WINNOW_DEVICE Crossing find_crossing(const u32 *bins, i32 wanted) {
  const i32 lowest = kBins - 4 - lane_index() * 4;
  const u32x4 four = *reinterpret_cast<const u32x4 *>(bins + lowest);
  const u32 own = four.x + four.y + four.z + four.w;
  const u32 through = prefix_sum(own);
  const i32 lane = first_lane(ballot(through >= static_cast<u32>(wanted)));
  Crossing at;
  at.bin = kBins - 1 - lane * 4;
  at.above = read_lane(through - own, lane);
  at.inside = read_lane(four.w, lane);
  const u32 next[3] = {read_lane(four.z, lane), read_lane(four.y, lane),
                       read_lane(four.x, lane)};
#pragma unroll
  for (i32 i = 0; i < 3; ++i)
    if (at.above + at.inside < wanted) {
      --at.bin;
      at.above += at.inside;
      at.inside = next[i];
    }
  return at;
}

/// Adds up the row's keys above the pivot, over all waves.
template <class Select, class Keys>
WINNOW_DEVICE i32 count_above(u32 pivot, const Keys &keys, const SelectRow &row,
                              NarrowStorage<Select> &storage) {
  i32 above = 0;
  for_each_slot<Select>(Keys::count(row), [&](i32 slot, i32) {
    above += tally_lanes(ballot(keys.key[slot] > pivot));
  });
  if (lane_index() == 0)
    add_local(&storage.above, above);
  local_barrier();
  return read_first_lane(storage.above);
}

/// The smallest candidate to keep: at least kTopK and at most 64 of the row are
/// as large. At least kTopK keys reach the pivot; if fewer are above it, it is
/// the kTopK-th key, and only tie-breaks are left to decide.
template <class Select, class Keys>
WINNOW_DEVICE Candidate find_floor(u32 pivot, const Keys &keys,
                                   const SelectRow &row,
                                   NarrowStorage<Select> &storage) {
  // Candidates above the floor's digits; bits from top + 1 on are decided.
  i32 above = count_above<Select>(pivot, keys, row, storage);
  i32 top = 31 - leading_zeros(static_cast<u32>(row.block_count - 1));
  Candidate floor = static_cast<u64>(pivot) << 32;
  if (above >= Select::kTopK) {
    // Leading bits that the keys from the pivot up share need no pass.
    const u32 largest = largest_key<Select>(storage);
    top = 63 - leading_zeros(pivot ^ largest);
    floor = static_cast<u64>(largest) << 32 >> top >> 1 << top << 1;
    above = 0;
  }
  for (;;) {
    const i32 shift = max(top - (kDigitBits - 1), 0);
    for (i32 bin = thread_index(); bin < kBins; bin += kThreads<Select>)
      storage.bins[bin] = 0;
    local_barrier();
    for_each_slot<Select>(Keys::count(row), [&](i32 slot, i32 first) {
      const Candidate candidate =
          keys.candidate(slot, first + thread_index(), row);
      if ((candidate ^ floor) >> top >> 1 == 0)
        add_local(&storage.bins[(candidate >> shift) % kBins], 1);
    });
    local_barrier();
    if (wave_index() == 0)
      storage.crossing = find_crossing(storage.bins, Select::kTopK - above);
    local_barrier();
    const i32 bin = read_first_lane(storage.crossing.bin);
    const i32 inside = read_first_lane(storage.crossing.inside);
    above += read_first_lane(storage.crossing.above);
    floor |= static_cast<u64>(bin) << shift;
    if (above + inside <= kMaxCandidates)
      return floor;
    // Only candidates that repeat, which a caller owes not to bring, are left
    // with no bit to tell them apart.
    if (Keys::kSparse && shift == 0)
      return floor;
    top = shift - 1;
  }
}

} // namespace winnow
