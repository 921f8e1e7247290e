// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the generator writes for MiniMax-M3's prefill, by hand: the shape of a
// generated file, and the way to compile the device headers for any shape
// (every constant can be overridden with -D). A generated file holds the
// headers' text in place of the includes.

#include "winnow/page_table.h"
#include "winnow/ragged_select.h"
#include "winnow/ragged_store.h"
#include "winnow/ragged_task.h"
#include "winnow/ragged_tiles.h"
#include "winnow/ragged_walk.h"
#include "winnow/score_force.h"
#include "winnow/select_narrow.h"
#include "winnow/select_rank.h"
#include "winnow/selection_store.h"

#ifndef HEADS
#define HEADS 1
#endif
#ifndef QUERY_TILES
#define QUERY_TILES 4
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
#ifndef CHUNK_BLOCKS
#define CHUNK_BLOCKS 32
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
// 16 KiB of keys at a time; on sm_90 as much as fits local memory, where all
// keys have 16 bits.
#ifndef SLICE_TILES
#ifdef __CUDACC__
#define SLICE_TILES winnow::min(4, BLOCK_SIZE / 16)
#else
#define SLICE_TILES                                                            \
  winnow::min(8 / int(sizeof(winnow::ELEMENT)), BLOCK_SIZE / 16)
#endif
#endif
#ifndef NON_TEMPORAL
#define NON_TEMPORAL false
#endif

namespace {

struct Score {
  static constexpr int kHeads = HEADS;
  static constexpr int kQueryTiles = QUERY_TILES;
  static constexpr int kHeadDim = 128;
  static constexpr int kBlockSize = BLOCK_SIZE;
  static constexpr int kMaxBlocks = MAX_BLOCKS;
  static constexpr int kScoreStride = SCORE_STRIDE;
  static constexpr int kInitBlocks = INIT_BLOCKS;
  static constexpr int kLocalBlocks = LOCAL_BLOCKS;
  static constexpr int kShardRank = SHARD_RANK;
  static constexpr int kShardWorld = SHARD_WORLD;
  static constexpr int kChunkBlocks = CHUNK_BLOCKS;
  static constexpr int kWaves = SCORE_WAVES;
  static constexpr int kSliceTiles = SLICE_TILES;
  static constexpr bool kNonTemporal = NON_TEMPORAL;
};

struct Select {
  static constexpr int kHeads = HEADS;
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

WINNOW_SHARING_KERNEL(kWaveLanes *Score::kWaves)
m3_prefill_score(const ELEMENT *q, i64 q_rows, const ELEMENT *keys,
                 const i32 *index_table, i64 index_table_stride,
                 const i32 *seq_lens, i64 requests, const i32 *cu_seqlens,
                 float *score, i64 score_head_stride) {
  // ragged_task: the tile's rows and blocks, what each row sees.
  const RaggedTask<Score> task =
      ragged_task<Score>(seq_lens, cu_seqlens, requests, q_rows);
  // load_query_tiles: the wave's queries, held for the whole walk.
  const QueryTiles<Score, ELEMENT> queries = load_query_tiles<Score>(q, task);
  // walk_shared: the chunk's blocks, each read once for all waves.
  WINNOW_SHARED SharedKeys<Score, ELEMENT> shared;
  for (SharedWalk<Score, ELEMENT> at(task, index_table, index_table_stride,
                                     keys, shared);
       at.more(); at.next()) {
    // share_slices: a slice is in one buffer while the next fills the other.
    TileBest<Score> best = no_tile_score<Score>();
    for (i32 slice = 0; slice < kSlices<Score>; ++slice) {
      const i32 buffer = at.share(slice);
      // score_slice: products, masked where some row does not see the block.
      score_slice(shared, buffer, queries, task, at, slice, best);
    }
    // reduce_tiles: the maximum over the lanes of a query.
    float block_score = reduce_tiles<Score>(best);
    // force: blocks that are always kept.
    if (at.mapped())
      block_score = force<Score>(block_score, task, at.block);
    // store_ragged_score: one entry for each row that sees the block.
    store_ragged_score<Score>(score, score_head_stride, block_score, task,
                              at.block);
  }
}

WINNOW_KERNEL(kWaveLanes *Select::kWaves)
m3_prefill_select(const float *score, i64 score_head_stride,
                  const i32 *seq_lens, i64 requests, const i32 *cu_seqlens,
                  i32 *idx, i64 idx_head_stride, i64 idx_row_stride,
                  const i32 *attn_table, i64 attn_table_stride, i32 *pages,
                  i64 pages_stride, i32 *ctx) {
  WINNOW_SHARED NarrowStorage<Select> storage;
  // select_ragged_row: the row and head of this workgroup, and what the row
  // sees.
  const SelectRow row = select_ragged_row<Select>(
      seq_lens, cu_seqlens, requests, workgroup_x(), workgroup_y());
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
