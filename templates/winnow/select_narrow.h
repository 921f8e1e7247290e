// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a row of any length to the few candidates that hold its top kTopK.
//
// A row that fits in the candidates is taken whole. Otherwise a quick lower
// bound of the kTopK-th key leaves few enough nearly always; where it does not,
// the bound is raised by bisection, until the rest fits or all that is left to
// decide is which of equal scores are kept.
//
// One wave does it alone where its slots hold the row. The others leave then;
// in longer rows they work together, through local memory.
//
// A shape states what select_row.h needs.
#pragma once

#include "winnow/select_list.h"
#include "winnow/select_pivot.h"
#include "winnow/select_quick.h"

namespace winnow {

/// Lists at least kTopK of the row's places, and among them its top kTopK, of
/// a row in which more `slots` than can be candidates reach the pivot. Returns
/// how many.
template <class Select, class Keys>
WINNOW_DEVICE i32 list_exactly(i32 pivot, u32 slots, const Keys &keys,
                               const SelectRow &row, i32 left, bool shared,
                               NarrowStorage<Select> &storage) {
  using Value = typename Keys::Value;
  using Distance = typename Keys::Distance;
  constexpr Distance far = Distance(1) << (sizeof(Distance) * 8 - 16);
  // Too many are above `low`, too few above `high`. What is above the pivot
  // itself comes first: a plateau of equal scores ends there.
  Distance low = Keys::below(pivot), high = Keys::kHighest;
  Distance step = Keys::one_key(row);
  u32 low_slots = slots, high_slots = 0;
  i32 high_listed = 0, counter = 1, listed = 0;
  Distance half, bound;
#pragma unroll 1
  do {
    half = (high - low) / 2;
    bound = low + min(half, step);
    step = max(step * 4, far);
    if (half != 0) {
      slots = slots_above<Select>(Value(bound), keys, left);
    } else {
      // All that are above `high` are kept, and of those that equal it the ones
      // that win ties.
      slots = low_slots & ~high_slots;
      i32 wanted = Select::kTopK - high_listed;
      if constexpr (Select::kWaves > 1)
        if (shared)
          wanted -= ties_of_other_waves<Select>(slots, storage);
      slots = high_slots | win_ties<Select>(slots, wanted, left);
    }
    listed = list_places<Select>(slots, left, shared, counter, storage);
    counter = counter == 2 ? 0 : counter + 1;
    if (listed > kMaxCandidates<Select>) {
      low = bound;
      low_slots = slots;
    } else if (listed < Select::kTopK) {
      high = bound;
      high_slots = slots;
      high_listed = listed;
    }
  } while (listed < Select::kTopK || listed > kMaxCandidates<Select>);
  return listed;
}

/// Puts candidates into the storage, among which are the row's top kTopK, and
/// returns how many; the entries past them are no candidates. The first wave
/// has them; the others get -1 and have nothing left to do.
template <class Select, class Keys>
WINNOW_DEVICE i32 narrow(const Keys &keys, const SelectRow &row,
                         NarrowStorage<Select> &storage) {
  constexpr i32 lane_candidates = kMaxCandidates<Select> / kWaveLanes;
  const i32 count = Keys::count(row);
  const bool shared = is_shared<Select>(count);
  if (!shared && wave_of<Select>() != 0)
    return -1;
  i32 listed = count;
  i32 place[lane_candidates];
#pragma unroll
  for (i32 i = 0; i < lane_candidates; ++i)
    place[i] = i * kWaveLanes + lane_index();
  if constexpr (Select::kWaves * kWavePlaces<Select> > kMaxCandidates<Select>)
    if (count > kMaxCandidates<Select>) {
      if constexpr (kIsQuick<Select, Keys>) {
        listed = list_quickly<Select>(keys, row, shared, storage);
        if (listed <= kMaxCandidates<Select>) {
          if (wave_of<Select>() != 0)
            return -1;
          end_candidates<Select>(listed, storage);
          return listed;
        }
      }
      const i32 left = count - wave_begin<Select>();
      const i32 pivot = find_pivot<Select>(keys.largest, shared, storage);
      const u32 slots = slots_above<Select>(Keys::below(pivot), keys, left);
      listed = list_places<Select>(slots, left, shared, 0, storage);
      if (listed > kMaxCandidates<Select>)
        listed = list_exactly<Select>(pivot, slots, keys, row, left, shared,
                                      storage);
      if (wave_of<Select>() != 0)
        return -1;
      // What ranks handed on may be no candidate at all.
      if (Keys::kHasBlocks || listed != 0)
#pragma unroll
        for (i32 i = 0; i < lane_candidates; ++i)
          place[i] = storage.places[min(place[i], listed - 1)];
    }
#pragma unroll
  for (i32 i = 0; i < lane_candidates; ++i) {
    const i32 at = i * kWaveLanes + lane_index();
    const Candidate candidate = keys.candidate(place[i], row);
    storage.candidates[at] = at < listed ? candidate : 0;
  }
  wave_barrier();
  return listed;
}

} // namespace winnow
