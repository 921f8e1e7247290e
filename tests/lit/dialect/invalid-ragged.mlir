// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ragged rows that do not fit together, or lack bounds.
// RUN: winnow-opt %s -verify-diagnostics -split-input-file

func.func @f(%lens: memref<4xi32>, %cu: memref<4xi32>) {
  // expected-error@below {{'winnow.ragged_rows' op axis 0 of cu_seqlens has to be one more than that of lens (requests), found 4 in 'memref<4xi32>' and 4 in 'memref<4xi32>'}}
  %rows = winnow.ragged_rows %lens, %cu : memref<4xi32>, memref<4xi32>
  return
}

// -----

func.func @f(%lens: memref<?xi32>, %cu: memref<?xi64>) {
  // expected-error@below {{'winnow.ragged_rows' op operand #1 must be row offsets, a memref [requests + 1] of i32}}
  %rows = winnow.ragged_rows %lens, %cu : memref<?xi32>, memref<?xi64>
  return
}

// -----

func.func @f(%lens: memref<?xi32>, %cu: memref<?xi32>) {
  // expected-error@below {{unknown option 'query_len' of 'winnow.ragged_rows'; known: none}}
  %rows = winnow.ragged_rows %lens, %cu {query_len = 4} : memref<?xi32>, memref<?xi32>
  return
}

// -----

// expected-error@below {{option 'query_len' of '!winnow.scores' is given twice}}
func.func private @f(!winnow.scores<ragged, query_len = 1, heads = 1, block_size = 64>)

// -----

// expected-error@below {{unknown option 'rugged' of '!winnow.rows'; known: query_len or ragged}}
func.func private @f(!winnow.rows<rugged>)

// -----

// Rows of a ragged batch are counted by the query.
// expected-note@below {{the rows are counted here}}
func.func @f(%q: memref<100x2x64xbf16>, %k: memref<?x64x64xbf16>, %t: memref<?x?xi32>, %lens: memref<?xi32>,
             %cu: memref<?xi32>, %m: memref<2x101x8xi32>) {
  %rows = winnow.ragged_rows %lens, %cu : memref<?xi32>, memref<?xi32>
  %s = winnow.block_score %q, %k[%t] on %rows
      : memref<100x2x64xbf16>, memref<?x64x64xbf16>, memref<?x?xi32>, !winnow.rows<ragged>
  %sel = winnow.topk %s {k = 8} : !winnow.scores<ragged, heads = 2, block_size = 64>
  // expected-error@below {{'winnow.store_selection' op axis 1 of indices has to be 100 (100 rows), found 101 in 'memref<2x101x8xi32>'}}
  winnow.store_selection %sel, %m : !winnow.selection<ragged, heads = 2, block_size = 64, k = 8>, memref<2x101x8xi32>
  return
}

// -----

// expected-note@below {{the rows are counted here}}
func.func @f(%q: memref<100x2x64xbf16>, %k: memref<?x64x64xbf16>, %t: memref<?x?xi32>, %lens: memref<?xi32>,
             %cu: memref<?xi32>, %p: memref<?x64xi32>, %c: memref<100xi32>) {
  %rows = winnow.ragged_rows %lens, %cu : memref<?xi32>, memref<?xi32>
  %s = winnow.block_score %q, %k[%t] on %rows
      : memref<100x2x64xbf16>, memref<?x64x64xbf16>, memref<?x?xi32>, !winnow.rows<ragged>
  %sel = winnow.topk %s {k = 8} : !winnow.scores<ragged, heads = 2, block_size = 64>
  // expected-error@below {{'winnow.remap_pages' op axis 0 of context_lens has to be 400 (100 rows of kv_heads), found 100 in 'memref<100xi32>'}}
  winnow.remap_pages %sel via %t into %p, %c {pages_per_block = 4, kv_heads = 4}
      : !winnow.selection<ragged, heads = 2, block_size = 64, k = 8>, memref<?x?xi32>, memref<?x64xi32>, memref<100xi32>
  return
}

// -----

func.func @f(%q: memref<?x2x64xbf16>, %k: memref<?x64x64xbf16>, %t: memref<3x?xi32>, %lens: memref<4xi32>,
             %cu: memref<5xi32>) {
  // expected-note@below {{the requests are counted here}}
  %rows = winnow.ragged_rows %lens, %cu : memref<4xi32>, memref<5xi32>
  // expected-error@below {{'winnow.block_score' op axis 0 of index_table has to be at least the number of requests, 4, found 3 in 'memref<3x?xi32>'}}
  %s = winnow.block_score %q, %k[%t] on %rows
      : memref<?x2x64xbf16>, memref<?x64x64xbf16>, memref<3x?xi32>, !winnow.rows<ragged>
  return
}

