// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The blocks of a chunk in turn, their keys shared by the waves of a workgroup:
// each slice is read from memory once, through two buffers in local memory, one
// being filled while the other is multiplied.
//
// A buffer holds a row of 128 or 256 bytes for each token, in pieces of 16
// bytes. Piece c of token t lies at place c ^ (t % pieces): lanes that read the
// same piece of 16 tokens then touch all banks of the local memory evenly, with
// no padding between the rows.
//
// A shape states what ragged_task.h needs.
#pragma once

#include "winnow/ragged_task.h"
#include "winnow/score_slices.h"

namespace winnow {

inline constexpr i32 kPieceBytes = 16;

template <class Element>
inline constexpr i32 kRowPieces = kRowBytes<Element> / kPieceBytes;

template <class Score, class Element>
inline constexpr i32 kSliceBytes =
    kTiles<Score, Element> * kTileTokens * kRowBytes<Element>;

/// The local memory of the walk.
template <class Score, class Element> struct SharedKeys {
  static constexpr i32 kBytes = kSliceBytes<Score, Element>;
  i32x4 piece[2][kBytes / kPieceBytes];
};

/// Keys of a tile as one lane's share of the rows: token lane % 16.
template <class Score, class Element>
WINNOW_DEVICE Fragment<Element>
read_shared_keys(const SharedKeys<Score, Element> &shared, i32 buffer,
                 i32 tile) {
  constexpr i32 pieces = kRowPieces<Element>;
  const i32 token = lane_index() % kTileTokens;
  Fragment<Element> keys;
#pragma unroll
  for (i32 p = 0; p < kParts<Element>; ++p) {
    const i32 piece = p * (kPartBytes / kPieceBytes) + lane_index() / 16;
    keys.part[p] = shared.piece[buffer][(tile * kTileTokens + token) * pieces +
                                        (piece ^ token % pieces)];
  }
  return keys;
}

template <class Score, class Element> class SharedWalk {
public:
  WINNOW_DEVICE SharedWalk(const RaggedTask<Score> &task,
                           const i32 *index_table, i64 index_table_stride,
                           const Element *keys,
                           SharedKeys<Score, Element> &shared)
      : block(block_of_column<Score>(task.first_column)), task_(task),
        keys_(reinterpret_cast<const u8 *>(keys)), shared_(shared),
        left_(task.last_column - task.first_column) {
    static_assert(is_sliced_block<Score>(),
                  "block sizes are 32, 64, 128 and 256 tokens");
    const i32 *table = index_table + task.request * index_table_stride;
    const i32 mine = block + lane_index() * Score::kShardWorld;
    entries_ = lane_index() < left_ ? table[mine] : -1;
    page = read_lane(entries_, 0);
    // What was loaded before, the queries, is here. Not knowing that of a load
    // that only some lanes made, the compiler would wait within the walk, and
    // then for the keys that are on their way, too. The operand is that of
    // s_waitcnt vmcnt(0): 0 in bits 0 to 3 and 14 to 15 (CDNA4 ISA, SOPP).
    __builtin_amdgcn_s_waitcnt(0x0f70);
    request(page, 0);
  }

  WINNOW_DEVICE bool more() const { return left_ > 0; }

  WINNOW_DEVICE void next() {
    block += Score::kShardWorld;
    page = next_page_;
    --left_;
  }

  /// Whether the block is in memory; a negative entry says that it is not.
  WINNOW_DEVICE bool mapped() const { return page >= 0; }

  /// Whether the block is in memory and this wave has rows that see it.
  WINNOW_DEVICE bool scored() const {
    return mapped() && task_.query_count > 0 && block < task_.reach;
  }

  /// Whether some row of the wave does not see all of the block's tokens.
  WINNOW_DEVICE bool partial() const { return block >= task_.full_blocks; }

  /// Waits until the slice's keys are in the buffer that it returns, and asks
  /// for those of the slice after it. Every wave has to come here for every
  /// slice. One barrier is enough: a wave that fills a buffer again has passed
  /// the barrier at which all waves were done with what was in it.
  WINNOW_DEVICE i32 share(i32 slice) {
    constexpr i32 slices = kSlices<Score, Element>;
    const i32 buffer = buffer_;
    buffer_ ^= 1;
    if (mapped())
      fill(buffer);
    local_barrier();
    if (slice + 1 < slices) {
      request(page, slice + 1);
    } else {
      ++step_;
      next_page_ = left_ > 1 ? read_lane(entries_, step_ % kWaveLanes) : -1;
      request(next_page_, 0);
    }
    return buffer;
  }

  i32 block; ///< scalar: the logical block
  i32 page;  ///< scalar: where it lies in the cache; negative if nowhere

private:
  static constexpr i32 kThreads = Score::kWaves * kWaveLanes;
  static constexpr i32 kPieces = kSliceBytes<Score, Element> / kPieceBytes;
  /// Pieces that a lane carries from memory to the buffer.
  static constexpr i32 kCarried = (kPieces + kThreads - 1) / kThreads;
  static_assert(kPieces % kThreads == 0 || kCarried == 1,
                "either all lanes carry the same number of pieces or one each");

  WINNOW_DEVICE static bool carries() {
    return kPieces >= kThreads || thread_index() < kPieces;
  }

  /// Asks for a slice of a page, unless there is none.
  WINNOW_DEVICE void request(i32 page, i32 slice) {
    if (page < 0 || !carries())
      return;
    // 64 bits: a large cache has more than 2^31 bytes.
    const i64 first = i64(page) *
                      (Score::kBlockSize * kRowBytes<Element>)+slice *
                      kSliceBytes<Score, Element>;
    const u32 lane_offset = thread_index() * kPieceBytes;
    // A load's own offset reaches from -4096 to 4095 bytes.
    constexpr i32 reach_bytes = 8192;
#pragma unroll
    for (i32 i = 0; i < kCarried; ++i) {
      const i32 at = i * (kThreads * kPieceBytes);
      const i32 middle = at / reach_bytes * reach_bytes + reach_bytes / 2;
      const Global<u8> *piece =
          scalar_base(keys_ + first + middle) + lane_offset + (at - middle);
      carried_[i] = *(const Global<i32x4> *)piece;
    }
  }

  WINNOW_DEVICE void fill(i32 buffer) {
    if (!carries())
      return;
    constexpr i32 pieces = kRowPieces<Element>;
    static_assert(kThreads / pieces % pieces == 0,
                  "a lane's pieces are those of tokens of one swizzle");
    const i32 token = thread_index() / pieces;
    const i32 place = thread_index() % pieces ^ token % pieces;
#pragma unroll
    for (i32 i = 0; i < kCarried; ++i)
      shared_.piece[buffer][token * pieces + place + i * kThreads] =
          carried_[i];
  }

  const RaggedTask<Score> &task_;
  const u8 *keys_;
  SharedKeys<Score, Element> &shared_;
  i32 left_;
  i32 step_ = 0;
  i32 buffer_ = 0;
  i32 next_page_ = -1;
  u32 entries_ = 0;
  i32x4 carried_[kCarried];
};

} // namespace winnow
