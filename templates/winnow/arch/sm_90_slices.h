// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slices of keys against many queries on sm_90: what of them is where, for the
// matrix instructions of sm_90_wgmma.h.
#pragma once

#include "winnow/arch/sm_90_wgmma.h"

/// Three workgroups of four waves on a multiprocessor keep its matrix units
/// busy, while one brings keys or takes maxima: 12 waves have 168 registers a
/// lane.
#undef WINNOW_SHARING_KERNEL
#define WINNOW_SHARING_KERNEL(threads)                                         \
  extern "C" __global__ __launch_bounds__(                                     \
      threads, (threads) < 384 ? 384 / (threads) : 1) void

namespace winnow {

/// Waves that multiply together, and so do the same slices.
inline constexpr i32 kTeamWaves = 4;

/// Whether keys on their way are put to local memory while the slice ahead of
/// them is multiplied: those that have to become f16 first.
template <class Element>
inline constexpr bool kFillsAhead = sizeof(Element) == 1;

//===--- Keys in local memory ---===//

/// A slice of keys in local memory, K-major with the swizzle of 128 bytes
/// ("Strides", "Shared Memory Matrix Layout" of wgmma): the first 128 bytes of
/// each token's row, then the second, each in eight parts of 16 bytes whose
/// order is that of the token's last three bits. Eight rows make a pattern of
/// 1024 bytes, at which they are aligned.
template <class Element, i32 Tokens> struct alignas(1024) KeySlice {
  static constexpr i32 kPanel = Tokens * 8;
  WINNOW_DEVICE static i32 place(i32 token, i32 part) {
    return part / 8 * kPanel + token * 8 + (part ^ token) % 8;
  }
  Part part[2 * kPanel];
};

/// The part of those that the workgroup carries at once that this lane does.
/// Eight lanes that store fp8 at once are to have four parts of two tokens:
/// their f16 then go to eight different places of a row.
template <class Element> WINNOW_DEVICE i32 carrying_lane() {
  const i32 lane = thread_index();
  return sizeof(Element) == 1 ? (lane & ~12) | (lane & 4) << 1 | (lane & 8) >> 1
                              : lane;
}

/// What lanes wrote to local memory by instructions other than the matrix units
/// is there for those after the next barrier ("Async Proxy").
WINNOW_DEVICE void show_to_matrix_units() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Parts that a lane carries from memory to local memory: asynchronous copies,
/// which no register holds in between. put() is for all of them once it was
/// called for the last. That data is used once makes no difference: given a
/// cache policy, ptxas 13.0 takes an odd register for one of several such
/// copies, an illegal instruction.
template <class Element, i32 Tokens, i32 N, bool> class KeysInFlight {
public:
  WINNOW_DEVICE void ask(i32, const u8 *base, i32 at, u32 lane_offset,
                         KeySlice<Element, Tokens> &slice, i32 token,
                         i32 part) {
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(
                     local_address(&slice.part[slice.place(token, part)])),
                 "l"(base + at + lane_offset)
                 : "memory");
  }
  WINNOW_DEVICE void put(i32 i, KeySlice<Element, Tokens> &, i32, i32) const {
    if (i < N - 1)
      return;
    asm volatile("cp.async.wait_all;" ::: "memory");
    show_to_matrix_units();
  }
};

/// fp8 becomes f16, exactly, as the instruction for fp8 sums in too few bits.
/// It is in registers in between. Each word of four elements ends up as two in
/// the first and two in the second of its part's two parts of f16: a lane's
/// queries are read four at a time, too.
template <i32 Tokens, i32 N, bool IsOnce>
class KeysInFlight<u8, Tokens, N, IsOnce> {
public:
  WINNOW_DEVICE void ask(i32 i, const u8 *base, i32 at, u32 lane_offset,
                         KeySlice<u8, Tokens> &, i32, i32) {
    part_[i] = IsOnce ? stream_part(base, at, lane_offset)
                      : load_part(base, at, lane_offset);
  }
  WINNOW_DEVICE void put(i32 i, KeySlice<u8, Tokens> &slice, i32 token,
                         i32 part) const {
    u32 pairs[4][2];
    widen_fp8(part_[i].x, pairs[0]);
    widen_fp8(part_[i].y, pairs[1]);
    widen_fp8(part_[i].z, pairs[2]);
    widen_fp8(part_[i].w, pairs[3]);
#pragma unroll
    for (i32 j = 0; j < 2; ++j)
      slice.part[slice.place(token, 2 * part + j)] = {pairs[0][j], pairs[1][j],
                                                      pairs[2][j], pairs[3][j]};
    if (i == N - 1)
      show_to_matrix_units();
  }

private:
  Part part_[N];
};

//===--- Queries in registers ---===//

/// One lane's share of a query tile: rows l / 4 and l / 4 + 8, and of each of
/// eight steps of 16 elements two pairs ("Register Fragments for
/// wgmma.mma_async.m64nNk16", matrix A).
template <class Element> struct QueryOperand {
  u32 word[kMatrixSteps][4];
};

