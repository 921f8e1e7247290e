// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scores of one page on the matrix cores: the request's queries are the A
// operand, up to 16 rows; keys are the B operand, 16 tokens (columns) a tile.
//
// v_mfma_f32_16x16x128_f8f6f4 (CDNA4 ISA, "Matrix core"): lane l holds 32 bytes
// of row (A) or column (B) l % 16; result register i of lane l is row
// 4 * (l / 16) + i of column l % 16. Which 32 of the 128 bytes a lane holds
// does not matter as long as A and B agree, because the sum over them is the
// same: here bytes 16 * (l / 16) and 64 + 16 * (l / 16), so that each load of
// 16 bytes a lane covers 64 consecutive bytes of 16 tokens.
//
// A shape states, besides what score_walk.h needs:
//   kHeadDim   bytes of a query or key (fp8 e4m3, OCP): 128
//   kBlockSize is 32, 64, 128 or 256
#pragma once

#include "winnow/score_walk.h"
#include "winnow/wave.h"

namespace winnow {

inline constexpr i32 kTileTokens = 16;
/// Tokens whose keys are in flight at once: 64 registers a lane.
inline constexpr i32 kSliceTokens = 128;

/// How a block is cut into slices, and a slice into tiles.
template <class Score>
inline constexpr i32 kSlices =
    Score::kBlockSize <= kSliceTokens ? 1 : Score::kBlockSize / kSliceTokens;
template <class Score>
inline constexpr i32 kTiles = Score::kBlockSize / kSlices<Score> / kTileTokens;

/// One lane's 32 bytes of the A operand.
struct QueryTile {
  i32x8 bytes;
};

/// One lane's share of a slice's keys: 32 bytes of a token in each tile.
template <class Score> struct KeyTiles {
  i32x8 tile[kTiles<Score>];
};

/// One lane's dot products of a slice: token lane % 16 of each tile with the
/// query of each result register.
template <class Score> struct Products {
  f32x4 tile[kTiles<Score>];
};

/// One lane's best scores of a block so far, one for each result register.
template <class Score> struct Best {
  float result[kResults<Score>];
};

/// The byte at which a lane's first 16 bytes of a 128-byte row begin.
WINNOW_DEVICE i32 lane_row_offset() { return lane_index() / 16 * 16; }

/// The queries of a request are contiguous, `q` is aligned to 16 bytes. Matrix
/// rows without a query are zero, and a wave without blocks waits for none.
template <class Score>
WINNOW_DEVICE QueryTile load_query(const u8 *q, const ScoreTask<Score> &task) {
  static_assert(Score::kHeadDim == 128, "one instruction covers 128 bytes");
  const i32 query = query_of_row(lane_index() % kMatrixRows);
  i32x4 low = 0, high = 0;
  if (query < kQueries<Score> && task.first_block < task.reach) {
    const i64 first = i64(task.request) * (kQueries<Score> * Score::kHeadDim);
    const u8 *row = q + first + query * Score::kHeadDim + lane_row_offset();
    low = *reinterpret_cast<const i32x4 *>(row);
    high = *reinterpret_cast<const i32x4 *>(row + 64);
  }
  return {__builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7)};
}

/// Asks for all keys of a slice at once; `keys` is aligned to 16 bytes. A key
/// is used once a step, so the loads are marked not to displace what the caches
/// hold.
template <class Score>
WINNOW_DEVICE KeyTiles<Score> load_key_tiles(const u8 *keys, i32 page,
                                             i32 slice) {
  static_assert(Score::kBlockSize == 32 || Score::kBlockSize == 64 ||
                    Score::kBlockSize == 128 || Score::kBlockSize == 256,
                "block sizes are 32, 64, 128 and 256 tokens");
  constexpr i32 tile_bytes = kTileTokens * Score::kHeadDim;
  // A load's own offset reaches from -4096 to 4095 bytes (CDNA4 ISA, "FLAT
  // instructions"), so one address serves four tiles.
  constexpr i32 reach_bytes = 4 * tile_bytes;
  // 64 bits: a large cache has more than 2^31 bytes.
  const u8 *first = keys + i64(page) * (Score::kBlockSize * Score::kHeadDim) +
                    slice * (kSliceTokens * Score::kHeadDim);
  const u32 lane_offset =
      lane_index() % kTileTokens * Score::kHeadDim + lane_row_offset();
  KeyTiles<Score> loaded;
#pragma unroll
  for (i32 t = 0; t < kTiles<Score>; ++t) {
    const i32 middle =
        t * tile_bytes / reach_bytes * reach_bytes + reach_bytes / 2;
    const Global<u8> *row =
        scalar_base(first + middle) + lane_offset + (t * tile_bytes - middle);
    const i32x4 low = __builtin_nontemporal_load((const Global<i32x4> *)row);
    const i32x4 high =
        __builtin_nontemporal_load((const Global<i32x4> *)(row + 64));
    loaded.tile[t] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
  }
  // Left to itself the scheduler would have few registers rather than many
  // loads in flight.
  __builtin_amdgcn_sched_barrier(0);
  return loaded;
}

/// Format selectors 0 are fp8 e4m3 for both operands; scale operands that are
/// the constant 0 select the instruction without scales.
template <class Score>
WINNOW_DEVICE Products<Score> multiply_accumulate(const KeyTiles<Score> &keys,
                                                  const QueryTile &query) {
  Products<Score> products;
#pragma unroll
  for (i32 t = 0; t < kTiles<Score>; ++t)
    products.tile[t] = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(
        query.bytes, keys.tile[t], f32x4(0.0f), 0, 0, 0, 0, 0, 0);
  return products;
}

/// Takes the tokens that a row does not see out of its maximum.
template <class Score>
WINNOW_DEVICE void mask(Products<Score> &products, const ScoreTask<Score> &task,
                        i32 block, i32 slice) {
  const i32 first_token =
      block * Score::kBlockSize + slice * kSliceTokens + lane_index() % 16;
#pragma unroll
  for (i32 i = 0; i < kResults<Score>; ++i) {
    const i32 left = task.visible[i] - first_token;
#pragma unroll
    for (i32 t = 0; t < kTiles<Score>; ++t)
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
template <class Score>
WINNOW_DEVICE void fold(const Products<Score> &products, Best<Score> &best) {
#pragma unroll
  for (i32 i = 0; i < kResults<Score>; ++i)
#pragma unroll
    for (i32 t = 0; t < kTiles<Score>; ++t)
      best.result[i] = __builtin_fmaxf(best.result[i], products.tile[t][i]);
}

/// The larger of two scores of which neither is NaN. v_med3_f32 with a third
/// operand above both (a sum of 128 fp8 products is at most 128 * 448 * 448)
/// takes one instruction; before maxnum the compiler would quiet signalling
/// NaNs, because it cannot see that a swizzled register holds none.
WINNOW_DEVICE float max_of_numbers(float a, float b) {
  return __builtin_amdgcn_fmed3f(a, b, 1e29f);
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
