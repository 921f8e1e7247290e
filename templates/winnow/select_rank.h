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

/// Sorts the wave's candidates, largest first: lane i gets the i-th. Lanes
/// without one have to be past the others, and stay there.
WINNOW_DEVICE Candidate sort_descending(Candidate own) {
  const i32 count = count_lanes(ballot(is_candidate(own)));
  i32 larger = 0;
  // Lanes past the last candidate hold nothing that is larger than one.
  for (i32 lane = 0; lane < count; lane += 4)
#pragma unroll
    for (i32 i = 0; i < 4; ++i)
      larger += read_lane(own, lane + i) > own;
  return send_to_lane(own, is_candidate(own) ? larger : lane_index());
}

/// The selection: lane k < kTopK gets its k-th block, or kNoBlock where there
/// are fewer candidates; lanes from kTopK on get kNoBlock.
template <class Select>
WINNOW_DEVICE i32 rank(Candidate candidate, const SelectRow &row) {
  const Candidate sorted = sort_descending(candidate);
  const bool kept = lane_index() < Select::kTopK && is_candidate(sorted);
  const i32 block = kept ? block_of<Select>(sorted, row) : kNoBlock;
  if constexpr (!Select::kOrderAscending)
    return block;
  // Complements, as keys, put the smallest id first; that of kNoBlock is 0.
  const Candidate by_id = static_cast<u64>(~static_cast<u32>(block)) << 32;
  return static_cast<i32>(~static_cast<u32>(sort_descending(by_id) >> 32));
}

} // namespace winnow
