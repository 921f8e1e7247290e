// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ragged rows: the columns of AITER's prefill kernels are index heads alone, so
// sixteen heads meet its contract whatever the new tokens.
// RUN: winnow-opt %s -winnow-verify-contract=arch=gfx950 | FileCheck %s

// CHECK-LABEL: func.func @prefill
// CHECK: winnow.ragged_rows
func.func @prefill(%q: memref<?x16x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>, %table: memref<?x?xi32>,
                   %lens: memref<?xi32>, %cu: memref<?xi32>, %idx: memref<16x?x16xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa", winnow.attention = {kv_heads = 1, page_size = 16},
                winnow.bounds = {max_seq_len = 1048576, max_requests = 64, max_query_len = 4096, max_rows = 8192}} {
  %rows = winnow.ragged_rows %lens, %cu : memref<?xi32>, memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x16x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<ragged>
  %selection = winnow.topk %scores {k = 16} : !winnow.scores<ragged, heads = 16, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<ragged, heads = 16, block_size = 128, k = 16>, memref<16x?x16xi32>
  return
}
