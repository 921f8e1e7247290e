// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: winnow-opt %s --winnow-select-lowering | FileCheck %s
// RUN: winnow-opt %examples/minimax_m3_decode.mlir --winnow-select-lowering | FileCheck %s --check-prefix=M3

// What meets the lowering's contract gets it, operation by operation, even where
// AITER's contract would refuse (the description names none).

// M3-LABEL: func.func @m3_decode
// M3-COUNT-5: winnow.lowering = "mfma"
// M3-NOT: winnow.lowering
// M3-NOT: winnow.refusals

// CHECK-LABEL: func.func @small_blocks
// CHECK: winnow.uniform_rows %{{.*}} {query_len = 4, winnow.lowering = "mfma"}
// CHECK: winnow.block_score {{.*}} {reduce = max, init_blocks = 0, local_blocks = 0, rank = 0, world = 1, winnow.lowering = "mfma"}
// CHECK: winnow.topk {{.*}} {k = 64, ties = highest_block, order = score_descending, winnow.lowering = "mfma"}
// CHECK: winnow.store_selection {{.*}} {layout = head_major, pad = -1, winnow.lowering = "mfma"}
// CHECK: winnow.remap_pages {{.*}} {pages_per_block = 2, kv_heads = 8, pad = 0, table_sides = 1, winnow.lowering = "mfma"}
func.func @small_blocks(
    %q: memref<?x4x128xf8E4M3FN>,
    %keys: memref<?x32x128xf8E4M3FN>,
    %table: memref<?x?xi32>,
    %attn: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<4x?x64xi32>,
    %pages: memref<?x128xi32>,
    %ctx: memref<?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 4} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = max}
      : memref<?x4x128xf8E4M3FN>, memref<?x32x128xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 4>
  %selection = winnow.topk %scores {k = 64}
      : !winnow.scores<query_len = 4, heads = 4, block_size = 32>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 4, heads = 4, block_size = 32, k = 64>,
        memref<4x?x64xi32>
  winnow.remap_pages %selection via %attn into %pages, %ctx
      {pages_per_block = 2, kv_heads = 8}
      : !winnow.selection<query_len = 4, heads = 4, block_size = 32, k = 64>,
        memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}

// CHECK-LABEL: func.func @not_an_entry
// CHECK-NOT: winnow.lowering
func.func @not_an_entry(%lens: memref<?xi32>) {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  return
}
