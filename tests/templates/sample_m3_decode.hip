// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the generator writes for MiniMax-M3's decode, by hand: the shape of a
// generated file, and the way to compile the device headers for any shape
// (every constant can be overridden with -D). A generated file holds the
// headers' text in place of the includes.

#include "winnow/page_table.h"
#include "winnow/score_force.h"
#include "winnow/score_join.h"
#include "winnow/score_pages.h"
#include "winnow/score_store.h"
#include "winnow/score_tiles.h"
#ifdef STAGES
#include "winnow/score_stream.h"
#endif
#include "winnow/score_walk.h"
#include "winnow/select_narrow.h"
#include "winnow/select_rank.h"
#include "winnow/select_row.h"
#include "winnow/selection_store.h"

#ifndef HEADS
#define HEADS 1
#endif
#ifndef QUERY_LEN
#define QUERY_LEN 1
#endif
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 128
#endif
#ifndef MAX_BLOCKS
#define MAX_BLOCKS 8192
#endif
#ifndef SCORE_STRIDE
#define SCORE_STRIDE MAX_BLOCKS
#endif
#ifndef CHUNKS
#define CHUNKS 8
#endif
#ifndef SCORE_WAVES
#define SCORE_WAVES 4
#endif
#ifndef INIT_BLOCKS
#define INIT_BLOCKS 0
#endif
#ifndef LOCAL_BLOCKS
#define LOCAL_BLOCKS 1
#endif
#ifndef TOP_K
#define TOP_K 16
#endif
#ifndef SELECT_WAVES
#define SELECT_WAVES 8
#endif
#ifndef SLOTS
#define SLOTS 16
#endif
#ifndef TIE_HIGHEST
#define TIE_HIGHEST true
#endif
#ifndef ORDER_ASCENDING
#define ORDER_ASCENDING false
#endif
#ifndef PAGES_PER_BLOCK
#define PAGES_PER_BLOCK 8
#endif
#ifndef KV_HEADS
#define KV_HEADS HEADS
#endif
#ifndef ELEMENT
#define ELEMENT u8
#endif
#ifndef SHARD_RANK
#define SHARD_RANK 0
#endif
#ifndef SHARD_WORLD
#define SHARD_WORLD 1
#endif
#ifndef PAGE_PAD
#define PAGE_PAD 0
#endif
// Waves that share a block; of bulk copies as many as there are 8 KiB of it.
#ifndef SPLIT
#define SPLIT 1
#endif
// 16 KiB of keys at a time, or with bulk copies 8.
#ifndef SLICE_TILES
#ifdef STAGES
#define SLICE_BYTES 8192
#else
#define SLICE_BYTES 16384
#endif
#define SLICE_TILES                                                            \
  winnow::min(SLICE_BYTES / 2048 / int(sizeof(winnow::ELEMENT)),               \
              BLOCK_SIZE / 16 / SPLIT)
#endif
#ifndef TILES_AHEAD
#define TILES_AHEAD kSliceTiles
#endif
#ifndef PAGES
#define PAGES 1
#endif
#ifndef NON_TEMPORAL
#define NON_TEMPORAL true
#endif

namespace {

struct Score {
  static constexpr int kHeads = HEADS;
  static constexpr int kQueryLen = QUERY_LEN;
  static constexpr int kHeadDim = 128;
  static constexpr int kBlockSize = BLOCK_SIZE;
  static constexpr int kMaxBlocks = MAX_BLOCKS;
  static constexpr int kScoreStride = SCORE_STRIDE;
  static constexpr int kInitBlocks = INIT_BLOCKS;
  static constexpr int kLocalBlocks = LOCAL_BLOCKS;
  static constexpr int kShardRank = SHARD_RANK;
  static constexpr int kShardWorld = SHARD_WORLD;
  static constexpr int kChunks = CHUNKS;
  static constexpr int kWaves = SCORE_WAVES;
  static constexpr int kSplit = SPLIT;
  static constexpr int kSliceTiles = SLICE_TILES;
  static constexpr int kTilesAhead = TILES_AHEAD;
  static constexpr bool kNonTemporal = NON_TEMPORAL;
#ifdef STAGES // of targets that have bulk copies
  static constexpr int kStages = STAGES;
#else
  static constexpr int kPages = PAGES;
#endif
};

struct Select {
  static constexpr int kHeads = HEADS;
  static constexpr int kQueryLen = QUERY_LEN;
  static constexpr int kBlockSize = BLOCK_SIZE;
  static constexpr int kMaxBlocks = MAX_BLOCKS;
  static constexpr int kScoreStride = SCORE_STRIDE;
  static constexpr int kShardRank = SHARD_RANK;
  static constexpr int kShardWorld = SHARD_WORLD;
  static constexpr int kTopK = TOP_K;
  static constexpr bool kTieHighest = TIE_HIGHEST;
  static constexpr bool kOrderAscending = ORDER_ASCENDING;
  static constexpr int kIdPad = -1;
  static constexpr int kPagesPerBlock = PAGES_PER_BLOCK;
  static constexpr int kKvHeads = KV_HEADS;
  static constexpr int kPagePad = PAGE_PAD;
  static constexpr int kWaves = SELECT_WAVES;
  static constexpr int kSlots = SLOTS;
};

} // namespace

using namespace winnow;

#ifdef STAGES

