// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slices of keys against many queries on the CDNA targets: each tile of 16
// tokens, once it is in registers, is multiplied with all query tiles of the
// wave. A chip's own header has been included before, for its operands.
#pragma once

#include "winnow/arch/cdna.h"

namespace winnow {

/// Waves that multiply together, and so do the same slices.
inline constexpr i32 kTeamWaves = 1;

/// Whether keys on their way are put to local memory while the slice ahead of
/// them is multiplied, not before.
template <class Element> inline constexpr bool kFillsAhead = false;

/// A slice of keys in local memory: a row of 128 or 256 bytes for each token,
/// in parts of 16 bytes. Their order within a row is such that lanes that read
/// the same part of 16 rows touch all banks evenly, with no padding.
template <class Element, i32 Tokens> struct KeySlice {
  static constexpr i32 kParts = kRowBytes<Element> / kPieceBytes;
  WINNOW_DEVICE static i32 place(i32 token, i32 part) {
    return token * kParts + (part ^ token % kParts);
  }
  Part part[Tokens * kParts];
};

/// The part of those that the workgroup carries at once that this lane does.
template <class Element> WINNOW_DEVICE i32 carrying_lane() {
  return thread_index();
}

/// Parts that a lane carries from memory to local memory: asked for, then put
/// down. In between they are in registers. `IsOnce`: of data that is used once.
template <class Element, i32 Tokens, i32 N, bool IsOnce> class KeysInFlight {
public:
  WINNOW_DEVICE void ask(i32 i, const u8 *base, i32 at, u32 lane_offset,
                         KeySlice<Element, Tokens> &, i32, i32) {
    part_[i] = IsOnce ? stream_part(base, at, lane_offset)
                      : load_part(base, at, lane_offset);
  }
  WINNOW_DEVICE void put(i32 i, KeySlice<Element, Tokens> &slice, i32 token,
                         i32 part) const {
    slice.part[slice.place(token, part)] = part_[i];
  }

private:
  Part part_[N];
};

/// One lane's share of a tile's keys.
template <class Element, i32 Tokens>
WINNOW_DEVICE Fragment<Element>
read_tile(const KeySlice<Element, Tokens> &slice, i32 tile) {
  Fragment<Element> keys;
#pragma unroll
  for (i32 j = 0; j < kLaneRows; ++j)
#pragma unroll
    for (i32 p = 0; p < kParts<Element>; ++p) {
      const i32 token = lane_row(j);
      const i32 part = (p * kPartBytes + lane_row_offset()) / kPieceBytes;
      constexpr i32 parts = KeySlice<Element, Tokens>::kParts;
      keys.part[j][p] =
          slice.part[tile * kMatrixRows * parts + slice.place(token, part)];
    }
  return keys;
}

/// One lane's share of the query tile at `first`, of which `count` queries are
/// read; the others are zero.
template <class Element> using QueryOperand = Operand<Element>;
template <class Element>
WINNOW_DEVICE QueryOperand<Element> load_queries(const u8 *first, i32 count) {
  Fragment<Element> tile{};
#pragma unroll
  for (i32 j = 0; j < kLaneRows; ++j) {
    const i32 query = lane_row(j);
    if (query < count) {
#pragma unroll
      for (i32 p = 0; p < kParts<Element>; ++p)
        tile.part[j][p] =
            *reinterpret_cast<const Part *>(first + query * kRowBytes<Element> +
                                            lane_row_offset() + p * kPartBytes);
    }
  }
  return operand_of(tile);
}

/// `Tiles` tiles of 16 queries against tiles of 16 keys. Tokens are the rows,
/// queries the columns: a lane has four tokens of one query of each tile, so
/// that most of the maximum is taken within the lane.
template <i32 Tiles> struct ManyQueries {
  static_assert(Tiles == 1 || Tiles == 2 || Tiles == 4,
                "a wave has 1, 2 or 4 query tiles");
  /// Queries of a query tile that a lane has products of.
  static constexpr i32 kSlots = 1;

  /// The query of a slot, in its query tile.
  WINNOW_DEVICE static i32 query(i32) { return lane_index() % kMatrixRows; }

  /// The best scores of the slice's tokens, into `best`, one for each query of
  /// a lane. Of the slice, which begins at token `first`, a query sees the
  /// tokens below its `visible`; of the whole of it unless `partial`.
  template <class Element, i32 Tokens, class Prepare>
  WINNOW_DEVICE static void
  score_slice(const KeySlice<Element, Tokens> &slice,
              const QueryOperand<Element> (&queries)[Tiles],
              const i32 (&visible)[Tiles][kSlots], i32 first, bool partial,
              float (&best)[Tiles][kSlots], Prepare prepare) {
    constexpr i32 tiles = Tokens / kMatrixRows;
    static_assert(tiles * kTokens <= 32, "one bit a token");
    prepare();
    Hidden hidden{};
    if (partial) {
#pragma unroll
      for (i32 q = 0; q < Tiles; ++q) {
        const i32 seen = count_seen(visible[q][0] - first, tiles);
        // 64 bits, as a shift by 32 leaves a 32-bit number as it is.
        hidden.tile[q] = static_cast<u32>(~u64(0) << seen);
      }
      fold_tiles<true>(slice, queries, hidden, best);
    } else {
      fold_tiles<false>(slice, queries, hidden, best);
    }
  }

  /// The maximum over the lanes that share a query, for own_query(): query tile
  /// i is left in the i-th of as many groups of lanes.
  WINNOW_DEVICE static float reduce(const float (&best)[Tiles][kSlots]) {
    TileMaxima<Tiles> maxima;
#pragma unroll
    for (i32 i = 0; i < Tiles; ++i)
      maxima.of[i] = best[i][0];
    return join_tiles(maxima);
  }
  /// The query of the wave whose maximum this lane ends up with.
  WINNOW_DEVICE static i32 own_query() {
    return lane_index() / kGroup * kMatrixRows + lane_index() % kMatrixRows;
  }
  /// Whether this lane is the one of those with its query that stores it.
  WINNOW_DEVICE static bool stores() {
    return lane_index() % kGroup < kMatrixRows;
  }

private:
  static constexpr i32 kGroup = kWaveLanes / Tiles;

  /// Tokens of a tile of keys that a lane has products of.
  static constexpr i32 kTokens = 4;

  /// One bit for each of a lane's tokens of a slice, for its query of each
  /// tile: set if the query does not see the token.
  struct Hidden {
    u32 tile[Tiles];
  };

  /// A lane's tokens of a run of tiles are numbered from 0, kTokens a tile: how
  /// many of them are among the run's first `visible` tokens, at most those of
  /// `tiles` tiles.
  WINNOW_DEVICE static i32 count_seen(i32 visible, i32 tiles) {
    const i32 first = lane_index() / kMatrixRows * kTokens;
    const i32 seen = min(max(visible - first, 0), tiles * kMatrixRows);
    return seen / kMatrixRows * kTokens + min(seen % kMatrixRows, kTokens);
  }

  /// Products of a slice's keys with all queries of the wave, into the maxima.
  /// A NaN product never wins. That takes hidden tokens out, too: their sums
  /// start from a NaN.
  template <bool Hides, class Element, i32 Tokens>
  WINNOW_DEVICE static void
  fold_tiles(const KeySlice<Element, Tokens> &slice,
             const QueryOperand<Element> (&queries)[Tiles],
             const Hidden &hidden, float (&best)[Tiles][kSlots]) {
    constexpr i32 tiles = Tokens / kMatrixRows;
    // A product is ready several instructions after it was asked for: the
    // maximum over a tile is taken while the next one is multiplied.
    f32x4 products[2][Tiles];
    const auto fold = [&](i32 t) WINNOW_INLINE {
#pragma unroll
      for (i32 q = 0; q < Tiles; ++q)
#pragma unroll
        for (i32 i = 0; i < kTokens; ++i)
          best[q][0] = max_but_nan(best[q][0], products[t % 2][q][i]);
    };
    Operand<Element> keys = operand_of(read_tile(slice, 0));
#pragma unroll
    for (i32 t = 0; t < tiles; ++t) {
#pragma unroll
      for (i32 q = 0; q < Tiles; ++q) {
        f32x4 start = 0.0f;
        if constexpr (Hides) {
#pragma unroll
          for (i32 i = 0; i < kTokens; ++i) { // all ones, a NaN, or zero
            const u32 bits = hidden.tile[q] << (31 - (kTokens * t + i));
            start[i] = float_of_bits(static_cast<i32>(bits) >> 31);
          }
        }
        products[t % 2][q] = multiply_tile(keys, queries[q], start);
      }
      // The scheduler would rather wait for products than have more in flight,
      // and ask for keys while those before them still need their registers.
      keep_order();
      if (t + 1 < tiles)
        keys = operand_of(read_tile(slice, t + 1));
      if (t >= 1)
        fold(t - 1);
      keep_order();
    }
    fold(tiles - 1);
  }
};

} // namespace winnow
