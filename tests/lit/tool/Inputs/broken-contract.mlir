// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Twenty blocks where AITER's top-k keeps sixteen.
func.func @twenty(%q: memref<?x1x128xf8E4M3FN>,
                  %keys: memref<?x128x128xf8E4M3FN>,
                  %index_table: memref<?x?xi32>, %lens: memref<?xi32>,
                  %idx: memref<1x?x20xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 4096, max_requests = 4},
                winnow.attention = {kv_heads = 1, page_size = 16}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%index_table] on %rows {}
              : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>,
                memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 20}
                 : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx {}
    : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 20>,
      memref<1x?x20xi32>
  return
}
