// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scores of one page for many queries on the matrix cores: keys are the A
// operand, 16 tokens (rows) a tile, and queries the B operand, 16 columns a
// query tile. A lane then holds four tokens of one query in each tile, so that
// most of the maximum is taken within the lane.
//
// A shape states, besides what ragged_walk.h needs:
//   kHeadDim   elements of a query or key: 128
#pragma once

#include "winnow/ragged_walk.h"

namespace winnow {

/// One lane's share of the wave's queries.
template <class Score, class Element> struct QueryTiles {
  Fragment<Element> tile[Score::kQueryTiles];
};

/// One lane's best scores of a block so far, one for each query tile: those of
/// query lane % 16.
template <class Score> struct TileBest {
  float tile[Score::kQueryTiles];
};

/// `q` is contiguous and aligned to 16 bytes. Columns without a query are zero.
template <class Score, class Element>
WINNOW_DEVICE QueryTiles<Score, Element>
load_query_tiles(const Element *q, const RaggedTask<Score> &task) {
  static_assert(Score::kHeadDim == kMatrixDepth,
                "the matrix instructions cover 128 elements");
  QueryTiles<Score, Element> queries{};
  const u8 *first =
      reinterpret_cast<const u8 *>(q) + task.first_query * kRowBytes<Element>;
  // A workgroup without blocks reads no queries either.
  const i32 count = task.first_column < task.last_column ? task.query_count : 0;
#pragma unroll
  for (i32 i = 0; i < Score::kQueryTiles; ++i) {
    const i32 query = i * kMatrixRows + lane_index() % kMatrixRows;
    if (query < count)
#pragma unroll
      for (i32 p = 0; p < kParts<Element>; ++p)
        queries.tile[i].part[p] = *reinterpret_cast<const i32x4 *>(
            first + query * kRowBytes<Element> + lane_row_offset() +
            p * kPartBytes);
  }
  return queries;
}

/// No token seen yet.
template <class Score> WINNOW_DEVICE TileBest<Score> no_tile_score() {
  TileBest<Score> best;
#pragma unroll
  for (i32 i = 0; i < Score::kQueryTiles; ++i)
    best.tile[i] = kNoScore;
  return best;
}

/// One bit for each of a lane's tokens of a slice: bit 4 * tile + i is set if
/// the query that sees `visible` tokens from the lane's first on does not see
/// token 16 * tile + i.
WINNOW_DEVICE u32 hidden_tokens(i32 visible) {
  const i32 seen = min(max(visible, 0), 8 * kTileTokens);
  const i32 count = seen / kTileTokens * 4 + min(seen % kTileTokens, 4);
  // 64 bits, as a shift by 32 leaves a 32-bit number as it is.
  return static_cast<u32>(~u64(0) << count);
}

/// Products of a slice's keys with all queries of the wave, into the maxima.
/// maxnum returns the other operand for a NaN, so a NaN product never wins.
/// That takes hidden tokens out, too: their sums start from a NaN.
template <bool Hides, class Score, class Element>
WINNOW_DEVICE void
fold_tiles(const SharedKeys<Score, Element> &shared, i32 buffer,
           const QueryTiles<Score, Element> &queries,
           const u32 (&hidden)[Score::kQueryTiles], TileBest<Score> &best) {
  constexpr i32 tiles = kTiles<Score, Element>;
  f32x4 products[2][Score::kQueryTiles];
  const auto fold = [&](i32 t) {
#pragma unroll
    for (i32 q = 0; q < Score::kQueryTiles; ++q)
#pragma unroll
      for (i32 i = 0; i < 4; ++i)
        best.tile[q] = __builtin_fmaxf(best.tile[q], products[t % 2][q][i]);
  };
#pragma unroll
  for (i32 t = 0; t < tiles; ++t) {
    const Fragment<Element> keys = read_shared_keys(shared, buffer, t);
#pragma unroll
    for (i32 q = 0; q < Score::kQueryTiles; ++q) {
      f32x4 start = 0.0f;
      if constexpr (Hides)
#pragma unroll
        for (i32 i = 0; i < 4; ++i) // all ones, a NaN, or zero
          start[i] = __builtin_bit_cast(
              float, static_cast<i32>(hidden[q] << (31 - (4 * t + i))) >> 31);
      products[t % 2][q] = multiply(keys, queries.tile[q], start);
    }
    if (t > 0)
      fold(t - 1);
    // The scheduler would rather wait for products than have more in flight.
    __builtin_amdgcn_sched_barrier(0);
  }
  fold(tiles - 1);
}

/// The slice in `buffer`, masked only where some row of the wave does not see
/// the whole block.
template <class Score, class Element>
WINNOW_DEVICE void score_slice(const SharedKeys<Score, Element> &shared,
                               i32 buffer,
                               const QueryTiles<Score, Element> &queries,
                               const RaggedTask<Score> &task, i32 block,
                               i32 slice, bool partial, TileBest<Score> &best) {
  u32 hidden[Score::kQueryTiles] = {};
  if (partial) {
    const i32 first = block * Score::kBlockSize +
                      slice * kSliceTokens<Element> + lane_index() / 16 * 4;
#pragma unroll
    for (i32 q = 0; q < Score::kQueryTiles; ++q)
      hidden[q] = hidden_tokens(task.visible[q] - first);
    fold_tiles<true>(shared, buffer, queries, hidden, best);
  } else {
    fold_tiles<false>(shared, buffer, queries, hidden, best);
  }
}

/// The larger of two numbers in the registers of a swap.
WINNOW_DEVICE float max_of_pair(u32x2 pair) {
  // Copies, as a bit cast of a vector's element takes the vector's first.
  const u32 x = pair.x, y = pair.y;
  return max_of_numbers(__builtin_bit_cast(float, x),
                        __builtin_bit_cast(float, y));
}

/// Exchanges the upper half of `a` for the lower half of `b`, or the odd rows
/// of 16 lanes for the even ones, and takes the maximum: the lanes that kept
/// `a` have the maximum of `a` and its other half, the others that of `b`.
WINNOW_DEVICE float join_halves(float a, float b) {
  return max_of_pair(__builtin_amdgcn_permlane32_swap(
      __builtin_bit_cast(u32, a), __builtin_bit_cast(u32, b), false, false));
}
WINNOW_DEVICE float join_rows(float a, float b) {
  return max_of_pair(__builtin_amdgcn_permlane16_swap(
      __builtin_bit_cast(u32, a), __builtin_bit_cast(u32, b), false, false));
}

/// The block's score for the query of this lane (query_of_lane): the maximum
/// over the four rows of lanes that share a query.
template <class Score>
WINNOW_DEVICE float reduce_tiles(const TileBest<Score> &best) {
  constexpr i32 tiles = Score::kQueryTiles;
  const float even = join_halves(best.tile[0], best.tile[tiles / 2]);
  if constexpr (tiles == 4)
    return join_rows(even, join_halves(best.tile[1], best.tile[3]));
  return join_rows(even, even);
}

} // namespace winnow
