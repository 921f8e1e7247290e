// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plan of the generic lowering for ragged rows, and the source that it
// becomes: the same stages as for uniform ones, but for what finds the rows.
// RUN: winnow-opt %s --winnow-select-lowering --winnow-schedule | FileCheck %s
// RUN: winnow-opt %s --winnow-select-lowering --winnow-schedule | winnow-opt | FileCheck %s
// RUN: winnow-translate %s --winnow-to-hip | FileCheck %s --check-prefix=HIP

// Groups of eight of the 20 queries that a row has, and one more a request.
// CHECK-DAG: #[[$SCORE_GRID:.+]] = affine_map<()[s0, s1] -> ((s1 * 20) floordiv 8 + s0, 25, 1)>
// CHECK-DAG: #[[$SELECT_GRID:.+]] = affine_map<()[s0, s1] -> (s1, 20, 1)>
// Requests of two tokens and three heads have six queries: one group.
// CHECK-DAG: #[[$SHORT_GRID:.+]] = affine_map<()[s0, s1] -> ((s1 * 3) floordiv 6 + s0, 1, 1)>

// CHECK-LABEL: winnow.kernel @wide_score(
// CHECK-NEXT:  shape Score {kBlockSize = 48, kChunks = 25, kFormat = 2, kHeadDim = 72, kHeads = 20, kInitBlocks = 0, kLocalBlocks = 0, kMaxBlocks = 2000, kQueryGroup = 8, kReduction = 1, kScoreStride = 2048, kShardRank = 0, kShardWorld = 1, kThreads = 256}
// CHECK-NEXT:  grid #[[$SCORE_GRID]] waves 4 attributes {winnow.arch = "gfx950", winnow.lowering = "generic"
// CHECK-NEXT:    %[[TASK:.+]] = winnow.stage.generic_ragged_task %seq_lens, %cu_seqlens of %query
// CHECK-NEXT:    %[[QUERIES:.+]] = winnow.stage.generic_load_queries %query for %[[TASK]]
// CHECK-NEXT:    winnow.stage.generic_score_blocks %[[QUERIES]], %keys via %index_table for %[[TASK]] into %score

// CHECK-LABEL: winnow.kernel @wide_select(
// CHECK-NEXT:  shape Select {
// CHECK-NOT:   kQueryLen
// CHECK:       grid #[[$SELECT_GRID]] waves 4 attributes {winnow.arch = "gfx950", winnow.lowering = "generic"
// CHECK-NEXT:    %[[ROW:.+]] = winnow.stage.generic_select_ragged_row %seq_lens, %cu_seqlens
// CHECK-NEXT:    %[[CUT:.+]] = winnow.stage.generic_find_cut %score for %[[ROW]]
// CHECK-NEXT:    %[[RANKING:.+]] = winnow.stage.generic_sort_kept %score from %[[CUT]] for %[[ROW]]
// CHECK-NEXT:    winnow.stage.generic_store_selection %[[RANKING]] for %[[ROW]]

// HIP: wide_score(
// HIP-NEXT:     const u16 *q,
// HIP-NEXT:     i64 q_row_stride,
// HIP-NEXT:     i64 q_head_stride,
// HIP-NEXT:     i64 q_rows,
// HIP:          const i32 *seq_lens,
// HIP-NEXT:     i64 requests,
// HIP-NEXT:     const i32 *cu_seqlens,
// HIP:        // generic_ragged_task:
// HIP-NEXT:   const generic::ScoreTask<Score> task = generic::ragged_score_task<Score>(
// HIP-NEXT:       seq_lens, cu_seqlens, requests, q_rows);
// HIP-NEXT:   // generic_load_queries:
// HIP: wide_select(
// HIP:        // generic_select_ragged_row:
// HIP-NEXT:   const generic::SelectRow row =
// HIP-NEXT:       generic::select_ragged_row<Select>(seq_lens, cu_seqlens, requests);
func.func @wide(%q: memref<?x20x72xbf16, strided<[?, ?, 1]>>, %keys: memref<?x48x72xbf16>,
                %table: memref<?x?xi32>, %lens: memref<?xi32>, %cu_seqlens: memref<?xi32>,
                %idx: memref<20x?x500xi32>)
    attributes {winnow.entry,
                winnow.bounds = {max_seq_len = 96000, max_requests = 8, max_query_len = 4096, max_rows = 8192}} {
  %rows = winnow.ragged_rows %lens, %cu_seqlens : memref<?xi32>, memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = sum}
      : memref<?x20x72xbf16, strided<[?, ?, 1]>>, memref<?x48x72xbf16>, memref<?x?xi32>, !winnow.rows<ragged>
  %selection = winnow.topk %scores {k = 500} : !winnow.scores<ragged, heads = 20, block_size = 48>
  winnow.store_selection %selection, %idx
      : !winnow.selection<ragged, heads = 20, block_size = 48, k = 500>, memref<20x?x500xi32>
  return
}

// CHECK-LABEL: winnow.kernel @short_score(
// CHECK-NEXT:  kQueryGroup = 6,
// CHECK-NEXT:  grid #[[$SHORT_GRID]]
func.func @short(%q: memref<?x3x8xf16>, %keys: memref<?x64x8xf16>,
                 %table: memref<?x?xi32>, %lens: memref<?xi32>, %cu_seqlens: memref<?xi32>,
                 %idx: memref<3x?x16xi32>)
    attributes {winnow.entry,
                winnow.bounds = {max_seq_len = 1024, max_requests = 8, max_query_len = 2, max_rows = 16}} {
  %rows = winnow.ragged_rows %lens, %cu_seqlens : memref<?xi32>, memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x3x8xf16>, memref<?x64x8xf16>, memref<?x?xi32>, !winnow.rows<ragged>
  %selection = winnow.topk %scores {k = 16} : !winnow.scores<ragged, heads = 3, block_size = 64>
  winnow.store_selection %selection, %idx
      : !winnow.selection<ragged, heads = 3, block_size = 64, k = 16>, memref<3x?x16xi32>
  return
}
