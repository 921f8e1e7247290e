// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scores of one page for many queries on the matrix units, a slice of its keys
// at a time with all query tiles of the wave.
//
// A shape states, besides what ragged_walk.h needs:
//   kHeadDim   elements of a query or key: 128
#pragma once

#include "winnow/ragged_walk.h"

namespace winnow {

/// One lane's share of the wave's queries.
template <class Score, class Element> struct QueryTiles {
  QueryOperand<Element> tile[Score::kQueryTiles];
};

/// One lane's best scores of a block so far, one for each of its queries.
template <class Score> struct TileBest {
  float tile[Score::kQueryTiles][RaggedLayout<Score>::kSlots];
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
  for (i32 i = 0; i < Score::kQueryTiles; ++i)
    queries.tile[i] =
        load_queries<Element>(first + i * (kMatrixRows * kRowBytes<Element>),
                              count - i * kMatrixRows);
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

/// The slice in `buffer`, masked only where some row of the wave does not see
/// the whole block. A NaN product never wins.
template <class Score, class Element>
WINNOW_DEVICE void
score_slice(const SharedKeys<Score, Element> &shared, i32 buffer,
            const QueryTiles<Score, Element> &queries,
            const RaggedTask<Score> &task, SharedWalk<Score, Element> &at,
            i32 slice, TileBest<Score> &best) {
  if (!at.scored()) {
    at.prepare(slice);
    return;
  }
  const i32 first = at.block * Score::kBlockSize + slice * kSliceTokens<Score>;
  RaggedLayout<Score>::score_slice(shared.slice[buffer], queries.tile,
                                   task.visible, first, at.partial(), best.tile,
                                   [&]() WINNOW_INLINE { at.prepare(slice); });
}

/// The block's score for this lane's own query: the maximum over the lanes that
/// share it.
template <class Score>
WINNOW_DEVICE float reduce_tiles(const TileBest<Score> &best) {
  return RaggedLayout<Score>::reduce(best.tile);
}

} // namespace winnow
