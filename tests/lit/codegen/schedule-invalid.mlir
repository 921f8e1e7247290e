// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What winnow-schedule refuses; nothing is rewritten then.
// RUN: winnow-opt %s -winnow-schedule -verify-diagnostics -split-input-file

func.func @undecided(%q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
                     %table: memref<?x?xi32>, %lens: memref<?xi32>, %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1024, max_requests = 8}} {
  // expected-error@below {{has no 'winnow.lowering'; run winnow-select-lowering first}}
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>
  return
}

// -----

func.func @unknown(%q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
                   %table: memref<?x?xi32>, %lens: memref<?xi32>, %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1024, max_requests = 8}} {
  // expected-error@below {{has the lowering "quantum", which this scheduler does not know; known: mfma, mma, generic}}
  %rows = winnow.uniform_rows %lens {query_len = 1, winnow.lowering = "quantum"} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {winnow.lowering = "mfma"}
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16, winnow.lowering = "mfma"} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx {winnow.lowering = "mfma"}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>
  return
}

// -----

func.func @two(%q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
               %table: memref<?x?xi32>, %lens: memref<?xi32>, %idx: memref<1x?x16xi32>, %more: memref<1x?x8xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1024, max_requests = 8}} {
  %rows = winnow.uniform_rows %lens {query_len = 1, winnow.lowering = "mfma"} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {winnow.lowering = "mfma"}
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  // expected-note@below {{the first is here}}
  %selection = winnow.topk %scores {k = 16, winnow.lowering = "mfma"} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  // expected-error@below {{is the second of its kind; an entry takes one}}
  %other = winnow.topk %scores {k = 8, winnow.lowering = "mfma"} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx {winnow.lowering = "mfma"}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>
  winnow.store_selection %other, %more {winnow.lowering = "mfma"}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 8>, memref<1x?x8xi32>
  return
}

// -----

func.func @torn(%q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
                %table: memref<?x?xi32>, %lens: memref<?xi32>, %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1024, max_requests = 8}} {
  %rows = winnow.uniform_rows %lens {query_len = 1, winnow.lowering = "mfma"} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {winnow.lowering = "mfma"}
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  // expected-note@below {{that operation}}
  %selection = winnow.topk %scores {k = 16, winnow.lowering = "mfma"} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  // expected-error@below {{has the lowering 'generic', but shares a kernel with an operation that has 'mfma'}}
  winnow.store_selection %selection, %idx {winnow.lowering = "generic"}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>
  return
}

// -----

func.func @any_ranks(%ids: memref<?x1x?x16xi32>, %best: memref<?x1x?x16xf32>, %lens: memref<?xi32>, %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1024, max_requests = 8}} {
  %rows = winnow.uniform_rows %lens {query_len = 1, winnow.lowering = "mfma"} : memref<?xi32>
  // expected-error@below {{has the lowering 'mfma', which needs a static axis 0 of ids (ranks), found 'memref<?x1x?x16xi32>'}}
  %0 = winnow.merge_candidates %ids, %best on %rows {block_size = 128, k = 16, winnow.lowering = "mfma"}
      : memref<?x1x?x16xi32>, memref<?x1x?x16xf32>, !winnow.rows<query_len = 1>
  winnow.store_selection %0, %idx {winnow.lowering = "mfma"}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>
  return
}
