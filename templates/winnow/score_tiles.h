// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scores of one page on the matrix cores: the request's queries are the A
// operand, up to 16 rows; keys are the B operand, 16 tokens (columns) a tile.
//
// A shape states, besides what score_walk.h needs:
//   kHeadDim   elements of a query or key: 128
#pragma once

#include "winnow/score_slices.h"
#include "winnow/score_walk.h"
#include "winnow/wave.h"

namespace winnow {

/// One lane's share of a slice's keys.
template <class Score, class Element> struct KeyTiles {
  Fragment<Element> tile[kTiles<Score, Element>];
};

/// One lane's dot products of a slice: token lane % 16 of each tile with the
/// query of each result register.
template <class Score, class Element> struct Products {
  f32x4 tile[kTiles<Score, Element>];
};

/// One lane's best scores of a block so far, one for each result register.
template <class Score> struct Best {
  float result[kResults<Score>];
};

/// The queries of a request are contiguous, `q` is aligned to 16 bytes. Matrix
/// rows without a query are zero, and a wave without blocks waits for none.
template <class Score, class Element>
WINNOW_DEVICE Fragment<Element> load_query(const Element *q,
                                           const ScoreTask<Score> &task) {
  static_assert(Score::kHeadDim == kMatrixDepth,
                "the matrix instructions cover 128 elements");
  const i32 query = query_of_row(lane_index() % kMatrixRows);
  Fragment<Element> loaded{};
  if (query < kQueries<Score> && task.first_block < task.reach) {
    const i64 first = i64(task.request) * kQueries<Score> + query;
    const u8 *row = reinterpret_cast<const u8 *>(q) +
                    first * kRowBytes<Element> + lane_row_offset();
#pragma unroll
    for (i32 p = 0; p < kParts<Element>; ++p)
      loaded.part[p] = *reinterpret_cast<const i32x4 *>(row + p * kPartBytes);
  }
  return loaded;
}

/// Asks for all keys of a slice at once; `keys` is aligned to 16 bytes. A key
/// is used once a step, so the loads are marked not to displace what the caches
/// hold.
template <class Score, class Element>
WINNOW_DEVICE KeyTiles<Score, Element> load_key_tiles(const Element *keys,
                                                      i32 page, i32 slice) {
  static_assert(is_sliced_block<Score>(),
                "block sizes are 32, 64, 128 and 256 tokens");
  constexpr i32 tile_bytes = kTileTokens * kRowBytes<Element>;
  // A load's own offset reaches from -4096 to 4095 bytes (CDNA4 ISA, "FLAT
  // instructions"), so one address serves several tiles.
  constexpr i32 reach_bytes = 8192;
  // 64 bits: a large cache has more than 2^31 bytes.
  const u8 *first = reinterpret_cast<const u8 *>(keys) +
                    i64(page) * (Score::kBlockSize * kRowBytes<Element>)+slice *
                        (kSliceTokens<Element> * kRowBytes<Element>);
  const u32 lane_offset =
      lane_index() % kTileTokens * kRowBytes<Element> + lane_row_offset();
  KeyTiles<Score, Element> loaded;
#pragma unroll
  for (i32 t = 0; t < kTiles<Score, Element>; ++t) {
    const i32 middle =
        t * tile_bytes / reach_bytes * reach_bytes + reach_bytes / 2;
    const Global<u8> *row =
        scalar_base(first + middle) + lane_offset + (t * tile_bytes - middle);
#pragma unroll
    for (i32 p = 0; p < kParts<Element>; ++p)
      loaded.tile[t].part[p] = __builtin_nontemporal_load(
          (const Global<i32x4> *)(row + p * kPartBytes));
  }
  // Left to itself the scheduler would have few registers rather than many
  // loads in flight.
  __builtin_amdgcn_sched_barrier(0);
  return loaded;
}

template <class Score, class Element>
WINNOW_DEVICE Products<Score, Element>
multiply_accumulate(const KeyTiles<Score, Element> &keys,
                    const Fragment<Element> &query) {
  Products<Score, Element> products;
#pragma unroll
  for (i32 t = 0; t < kTiles<Score, Element>; ++t)
    products.tile[t] = multiply(query, keys.tile[t], f32x4(0.0f));
  return products;
}

/// Takes the tokens that a row does not see out of its maximum.
template <class Score, class Element>
WINNOW_DEVICE void mask(Products<Score, Element> &products,
                        const ScoreTask<Score> &task, i32 block, i32 slice) {
  const i32 first_token = block * Score::kBlockSize +
                          slice * kSliceTokens<Element> + lane_index() % 16;
#pragma unroll
  for (i32 i = 0; i < kResults<Score>; ++i) {
    const i32 left = task.visible[i] - first_token;
#pragma unroll
    for (i32 t = 0; t < kTiles<Score, Element>; ++t)
      products.tile[t][i] =
          t * kTileTokens < left ? products.tile[t][i] : kNoScore;
    // All comparisons at once would need more scalar registers than there are.
    if constexpr (kResults<Score> > 1)
      __builtin_amdgcn_sched_barrier(0);
  }
}

/// No token seen yet.
template <class Score> WINNOW_DEVICE Best<Score> no_score() {
  Best<Score> best;
#pragma unroll
  for (i32 i = 0; i < kResults<Score>; ++i)
    best.result[i] = kNoScore;
  return best;
}

/// Takes a slice's products into the lane's maxima. maxnum returns the other
/// operand for a NaN, so a NaN product never wins.
template <class Score, class Element>
WINNOW_DEVICE void fold(const Products<Score, Element> &products,
                        Best<Score> &best) {
#pragma unroll
  for (i32 i = 0; i < kResults<Score>; ++i)
#pragma unroll
    for (i32 t = 0; t < kTiles<Score, Element>; ++t)
      best.result[i] = __builtin_fmaxf(best.result[i], products.tile[t][i]);
}

/// One step of a maximum over lanes. Lanes with bit `N` clear go on with `a`,
/// the others with `b`, each with what its partner knows of it.
template <i32 N> WINNOW_DEVICE float join(float a, float b) {
  const bool takes_b = lane_index() & N;
  return max_of_numbers(takes_b ? b : a, partner<N>(takes_b ? a : b));
}
template <i32 N> WINNOW_DEVICE float join(float a) {
  return max_of_numbers(a, partner<N>(a));
}

/// The block's score for the query of this lane (result_of_lane): the maximum
/// over the 16 lanes that share a query. With more results than one, each step
/// halves how many a lane carries.
template <class Score> WINNOW_DEVICE float reduce(const Best<Score> &best) {
  constexpr i32 results = kResults<Score>;
  float score;
  if constexpr (results <= 2) {
    if constexpr (results == 2)
      score = join<8>(best.result[0], best.result[1]);
    else
      score = join<8>(best.result[0]);
    score = join<4>(score);
  } else {
    const float first = join<8>(best.result[0], best.result[1]);
    if constexpr (results == 4)
      score = join<4>(first, join<8>(best.result[2], best.result[3]));
    else
      score = join<4>(first, join<8>(best.result[2]));
  }
  return join<1>(join<2>(score));
}

} // namespace winnow
