// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shards and candidates that do not fit.
// RUN: winnow-opt %s -verify-diagnostics -split-input-file

func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x32x64xbf16>, %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op rank has to be below world, 4, found 4}}
  %0 = winnow.block_score %q, %k[%t] on %rows {rank = 4, world = 4}
      : memref<?x1x64xbf16>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%s: !winnow.scores<query_len = 1, heads = 2, block_size = 32>, %i: memref<2x?x8xi32>, %b: memref<2x?x7xf32>) {
  // expected-note@below {{the selection is made here}}
  %0 = winnow.topk %s {k = 8} : !winnow.scores<query_len = 1, heads = 2, block_size = 32>
  // expected-error@below {{'winnow.store_candidates' op axis 2 of scores (k) has to be that of the selection, 8, found 7 in 'memref<2x?x7xf32>'}}
  winnow.store_candidates %0, %i, %b : !winnow.selection<query_len = 1, heads = 2, block_size = 32, k = 8>, memref<2x?x8xi32>, memref<2x?x7xf32>
  return
}

// -----

func.func @f(%s: !winnow.scores<query_len = 1, heads = 2, block_size = 32>, %i: memref<?x?x8xi32>, %b: memref<2x?x8xf32>) {
  // expected-note@below {{the selection is made here}}
  %0 = winnow.topk %s {k = 8} : !winnow.scores<query_len = 1, heads = 2, block_size = 32>
  // expected-error@below {{'winnow.store_candidates' op axis 0 of ids (index heads) has to be that of the selection, 2, found ? in 'memref<?x?x8xi32>'}}
  winnow.store_candidates %0, %i, %b : !winnow.selection<query_len = 1, heads = 2, block_size = 32, k = 8>, memref<?x?x8xi32>, memref<2x?x8xf32>
  return
}

// -----

// expected-note@below {{the selection comes from here}}
func.func @f(%s: !winnow.selection<query_len = 1, heads = 2, block_size = 32, k = 8>, %i: memref<2x?x8xi32>, %b: memref<2x?x8xf32>) {
  // expected-error@below {{'winnow.store_candidates' op takes the selection of a winnow.topk, whose scores it hands on}}
  winnow.store_candidates %s, %i, %b : !winnow.selection<query_len = 1, heads = 2, block_size = 32, k = 8>, memref<2x?x8xi32>, memref<2x?x8xf32>
  return
}

// -----

func.func @f(%i: memref<4x2x?x8xi32>, %b: memref<4x2x?x9xf32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.merge_candidates' op axis 3 of scores has to be that of ids, 8 in 'memref<4x2x?x8xi32>', found 9 in 'memref<4x2x?x9xf32>'}}
  %0 = winnow.merge_candidates %i, %b on %rows {block_size = 32, k = 8} : memref<4x2x?x8xi32>, memref<4x2x?x9xf32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%i: memref<4x2x?x8xi32>, %b: memref<4x2x?x8xf32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.merge_candidates' op axis 3 of ids (candidates of a rank) has to be at least k, 9, found 8 in 'memref<4x2x?x8xi32>'}}
  %0 = winnow.merge_candidates %i, %b on %rows {block_size = 32, k = 9} : memref<4x2x?x8xi32>, memref<4x2x?x8xf32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%i: memref<4x?x?x8xi32>, %b: memref<4x?x?x8xf32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.merge_candidates' op axis 1 of ids (index heads) has to be an integer from 1 to 128, found ? in 'memref<4x?x?x8xi32>'}}
  %0 = winnow.merge_candidates %i, %b on %rows {block_size = 32, k = 8} : memref<4x?x?x8xi32>, memref<4x?x?x8xf32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%i: memref<4x?x8xi32>, %b: memref<4x1x?x8xf32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.merge_candidates' op ids have to be a memref [world, heads, rows, k], found 'memref<4x?x8xi32>'}}
  %0 = winnow.merge_candidates %i, %b on %rows {block_size = 32, k = 8} : memref<4x?x8xi32>, memref<4x1x?x8xf32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%i: memref<4x1x7x8xi32>, %b: memref<4x1x7x8xf32>, %lens: memref<3xi32>) {
  // expected-note@below {{the requests are counted here}}
  %rows = winnow.uniform_rows %lens {query_len = 2} : memref<3xi32>
  // expected-error@below {{'winnow.merge_candidates' op axis 2 of ids has to be 6 (3 requests of query_len rows), found 7 in 'memref<4x1x7x8xi32>'}}
  %0 = winnow.merge_candidates %i, %b on %rows {block_size = 32, k = 8} : memref<4x1x7x8xi32>, memref<4x1x7x8xf32>, !winnow.rows<query_len = 2>
  return
}

// -----

// What ranks exchange lies between the two.
func.func @both(%q: memref<?x1x64xbf16>, %k: memref<?x32x64xbf16>, %t: memref<?x?xi32>, %lens: memref<?xi32>,
                %i: memref<4x1x?x8xi32>, %b: memref<4x1x?x8xf32>, %idx: memref<1x?x8xi32>, %ids: memref<1x?x8xi32>, %best: memref<1x?x8xf32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  // expected-note@below {{the other operation is here}}
  %s = winnow.block_score %q, %k[%t] on %rows {rank = 1, world = 4}
      : memref<?x1x64xbf16>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %0 = winnow.topk %s {k = 8} : !winnow.scores<query_len = 1, heads = 1, block_size = 32>
  winnow.store_candidates %0, %ids, %best : !winnow.selection<query_len = 1, heads = 1, block_size = 32, k = 8>, memref<1x?x8xi32>, memref<1x?x8xf32>
  // expected-error@below {{'winnow.merge_candidates' op is in one entry with a winnow.block_score; the candidates of all ranks are there after the ranks exchanged them, so the merge needs an entry of its own}}
  %1 = winnow.merge_candidates %i, %b on %rows {block_size = 32, k = 8} : memref<4x1x?x8xi32>, memref<4x1x?x8xf32>, !winnow.rows<query_len = 1>
  winnow.store_selection %1, %idx : !winnow.selection<query_len = 1, heads = 1, block_size = 32, k = 8>, memref<1x?x8xi32>
  return
}

// -----

// expected-note@below {{max_rows is given here}}
func.func @ragged(%i: memref<4x1x65x8xi32>, %b: memref<4x1x65x8xf32>, %lens: memref<?xi32>, %cu: memref<?xi32>, %idx: memref<1x65x8xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4, max_query_len = 64, max_rows = 64}} {
  %rows = winnow.ragged_rows %lens, %cu : memref<?xi32>, memref<?xi32>
  // expected-error@below {{'winnow.merge_candidates' op axis 2 of ids (rows) has to be at most max_rows, 64, found 65 in 'memref<4x1x65x8xi32>'}}
  %0 = winnow.merge_candidates %i, %b on %rows {block_size = 32, k = 8} : memref<4x1x65x8xi32>, memref<4x1x65x8xf32>, !winnow.rows<ragged>
  winnow.store_selection %0, %idx : !winnow.selection<ragged, heads = 1, block_size = 32, k = 8>, memref<1x65x8xi32>
  return
}
