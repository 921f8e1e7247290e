// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scores of one page for many queries on the matrix units: each tile of 16
// tokens, once it is in registers, is multiplied with all query tiles of the
// wave.
//
// A shape states, besides what ragged_walk.h needs:
//   kHeadDim   elements of a query or key: 128
#pragma once

#include "winnow/ragged_walk.h"

namespace winnow {

/// One lane's share of the wave's queries.
template <class Score, class Element> struct QueryTiles {
  Operand<Element> tile[Score::kQueryTiles];
};

/// One lane's best scores of a block so far, one for each of its queries.
template <class Score> struct TileBest {
  float tile[Score::kQueryTiles][RaggedLayout<Score>::kSlots];
};

/// One bit for each of a lane's tokens of a slice, for each of its queries: set
/// if the query does not see the token.
template <class Score> struct HiddenTokens {
  u32 tile[Score::kQueryTiles][RaggedLayout<Score>::kSlots];
};

/// `q` is contiguous and aligned to 16 bytes. Columns without a query are zero.
template <class Score, class Element>
WINNOW_DEVICE QueryTiles<Score, Element>
load_query_tiles(const Element *q, const RaggedTask<Score> &task) {
  static_assert(Score::kHeadDim == kMatrixDepth,
                "the matrix instructions cover 128 elements");
  QueryTiles<Score, Element> queries;
  const u8 *first =
      reinterpret_cast<const u8 *>(q) + task.first_query * kRowBytes<Element>;
  // A workgroup without blocks reads no queries either.
  const i32 count = task.first_column < task.last_column ? task.query_count : 0;
#pragma unroll
  for (i32 i = 0; i < Score::kQueryTiles; ++i) {
    Fragment<Element> tile{};
#pragma unroll
    for (i32 j = 0; j < kLaneRows; ++j) {
      const i32 query = i * kMatrixRows + lane_row(j);
      if (query < count) {
#pragma unroll
        for (i32 p = 0; p < kParts<Element>; ++p)
          tile.part[j][p] = *reinterpret_cast<const Part *>(
              first + query * kRowBytes<Element> + lane_row_offset() +
              p * kPartBytes);
      }
    }
    queries.tile[i] = operand_of(tile);
  }
  return queries;
}

/// No token seen yet.
template <class Score> WINNOW_DEVICE TileBest<Score> no_tile_score() {
  TileBest<Score> best;
#pragma unroll
  for (i32 i = 0; i < Score::kQueryTiles; ++i)
#pragma unroll
    for (i32 s = 0; s < RaggedLayout<Score>::kSlots; ++s)
      best.tile[i][s] = kNoScore;
  return best;
}

/// Products of a slice's keys with all queries of the wave, into the maxima. A
/// NaN product never wins. That takes hidden tokens out, too: their sums start
/// from a NaN.
template <bool Hides, class Score, class Element>
WINNOW_DEVICE void
fold_tiles(const SharedKeys<Score, Element> &shared, i32 buffer,
           const QueryTiles<Score, Element> &queries,
           const HiddenTokens<Score> &hidden, TileBest<Score> &best) {
  constexpr i32 tiles = Score::kSliceTiles;
  constexpr i32 tokens = RaggedLayout<Score>::kTokens,
                slots = RaggedLayout<Score>::kSlots;
  // Where products are long under way, the maximum over a tile is taken while
  // the next one is multiplied.
  constexpr i32 late = kLateFold ? 1 : 0;
  typename RaggedLayout<Score>::Products products[1 + late][Score::kQueryTiles];
  const auto fold = [&](i32 t) WINNOW_INLINE {
#pragma unroll
    for (i32 q = 0; q < Score::kQueryTiles; ++q)
#pragma unroll
      for (i32 s = 0; s < slots; ++s)
#pragma unroll
        for (i32 i = 0; i < tokens; ++i)
          best.tile[q][s] = max_but_nan(best.tile[q][s],
                                        products[t % (1 + late)][q].at[s][i]);
  };
  Operand<Element> keys = operand_of(read_shared_keys(shared, buffer, 0));
#pragma unroll
  for (i32 t = 0; t < tiles; ++t) {
#pragma unroll
    for (i32 q = 0; q < Score::kQueryTiles; ++q) {
      typename RaggedLayout<Score>::Products start{};
      if constexpr (Hides) {
#pragma unroll
        for (i32 s = 0; s < slots; ++s)
#pragma unroll
          for (i32 i = 0; i < tokens; ++i) { // all ones, a NaN, or zero
            const u32 bits = hidden.tile[q][s] << (31 - (tokens * t + i));
            start.at[s][i] = float_of_bits(static_cast<i32>(bits) >> 31);
          }
      }
      products[t % (1 + late)][q] =
          RaggedLayout<Score>::multiply(keys, queries.tile[q], start);
    }
    // The scheduler would rather wait for products than have more in flight,
    // and ask for keys while those before them still need their registers.
    if (late > 0)
      keep_order();
    if (t + 1 < tiles)
      keys = operand_of(read_shared_keys(shared, buffer, t + 1));
    if (t >= late)
      fold(t - late);
    keep_order();
  }
  if (late > 0)
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
  constexpr i32 tiles = Score::kSliceTiles;
  static_assert(tiles * RaggedLayout<Score>::kTokens <= 32, "one bit a token");
  HiddenTokens<Score> hidden{};
  if (partial) {
    const i32 first = block * Score::kBlockSize + slice * kSliceTokens<Score>;
#pragma unroll
    for (i32 q = 0; q < Score::kQueryTiles; ++q)
#pragma unroll
      for (i32 s = 0; s < RaggedLayout<Score>::kSlots; ++s) {
        const i32 seen =
            RaggedLayout<Score>::count_seen(task.visible[q][s] - first, tiles);
        // 64 bits, as a shift by 32 leaves a 32-bit number as it is.
        hidden.tile[q][s] = static_cast<u32>(~u64(0) << seen);
      }
    fold_tiles<true>(shared, buffer, queries, hidden, best);
  } else {
    fold_tiles<false>(shared, buffer, queries, hidden, best);
  }
}

/// The block's score for this lane's own query: the maximum over the lanes that
/// share it.
template <class Score>
WINNOW_DEVICE float reduce_tiles(const TileBest<Score> &best) {
  return RaggedLayout<Score>::reduce(best.tile);
}

} // namespace winnow
