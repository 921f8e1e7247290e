// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedules that a description or an option fixes: the kernels that come of
// them, and what the plan says of where each value is from.
// RUN: winnow-opt %s -winnow-select-lowering -winnow-schedule | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: winnow-opt %s -winnow-select-lowering '-winnow-schedule=schedule=chunks=5,select.waves=4' | FileCheck %s --check-prefixes=CHECK,OPTION
// RUN: winnow-opt %s -winnow-select-lowering '-winnow-schedule=ignore-own-schedule' | FileCheck %s --check-prefix=MODEL

// Eight waves are meant for both kernels, but for selection two are said; with
// them it takes 8 slots to hold 1024 scores. Chunks are left to the model, which
// knows of the waves: 4 on their own would get 256 chunks.
// CHECK: #[[TILES:.+]] = affine_map<()[s0, s1] -> (s1 floordiv 256 + s0, 16, 1)>
// CHECK: winnow.kernel @own_score(
// OWN:         kChunks = 128,
// OPTION:      kChunks = 5,
// CHECK-SAME:  kWaves = 8}
// OWN:         winnow.schedule = {chunks = 128 : i64, key_tiles = 8 : i64, non_temporal = 1 : i64, pages_in_flight = 1 : i64, prefetch = 8 : i64, waves = 8 : i64}, winnow.schedule_from = {waves = "description"}}
// OPTION:      winnow.schedule = {chunks = 5 : i64, key_tiles = 8 : i64, non_temporal = 1 : i64, pages_in_flight = 1 : i64, prefetch = 8 : i64, waves = 8 : i64}, winnow.schedule_from = {chunks = "option", waves = "description"}}
// CHECK: winnow.kernel @own_select(
// OWN:         kSlots = 8
// OWN-SAME:    kWaves = 2
// OWN:         waves 2 attributes {{.*}}winnow.schedule = {slots = 8 : i64, waves = 2 : i64}, winnow.schedule_from = {waves = "description"}}
// OPTION:      kSlots = 4
// OPTION:      winnow.schedule = {slots = 4 : i64, waves = 4 : i64}, winnow.schedule_from = {waves = "option"}}

// MODEL-LABEL: winnow.kernel @own_score(
// MODEL:       winnow.schedule = {chunks = 256 : i64, key_tiles = 8 : i64, non_temporal = 1 : i64, pages_in_flight = 1 : i64, prefetch = 8 : i64, waves = 4 : i64}} {
func.func @own(%q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
               %table: memref<?x?xi32>, %lens: memref<?xi32>, %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 131072, max_requests = 8},
                winnow.schedule = {waves = 8, select = {waves = 2}}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>
  return
}

// Tiles of ragged rows follow from the schedule: 8 waves x 2 x 16 queries.
// CHECK: winnow.kernel @ragged_score(
// CHECK:       kChunkBlocks = 64
// CHECK-SAME:  kQueryTiles = 2
// CHECK-SAME:  kWaves = 8}
// CHECK-NEXT:  grid #[[TILES]] waves 8
func.func @ragged(%q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
                  %table: memref<?x?xi32>, %lens: memref<?xi32>, %cu: memref<?xi32>, %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 131072, max_requests = 8, max_query_len = 512, max_rows = 512},
                winnow.schedule = {score = {waves = 8, chunk_blocks = 64, query_tiles = 2}}} {
  %rows = winnow.ragged_rows %lens, %cu : memref<?xi32>, memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<ragged>
  %selection = winnow.topk %scores {k = 16} : !winnow.scores<ragged, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<ragged, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>
  return
}
