// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the generator writes for the selection of a rank and for the merge of
// MiniMax-M3's sharded decode, by hand; as sample_m3_decode.hip otherwise.

#include "winnow/load_candidates.h"
#include "winnow/page_table.h"
#include "winnow/select_narrow.h"
#include "winnow/select_rank.h"
#include "winnow/selection_store.h"
#include "winnow/store_candidates.h"

#ifndef HEADS
#define HEADS 1
#endif
#ifndef TOP_K
#define TOP_K 16
#endif
#ifndef RANKS
#define RANKS 8
#endif
#ifndef RANK_KEEP
#define RANK_KEEP TOP_K
#endif
#ifndef WAVES
#define WAVES 1
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef SELECT_SLOTS
#define SELECT_SLOTS 16
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

namespace {

struct Select {
  static constexpr int kHeads = HEADS;
  static constexpr int kQueryLen = 1;
  static constexpr int kBlockSize = 128;
  static constexpr int kMaxBlocks = 1024 * RANKS;
  static constexpr int kScoreStride = 1024;
  static constexpr int kShardRank = RANKS - 1;
  static constexpr int kShardWorld = RANKS;
  static constexpr int kTopK = TOP_K;
  static constexpr bool kTieHighest = TIE_HIGHEST;
  static constexpr bool kOrderAscending = ORDER_ASCENDING;
  static constexpr int kWaves = 1;
  static constexpr int kSlots = SELECT_SLOTS;
};

struct Merge {
  static constexpr int kHeads = HEADS;
  static constexpr int kQueryLen = 1;
  static constexpr int kBlockSize = 128;
  static constexpr int kMaxBlocks = 1024 * RANKS;
  static constexpr int kRanks = RANKS;
  static constexpr int kRankKeep = RANK_KEEP;
  static constexpr int kTopK = TOP_K;
  static constexpr bool kTieHighest = TIE_HIGHEST;
  static constexpr bool kOrderAscending = ORDER_ASCENDING;
  static constexpr int kIdPad = -1;
  static constexpr int kPagesPerBlock = PAGES_PER_BLOCK;
  static constexpr int kKvHeads = HEADS;
  static constexpr int kPagePad = 0;
  static constexpr int kWaves = WAVES;
  static constexpr int kSlots = SLOTS;
};

} // namespace

using namespace winnow;

WINNOW_KERNEL(kWaveLanes *Select::kWaves)
m3_rank_select(const float *score, i64 score_head_stride, const i32 *seq_lens,
               i32 *ids, i64 id_head_stride, i64 id_row_stride, float *scores,
               i64 score_out_head_stride, i64 score_out_row_stride) {
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
  // store_candidates: what the other ranks get: block ids and their scores.
  store_candidates<Select>(selected, row, score, score_head_stride, ids,
                           id_head_stride, id_row_stride, scores,
                           score_out_head_stride, score_out_row_stride);
}

WINNOW_KERNEL(kWaveLanes *Merge::kWaves)
m3_merge(const i32 *ids, i64 id_rank_stride, i64 id_head_stride,
         i64 id_row_stride, const float *scores, i64 score_rank_stride,
         i64 score_head_stride, i64 score_row_stride, const i32 *seq_lens,
         i32 *idx, i64 idx_head_stride, i64 idx_row_stride,
         const i32 *attn_table, i64 attn_table_stride, i32 *pages,
         i64 pages_stride, i32 *ctx) {
  WINNOW_SHARED NarrowStorage<Merge> storage;
  // select_row: the row and head of this workgroup, and what the row sees.
  const SelectRow row =
      select_row<Merge>(seq_lens, workgroup_x(), workgroup_y());
  if (!takes_part<Merge, CandidateKeys<Merge>>(row))
    return;
  // load_candidates: what all ranks selected, as sortable keys in registers.
  const CandidateKeys<Merge> keys = load_candidates<Merge>(
      ids, id_rank_stride, id_head_stride, id_row_stride, scores,
      score_rank_stride, score_head_stride, score_row_stride, row);
  // narrow: the few candidates that hold the selection, for the first wave.
  const i32 listed = narrow<Merge>(keys, row, storage);
  if (listed < 0)
    return;
  // rank: the candidates in order, best first.
  const Selection<Merge> selected = rank<Merge>(listed, row, storage);
  // store_selection: the ids, best first.
  store_selection<Merge>(selected, row, idx, idx_head_stride, idx_row_stride);
  // emit_pages: the attention's page table and context length.
  emit_pages<Merge>(selected, row, attn_table, attn_table_stride, pages,
                    pages_stride, ctx);
}