WINNOW_KERNEL(kWaveLanes *Score::kWaves)
m3_decode_score(const ELEMENT *q, const ELEMENT *keys, const i32 *index_table,
                i64 index_table_stride, const i32 *seq_lens, float *score,
                i64 score_head_stride) {
  // score_task: the request and the blocks of this wave, what each row sees.
  const ScoreTask<Score> task = score_task<Score>(seq_lens);
  // load_query: the request's queries, held for the whole walk.
  const Queries<Score, ELEMENT> query = load_query<Score>(q, task);
  // walk_stream: the wave's blocks, whose keys are copied ahead of it.
  WINNOW_SHARED StreamStorage<Score, ELEMENT> stream;
  for (StreamWalk<Score, ELEMENT> at(task, index_table, index_table_stride,
                                     keys, stream);
       at.more(); at.next()) {
    float block_score = kNoScore;
    if (at.mapped()) {
      Best<Score> best = no_score<Score>();
      // walk_copies: this wave's slices of the block.
      for (i32 slice = at.first_slice(); slice < kSlices<Score>;
           slice += Score::kSplit) {
        // take_key_tiles: the keys of a slice, the next one on its way.
        const auto tiles = at.take();
        // multiply_accumulate: the queries times 16 tokens a tile.
        Products<Score> products = multiply_accumulate<Score>(tiles, query);
        // mask: only where some row does not see the whole block.
        if (at.partial())
          mask<Score>(products, task, at.block, slice);
        // fold: the maximum over this lane's tokens.
        fold<Score>(products, best);
      }
      // reduce: the maximum over the lanes of a query, and over its waves.
      block_score = at.join(reduce<Score>(best));
      // force: blocks that are always kept.
      block_score = force<Score>(block_score, task, at.block);
    }
    // store_score: one entry for each row that sees the block.
    store_score<Score>(score, score_head_stride, block_score, task, at.block);
  }
}

#else

WINNOW_KERNEL(kWaveLanes *Score::kWaves)
m3_decode_score(const ELEMENT *q, const ELEMENT *keys, const i32 *index_table,
                i64 index_table_stride, const i32 *seq_lens, float *score,
                i64 score_head_stride) {
  // score_task: the request and the blocks of this wave, what each row sees.
  const ScoreTask<Score> task = score_task<Score>(seq_lens);
  // load_query: the request's queries, held for the whole walk.
  const Queries<Score, ELEMENT> query = load_query<Score>(q, task);
  // walk_pages: the wave's blocks, and where the block table says they lie.
  WINNOW_SHARED JoinStorage<Score> joined;
  i32 joined_set = 0;
#if PAGES > 1
  for (PageWalk<Score> at(task, index_table, index_table_stride); at.more();) {
    // load_key_tiles: the keys of some pages, all in flight at once.
    const PagesAhead<Score, ELEMENT> ahead = load_pages_ahead<Score>(keys, at);
#pragma unroll
    for (i32 i = 0; i < Score::kPages; ++i, at.next()) {
#else
  for (PageWalk<Score> at(task, index_table, index_table_stride); at.more();
       at.next()) {
    {
#endif
      float block_score = kNoScore;
      if (at.mapped()) {
        Best<Score> best = no_score<Score>();
        // walk_slices: up to 128 tokens of the block at a time.
        for (i32 slice = at.first_slice(); slice < kSlices<Score>;
             slice += Score::kSplit) {
#if PAGES > 1
          const KeyTiles<Score, ELEMENT> &tiles = ahead.page[i];
#else
          // load_key_tiles: the keys of a slice, all in flight at once.
          const KeyTiles<Score, ELEMENT> tiles =
              load_key_tiles<Score>(keys, at.page, slice);
#endif
          // multiply_accumulate: the queries times 16 tokens a tile.
          Products<Score> products = multiply_accumulate<Score>(tiles, query);
          // mask: only where some row does not see the whole block.
          if (at.partial())
            mask<Score>(products, task, at.block, slice);
          // fold: the maximum over this lane's tokens.
          fold<Score>(products, best);
        }
        // reduce: the maximum over the lanes of a query, and over its waves.
        block_score = join_waves(reduce<Score>(best), joined, joined_set);
        // force: blocks that are always kept.
        block_score = force<Score>(block_score, task, at.block);
      }
      // store_score: one entry for each row that sees the block.
      store_score<Score>(score, score_head_stride, block_score, task, at.block);
    }
  }
}

#endif // STAGES

WINNOW_KERNEL(kWaveLanes *Select::kWaves)
m3_decode_select(const float *score, i64 score_head_stride, const i32 *seq_lens,
                 i32 *idx, i64 idx_head_stride, i64 idx_row_stride,
                 const i32 *attn_table, i64 attn_table_stride, i32 *pages,
                 i64 pages_stride, i32 *ctx) {
  WINNOW_SHARED NarrowStorage<Select> storage;
  // select_row: the row and head of this workgroup, and what the row sees.
  const SelectRow row =
      select_row<Select>(seq_lens, workgroup_x(), workgroup_y());
  if (!takes_part<Select, ScoreKeys<Select>>(row))
    return;
  // load_score_row: the row's scores as sortable keys in registers.
  const ScoreKeys<Select> keys =
      load_score_row<Select>(score, score_head_stride, row);
  // narrow: the few candidates that hold the selection, for the first wave.
  const i32 listed = narrow<Select>(keys, row, storage);
  if (listed < 0)
    return;
  // rank: the candidates in order, best first.
  const Selection<Select> selected = rank<Select>(listed, row, storage);
  // store_selection: the ids, best first.
  store_selection<Select>(selected, row, idx, idx_head_stride, idx_row_stride);
  // emit_pages: the attention's page table and context length.
  emit_pages<Select>(selected, row, attn_table, attn_table_stride, pages,
                     pages_stride, ctx);
}
