// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which blocks one rank of a context-parallel group scores: block b belongs to
// rank b % world and lies in column b / world of the rank's scores. Causal
// lengths and forced blocks go by the global number b.
//
// A shape states:
//   kShardRank, kShardWorld   this rank, and how many there are; 0 and 1 where
//                             nothing is sharded
//   kMaxBlocks                blocks of the longest sequence, of all ranks
#pragma once

#include "winnow/arch/portable.h"

namespace winnow {

/// The most columns that a rank has.
template <class Shape>
inline constexpr i32 kShardBlocks =
    (Shape::kMaxBlocks - Shape::kShardRank + Shape::kShardWorld - 1) /
    Shape::kShardWorld;

template <class Shape> WINNOW_DEVICE constexpr i32 block_of_column(i32 column) {
  static_assert(0 <= Shape::kShardRank &&
                    Shape::kShardRank < Shape::kShardWorld,
                "a rank is one of its world");
  return column * Shape::kShardWorld + Shape::kShardRank;
}

template <class Shape> WINNOW_DEVICE constexpr i32 column_of_block(i32 block) {
  return static_cast<i32>(static_cast<u32>(block) / Shape::kShardWorld);
}

/// How many of a row's first `blocks` blocks are this rank's.
template <class Shape>
WINNOW_DEVICE constexpr i32 columns_of_blocks(i32 blocks) {
  if (Shape::kShardWorld == 1)
    return blocks;
  const i32 past = max(blocks - Shape::kShardRank, 0) + Shape::kShardWorld - 1;
  return column_of_block<Shape>(past);
}

} // namespace winnow
