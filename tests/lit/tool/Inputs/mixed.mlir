// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two entries: one selects more blocks than the matrix lowering's top-k keeps,
// so its lowering is mixed.
func.func @mixed(
    %q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>, %lens: memref<?xi32>, %idx: memref<1x?x65xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 16384, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 65}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 65>,
        memref<1x?x65xi32>
  return
}

func.func @plain(
    %q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>, %lens: memref<?xi32>, %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 16384, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<1x?x16xi32>
  return
}
