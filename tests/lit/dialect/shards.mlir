// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shards of the blocks, and what brings their selections together.
// RUN: winnow-opt %s | FileCheck %s
// RUN: winnow-opt %s | winnow-opt | FileCheck %s
// RUN: winnow-opt %s -mlir-print-op-generic | winnow-opt | FileCheck %s
// RUN: winnow-opt %s -emit-bytecode | winnow-opt | FileCheck %s

// CHECK-LABEL: func.func @rank
func.func @rank(%q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>, %table: memref<?x?xi32>,
                %lens: memref<?xi32>, %ids: memref<1x?x16xi32>, %best: memref<1x?x16xf32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1048576, max_requests = 256}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  // CHECK: winnow.block_score {{.*}} {reduce = max, init_blocks = 0, local_blocks = 1, rank = 3, world = 8}
  %scores = winnow.block_score %q, %keys[%table] on %rows {world = 8, local_blocks = 1, rank = 3}
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  // CHECK: %[[S:.*]] = winnow.topk
  %selection = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  // CHECK: winnow.store_candidates %[[S]], %{{.*}}, %{{.*}} : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>, memref<1x?x16xf32>
  winnow.store_candidates %selection, %ids, %best
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>, memref<1x?x16xf32>
  return
}

// CHECK-LABEL: func.func @merge
func.func @merge(%ids: memref<8x1x?x16xi32>, %best: memref<8x1x?x16xf32>, %lens: memref<?xi32>,
                 %table: memref<?x?xi32>, %pages: memref<?x128xi32>, %ctx: memref<?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1048576, max_requests = 256}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  // CHECK: %[[S:.*]] = winnow.merge_candidates %{{.*}}, %{{.*}} on %{{.*}} {block_size = 128, k = 16, ties = highest_block, order = score_descending} : memref<8x1x?x16xi32>, memref<8x1x?x16xf32>, !winnow.rows<query_len = 1>
  %0 = winnow.merge_candidates %ids, %best on %rows {k = 16, block_size = 128}
      : memref<8x1x?x16xi32>, memref<8x1x?x16xf32>, !winnow.rows<query_len = 1>
  // CHECK: winnow.remap_pages %[[S]]
  winnow.remap_pages %0 via %table into %pages, %ctx {pages_per_block = 8, kv_heads = 1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}
