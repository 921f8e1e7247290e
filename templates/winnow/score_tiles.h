// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scores of one page for the few queries of a request on the matrix units: keys
// stream from memory to registers, 16 tokens a tile.
//
// A shape states, besides what score_walk.h needs:
//   kHeadDim       elements of a query or key: 128
//   kTilesAhead    tiles of a slice whose keys are asked for before the first
//                  is multiplied; the others are as each one is
//   kNonTemporal   whether keys are loaded so that caches do not keep them
#pragma once

#include "winnow/score_slices.h"
#include "winnow/score_walk.h"
#include "winnow/wave.h"

namespace winnow {

/// One lane's share of the request's queries.
template <class Score, class Element>
using Queries = Operand<Element, QueryLayout<Score>::kLaneRows>;

/// One lane's share of a slice's keys, and where the slice lies.
template <class Score, class Element> struct KeyTiles {
  Fragment<Element> tile[Score::kSliceTiles];
  const u8 *first = nullptr;
};

/// One lane's dot products of a slice.
template <class Score> struct Products {
  typename QueryLayout<Score>::Products tile[Score::kSliceTiles];
};

/// One lane's best scores of a block so far, one for each of its queries.
template <class Score> struct Best {
  float slot[QueryLayout<Score>::kSlots];
};

/// The queries of a request are contiguous, `q` is aligned to 16 bytes. A wave
/// without blocks waits for none.
template <class Score, class Element>
WINNOW_DEVICE Queries<Score, Element> load_query(const Element *q,
                                                 const ScoreTask<Score> &task) {
  static_assert(Score::kHeadDim == kMatrixDepth,
                "the matrix instructions cover 128 elements");
  Fragment<Element, QueryLayout<Score>::kLaneRows> loaded;
  if (kEarlyQuery || task.first_block < task.reach) {
#pragma unroll
    for (i32 j = 0; j < QueryLayout<Score>::kLaneRows; ++j) {
      const i32 query =
          existing_query<Score>(QueryLayout<Score>::query_of_row(j));
      const i64 first = i64(task.request) * kQueries<Score> + query;
      const u8 *row = reinterpret_cast<const u8 *>(q) +
                      first * kRowBytes<Element> + lane_row_offset();
#pragma unroll
      for (i32 p = 0; p < kParts<Element>; ++p)
        loaded.part[j][p] =
            *reinterpret_cast<const Part *>(row + p * kPartBytes);
    }
  }
  return operand_of(loaded);
}

/// Asks for the keys of one tile of a slice.
template <class Score, class Element>
WINNOW_DEVICE void load_tile(KeyTiles<Score, Element> &keys, i32 t) {
  constexpr i32 tile_bytes = kTileTokens * kRowBytes<Element>;
#pragma unroll
  for (i32 j = 0; j < kLaneRows; ++j) {
    const u32 lane_offset =
        lane_row(j) * kRowBytes<Element> + lane_row_offset();
#pragma unroll
    for (i32 p = 0; p < kParts<Element>; ++p) {
      const i32 at = t * tile_bytes + p * kPartBytes;
      keys.tile[t].part[j][p] = Score::kNonTemporal
                                    ? stream_part(keys.first, at, lane_offset)
                                    : load_part(keys.first, at, lane_offset);
    }
  }
}

/// Asks for the first keys of a slice, all at once; `keys` is aligned to 16
/// bytes. A key is used once a step.
template <class Score, class Element>
WINNOW_DEVICE KeyTiles<Score, Element> load_key_tiles(const Element *keys,
                                                      i32 page, i32 slice) {
  static_assert(is_sliced_block<Score>(),
                "slices are equal parts of a block of 32, 64, 128 or 256");
  static_assert(Score::kTilesAhead >= 1 &&
                    Score::kTilesAhead <= Score::kSliceTiles,
                "a slice's own tiles are asked for ahead");
  KeyTiles<Score, Element> loaded;
  // 64 bits: a large cache has more than 2^31 bytes.
  loaded.first = reinterpret_cast<const u8 *>(keys) +
                 i64(page) * (Score::kBlockSize * kRowBytes<Element>)+slice *
                     (kSliceTokens<Score> * kRowBytes<Element>);
#pragma unroll
  for (i32 t = 0; t < Score::kTilesAhead; ++t)
    load_tile(loaded, t);
  // Left to itself the scheduler would have few registers rather than many
  // loads in flight.
  keep_order();
  return loaded;
}

template <class Score, class Element>
WINNOW_DEVICE Products<Score>
multiply_accumulate(KeyTiles<Score, Element> keys,
                    const Queries<Score, Element> &queries) {
  Products<Score> products;
#pragma unroll
  for (i32 t = 0; t < Score::kSliceTiles; ++t) {
    products.tile[t] =
        QueryLayout<Score>::multiply(queries, operand_of(keys.tile[t]));
    if (t + Score::kTilesAhead < Score::kSliceTiles) {
      // No earlier, or more keys would be in registers than are meant to be.
      keep_order();
      load_tile(keys, t + Score::kTilesAhead);
      keep_order();
    }
  }
  return products;
}

/// Takes the tokens that a row does not see out of its maximum.
template <class Score>
WINNOW_DEVICE void mask(Products<Score> &products, const ScoreTask<Score> &task,
                        i32 block, i32 slice) {
  const i32 first_token =
      block * Score::kBlockSize + slice * kSliceTokens<Score>;
#pragma unroll
  for (i32 s = 0; s < QueryLayout<Score>::kSlots; ++s) {
#pragma unroll
    for (i32 i = 0; i < QueryLayout<Score>::kTokens; ++i) {
      const i32 left =
          task.visible[s] - (first_token + QueryLayout<Score>::token(i));
#pragma unroll
      for (i32 t = 0; t < Score::kSliceTiles; ++t) {
        float &product = products.tile[t].at[s][i];
        product = t * kTileTokens < left ? product : kNoProduct;
      }
    }
    // All comparisons at once would need more scalar registers than there are.
    if constexpr (QueryLayout<Score>::kSlots > 1)
      keep_order();
  }
}

/// No token seen yet.
template <class Score> WINNOW_DEVICE Best<Score> no_score() {
  Best<Score> best;
#pragma unroll
  for (i32 s = 0; s < QueryLayout<Score>::kSlots; ++s)
    best.slot[s] = kNoScore;
  return best;
}

/// Takes a slice's products into the lane's maxima. A NaN product never wins.
template <class Score>
WINNOW_DEVICE void fold(const Products<Score> &products, Best<Score> &best) {
#pragma unroll
  for (i32 s = 0; s < QueryLayout<Score>::kSlots; ++s)
#pragma unroll
    for (i32 t = 0; t < Score::kSliceTiles; ++t)
#pragma unroll
      for (i32 i = 0; i < QueryLayout<Score>::kTokens; ++i)
        best.slot[s] = max_but_nan(best.slot[s], products.tile[t].at[s][i]);
}

/// The block's score for this lane's own query: the maximum over the lanes that
/// share it.
template <class Score> WINNOW_DEVICE float reduce(const Best<Score> &best) {
  return QueryLayout<Score>::reduce(best.slot);
}

} // namespace winnow
