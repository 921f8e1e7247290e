// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a block is cut into slices, and a slice into tiles of 16 tokens.
//
// A shape states:
//   kBlockSize   tokens a block: 32, 64, 128 or 256
#pragma once

#include "winnow/arch.h"

namespace winnow {

inline constexpr i32 kTileTokens = kMatrixRows;
/// Tokens whose keys are in flight at once, or are copied at once.
template <class Element, i32 Bytes = kSliceBytes>
inline constexpr i32 kSliceTokens = Bytes / kRowBytes<Element>;

/// How a block is cut into slices, and a slice into tiles.
template <class Score, class Element, i32 Bytes = kSliceBytes>
inline constexpr i32 kSlices =
    Score::kBlockSize <= kSliceTokens<Element, Bytes>
        ? 1
        : Score::kBlockSize / kSliceTokens<Element, Bytes>;
template <class Score, class Element, i32 Bytes = kSliceBytes>
inline constexpr i32 kTiles =
    Score::kBlockSize / kSlices<Score, Element, Bytes> / kTileTokens;

template <class Score> WINNOW_DEVICE constexpr bool is_sliced_block() {
  return Score::kBlockSize == 32 || Score::kBlockSize == 64 ||
         Score::kBlockSize == 128 || Score::kBlockSize == 256;
}

} // namespace winnow
