// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One argument for both tables is refused in words of the description.
// RUN: %python %S/Inputs/exits.py 1 winnow check %s 2>&1 | FileCheck %s
// CHECK: one-argument-two-roles.mlir:[[@LINE+3]]:1: error: argument 2 of the entry is 'index_table' and 'attn_table' at once; each needs an argument of its own
// CHECK-NOT: see current operation

func.func @twice(%q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
                 %table: memref<?x?xi32>, %lens: memref<?xi32>, %pages: memref<?x128xi32>, %ctx: memref<?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1024, max_requests = 8}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.remap_pages %selection via %table into %pages, %ctx {pages_per_block = 8, kv_heads = 1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}
