// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The exact order of the candidates, by one wave, and the selection that
// follows from it.
//
// A shape states, besides what select_row.h needs:
//   kOrderAscending   whether the kept ids come ascending rather than best
//                     first
#pragma once

#include "winnow/select_storage.h"

namespace winnow {

/// No block.
inline constexpr i32 kNoBlock = -1;

/// The selection: lane l holds its blocks l, l + kWaveLanes, ..., and kNoBlock
/// past the last.
template <class Select> struct Selection {
  i32 block[kKeptPerLane<Select>];
};

/// How many of `steps` candidates from `begin` on are larger than each of this
/// lane's own, added up; four at a time.
template <class Select, i32 Own>
WINNOW_DEVICE void count_larger(i32 begin, i32 steps,
                                const Candidate (&own)[Own], i32 (&larger)[Own],
                                const NarrowStorage<Select> &storage) {
  const Candidate *other = storage.candidates + begin;
#pragma unroll 1
  for (i32 step = 0; step < steps; step += 4, other += 4)
#pragma unroll
    for (i32 i = 0; i < 4; ++i)
#pragma unroll
      for (i32 j = 0; j < Own; ++j)
        larger[j] += other[i] > own[j];
}

/// How many of the first kWaveLanes candidates are larger than this lane's own.
/// As many comparisons whatever there are, none of which waits for another.
template <class Select>
WINNOW_DEVICE i32 count_larger(Candidate own,
                               const NarrowStorage<Select> &storage) {
  i32 larger = 0;
#pragma unroll
  for (i32 begin = 0; begin < kWaveLanes; begin += 8) {
    i32 part[2] = {};
#pragma unroll
    for (i32 i = 0; i < 8; ++i)
      part[i % 2] -= mask_above(storage.candidates[begin + i], own);
    larger += part[0] + part[1];
  }
  return larger;
}

/// Puts the blocks of the `listed` candidates into the storage, largest first.
/// Of up to half as many candidates as a wave has lanes, each is compared by
/// two lanes, with one half of the others each.
template <class Select>
WINNOW_DEVICE void sort_candidates(i32 listed, const SelectRow &row,
                                   NarrowStorage<Select> &storage) {
  constexpr i32 most = kMaxCandidates<Select> / kWaveLanes;
  constexpr i32 half = kWaveLanes / 2;
  const i32 lane = lane_index();
  const bool halves = most == 1 && listed <= half;
#pragma unroll
  for (i32 j = 0; j < kKeptPerLane<Select>; ++j)
    storage.blocks[j * kWaveLanes + lane] = kNoBlock;
  Candidate own[most];
  i32 larger[most] = {};
#pragma unroll
  for (i32 j = 0; j < most; ++j)
    own[j] = storage.candidates[(halves ? lane % half : lane) + j * kWaveLanes];
  bool counted = false;
  if constexpr (Select::kTopK <= kWaveLanes && kQuickSlots > 0)
    if (listed <= kWaveLanes) {
      larger[0] = count_larger<Select>(own[0], storage);
      counted = true;
    }
  if (!counted) {
    const i32 steps = halves ? (listed + 1) / 2 : listed;
    const i32 begin = halves && lane >= half ? (steps + 3) / 4 * 4 : 0;
    count_larger<Select>(begin, steps, own, larger, storage);
    if (halves)
      larger[0] += fetch_lane(larger[0], lane ^ half);
  }
  wave_barrier();
#pragma unroll
  for (i32 j = 0; j < most; ++j)
    if (larger[j] < Select::kTopK && is_candidate(own[j]))
      storage.blocks[larger[j]] = block_of<Select>(own[j], row);
  wave_barrier();
}

/// Sorts the storage's blocks by their numbers, kNoBlock last.
template <class Select>
WINNOW_DEVICE void sort_blocks(NarrowStorage<Select> &storage) {
  constexpr i32 most = kKeptPerLane<Select>;
  u32 own[most];
  i32 smaller[most] = {};
#pragma unroll
  for (i32 j = 0; j < most; ++j)
    own[j] = storage.blocks[j * kWaveLanes + lane_index()];
#pragma unroll 1
  for (i32 i = 0; i < Select::kTopK; i += 4)
#pragma unroll
    for (i32 k = 0; k < 4; ++k)
#pragma unroll
      for (i32 j = 0; j < most; ++j)
        smaller[j] += static_cast<u32>(storage.blocks[i + k]) < own[j];
  wave_barrier();
#pragma unroll
  for (i32 j = 0; j < most; ++j)
    if (own[j] != static_cast<u32>(kNoBlock))
      storage.blocks[smaller[j]] = own[j];
  wave_barrier();
}

/// The selection from the `listed` candidates in the storage.
template <class Select>
WINNOW_DEVICE Selection<Select> rank(i32 listed, const SelectRow &row,
                                     NarrowStorage<Select> &storage) {
  static_assert(Select::kTopK >= 1 && Select::kTopK <= kMaxCandidates<Select>,
                "as many blocks are kept as can be candidates, at most");
  sort_candidates<Select>(listed, row, storage);
  if constexpr (Select::kOrderAscending)
    sort_blocks<Select>(storage);
  Selection<Select> selected;
#pragma unroll
  for (i32 j = 0; j < kKeptPerLane<Select>; ++j)
    selected.block[j] = storage.blocks[j * kWaveLanes + lane_index()];
  return selected;
}

} // namespace winnow
