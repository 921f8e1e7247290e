// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How rows of queries and keys are shared out among lanes, on every target: a
// tile is 16 rows of 128 elements, four lanes share a row, and each takes
// parts of 16 bytes that lie 64 bytes apart. One load of all lanes then covers
// 64 consecutive bytes of each row. Which elements a lane multiplies with which
// does not matter as long as queries and keys agree, as a sum has no order.
#pragma once

#include "winnow/arch/portable.h"

namespace winnow {

/// Rows of a tile: tokens of a tile of keys, queries of a query tile.
inline constexpr i32 kMatrixRows = 16;

/// Elements of a query or key that the matrix units cover.
inline constexpr i32 kMatrixDepth = 128;

template <class Element>
inline constexpr i32 kRowBytes =
    kMatrixDepth * static_cast<i32>(sizeof(Element));

/// Bytes of a part, and of a row from one part of a lane to its next.
inline constexpr i32 kPieceBytes = 16;
inline constexpr i32 kPartBytes = 64;

/// Parts of a row that one lane takes.
template <class Element>
inline constexpr i32 kParts = kRowBytes<Element> / kPartBytes;

} // namespace winnow
