// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What winnow-schedule makes of a description whose lowerings are chosen: four
// index heads, two query tokens, blocks of 256 tokens, token-major ids.
// RUN: winnow-opt %s -winnow-schedule | FileCheck %s

// 1000 blocks of few requests: 256 chunks of 4 waves take one each; 16 scores a
// lane fit one wave.
// CHECK-DAG: #[[$SCORE_GRID:.+]] = affine_map<()[s0] -> (256, s0, 1)>
// CHECK-DAG: #[[$SELECT_GRID:.+]] = affine_map<()[s0] -> (s0 * 2, 4, 1)>
// CHECK-DAG: #[[$EXTENTS:.+]] = affine_map<()[s0] -> (4, s0 * 2, 1024)>

// CHECK-LABEL: winnow.kernel @speculate_score(
// CHECK-NEXT:  shape Score {kBlockSize = 256, kChunks = 256, kHeadDim = 128, kHeads = 4, kInitBlocks = 1, kLocalBlocks = 2, kMaxBlocks = 1000, kNonTemporal = true, kPages = 1, kQueryLen = 2, kScoreStride = 1024, kShardRank = 0, kShardWorld = 1, kSliceTiles = 8, kSplit = 1, kTilesAhead = 8, kWaves = 4}
// CHECK-NEXT:  grid #[[$SCORE_GRID]] waves 4 attributes {winnow.arch = "gfx950", winnow.lowering = "mfma", winnow.schedule = {chunks = 256 : i64, key_tiles = 16 : i64, non_temporal = 1 : i64, pages_in_flight = 1 : i64, prefetch = 8 : i64, waves = 4 : i64}} {
// CHECK-NEXT:    %[[TASK:.+]] = winnow.stage.score_task
// CHECK-NEXT:    %[[QUERY:.+]] = winnow.stage.load_query %{{.+}} for %[[TASK]]
// CHECK-NEXT:    winnow.stage.walk_pages %[[PAGE:.+]] of %[[TASK]]
// CHECK-NEXT:      %[[VALUE:.+]] = winnow.stage.if_mapped %[[PAGE]] {
// 256 tokens are two slices.
// CHECK-NEXT:        winnow.stage.walk_slices %[[SLICE:.+]] of %[[PAGE]] carry %[[RUNNING:.+]] slices 2 {
// CHECK-NEXT:          %[[TILES:.+]] = winnow.stage.load_key_tiles %{{.+}} at %[[SLICE]]
// CHECK-NEXT:          %[[PRODUCTS:.+]] = winnow.stage.multiply_accumulate %[[TILES]], %[[QUERY]]
// CHECK-NEXT:          %[[MASKED:.+]] = winnow.stage.mask %[[PRODUCTS]], %[[TASK]] at %[[SLICE]]
// CHECK-NEXT:          %[[FOLDED:.+]] = winnow.stage.fold %[[MASKED]] into %[[RUNNING]]
// CHECK-NEXT:          winnow.stage.yield %[[FOLDED]]
// CHECK:             winnow.stage.reduce
// CHECK-NEXT:        winnow.stage.force
// CHECK:           winnow.stage.store_score %[[VALUE]], %[[TASK]] at %[[PAGE]]

// CHECK-LABEL: winnow.kernel @speculate_select(
// CHECK-NEXT:  shape Select {kBlockSize = 256, kHeads = 4, kIdPad = -1, kKvHeads = 8, kMaxBlocks = 1000, kOrderAscending = true, kPagePad = -1, kPagesPerBlock = 2, kQueryLen = 2, kScoreStride = 1024, kShardRank = 0, kShardWorld = 1, kSlots = 16, kTieHighest = false, kTopK = 5, kWaves = 1}
// CHECK-NEXT:  grid #[[$SELECT_GRID]] waves 1
// CHECK:         winnow.stage.narrow
// CHECK:         winnow.stage.rank
// CHECK:         winnow.stage.store_selection {{.*}} {head_axis = 1 : i64, row_axis = 0 : i64}
// CHECK:         winnow.stage.emit_pages

// CHECK-LABEL: func.func @speculate(
// CHECK-NEXT:    %[[REQUESTS:.+]] = winnow.requests %{{.+}} : memref<?xi32>
// CHECK-NEXT:    %[[SCORE:.+]] = winnow.workspace[%[[REQUESTS]]] #[[$EXTENTS]] : memref<4x?x1024xf32>
// CHECK-NEXT:    winnow.launch @speculate_score[%[[REQUESTS]]] ({{.*}}, %[[SCORE]])
// CHECK-NEXT:    winnow.launch @speculate_select[%[[REQUESTS]]] (%[[SCORE]],
// CHECK-NEXT:    return
func.func @speculate(%q: memref<?x4x128xf8E4M3FN>, %keys: memref<?x256x128xf8E4M3FN>,
                     %index_table: memref<?x?xi32>, %attn_table: memref<?x?xi32>,
                     %lens: memref<?xi32>, %idx: memref<?x4x5xi32>,
                     %pages: memref<?x?xi32>, %ctx: memref<?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 256000, max_requests = 8}} {
  %rows = winnow.uniform_rows %lens {query_len = 2, winnow.lowering = "mfma"} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%index_table] on %rows
      {init_blocks = 1, local_blocks = 2, winnow.lowering = "mfma"}
      : memref<?x4x128xf8E4M3FN>, memref<?x256x128xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<query_len = 2>
  %selection = winnow.topk %scores {k = 5, ties = lowest_block, order = ascending, winnow.lowering = "mfma"}
      : !winnow.scores<query_len = 2, heads = 4, block_size = 256>
  winnow.store_selection %selection, %idx {layout = token_major, winnow.lowering = "mfma"}
      : !winnow.selection<query_len = 2, heads = 4, block_size = 256, k = 5>, memref<?x4x5xi32>
  winnow.remap_pages %selection via %attn_table into %pages, %ctx
      {pages_per_block = 2, kv_heads = 8, pad = -1, winnow.lowering = "mfma"}
      : !winnow.selection<query_len = 2, heads = 4, block_size = 256, k = 5>,
        memref<?x?xi32>, memref<?x?xi32>, memref<?xi32>
  return
}

// An entry that only emits the page table has no selection to store; the plan
// of a long sequence spreads a row over more waves.
// CHECK-LABEL: winnow.kernel @table_only_select(
// CHECK-SAME:  %score: memref<1x?x8192xf32>, %seq_lens: memref<?xi32>, %attn_table: memref<?x?xi32>, %pages: memref<?x?xi32>, %ctx: memref<?xi32>)
// CHECK-NEXT:  kMaxBlocks = 8192
// CHECK-SAME:  kSlots = 16
// CHECK-SAME:  kWaves = 8}
// CHECK-NOT:     winnow.stage.store_selection
func.func @table_only(%q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
                      %table: memref<?x?xi32>, %lens: memref<?xi32>,
                      %pages: memref<?x?xi32>, %ctx: memref<?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1048576, max_requests = 8},
                winnow.schedule = {launches = 2}} {
  %rows = winnow.uniform_rows %lens {query_len = 1, winnow.lowering = "mfma"} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {winnow.lowering = "mfma"}
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16, winnow.lowering = "mfma"}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.remap_pages %selection via %table into %pages, %ctx
      {pages_per_block = 8, kv_heads = 1, winnow.lowering = "mfma"}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<?x?xi32>, memref<?x?xi32>, memref<?xi32>
  return
}
