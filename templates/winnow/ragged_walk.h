// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The blocks of a chunk in turn, their keys shared by the waves of a workgroup:
// each slice is read from memory once, through two buffers in local memory, one
// being filled while the other is multiplied.
//
// A buffer holds a row of 128 or 256 bytes for each token, in parts of 16
// bytes, whose order within a row is the architecture's so that reading a tile
// touches all banks of the local memory evenly.
//
// A shape states what ragged_task.h and score_slices.h need, and:
//   kNonTemporal   whether keys are loaded so that caches do not keep them
#pragma once

#include "winnow/ragged_task.h"
#include "winnow/score_slices.h"

namespace winnow {

template <class Element>
inline constexpr i32 kRowParts = kRowBytes<Element> / kPieceBytes;

/// The local memory of the walk.
template <class Score, class Element> struct SharedKeys {
  static constexpr i32 kTokens = kSliceTokens<Score>;
  Part part[2][kTokens * kRowParts<Element>];
};

/// One lane's share of a tile's keys.
template <class Score, class Element>
WINNOW_DEVICE Fragment<Element>
read_shared_keys(const SharedKeys<Score, Element> &shared, i32 buffer,
                 i32 tile) {
  constexpr i32 parts = kRowParts<Element>;
  Fragment<Element> keys;
#pragma unroll
  for (i32 j = 0; j < kLaneRows; ++j)
#pragma unroll
    for (i32 p = 0; p < kParts<Element>; ++p) {
      const i32 token = lane_row(j);
      const i32 part = (p * kPartBytes + lane_row_offset()) / kPieceBytes;
      keys.part[j][p] = local_part<Element>(
          shared.part[buffer], (tile * kTileTokens + token) * parts +
                                   swizzled_place<parts>(token, part));
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
                  "slices are equal parts of a block of 32, 64, 128 or 256");
    const i32 *table = index_table + task.request * index_table_stride;
    const i32 mine = block + lane_index() * Score::kShardWorld;
    const i32 entry = lane_index() < left_ ? table[mine] : -1;
    entries_ = entry;
    page = read_lane(entries_, 0);
    // What was loaded before, the queries, is here. Not knowing that of a load
    // that only some lanes made, the compiler would wait within the walk, and
    // then for the keys that are on their way, too.
    wait_for_loads();
    request(page, 0, 0);
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
    constexpr i32 slices = kSlices<Score>;
    const i32 buffer = buffer_;
    buffer_ ^= 1;
    if (mapped())
      fill(buffer);
    local_barrier();
    if (slice + 1 < slices) {
      request(page, slice + 1, buffer_);
    } else {
      ++step_;
      const i32 next = read_lane(entries_, step_ % kWaveLanes);
      next_page_ = left_ > 1 ? next : -1;
      request(next_page_, 0, buffer_);
    }
    return buffer;
  }

  i32 block; ///< scalar: the logical block
  i32 page;  ///< scalar: where it lies in the cache; negative if nowhere

private:
  static constexpr i32 kThreads = Score::kWaves * kWaveLanes;
  static constexpr i32 kRow = kRowParts<Element>;
  static constexpr i32 kSlice = SharedKeys<Score, Element>::kTokens * kRow;
  /// Parts that a lane carries from memory to the buffer.
  static constexpr i32 kCarried = (kSlice + kThreads - 1) / kThreads;
  static_assert(kSlice % kThreads == 0 || kCarried == 1,
                "either all lanes carry the same number of parts or one each");

  WINNOW_DEVICE static bool carries() {
    return kSlice >= kThreads || thread_index() < kSlice;
  }

  /// Where the i-th part that this lane carries lies in a buffer.
  WINNOW_DEVICE static i32 place(i32 i) {
    // Rows that far apart are swizzled alike: the compiler then needs one
    // address for all.
    constexpr i32 step = kThreads / kRow;
    const i32 token = thread_index() / kRow +
                      (step % kSwizzledRows<kRow> == 0 ? 0 : i * step);
    const i32 place =
        token * kRow + swizzled_place<kRow>(token, thread_index() % kRow);
    return step % kSwizzledRows<kRow> == 0 ? place + i * step * kRow : place;
  }

  /// Asks for a slice of a page, which will go to `buffer`, unless there is
  /// none.
  WINNOW_DEVICE void request(i32 page, i32 slice, i32 buffer) {
    if (page < 0 || !carries())
      return;
    // 64 bits: a large cache has more than 2^31 bytes.
    const i64 first = i64(page) *
                      (Score::kBlockSize * kRowBytes<Element>)+slice *
                      (kSlice * kPieceBytes);
    const u32 lane_offset = thread_index() * kPieceBytes;
#pragma unroll
    for (i32 i = 0; i < kCarried; ++i)
      carried_.ask(i, keys_ + first, i * (kThreads * kPieceBytes), lane_offset,
                   &shared_.part[buffer][place(i)]);
  }

  WINNOW_DEVICE void fill(i32 buffer) {
    if (!carries())
      return;
#pragma unroll
    for (i32 i = 0; i < kCarried; ++i)
      carried_.put(i, &shared_.part[buffer][place(i)]);
  }

  const RaggedTask<Score> &task_;
  const u8 *keys_;
  SharedKeys<Score, Element> &shared_;
  i32 left_;
  i32 step_ = 0;
  i32 buffer_ = 0;
  i32 next_page_ = -1;
  u32 entries_ = 0;
  PartsInFlight<kCarried, Score::kNonTemporal> carried_;
};

} // namespace winnow
