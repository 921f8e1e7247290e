// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What winnow-fuse makes of two kernels that are to be one launch: before it,
// after it, and as HIP.
// RUN: winnow-opt %s -winnow-select-lowering -winnow-schedule | FileCheck %s --check-prefix=BEFORE
// RUN: winnow-opt %s -winnow-select-lowering -winnow-schedule -winnow-fuse | FileCheck %s
// RUN: winnow-opt %s -winnow-select-lowering=prefer=generic -winnow-schedule -winnow-fuse | FileCheck %s --check-prefix=GENERIC
// RUN: winnow-translate --winnow-to-hip %s > %t.hip
// RUN: FileCheck %s --check-prefix=HIP < %t.hip
// RUN: clang -x hip --offload-arch=gfx950 --offload-device-only --no-gpu-bundle-output -nogpuinc -nogpulib -std=c++17 -fsyntax-only -Wall -Wextra -Wno-unused-const-variable -Werror %t.hip

// The selection has the waves of the scoring, and as many slots as they need.
// BEFORE-LABEL: winnow.kernel @speculate_score(
// BEFORE:         grid {{.+}} waves 4
// BEFORE-LABEL: winnow.kernel @speculate_select(
// BEFORE:         kSlots = 4
// BEFORE:         grid {{.+}} waves 4
// BEFORE-LABEL: func.func @speculate(
// BEFORE:         winnow.launch @speculate_score[%{{.+}}] ({{.*}}) :
// BEFORE-NEXT:    winnow.launch @speculate_select[%{{.+}}] ({{.*}}) {winnow.join} :

// CHECK-DAG: #[[$GRID:.+]] = affine_map<()[s0] -> (256, s0, 1)>
// CHECK-DAG: #[[$SCORES:.+]] = affine_map<()[s0] -> (4, s0 * 2, 1024)>
// CHECK-DAG: #[[$COUNTERS:.+]] = affine_map<()[s0] -> (s0, 2)>
// CHECK-NOT: winnow.kernel @speculate_score(
// CHECK-LABEL: winnow.kernel @speculate_score_select(
// CHECK-SAME:  %query: memref<?x4x128xf8E4M3FN>, %keys: memref<?x256x128xf8E4M3FN>, %index_table: memref<?x?xi32>, %[[LENS:.+]]: memref<?xi32>, %[[ARRIVALS:.+]]: memref<?x2xi32>, %[[SCORE:.+]]: memref<4x?x1024xf32>, %[[SELECTION:.+]]: memref<?x4x5xi32>, %attn_table: memref<?x?xi32>, %pages: memref<?x?xi32>, %ctx: memref<?xi32>)
// CHECK-NEXT:  shape Decode {kArrivals = 256, kBlockSize = 256, kChunks = 256, kHeadDim = 128, kHeads = 4, kIdPad = -1, kInitBlocks = 1, kKvHeads = 8, kLocalBlocks = 2, kMaxBlocks = 1000, kNonTemporal = true, kOrderAscending = true, kPagePad = -1, kPages = 1, kPagesPerBlock = 2, kQueryLen = 2, kScoreStride = 1024, kShardRank = 0, kShardWorld = 1, kSliceTiles = 8, kSlots = 4, kSplit = 1, kTieHighest = false, kTilesAhead = 8, kTopK = 5, kWaves = 4}
// CHECK-NEXT:  grid #[[$GRID]] waves 4 attributes {winnow.arch = "gfx950", winnow.lowering = "mfma", winnow.schedule = {chunks = 256 : i64, key_tiles = 16 : i64, non_temporal = 1 : i64, pages_in_flight = 1 : i64, prefetch = 8 : i64, slots = 4 : i64, waves = 4 : i64}} {
// CHECK-NEXT:    %[[TASK:.+]] = winnow.stage.score_task %[[LENS]]
// CHECK:         winnow.stage.walk_pages
// CHECK:           winnow.stage.store_score
// CHECK:         winnow.stage.count_arrivals %[[ARRIVALS]] for %[[TASK]] : memref<?x2xi32>, !winnow.score_task
// CHECK-NEXT:    winnow.stage.walk_rows %[[ROW:.+]] of %[[TASK]] via %[[LENS]] : !winnow.row_task, !winnow.score_task, memref<?xi32> {
// CHECK-NEXT:      %[[KEYS:.+]] = winnow.stage.load_score_row %[[SCORE]] for %[[ROW]]
// CHECK-NEXT:      %[[NARROW:.+]] = winnow.stage.narrow %[[KEYS]] for %[[ROW]]
// CHECK-NEXT:      %[[RANKING:.+]] = winnow.stage.rank %[[NARROW]] for %[[ROW]]
// CHECK-NEXT:      winnow.stage.store_selection %[[RANKING]] for %[[ROW]] into %[[SELECTION]]
// CHECK-NEXT:      winnow.stage.emit_pages %[[RANKING]] for %[[ROW]]
// CHECK-NOT:  winnow.kernel
// CHECK-LABEL: func.func @speculate(
// CHECK:         %[[REQUESTS:.+]] = winnow.requests
// CHECK-DAG:     %[[SPACE:.+]] = winnow.workspace[%[[REQUESTS]]] #[[$SCORES]] : memref<4x?x1024xf32>
// CHECK-DAG:     %[[COUNTERS:.+]] = winnow.workspace[%[[REQUESTS]]] #[[$COUNTERS]] : memref<?x2xi32>
// CHECK:         winnow.launch @speculate_score_select[%[[REQUESTS]]] ({{.*}}, %[[COUNTERS]], %[[SPACE]], {{.*}})
// CHECK-NOT:     winnow.launch
// CHECK:         return

