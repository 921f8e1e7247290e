// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rank 1 of 3: blocks 1, 4, 7, ... of every sequence.
func.func @shard(%q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>, %table: memref<?x?xi32>,
                 %lens: memref<?xi32>, %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 65536, max_requests = 16}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {rank = 1, world = 3}
      : memref<?x1x128xf8E4M3FN>, memref<?x64x128xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 64>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 64, k = 16>, memref<1x?x16xi32>
  return
}
