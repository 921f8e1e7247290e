// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a row of any length to at most 64 candidates that hold its top kTopK,
// exactly, whatever the scores: a radix histogram in LDS, most significant
// digit first, over the whole candidate (key, then tie-break). Candidates are
// distinct, so the last digit always separates them.
//
// A shape states, besides what select_row.h needs:
//   kTopK   blocks to keep, 1 to 64
#pragma once

#include "winnow/select_row.h"

namespace winnow {

inline constexpr i32 kDigitBits = 8;
inline constexpr i32 kBins = 1 << kDigitBits;

/// The workgroup's local memory while it narrows a row.
template <class Select> struct NarrowStorage {
  u32 bins[kBins];
  u32 wave_min[Select::kWaves];
  u32 wave_max[Select::kWaves];
  u32 count;
  Candidate candidates[kWaveLanes];
};

/// All waves have written what any of them reads from local memory next.
WINNOW_DEVICE void local_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");
}

WINNOW_DEVICE u32 add_local(u32 *counter, u32 value) {
  return __hip_atomic_fetch_add(counter, value, __ATOMIC_RELAXED,
                                __HIP_MEMORY_SCOPE_WORKGROUP);
}

/// The smallest and largest key of a row.
struct KeyRange {
  u32 min;
  u32 max;
};

template <class Select>
WINNOW_DEVICE KeyRange key_range(const ScoreKeys<Select> &keys,
                                 const SelectRow &row,
                                 NarrowStorage<Select> &storage) {
  u32 low = ~0u, high = 0;
  for_each_slot<Select>(row, [&](i32 slot, i32) {
    low = min(low, keys.slot[slot] - 1); // No block's 0 becomes the largest.
    high = max(high, keys.slot[slot]);
  });
  low = combine_wave(low, [](u32 a, u32 b) { return min(a, b); });
  high = combine_wave(high, [](u32 a, u32 b) { return max(a, b); });
  storage.wave_min[wave_index()] = low;
  storage.wave_max[wave_index()] = high;
  local_barrier();
  for (i32 wave = 0; wave < Select::kWaves; ++wave) {
    low = min(low, storage.wave_min[wave]);
    high = max(high, storage.wave_max[wave]);
  }
  return {read_first_lane(low) + 1, read_first_lane(high)};
}

/// Where a histogram's running count, from the top bin down, reaches `wanted`.
struct Crossing {
  i32 bin;
  i32 above; ///< in all bins above it
  i32 inside;
};

/// Every wave finds it for itself. Lane l looks after bins 255 - 4 * l and the
/// three below.
WINNOW_DEVICE Crossing find_crossing(const u32 *bins, i32 wanted) {
  const i32 lowest = kBins - 4 - lane_index() * 4;
  const u32x4 four = *reinterpret_cast<const u32x4 *>(bins + lowest);
  const i32 own = four.x + four.y + four.z + four.w;
  const i32 through = prefix_sum(own);
  const i32 lane = __builtin_ctzll(ballot(through >= wanted));
  Crossing at;
  at.bin = kBins - 1 - lane * 4;
  at.above = read_lane(static_cast<u32>(through - own), lane);
  at.inside = read_lane(four.w, lane);
  const i32 next[3] = {static_cast<i32>(read_lane(four.z, lane)),
                       static_cast<i32>(read_lane(four.y, lane)),
                       static_cast<i32>(read_lane(four.x, lane))};
#pragma unroll
  for (i32 i = 0; i < 3; ++i)
    if (at.above + at.inside < wanted) {
      --at.bin;
      at.above += at.inside;
      at.inside = next[i];
    }
  return at;
}

/// The smallest candidate to look at: at least kTopK and at most 64 of the row
/// are as large. The row has more than 64 blocks.
template <class Select>
WINNOW_DEVICE Candidate find_floor(const ScoreKeys<Select> &keys,
                                   const SelectRow &row,
                                   NarrowStorage<Select> &storage) {
  // Leading bits that all candidates share need no pass.
  const KeyRange range = key_range<Select>(keys, row, storage);
  const u32 differ = range.min ^ range.max;
  i32 top = differ != 0
                ? 63 - __builtin_clz(differ)
                : 31 - __builtin_clz(static_cast<u32>(row.block_count - 1));
  Candidate floor = static_cast<u64>(range.max) << 32 >> top >> 1 << top << 1;
  i32 above = 0; // Candidates above all that share floor's bits from top + 1.
  for (;;) {
    const i32 shift = max(top - (kDigitBits - 1), 0);
    for (i32 bin = thread_index(); bin < kBins; bin += kThreads<Select>)
      storage.bins[bin] = 0;
    local_barrier();
    for_each_slot<Select>(row, [&](i32 slot, i32 first) {
      const Candidate candidate =
          candidate_of<Select>(keys.slot[slot], first + thread_index(), row);
      if (candidate != 0 && (candidate ^ floor) >> top >> 1 == 0)
        add_local(&storage.bins[(candidate >> shift) % kBins], 1);
    });
    local_barrier();
    const Crossing at = find_crossing(storage.bins, Select::kTopK - above);
    above += at.above;
    floor |= static_cast<u64>(at.bin) << shift;
    if (above + at.inside <= kWaveLanes)
      return floor;
    top = shift - 1;
    local_barrier(); // The bins are about to be cleared.
  }
}

/// At most 64 candidates, one a lane from lane 0 of the first wave on, among
/// which are the row's top kTopK; lanes past them hold 0. The other waves get
/// 0 and have nothing left to do.
template <class Select>
WINNOW_DEVICE Candidate narrow(const ScoreKeys<Select> &keys,
                               const SelectRow &row,
                               NarrowStorage<Select> &storage) {
  static_assert(Select::kTopK >= 1 && Select::kTopK <= kWaveLanes,
                "one wave ranks at most 64 blocks");
  if (row.block_count <= kWaveLanes) // The first wave holds the whole row.
    return candidate_of<Select>(keys.slot[0], thread_index(), row);

  const Candidate floor = find_floor<Select>(keys, row, storage);
  storage.count = 0;
  local_barrier();
  for_each_slot<Select>(row, [&](i32 slot, i32 first) {
    const Candidate candidate =
        candidate_of<Select>(keys.slot[slot], first + thread_index(), row);
    if (candidate >= floor && candidate != 0)
      storage.candidates[add_local(&storage.count, 1)] = candidate;
  });
  local_barrier();
  const i32 thread = thread_index();
  return thread < static_cast<i32>(storage.count) ? storage.candidates[thread]
                                                  : 0;
}

} // namespace winnow
