// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What winnow-schedule makes of ragged rows: launches from the numbers of
// requests and rows, pages shared by the waves of a workgroup.
// RUN: winnow-opt %s -winnow-schedule | FileCheck %s

// 256 queries a workgroup are 64 rows of 4 heads; 1000 blocks are 32 chunks.
// CHECK-DAG: #[[$SCORE_GRID:.+]] = affine_map<()[s0, s1] -> (s1 floordiv 64 + s0, 32, 1)>
// CHECK-DAG: #[[$SELECT_GRID:.+]] = affine_map<()[s0, s1] -> (s1, 4, 1)>
// CHECK-DAG: #[[$SHORT_GRID:.+]] = affine_map<()[s0, s1] -> (s1 floordiv 128 + s0, 1, 1)>
// CHECK-DAG: #[[$EXTENTS:.+]] = affine_map<()[s0, s1] -> (4, s1, 1024)>

// CHECK-LABEL: winnow.kernel @prefill_score(
// CHECK-SAME:  %seq_lens: memref<?xi32>, %cu_seqlens: memref<?xi32>, %score: memref<4x?x1024xf32>)
// CHECK-NEXT:  shape Score {kBlockSize = 128, kChunkBlocks = 32, kHeadDim = 128, kHeads = 4, kInitBlocks = 0, kLocalBlocks = 1, kMaxBlocks = 1000, kNonTemporal = false, kQueryTiles = 4, kScoreStride = 1024, kShardRank = 0, kShardWorld = 1, kSliceTiles = 4, kWaves = 4}
// CHECK-NEXT:  grid #[[$SCORE_GRID]] waves 4 attributes {winnow.arch = "gfx950", winnow.lowering = "mfma"
// CHECK-NEXT:    %[[TASK:.+]] = winnow.stage.ragged_task %seq_lens, %cu_seqlens
// CHECK-NEXT:    %[[QUERIES:.+]] = winnow.stage.load_query_tiles %{{.+}} for %[[TASK]]
// CHECK-NEXT:    winnow.stage.walk_shared %[[PAGE:.+]] of %[[TASK]]
// 128 tokens of 256 bytes are two slices.
// CHECK-NEXT:      %[[BEST:.+]] = winnow.stage.share_slices %[[SLICE:.+]] of %[[PAGE]] carry %[[RUNNING:.+]] slices 2 {
// CHECK-NEXT:        %[[NEXT:.+]] = winnow.stage.score_slice %[[SLICE]] with %[[QUERIES]] of %[[TASK]] into %[[RUNNING]]
// CHECK-NEXT:        winnow.stage.yield %[[NEXT]]
// CHECK-NEXT:      }
// CHECK-NEXT:      %[[VALUE:.+]] = winnow.stage.if_mapped %[[PAGE]] {
// CHECK-NEXT:        %[[SCORE:.+]] = winnow.stage.reduce_tiles %[[BEST]]
// CHECK-NEXT:        %[[FORCED:.+]] = winnow.stage.force %[[SCORE]], %[[TASK]] at %[[PAGE]]
// CHECK-NEXT:        winnow.stage.yield %[[FORCED]]
// CHECK-NEXT:      }
// CHECK-NEXT:      winnow.stage.store_score %[[VALUE]], %[[TASK]] at %[[PAGE]] into %score

// CHECK-LABEL: winnow.kernel @prefill_select(
// CHECK-NEXT:  shape Select {
// CHECK-NOT:   kQueryLen
// CHECK:       grid #[[$SELECT_GRID]] waves 1
// CHECK-NEXT:    winnow.stage.select_ragged_row %seq_lens, %cu_seqlens

// CHECK-LABEL: func.func @prefill(
// CHECK-NEXT:    %[[REQUESTS:.+]] = winnow.requests %{{.+}} : memref<?xi32>
// CHECK-NEXT:    %[[ROWS:.+]] = winnow.extent %{{.+}} axis 0 : memref<?x4x128xbf16>
// CHECK-NEXT:    %[[SCORE:.+]] = winnow.workspace[%[[REQUESTS]], %[[ROWS]]] #[[$EXTENTS]]
// CHECK-NEXT:    winnow.launch @prefill_score[%[[REQUESTS]], %[[ROWS]]]
// CHECK-NEXT:    winnow.launch @prefill_select[%[[REQUESTS]], %[[ROWS]]]
func.func @prefill(%q: memref<?x4x128xbf16>, %keys: memref<?x128x128xbf16>,
                   %table: memref<?x?xi32>, %lens: memref<?xi32>, %cu_seqlens: memref<?xi32>,
                   %idx: memref<4x?x16xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 128000, max_requests = 8, max_query_len = 4096, max_rows = 8192}} {
  %rows = winnow.ragged_rows %lens, %cu_seqlens {winnow.lowering = "mfma"} : memref<?xi32>, memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {local_blocks = 1, winnow.lowering = "mfma"}
      : memref<?x4x128xbf16>, memref<?x128x128xbf16>, memref<?x?xi32>, !winnow.rows<ragged>
  %selection = winnow.topk %scores {k = 16, winnow.lowering = "mfma"}
      : !winnow.scores<ragged, heads = 4, block_size = 128>
  winnow.store_selection %selection, %idx {winnow.lowering = "mfma"}
      : !winnow.selection<ragged, heads = 4, block_size = 128, k = 16>, memref<4x?x16xi32>
  return
}

// Prompts of at most 100 tokens and one head fill two query tiles a wave; a
// short context is one chunk.
// CHECK-LABEL: winnow.kernel @short_score(
// CHECK-NEXT:  kChunkBlocks = 10,
// CHECK-SAME:  kQueryTiles = 2,
// CHECK-NEXT:  grid #[[$SHORT_GRID]] waves 4
func.func @short(%q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
                 %table: memref<?x?xi32>, %lens: memref<?xi32>, %cu_seqlens: memref<?xi32>,
                 %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1280, max_requests = 8, max_query_len = 100, max_rows = 800}} {
  %rows = winnow.ragged_rows %lens, %cu_seqlens {winnow.lowering = "mfma"} : memref<?xi32>, memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {winnow.lowering = "mfma"}
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<ragged>
  %selection = winnow.topk %scores {k = 16, winnow.lowering = "mfma"}
      : !winnow.scores<ragged, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx {winnow.lowering = "mfma"}
      : !winnow.selection<ragged, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>
  return
}