/// The query tile at `first`, of which `count` queries are read; the others are
/// zero.
template <class Element>
WINNOW_DEVICE QueryOperand<Element> load_queries(const u8 *first, i32 count) {
  QueryOperand<Element> queries{};
#pragma unroll
  for (i32 j = 0; j < 2; ++j) {
    const i32 query = lane_index() / 4 + j * 8;
    const u32 *row =
        reinterpret_cast<const u32 *>(first + query * kRowBytes<Element>) +
        lane_index() % 4;
    if (query < count) {
#pragma unroll
      for (i32 step = 0; step < kMatrixSteps; ++step) {
        u32(&word)[4] = queries.word[step];
        if constexpr (sizeof(Element) == 1) {
          u32 pairs[2];
          widen_fp8(row[step * 4], pairs);
          word[j] = pairs[0], word[2 + j] = pairs[1];
        } else {
          word[j] = row[step * 8], word[2 + j] = row[step * 8 + 4];
        }
      }
    }
  }
  return queries;
}

//===--- Products ---===//

/// `Tiles` tiles of 16 queries against slices of keys.
template <i32 Tiles> struct ManyQueries {
  static_assert(Tiles == 1 || Tiles == 2, "a wave has 1 or 2 query tiles");
  /// Queries of a query tile that a lane has products of.
  static constexpr i32 kSlots = 2;

  /// The query of a slot, in its query tile.
  WINNOW_DEVICE static i32 query(i32 slot) {
    return lane_index() / 4 + slot * 8;
  }

  /// The best scores of the slice's tokens, into `best`, one for each query of
  /// a lane. Of the slice, which begins at token `first`, a query sees the
  /// tokens below its `visible`; of the whole of it unless `partial`. All waves
  /// of a team come here together; `partial` may differ. `prepare` is what can
  /// be done while the first products are under way.
  template <class Element, i32 Tokens, class Prepare>
  WINNOW_DEVICE static void
  score_slice(const KeySlice<Element, Tokens> &slice,
              const QueryOperand<Element> (&queries)[Tiles],
              const i32 (&visible)[Tiles][kSlots], i32 first, bool partial,
              float (&best)[Tiles][kSlots], Prepare prepare) {
    // Two tiles are under way at once, so that one is multiplied while the
    // maximum is taken over the other, where no registers hold keys.
    constexpr i32 at_once = kFillsAhead<Element> ? 1 : Tiles;
    float sum[at_once][Tokens / 2];
    const u32 keys = describe_keys(&slice);
#pragma unroll
    for (i32 q = 0; q < at_once; ++q)
      multiply<Element, Tokens>(queries[q], keys, sum[q]);
    prepare();
#pragma unroll
    for (i32 q = 0; q < Tiles; ++q) {
      if (q + 1 < at_once)
        await_products<1>(sum[q % at_once]);
      else
        await_products<0>(sum[q % at_once]);
      fold(sum[q % at_once], visible[q], first, partial, best[q]);
      if (q + at_once < Tiles)
        multiply<Element, Tokens>(queries[q + at_once], keys, sum[q % at_once]);
    }
  }

  /// The maximum over the lanes that share a query, for own_query().
  WINNOW_DEVICE static float reduce(const float (&best)[Tiles][kSlots]) {
    const float tile = join_lanes<2>(best[0][0], best[0][1]);
    if constexpr (Tiles == 1)
      return join_lanes<1>(tile);
    else
      return join_lanes<1>(tile, join_lanes<2>(best[1][0], best[1][1]));
  }
  /// The query of the wave whose maximum this lane ends up with.
  WINNOW_DEVICE static i32 own_query() {
    const i32 lane = lane_index();
    const i32 tile = Tiles == 1 ? 0 : lane % 2 * kMatrixRows;
    return tile + query(lane / 2 % 2);
  }
  /// Whether this lane is the one of those with its query that stores it.
  WINNOW_DEVICE static bool stores() {
    return Tiles == 2 || lane_index() % 2 == 0;
  }

private:
  /// Asks for the products of a slice's keys with one query tile.
  template <class Element, i32 Tokens>
  WINNOW_DEVICE static void multiply(const QueryOperand<Element> &queries,
                                     u32 keys, float (&sum)[Tokens / 2]) {
    begin_products();
    multiply_step<Element, false>(queries.word[0], keys, sum);
#pragma unroll
    for (i32 step = 1; step < kMatrixSteps; ++step) {
      // Four steps of 32 bytes are in each of the slice's two halves.
      const i32 at = step / 4 * Tokens * 128 + step % 4 * 32;
      multiply_step<Element, true>(queries.word[step], keys + at / 16, sum);
    }
    end_products();
  }

  /// A NaN product never wins, nor one of a token that the query does not see.
  template <i32 N>
  WINNOW_DEVICE static void fold(const float (&sum)[N],
                                 const i32 (&visible)[kSlots], i32 first,
                                 bool partial, float (&best)[kSlots]) {
    if (partial) {
#pragma unroll
      for (i32 i = 0; i < N; ++i) {
        const i32 slot = i / 2 % 2;
        const i32 token = first + i / 4 * 8 + lane_index() % 4 * 2 + i % 2;
        best[slot] = max_but_nan(best[slot],
                                 token < visible[slot] ? sum[i] : kNoProduct);
      }
    } else {
#pragma unroll
      for (i32 i = 0; i < N; ++i)
        best[i / 2 % 2] = max_but_nan(best[i / 2 % 2], sum[i]);
    }
  }
};

} // namespace winnow