// -----

// expected-note@below {{the bounds are given here}}
func.func @f(%q: memref<?x2x64xbf16>, %k: memref<?x64x64xbf16>, %t: memref<?x?xi32>, %lens: memref<?xi32>,
             %cu: memref<?xi32>, %m: memref<2x?x8xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4, max_rows = 64}} {
  // expected-error@below {{'winnow.ragged_rows' op needs 'max_query_len' in 'winnow.bounds'}}
  %rows = winnow.ragged_rows %lens, %cu : memref<?xi32>, memref<?xi32>
  %s = winnow.block_score %q, %k[%t] on %rows
      : memref<?x2x64xbf16>, memref<?x64x64xbf16>, memref<?x?xi32>, !winnow.rows<ragged>
  %sel = winnow.topk %s {k = 8} : !winnow.scores<ragged, heads = 2, block_size = 64>
  winnow.store_selection %sel, %m : !winnow.selection<ragged, heads = 2, block_size = 64, k = 8>, memref<2x?x8xi32>
  return
}

// -----

// expected-note@below {{the bounds are given here}}
func.func @f(%q: memref<?x2x64xbf16>, %k: memref<?x64x64xbf16>, %t: memref<?x?xi32>, %lens: memref<?xi32>,
             %cu: memref<?xi32>, %m: memref<2x?x8xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4, max_query_len = 64}} {
  // expected-error@below {{'winnow.ragged_rows' op needs 'max_rows' in 'winnow.bounds'}}
  %rows = winnow.ragged_rows %lens, %cu : memref<?xi32>, memref<?xi32>
  %s = winnow.block_score %q, %k[%t] on %rows
      : memref<?x2x64xbf16>, memref<?x64x64xbf16>, memref<?x?xi32>, !winnow.rows<ragged>
  %sel = winnow.topk %s {k = 8} : !winnow.scores<ragged, heads = 2, block_size = 64>
  winnow.store_selection %sel, %m : !winnow.selection<ragged, heads = 2, block_size = 64, k = 8>, memref<2x?x8xi32>
  return
}

// -----

// expected-note@below {{max_rows is given here}}
func.func @f(%q: memref<65x2x64xbf16>, %k: memref<?x64x64xbf16>, %t: memref<?x?xi32>, %lens: memref<?xi32>,
             %cu: memref<?xi32>, %m: memref<2x?x8xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4, max_query_len = 64, max_rows = 64}} {
  %rows = winnow.ragged_rows %lens, %cu : memref<?xi32>, memref<?xi32>
  // expected-error@below {{'winnow.block_score' op axis 0 of query (rows) has to be at most max_rows, 64, found 65 in 'memref<65x2x64xbf16>'}}
  %s = winnow.block_score %q, %k[%t] on %rows
      : memref<65x2x64xbf16>, memref<?x64x64xbf16>, memref<?x?xi32>, !winnow.rows<ragged>
  %sel = winnow.topk %s {k = 8} : !winnow.scores<ragged, heads = 2, block_size = 64>
  winnow.store_selection %sel, %m : !winnow.selection<ragged, heads = 2, block_size = 64, k = 8>, memref<2x?x8xi32>
  return
}

// -----

// expected-note@below {{max_requests is given here}}
func.func @f(%q: memref<?x2x64xbf16>, %k: memref<?x64x64xbf16>, %t: memref<?x?xi32>, %lens: memref<5xi32>,
             %cu: memref<?xi32>, %m: memref<2x?x8xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4, max_query_len = 64, max_rows = 64}} {
  // expected-error@below {{'winnow.ragged_rows' op axis 0 of lens (requests) has to be at most max_requests, 4, found 5 in 'memref<5xi32>'}}
  %rows = winnow.ragged_rows %lens, %cu : memref<5xi32>, memref<?xi32>
  %s = winnow.block_score %q, %k[%t] on %rows
      : memref<?x2x64xbf16>, memref<?x64x64xbf16>, memref<?x?xi32>, !winnow.rows<ragged>
  %sel = winnow.topk %s {k = 8} : !winnow.scores<ragged, heads = 2, block_size = 64>
  winnow.store_selection %sel, %m : !winnow.selection<ragged, heads = 2, block_size = 64, k = 8>, memref<2x?x8xi32>
  return
}
