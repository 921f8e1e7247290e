// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scores of one page on the matrix cores: keys are the A operand, 16 tokens a
// tile; the request's queries are the B operand, 16 columns.
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
#pragma once

#include "winnow/score_walk.h"
#include "winnow/wave.h"

namespace winnow {

constexpr i32 kTileTokens = 16;
/// Tokens whose keys are in flight at once: 64 registers a lane.
constexpr i32 kSliceTokens = 128;

/// How a block is cut into slices, and a slice into tiles.
template <class Score>
constexpr i32 kSlices =
    Score::kBlockSize <= kSliceTokens ? 1 : Score::kBlockSize / kSliceTokens;
template <class Score>
constexpr i32 kTiles = Score::kBlockSize / kSlices<Score> / kTileTokens;

/// One lane's 32 bytes of the B operand.
struct QueryTile {
  i32x8 bytes;
};

/// One lane's share of a slice's keys: 32 bytes of a token in each tile.
template <class Score> struct KeyTiles {
  i32x8 tile[kTiles<Score>];
};

/// One lane's dot products of a slice: token 4 * (lane / 16) + i of each tile
/// with the query of column lane % 16.
template <class Score> struct Products {
  f32x4 tile[kTiles<Score>];
};

/// The byte at which a lane's first 16 bytes of a 128-byte row begin.
WINNOW_DEVICE i32 lane_row_offset() { return lane_index() / kColumns * 16; }

/// The request's queries are contiguous, so column j is the j-th after the
/// first. Columns past the last (row, head) pair are zero.
template <class Score>
WINNOW_DEVICE QueryTile load_query(const u8 *q, const ScoreTask<Score> &task) {
  static_assert(Score::kHeadDim == 128, "one instruction covers 128 bytes");
  constexpr i32 columns = Score::kHeads * Score::kQueryLen;
  i32x4 low = 0, high = 0;
  if (task.column < columns) {
    const u8 *row = q + i64(task.request) * (columns * Score::kHeadDim) +
                    task.column * Score::kHeadDim + lane_row_offset();
    low = *reinterpret_cast<const i32x4 *>(row);
    high = *reinterpret_cast<const i32x4 *>(row + 64);
  }
  return {__builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7)};
}

/// Asks for all keys of a slice at once. A key is used once a step, so the
/// loads are marked not to displace what the caches hold.
template <class Score>
WINNOW_DEVICE KeyTiles<Score> load_key_tiles(const u8 *keys, i32 page,
                                             i32 slice) {
  constexpr i32 page_bytes = Score::kBlockSize * Score::kHeadDim;
  // 64 bits: a large cache has more than 2^31 bytes.
  const u8 *base =
      keys + i64(page) * page_bytes + slice * kSliceTokens * Score::kHeadDim;
  const u32 lane_offset =
      lane_index() % kTileTokens * Score::kHeadDim + lane_row_offset();
  KeyTiles<Score> keys_of;
#pragma unroll
  for (i32 t = 0; t < kTiles<Score>; ++t) {
    const u8 *row = base + lane_offset + t * kTileTokens * Score::kHeadDim;
    const i32x4 low =
        __builtin_nontemporal_load(reinterpret_cast<const i32x4 *>(row));
    const i32x4 high =
        __builtin_nontemporal_load(reinterpret_cast<const i32x4 *>(row + 64));
    keys_of.tile[t] =
        __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
  }
  return keys_of;
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
        keys.tile[t], query.bytes, f32x4(0.0f), 0, 0, 0, 0, 0, 0);
  return products;
}

/// Takes the tokens that this lane's row does not see out of the maximum.
template <class Score>
WINNOW_DEVICE void mask(Products<Score> &products, const ScoreTask<Score> &task,
                        i32 block, i32 slice) {
  // Of the tokens whose number in the slice is 4 * (lane / 16) + constant, the
  // row sees those with constant < limit.
  const i32 limit = task.visible - block * Score::kBlockSize -
                    slice * kSliceTokens - lane_index() / kColumns * 4;
#pragma unroll
  for (i32 t = 0; t < kTiles<Score>; ++t)
#pragma unroll
    for (i32 i = 0; i < 4; ++i)
      if (t * kTileTokens + i >= limit)
        products.tile[t][i] = kNoScore;
}

/// The maximum over this lane's tokens and `best`. maxnum returns the other
/// operand for a NaN, so a NaN product never wins.
template <class Score>
WINNOW_DEVICE float fold(const Products<Score> &products, float best) {
#pragma unroll
  for (i32 t = 0; t < kTiles<Score>; ++t) {
    const f32x4 p = products.tile[t];
    best = __builtin_fmaxf(__builtin_fmaxf(best, p.x), p.y);
    best = __builtin_fmaxf(__builtin_fmaxf(best, p.z), p.w);
  }
  return best;
}

/// The maximum over the four lanes of a column.
WINNOW_DEVICE float reduce(float best) {
  const u32 bits =
      combine_rows(__builtin_bit_cast(u32, best), [](u32 a, u32 b) {
        return __builtin_bit_cast(
            u32, __builtin_fmaxf(__builtin_bit_cast(float, a),
                                 __builtin_bit_cast(float, b)));
      });
  return __builtin_bit_cast(float, bits);
}

} // namespace winnow
