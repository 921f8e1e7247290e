// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The exact order of at most 64 candidates, by one wave, and the selection
// that follows from it.
//
// A shape states, besides what select_narrow.h needs:
//   kOrderAscending   whether the kept ids come ascending rather than best
//                     first
#pragma once

#include "winnow/select_row.h"

namespace winnow {

/// No block.
inline constexpr i32 kNoBlock = -1;

/// Sorts the wave's candidates, largest first: lane i gets the i-th. Those
/// that are 0 have to be in the lanes past the others, and stay there.
WINNOW_DEVICE Candidate sort_descending(Candidate own) {
  const i32 count = __builtin_popcountll(ballot(own != 0));
  i32 larger = 0;
  for (i32 lane = 0; lane < count; ++lane)
    larger += read_lane(own, lane) > own;
  return send_to_lane(own, own != 0 ? larger : lane_index());
}

/// The selection: lane k < kTopK gets its k-th block, or kNoBlock where there
/// are fewer candidates; lanes from kTopK on get kNoBlock.
template <class Select>
WINNOW_DEVICE i32 rank(Candidate candidate, const SelectRow &row) {
  const Candidate sorted = sort_descending(candidate);
  const bool kept = lane_index() < Select::kTopK && sorted != 0;
  const i32 block = kept ? block_of<Select>(sorted, row) : kNoBlock;
  if constexpr (!Select::kOrderAscending)
    return block;
  // Complements put the smallest id first; no block gives 0.
  const u32 complement =
      static_cast<u32>(sort_descending(static_cast<u32>(~block)));
  return static_cast<i32>(~complement);
}

} // namespace winnow
