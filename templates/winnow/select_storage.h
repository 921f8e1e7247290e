// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The local memory through which a workgroup's waves narrow a row together.
//
// A shape states what select_row.h needs, and:
//   kTopK   blocks to keep, 1 to 64
#pragma once

#include "winnow/select_row.h"

namespace winnow {

/// Candidates that one wave can rank.
inline constexpr i32 kMaxCandidates = kWaveLanes;

inline constexpr i32 kDigitBits = 8;
inline constexpr i32 kBins = 1 << kDigitBits;

/// Where a histogram's running count, from the top bin down, reaches a number.
struct Crossing {
  i32 bin;
  i32 above; ///< in all bins above it
  i32 inside;
};

template <class Select> struct NarrowStorage {
  u32 largest[Select::kWaves][kWaveLanes]; ///< each lane's largest key
  u32 pivot;
  u32 count; ///< candidates found, also those that had no room
  u32 above; ///< keys above the pivot
  Candidate candidates[kMaxCandidates];
  u32 bins[kBins];
  Crossing crossing;
};

} // namespace winnow
