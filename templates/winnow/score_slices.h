// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a block is cut into slices, and a slice into tiles of 16 tokens.
//
// A shape states:
//   kBlockSize    tokens a block: 32, 64, 128 or 256
//   kSliceTiles   tiles of a slice, which are loaded, copied or shared
//                 together: as many as divide the block's
#pragma once

#include "winnow/arch.h"

namespace winnow {

inline constexpr i32 kTileTokens = kMatrixRows;

template <class Score>
inline constexpr i32 kBlockTiles = Score::kBlockSize / kTileTokens;
template <class Score>
inline constexpr i32 kSlices = kBlockTiles<Score> / Score::kSliceTiles;
template <class Score>
inline constexpr i32 kSliceTokens = Score::kSliceTiles * kTileTokens;

template <class Score> WINNOW_DEVICE constexpr bool is_sliced_block() {
  return (Score::kBlockSize == 32 || Score::kBlockSize == 64 ||
          Score::kBlockSize == 128 || Score::kBlockSize == 256) &&
         Score::kSliceTiles >= 1 &&
         kBlockTiles<Score> % Score::kSliceTiles == 0;
}

} // namespace winnow
