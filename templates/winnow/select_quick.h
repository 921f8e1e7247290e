// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The candidates of a row in as few steps as can be, one waiting for the other:
// for targets where the time to the end of a lone row counts more than the
// instructions of many. Lanes hold few places each, all waves rank the groups'
// largest keys, and what reaches the pivot goes to the storage with its key.
//
// A shape states what select_row.h needs.
#pragma once

#include "winnow/select_storage.h"

namespace winnow {

/// Whether a row is listed so.
template <class Select, class Keys>
inline constexpr bool kIsQuick =
    Keys::kHasBlocks && Select::kSlots <= kQuickSlots &&
    Select::kTopK <= kWaveLanes;

/// Puts all places into the storage whose keys reach a bound that at least
/// kTopK keys reach, as candidates, and returns how many there are. If they are
/// too many, what is in the storage is of no use.
template <class Select, class Keys>
WINNOW_DEVICE i32 list_quickly(const Keys &keys, const SelectRow &row,
                               bool shared, NarrowStorage<Select> &storage) {
  const i32 wave = wave_of<Select>(), lane = lane_index();
  const bool holds = Keys::count(row) > wave_begin<Select>();
  i32 largest = keys.largest;
  if constexpr (Select::kWaves > 1)
    if (shared) {
      storage.shared.largest[wave][lane] = largest;
      if (thread_index() == 0)
        storage.shared.listed[0] = 0;
      local_barrier();
#pragma unroll
      for (i32 other = 0; other < Select::kWaves; ++other)
        largest = max(largest, storage.shared.largest[other][lane]);
    }
  const i32 pivot =
      max(lower_bound_of_lanes<Select::kTopK>(largest), kNoKey + 1);

  // Rows that are listed so have one group.
  const auto &group = keys.group[0];
  i32 reaching[Select::kSlots]; // -1 for those that reach the pivot
  i32 own = 0;
#pragma unroll
  for (i32 slot = 0; slot < Select::kSlots; ++slot) {
    reaching[slot] =
        mask_above(holds ? static_cast<i32>(group[slot]) : kNoKey, pivot - 1);
    own -= reaching[slot];
  }
  // The lanes' numbers of such keys by their bits: as many ballots as a number
  // has, where one for each slot would be twice as many.
  u32 at = 0;
  i32 listed = 0;
#pragma unroll
  for (i32 bit = 1; bit <= Select::kSlots; bit *= 2) {
    const LaneMask lanes = ballot(own & bit);
    at += bit * count_before(lanes);
    listed += bit * count_lanes(lanes);
  }
  if constexpr (Select::kWaves > 1)
    if (shared) {
      u32 before = 0;
      if (lane == 0)
        before = add_local(&storage.shared.listed[0], listed);
      at += read_first_lane(before);
    }
#pragma unroll
  for (i32 slot = 0; slot < Select::kSlots; ++slot) {
    if (reaching[slot] != 0 && at < kMaxCandidates<Select>)
      storage.candidates[at] = candidate_of<Select>(
          group[slot],
          block_of_column<Select>(wave_begin<Select>() + slot * kWaveLanes +
                                  lane),
          row);
    at -= reaching[slot];
  }
  if constexpr (Select::kWaves > 1)
    if (shared) {
      local_barrier();
      return static_cast<i32>(storage.shared.listed[0]);
    }
  wave_barrier();
  return listed;
}

/// Makes the entries past the candidates none.
template <class Select>
WINNOW_DEVICE void end_candidates(i32 listed, NarrowStorage<Select> &storage) {
#pragma unroll
  for (i32 at = 0; at < kMaxCandidates<Select>; at += kWaveLanes)
    if (at + lane_index() >= listed)
      storage.candidates[at + lane_index()] = 0;
  wave_barrier();
}

} // namespace winnow
