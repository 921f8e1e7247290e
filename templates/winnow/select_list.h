// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sets of a row's places, each lane's share one bit a slot: those above a
// value, those that win a tie, and their list in local memory. The last slot in
// use is bit 0.
//
// A shape states what select_row.h needs.
#pragma once

#include "winnow/select_storage.h"

namespace winnow {

/// The slots whose value is above `bound`. `left` places are this wave's.
template <class Select, class Keys>
WINNOW_DEVICE u32 slots_above(typename Keys::Value bound, const Keys &keys,
                              i32 left) {
  u32 slots = 0;
  for_each_group<Select>(left, [&](i32 group) WINNOW_INLINE {
    slots = append_above<kGroupSlots<Select>>(slots, keys.group[group], bound);
  });
  return slots;
}

/// Lists the places of the row's `slots` in no particular order, in all waves
/// of a `shared` row together, unless they do not fit in the candidates.
/// Returns how many there are, the same in all lanes and waves. `counter` is
/// one of the row's that is 0; the next one is made 0.
template <class Select>
WINNOW_DEVICE i32 list_places(u32 slots, i32 left, bool shared, i32 counter,
                              NarrowStorage<Select> &storage) {
  const u32 own = count_bits(slots);
  const u32 through = prefix_sum(own);
  i32 listed = read_lane(through, kWaveLanes - 1);
  u32 at = through - own;
  if constexpr (Select::kWaves > 1)
    if (shared) {
      u32 before = 0;
      if (lane_index() == 0)
        before = add_local(&storage.shared.listed[counter], listed);
      before = read_lane(before, 0);
      listed += before;
      at += before;
    }
  if (listed <= kMaxCandidates<Select>) {
    const i32 last_slot = slots_in_use<Select>(left) - 1;
    const i32 last =
        wave_begin<Select>() + last_slot * kWaveLanes + lane_index();
    for (; slots != 0; slots &= slots - 1)
      storage.places[at++] = last - lowest_bit(slots) * kWaveLanes;
  }
  if constexpr (Select::kWaves > 1)
    if (shared) {
      // Nobody reads it or adds to it between this barrier and the last one.
      storage.shared.listed[counter == 2 ? 0 : counter + 1] = 0;
      local_barrier();
      return read_first_lane(storage.shared.listed[counter]);
    }
  wave_barrier();
  return listed;
}

/// How many of the row's `equal` places win ties against all of this wave's.
/// Once in a row.
template <class Select>
WINNOW_DEVICE i32 ties_of_other_waves(u32 equal,
                                      NarrowStorage<Select> &storage) {
  const i32 wave = wave_index(), other = lane_index();
  const u32 own = read_lane(prefix_sum(count_bits(equal)), kWaveLanes - 1);
  if (Select::kTieHighest ? other < wave
                          : other > wave && other < Select::kWaves)
    add_local(&storage.shared.tied[other], own);
  local_barrier();
  return read_first_lane(storage.shared.tied[wave]);
}

/// The `wanted` slots of `equal` in this wave that win ties; places are in the
/// order of their slots, then of the lanes.
template <class Select>
WINNOW_DEVICE u32 win_ties(u32 equal, i32 wanted, i32 left) {
  const i32 slots = slots_in_use<Select>(left);
  u32 won = 0;
#pragma unroll 1
  for (i32 i = 0; i < slots && wanted > 0; ++i) {
    const u32 bit = 1u << (Select::kTieHighest ? i : slots - 1 - i);
    const bool own = (equal & bit) != 0;
    const LaneMask tied = ballot(own);
    const i32 count = count_lanes(tied);
    const i32 before = count_before(tied);
    if (own && (Select::kTieHighest ? count - 1 - before : before) < wanted)
      won |= bit;
    wanted -= count;
  }
  return won;
}

} // namespace winnow
