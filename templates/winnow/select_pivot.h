// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A quick lower bound of a row's kTopK-th key: the row falls into as many
// groups as a wave has lanes; if kTopK groups have a largest key of at least
// the pivot, so have kTopK blocks. For scores in no particular order hardly
// more do: with the 16th of 64 group maxima as pivot, 18 blocks are expected.
//
// A shape states what select_row.h needs.
#pragma once

#include "winnow/select_storage.h"

namespace winnow {

/// So many groups at or above a pivot are close enough to kTopK: few enough for
/// their blocks to fit in the candidates with room to spare. At 34 groups of 64
/// 48 blocks are expected.
template <class Select>
inline constexpr i32 kEnoughGroups =
    max(Select::kTopK, min(Select::kTopK * 3 / 2, kWaveLanes * 34 / 64));

/// A key that at least kTopK lanes' keys reach, and not many more. If the lanes
/// do not allow for that, it is the kTopK-th largest of their keys. Quickselect
/// whose sets are lane masks.
template <class Select> WINNOW_DEVICE i32 pivot_of_lanes(i32 key) {
  // Where keys rise or fall from lane to lane, the first of the mirrored lanes
  // of a set is near the middle.
  key = fetch_lane(key, mirrored_lane());
  LaneMask open = ~LaneMask(0); // lanes whose keys may be better pivots
  LaneMask reaching;
  i32 pivot, tried, reached;
  bool enough;
  do {
    tried = read_lane(static_cast<u32>(key), first_lane(open));
    reaching = ballot(key >= tried);
    reached = count_lanes(reaching);
    enough = reached >= Select::kTopK;
    if (enough)
      pivot = tried;
    open &= enough ? ballot(key > tried) : ~reaching;
  } while (!(enough && reached <= kEnoughGroups<Select>) && open != 0);
  return pivot;
}

/// A key that at least kTopK of the row's keys reach, the same in all waves.
/// With fewer than kTopK groups that hold a block all keys reach it.
template <class Select>
WINNOW_DEVICE i32 find_pivot(i32 largest, bool shared,
                             NarrowStorage<Select> &storage) {
  // More blocks to keep than there are groups: they bound nothing.
  constexpr bool bounded = Select::kTopK <= kWaveLanes;
  if constexpr (Select::kWaves > 1)
    if (shared) {
      storage.shared.largest[wave_index()][lane_index()] = largest;
      local_barrier();
      if (wave_index() == 0) {
#pragma unroll
        for (i32 wave = 1; wave < Select::kWaves; ++wave)
          largest = max(largest, storage.shared.largest[wave][lane_index()]);
        i32 pivot = kNoKey;
        if constexpr (bounded)
          pivot = pivot_of_lanes<Select>(largest);
        storage.shared.pivot = max(pivot, kNoKey + 1);
        storage.shared.listed[0] = 0;
        if (lane_index() < Select::kWaves)
          storage.shared.tied[lane_index()] = 0;
      }
      local_barrier();
      return read_first_lane(storage.shared.pivot);
    }
  if constexpr (!bounded)
    return kNoKey + 1;
  return max(pivot_of_lanes<Select>(largest), kNoKey + 1);
}

} // namespace winnow
