// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The local memory through which a workgroup narrows a row and sorts what is
// left.
//
// A shape states what select_row.h needs.
#pragma once

#include "winnow/select_row.h"

namespace winnow {

/// Blocks of a selection that a lane holds.
template <class Select>
inline constexpr i32 kKeptPerLane =
    (Select::kTopK + kWaveLanes - 1) / kWaveLanes;

/// What waves tell each other where a row takes several of them.
template <class Select> struct SharedCounts {
  i32 largest[Select::kWaves][kWaveLanes]; ///< each lane's largest key
  i32 pivot;
  u32 listed[3];            ///< places that attempts 0, 1, 2, 0... listed
  u32 tied[Select::kWaves]; ///< places of better waves that tie for the rest
};

/// One wave has nobody to tell.
struct NoCounts {};

template <bool Shared, class Select> struct CountsOf {
  using Type = SharedCounts<Select>;
};
template <class Select> struct CountsOf<false, Select> {
  using Type = NoCounts;
};

template <class Select> struct NarrowStorage {
  alignas(16) Candidate candidates[kMaxCandidates<Select>];
  i32 places[kMaxCandidates<Select>]; ///< where the candidates are
  alignas(16) i32 blocks[kKeptPerLane<Select> * kWaveLanes]; ///< in order
  typename CountsOf<(Select::kWaves > 1), Select>::Type shared;
};

} // namespace winnow
