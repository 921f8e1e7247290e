// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedules that are in range, and that the kernels of these descriptions
// cannot have; nothing is rewritten then.
// RUN: winnow-opt %s -winnow-select-lowering -winnow-schedule -verify-diagnostics -split-input-file
// RUN: not winnow-opt %s -winnow-select-lowering '-winnow-schedule=schedule=waves' 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not winnow-opt %s -winnow-select-lowering '-winnow-schedule=schedule=score.waves=x' 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not winnow-opt %s -winnow-select-lowering '-winnow-schedule=schedule=merge.waves=2' 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: not winnow-opt %s -winnow-select-lowering '-winnow-schedule=schedule=launches=0' 2>&1 | FileCheck %s --check-prefix=LAUNCHES
// RUN: not winnow-opt %s -winnow-select-lowering '-winnow-schedule=schedule=score.waves=2,score.waves=4' 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: schedule 'score.waves=2,score.waves=4': 'score.waves=4' fixes what an earlier part does
// RUN: not winnow-opt %s -winnow-select-lowering '-winnow-schedule=schedule=score.waves=2;select.waves=2;score.waves=4' 2>&1 | FileCheck %s --check-prefix=PARTS
// PARTS: error: schedule 'score.waves=2;select.waves=2;score.waves=4': 'score.waves=4' fixes what an earlier part does
// TEXT: error: schedule 'waves': 'waves' has no value, wanted name=value with a name of: waves, chunks,
// VALUE: error: schedule 'score.waves=x': 'score.waves=x' has to be an integer from 1 to 16 (waves a workgroup)
// KERNEL: error: schedule 'merge.waves=2': 'merge.waves=2' names no kernel that has a schedule; known: score, select
// LAUNCHES: error: schedule 'launches=0': 'launches=0' has to be 1 or 2

// expected-error@below {{cannot have its schedule of 'select': waves = 2 and slots = 7 hold 896 scores, needed at least 1024 (the longest row)}}
func.func @too_narrow(%q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
                      %table: memref<?x?xi32>, %lens: memref<?xi32>, %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 131072, max_requests = 8},
                winnow.schedule = {select = {waves = 2, slots = 7}}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>
  return
}

// -----

// The slots of the model are not at fault.
// expected-error@below {{cannot have its schedule of 'select': waves = 1 and slots = 32 hold 2048 scores, needed at least 4096 (the longest row)}}
func.func @too_few(%q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
                      %table: memref<?x?xi32>, %lens: memref<?xi32>, %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 524288, max_requests = 8},
                winnow.schedule = {select = {waves = 1}}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>
  return
}

// -----

// expected-error@below {{fixes 'chunk_blocks' in 'winnow.schedule', which none of its kernels has (lowering 'mfma'); they have score: waves, chunks, key_tiles, prefetch, pages_in_flight, non_temporal; select: waves, slots}}
func.func @not_ragged(%q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
                      %table: memref<?x?xi32>, %lens: memref<?xi32>, %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 131072, max_requests = 8},
                winnow.schedule = {chunk_blocks = 8}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>
  return
}

// -----

// The generic kernels have workgroups of one size.
// expected-error@below {{fixes 'waves' in 'winnow.schedule', which none of its kernels has (lowering 'generic'); they have score: chunks, query_group; select: none}}
func.func @generic(%q: memref<?x1x96xf8E4M3FN>, %keys: memref<?x128x96xf8E4M3FN>,
                   %table: memref<?x?xi32>, %lens: memref<?xi32>, %idx: memref<1x?x100xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 131072, max_requests = 8},
                winnow.schedule = {score = {waves = 8}}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x96xf8E4M3FN>, memref<?x128x96xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 100} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 100>, memref<1x?x100xi32>
  return
}

// -----

// expected-error@below {{cannot have its schedule of 'score': query_group = 8 takes 16384 floats of local memory, needed at most 8192}}
func.func @wide(%q: memref<?x16x2048xbf16>, %keys: memref<?x128x2048xbf16>,
                %table: memref<?x?xi32>, %lens: memref<?xi32>, %idx: memref<16x?x16xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 131072, max_requests = 8},
                winnow.schedule = {query_group = 8}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x16x2048xbf16>, memref<?x128x2048xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 16, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 16, block_size = 128, k = 16>, memref<16x?x16xi32>
  return
}

// -----

// expected-error@below {{cannot have its schedule of 'score': waves = 3 load 192 pieces of keys at once, needed a divisor of 1024 (each lane carries as many)}}
func.func @uneven(%q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
                  %table: memref<?x?xi32>, %lens: memref<?xi32>, %cu: memref<?xi32>, %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 131072, max_requests = 8, max_query_len = 512, max_rows = 512},
                winnow.schedule = {score = {waves = 3}}} {
  %rows = winnow.ragged_rows %lens, %cu : memref<?xi32>, memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<ragged>
  %selection = winnow.topk %scores {k = 16} : !winnow.scores<ragged, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<ragged, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>
  return
}

// -----

// expected-error@below {{cannot have its schedule of 'score': query_tiles = 3, needed 1, 2 or 4 (the lanes of a wave share its tiles evenly)}}
func.func @three_tiles(%q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
                       %table: memref<?x?xi32>, %lens: memref<?xi32>, %cu: memref<?xi32>, %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 131072, max_requests = 8, max_query_len = 512, max_rows = 512},
                winnow.schedule = {query_tiles = 3}} {
  %rows = winnow.ragged_rows %lens, %cu : memref<?xi32>, memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<ragged>
  %selection = winnow.topk %scores {k = 16} : !winnow.scores<ragged, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<ragged, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>
  return
}
