// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MiniMax-M3's block-select indexer for prefill and mixed batches, as one rank
// of eight runs it: requests bring any number of new tokens, from none (a
// request that waits) over one (it decodes) to a whole prompt.
//
//   %q           index queries, a row for each new token
//   %keys        the index key cache, one 128-token block a page
//   %index_table page of each block in the index key cache
//   %attn_table  page of each block in the attention's own cache
//   %lens        tokens in each request's cache, the new ones included
//   %cu_seqlens  the first row of each request, then the number of rows
//   %idx         the 16 best blocks of each row
//   %pages, %ctx what paged attention reads: 16-token pages, and their tokens
func.func @m3_prefill(%q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
                      %index_table: memref<?x?xi32>, %attn_table: memref<?x?xi32>,
                      %lens: memref<?xi32>, %cu_seqlens: memref<?xi32>,
                      %idx: memref<1x?x16xi32>, %pages: memref<?x128xi32>, %ctx: memref<?xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.attention = {kv_heads = 1, page_size = 16},
                winnow.bounds = {max_seq_len = 1048576, max_requests = 256,
                                 max_query_len = 16384, max_rows = 16384}} {
  %rows = winnow.ragged_rows %lens, %cu_seqlens : memref<?xi32>, memref<?xi32>
  %scores = winnow.block_score %q, %keys[%index_table] on %rows
      {reduce = max, init_blocks = 0, local_blocks = 1}
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<ragged>
  %selection = winnow.topk %scores {k = 16, ties = highest_block, order = score_descending}
      : !winnow.scores<ragged, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx {layout = head_major, pad = -1}
      : !winnow.selection<ragged, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>
  winnow.remap_pages %selection via %attn_table into %pages, %ctx
      {pages_per_block = 8, kv_heads = 1, pad = 0}
      : !winnow.selection<ragged, heads = 1, block_size = 128, k = 16>,
        memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}
