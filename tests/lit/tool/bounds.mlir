// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds below the usual random inputs: those shrink to fit, and inputs from a
// file are held against the bounds themselves, never against the usual ones.
// RUN: winnow run %s --device host --check --dump %t | FileCheck %s
// RUN: winnow run %s --device host --check --input %t/inputs.safetensors | FileCheck %s --check-prefix=FILE
// CHECK: inputs{{ +}}1 request of 100 tokens
// CHECK: check{{ +}}matches the reference
// FILE: check{{ +}}matches the reference

func.func @small(%q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x32x128xf8E4M3FN>,
                 %table: memref<?x?xi32>, %lens: memref<?xi32>, %idx: memref<1x?x4xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 100, max_requests = 1}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x128xf8E4M3FN>, memref<?x32x128xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 4} : !winnow.scores<query_len = 1, heads = 1, block_size = 32>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 32, k = 4>, memref<1x?x4xi32>
  return
}
