// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Extents that a description fixes: the number of requests follows from them,
// and inputs that do not fit are refused before anything is written or read.
// RUN: split-file %s %t
// RUN: winnow run %t/batch.mlir --check | FileCheck %s --check-prefix=BATCH
// BATCH: inputs{{ +}}3 requests of
// BATCH: check{{ +}}matches the reference

// RUN: %python %S/Inputs/exits.py 1 winnow run %t/batch.mlir --requests 2 --device host | FileCheck %s --check-prefix=OTHER
// OTHER: winnow: error: entry 'batch' fixes axis 0 of 'seq_lens' at 3, these inputs need 2

// RUN: %python %S/Inputs/exits.py 1 winnow run %t/cache.mlir --device host | FileCheck %s --check-prefix=CACHE
// RUN: winnow run %t/cache.mlir --lengths 64,31 --check --device host | FileCheck %s --check-prefix=FITS
// CACHE: winnow: error: entry 'cache' fixes axis 0 of 'keys' at 6, these inputs need at least
// FITS: check{{ +}}matches the reference

// A table for one request is not one for two: the caller hears of it, and no
// kernel reads past its end.
// RUN: winnow emit %t/table.mlir -o %t/table
// RUN: FileCheck %s --check-prefix=TABLE < %t/table/manifest.json
// TABLE: "name": "index_table"
// TABLE: "min": "requests"

//--- batch.mlir
func.func @batch(%q: memref<6x1x128xf8E4M3FN>, %keys: memref<?x32x128xf8E4M3FN>,
                 %table: memref<3x64xi32>, %lens: memref<3xi32>, %idx: memref<6x1x4xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1000, max_requests = 8}} {
  %rows = winnow.uniform_rows %lens {query_len = 2} : memref<3xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<6x1x128xf8E4M3FN>, memref<?x32x128xf8E4M3FN>, memref<3x64xi32>, !winnow.rows<query_len = 2>
  %selection = winnow.topk %scores {k = 4} : !winnow.scores<query_len = 2, heads = 1, block_size = 32>
  winnow.store_selection %selection, %idx {layout = token_major}
      : !winnow.selection<query_len = 2, heads = 1, block_size = 32, k = 4>, memref<6x1x4xi32>
  return
}

//--- cache.mlir
func.func @cache(%q: memref<?x1x128xf8E4M3FN>, %keys: memref<6x32x128xf8E4M3FN>,
                 %table: memref<?x?xi32>, %lens: memref<?xi32>, %idx: memref<1x?x4xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1000, max_requests = 8}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x128xf8E4M3FN>, memref<6x32x128xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 4} : !winnow.scores<query_len = 1, heads = 1, block_size = 32>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 32, k = 4>, memref<1x?x4xi32>
  return
}

//--- table.mlir
func.func @table(%q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x32x128xf8E4M3FN>,
                 %table: memref<1x?xi32>, %lens: memref<?xi32>, %idx: memref<1x?x4xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1000, max_requests = 8}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x128xf8E4M3FN>, memref<?x32x128xf8E4M3FN>, memref<1x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 4} : !winnow.scores<query_len = 1, heads = 1, block_size = 32>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 32, k = 4>, memref<1x?x4xi32>
  return
}
