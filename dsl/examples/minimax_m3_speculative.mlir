// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MiniMax-M3's sparse attention indexer for speculative decode: the last
// token and three drafted ones of each request are scored at once, each seeing
// one token more than the one before. One rank of a tensor-parallel group: one
// index head, one key-value head, 128-token blocks, the 16 best kept, pages of
// 16 tokens.
func.func @m3_speculative(%q: memref<?x1x128xf8E4M3FN>,
                          %keys: memref<?x128x128xf8E4M3FN>,
                          %index_table: memref<?x?xi32>,
                          %attn_table: memref<?x?xi32>,
                          %lens: memref<?xi32>,
                          %idx: memref<1x?x16xi32>,
                          %pages: memref<?x128xi32>,
                          %ctx: memref<?xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 1048576, max_requests = 256},
                winnow.attention = {kv_heads = 1, page_size = 16}} {
  %rows = winnow.uniform_rows %lens {query_len = 4} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%index_table] on %rows
              {reduce = max, init_blocks = 0, local_blocks = 1}
              : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>,
                memref<?x?xi32>, !winnow.rows<query_len = 4>
  %selection = winnow.topk %scores
                 {k = 16, ties = highest_block, order = score_descending}
                 : !winnow.scores<query_len = 4, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx {layout = head_major, pad = -1}
    : !winnow.selection<query_len = 4, heads = 1, block_size = 128, k = 16>,
      memref<1x?x16xi32>
  winnow.remap_pages %selection via %attn_table into %pages, %ctx
    {pages_per_block = 8, kv_heads = 1, pad = 0}
    : !winnow.selection<query_len = 4, heads = 1, block_size = 128, k = 16>,
      memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}
