// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What general rewrites may do with the operations: equal reads are merged,
// unused values vanish, writes stay and stay in order.
// RUN: winnow-opt %s -cse | FileCheck %s --check-prefix=CSE
// RUN: winnow-opt %s -canonicalize | FileCheck %s --check-prefix=CANON

// CSE-LABEL: func.func @merge
// CANON-LABEL: func.func @merge
func.func @merge(%q: memref<?x1x64xbf16>, %k: memref<?x32x64xbf16>, %t: memref<?x?xi32>,
                 %lens: memref<?xi32>, %a: memref<1x?x8xi32>, %b: memref<1x?x8xi32>) {
  // CSE-COUNT-1: winnow.uniform_rows
  // CSE-COUNT-1: winnow.block_score
  // CSE-COUNT-1: winnow.topk
  // CSE-NOT: winnow.topk
  // CSE-COUNT-2: winnow.store_selection
  // CANON-COUNT-2: winnow.topk
  %rows0 = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %rows1 = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %s0 = winnow.block_score %q, %k[%t] on %rows0
      : memref<?x1x64xbf16>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %s1 = winnow.block_score %q, %k[%t] on %rows1
      : memref<?x1x64xbf16>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %sel0 = winnow.topk %s0 {k = 8} : !winnow.scores<query_len = 1, heads = 1, block_size = 32>
  %sel1 = winnow.topk %s1 {k = 8} : !winnow.scores<query_len = 1, heads = 1, block_size = 32>
  winnow.store_selection %sel0, %a : !winnow.selection<query_len = 1, heads = 1, block_size = 32, k = 8>, memref<1x?x8xi32>
  winnow.store_selection %sel1, %b : !winnow.selection<query_len = 1, heads = 1, block_size = 32, k = 8>, memref<1x?x8xi32>
  return
}

// Different options are different values.
// CSE-LABEL: func.func @keep_apart
// CSE-COUNT-2: winnow.topk
// CANON-LABEL: func.func @keep_apart
func.func @keep_apart(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 32>,
                      %a: memref<1x?x8xi32>, %b: memref<1x?x8xi32>) {
  %sel0 = winnow.topk %s {k = 8} : !winnow.scores<query_len = 1, heads = 1, block_size = 32>
  %sel1 = winnow.topk %s {k = 8, ties = lowest_block} : !winnow.scores<query_len = 1, heads = 1, block_size = 32>
  winnow.store_selection %sel0, %a : !winnow.selection<query_len = 1, heads = 1, block_size = 32, k = 8>, memref<1x?x8xi32>
  winnow.store_selection %sel1, %b : !winnow.selection<query_len = 1, heads = 1, block_size = 32, k = 8>, memref<1x?x8xi32>
  return
}

// A read on either side of a write may see different memory.
// CSE-LABEL: func.func @write_between
// CSE: winnow.uniform_rows
// CSE: winnow.remap_pages
// CSE: winnow.uniform_rows
// CSE: winnow.remap_pages
// CANON-LABEL: func.func @write_between
func.func @write_between(%q: memref<?x1x64xbf16>, %k: memref<?x32x64xbf16>, %t: memref<?x?xi32>,
                         %lens: memref<?xi32>, %pages: memref<?x8xi32>) {
  %rows0 = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %s0 = winnow.block_score %q, %k[%t] on %rows0
      : memref<?x1x64xbf16>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %sel0 = winnow.topk %s0 {k = 8} : !winnow.scores<query_len = 1, heads = 1, block_size = 32>
  winnow.remap_pages %sel0 via %t into %pages, %lens {pages_per_block = 1, kv_heads = 1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 32, k = 8>, memref<?x?xi32>, memref<?x8xi32>, memref<?xi32>
  %rows1 = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %s1 = winnow.block_score %q, %k[%t] on %rows1
      : memref<?x1x64xbf16>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %sel1 = winnow.topk %s1 {k = 8} : !winnow.scores<query_len = 1, heads = 1, block_size = 32>
  winnow.remap_pages %sel1 via %t into %pages, %lens {pages_per_block = 1, kv_heads = 1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 32, k = 8>, memref<?x?xi32>, memref<?x8xi32>, memref<?xi32>
  return
}

// A chain that nothing writes away.
// CANON-LABEL: func.func @dead
// CANON-NEXT: return
func.func @dead(%q: memref<?x1x64xbf16>, %k: memref<?x32x64xbf16>, %t: memref<?x?xi32>, %lens: memref<?xi32>) {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %s = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %sel = winnow.topk %s {k = 8} : !winnow.scores<query_len = 1, heads = 1, block_size = 32>
  return
}
