// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A quick lower bound of a row's kTopK-th key: the row falls into 64 groups,
// one a lane; if kTopK groups have a largest key of at least the pivot, so have
// kTopK blocks. For scores in no particular order hardly more do: with the 16th
// of 64 group maxima as pivot, 18 blocks are expected.
//
// A shape states what select_storage.h needs.
#pragma once

#include "winnow/select_storage.h"

namespace winnow {

/// So many groups at or above a pivot are close enough to kTopK: few enough for
/// their blocks to fit in the candidates with room to spare. At 34 groups 48
/// blocks are expected.
template <class Select>
inline constexpr i32 kEnoughGroups =
    max(Select::kTopK, min(Select::kTopK * 3 / 2, 34));

/// A key that at least kTopK lanes' keys reach. Bits are decided from the top;
/// once few enough lanes are left the rest stays 0. If that never happens the
/// result is the kTopK-th largest key itself.
template <class Select> WINNOW_DEVICE u32 pivot_of_lanes(u32 key) {
  u32 pivot = 0;
#pragma unroll 1
  for (u32 bit = 1u << 31; bit != 0; bit >>= 1) {
    const i32 reached = count_lanes(ballot(key >= (pivot | bit)));
    if (reached < Select::kTopK)
      continue;
    pivot |= bit;
    if (kEnoughGroups<Select> < kWaveLanes && reached <= kEnoughGroups<Select>)
      break;
  }
  return pivot;
}

/// A key that at least kTopK of the row's keys reach, the same in all waves.
/// There are more than 64 to select from, so that every group has one; with
/// fewer than kTopK groups that do, because places are empty, the key is 1.
template <class Select, class Keys>
WINNOW_DEVICE u32 find_pivot(const Keys &keys, const SelectRow &row,
                             NarrowStorage<Select> &storage) {
  u32 largest = 0;
  for_each_slot<Select>(Keys::count(row), [&](i32 slot, i32) {
    largest = max(largest, keys.key[slot]);
  });
  storage.largest[wave_index()][lane_index()] = largest;
  storage.count = 0;
  storage.above = 0;
  local_barrier();
  if (wave_index() == 0) {
#pragma unroll
    for (i32 wave = 1; wave < Select::kWaves; ++wave)
      largest = max(largest, storage.largest[wave][lane_index()]);
    storage.pivot = pivot_of_lanes<Select>(largest);
    if constexpr (Keys::kSparse)
      storage.pivot = max(storage.pivot, 1u);
  }
  local_barrier();
  return read_first_lane(storage.pivot);
}

/// The row's largest key, after find_pivot.
template <class Select>
WINNOW_DEVICE u32 largest_key(const NarrowStorage<Select> &storage) {
  u32 largest = 0;
#pragma unroll
  for (i32 wave = 0; wave < Select::kWaves; ++wave)
    largest = max(largest, storage.largest[wave][lane_index()]);
  return read_first_lane(
      combine_wave(largest, [](u32 a, u32 b) { return max(a, b); }));
}

} // namespace winnow
