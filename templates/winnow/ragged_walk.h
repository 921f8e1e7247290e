// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The blocks of a chunk in turn, their keys shared by the waves of a workgroup:
// each slice is read from memory once, through two buffers in local memory, one
// being filled while the other is multiplied.
//
// Keys travel in parts of 16 bytes; where those lie in a buffer, and in what
// format, is the architecture's.
//
// A shape states what ragged_task.h and score_slices.h need, and:
//   kNonTemporal   whether keys are loaded so that caches do not keep them
#pragma once

#include "winnow/ragged_task.h"
#include "winnow/score_slices.h"

namespace winnow {

/// The local memory of the walk.
template <class Score, class Element> struct SharedKeys {
  KeySlice<Element, kSliceTokens<Score>> slice[2];
};

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
    ask(page, 0, 0);
    if constexpr (kFillsAhead<Element>) {
      fill(0);
      ask_for(1);
    }
  }

  WINNOW_DEVICE bool more() const { return left_ > 0; }

  WINNOW_DEVICE void next() {
    block += Score::kShardWorld;
    page = page_after(1);
    ++step_;
    --left_;
  }

  /// Whether the block is in memory; a negative entry says that it is not.
  WINNOW_DEVICE bool mapped() const { return page >= 0; }

  /// Whether the block is in memory and the waves that multiply together have
  /// rows that see it.
  WINNOW_DEVICE bool scored() const {
    return mapped() && task_.team_queries > 0 && block < task_.reach;
  }

  /// Whether some row of the wave does not see all of the block's tokens.
  WINNOW_DEVICE bool partial() const { return block >= task_.full_blocks; }

  /// Waits until the slice's keys are in the buffer that it returns. Every wave
  /// has to come here for every slice, and to prepare() after it. One barrier
  /// is enough: a wave that fills a buffer again has passed the barrier at
  /// which all waves were done with what was in it.
  WINNOW_DEVICE i32 share(i32 slice) {
    const i32 buffer = buffer_;
    buffer_ ^= 1;
    if constexpr (!kFillsAhead<Element>)
      fill(buffer);
    local_barrier();
    if constexpr (!kFillsAhead<Element>)
      ask_for(slice + 1);
    return buffer;
  }

  /// What can be done while the slice is multiplied. Keys that are put to local
  /// memory meanwhile are those of the next slice, which were asked for a slice
  /// earlier; the other buffer takes them.
  WINNOW_DEVICE void prepare(i32 slice) {
    if constexpr (kFillsAhead<Element>) {
      fill(buffer_);
      ask_for(slice + 2);
    }
  }

  i32 block; ///< scalar: the logical block
  i32 page;  ///< scalar: where it lies in the cache; negative if nowhere

private:
  static constexpr i32 kThreads = Score::kWaves * kWaveLanes;
  static constexpr i32 kTokens = kSliceTokens<Score>;
  static constexpr i32 kRow = kRowBytes<Element> / kPieceBytes;
  static constexpr i32 kSlice = kTokens * kRow;
  /// Parts that a lane carries from memory to the buffer.
  static constexpr i32 kCarried = (kSlice + kThreads - 1) / kThreads;
  static_assert(kSlice % kThreads == 0 || kCarried == 1,
                "either all lanes carry the same number of parts or one each");

  WINNOW_DEVICE static bool carries() {
    return kSlice >= kThreads || carrying_lane<Element>() < kSlice;
  }

  /// The token and the part of its row that are the i-th this lane carries.
  WINNOW_DEVICE static i32 token(i32 i) {
    return carrying_lane<Element>() / kRow + i * (kThreads / kRow);
  }
  WINNOW_DEVICE static i32 part() { return carrying_lane<Element>() % kRow; }

  /// The page of the block that many after this one, of those of the chunk.
  WINNOW_DEVICE i32 page_after(i32 blocks) const {
    const i32 after = read_lane(entries_, (step_ + blocks) % kWaveLanes);
    return left_ > blocks ? after : -1;
  }

  /// Asks for a slice, counted from the first of this block on.
  WINNOW_DEVICE void ask_for(i32 slice) {
    constexpr i32 slices = kSlices<Score>;
    if (slice < slices)
      ask(page, slice, buffer_);
    else
      ask(page_after(slice / slices), slice % slices, buffer_);
  }

  /// Asks for a slice of a page, which will go to `buffer`, unless there is
  /// none.
  WINNOW_DEVICE void ask(i32 page, i32 slice, i32 buffer) {
    asked_ = page;
    if (page < 0 || !carries())
      return;
    // 64 bits: a large cache has more than 2^31 bytes.
    const i64 first = i64(page) *
                      (Score::kBlockSize * kRowBytes<Element>)+slice *
                      (kSlice * kPieceBytes);
    const u32 lane_offset = carrying_lane<Element>() * kPieceBytes;
#pragma unroll
    for (i32 i = 0; i < kCarried; ++i)
      carried_.ask(i, keys_ + first, i * (kThreads * kPieceBytes), lane_offset,
                   shared_.slice[buffer], token(i), part());
  }

  /// The slice that was asked for last is in `buffer` after the next barrier.
  WINNOW_DEVICE void fill(i32 buffer) {
    if (asked_ < 0 || !carries())
      return;
#pragma unroll
    for (i32 i = 0; i < kCarried; ++i)
      carried_.put(i, shared_.slice[buffer], token(i), part());
  }

  const RaggedTask<Score> &task_;
  const u8 *keys_;
  SharedKeys<Score, Element> &shared_;
  i32 left_;
  i32 step_ = 0;
  i32 buffer_ = 0;
  i32 asked_ = -1; // the page of what was asked for last
  u32 entries_ = 0;
  KeysInFlight<Element, kTokens, kCarried, Score::kNonTemporal> carried_;
};

} // namespace winnow