// Eight queries are one group of a workgroup here; two groups would be twice as
// many arrivals.
// GENERIC-LABEL: winnow.kernel @speculate_score_select(
// GENERIC:         shape Decode {kArrivals = 63,
// GENERIC-SAME:    kChunks = 63,
// GENERIC-SAME:    kThreads = 256,
// GENERIC:         %[[TASK:.+]] = winnow.stage.generic_score_task
// GENERIC:         winnow.stage.generic_score_blocks
// GENERIC-NEXT:    winnow.stage.count_arrivals %{{.+}} for %[[TASK]] : memref<?x2xi32>, !winnow.generic_task
// GENERIC-NEXT:    winnow.stage.walk_rows %[[ROW:.+]] of %[[TASK]] via %{{.+}} : !winnow.generic_row, !winnow.generic_task, memref<?xi32> {
// GENERIC-NEXT:      winnow.stage.generic_find_cut

// HIP: struct Decode {
// HIP-NEXT: static constexpr int kArrivals = 256;
// HIP: using Score = Decode;
// HIP-NEXT: using Select = Decode;
// HIP: static_assert((Score::kBlockSize
// HIP: speculate_score_select(
// HIP:     i32 *arrivals,
// HIP-NEXT: float *score,
// HIP:   // count_arrivals:
// HIP-NEXT: WINNOW_SHARED ArrivalStorage arrival;
// HIP-NEXT: if (!is_last_arrival<Decode>(arrivals, task.request, arrival))
// HIP-NEXT:   return;
// HIP-NEXT: // walk_rows:
// HIP-NEXT: for (RowWalk<Decode> rows(task.request); rows.more(); rows.next()) {
// HIP-NEXT:   const SelectRow row =
// HIP-NEXT:       select_row<Decode>(task.length, rows.row, rows.head);
// HIP-NEXT:   if (!takes_part<Decode, ScoreKeys<Decode>>(row))
// HIP-NEXT:     continue;
// HIP:          narrow<Decode>(
// HIP-NEXT:   if (listed < 0)
// HIP-NEXT:     continue;
func.func @speculate(%q: memref<?x4x128xf8E4M3FN>, %keys: memref<?x256x128xf8E4M3FN>,
                     %index_table: memref<?x?xi32>, %attn_table: memref<?x?xi32>,
                     %lens: memref<?xi32>, %idx: memref<?x4x5xi32>,
                     %pages: memref<?x?xi32>, %ctx: memref<?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 256000, max_requests = 8},
                winnow.schedule = {launches = 1}} {
  %rows = winnow.uniform_rows %lens {query_len = 2} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%index_table] on %rows
      {init_blocks = 1, local_blocks = 2}
      : memref<?x4x128xf8E4M3FN>, memref<?x256x128xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<query_len = 2>
  %selection = winnow.topk %scores {k = 5, ties = lowest_block, order = ascending}
      : !winnow.scores<query_len = 2, heads = 4, block_size = 256>
  winnow.store_selection %selection, %idx {layout = token_major}
      : !winnow.selection<query_len = 2, heads = 4, block_size = 256, k = 5>, memref<?x4x5xi32>
  winnow.remap_pages %selection via %attn_table into %pages, %ctx
      {pages_per_block = 2, kv_heads = 8, pad = -1}
      : !winnow.selection<query_len = 2, heads = 4, block_size = 256, k = 5>,
        memref<?x?xi32>, memref<?x?xi32>, memref<?xi32>
  return
}
