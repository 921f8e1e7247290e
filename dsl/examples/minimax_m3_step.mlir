// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A whole decode step of MiniMax-M3's indexer in one entry: the new keys go into
// the index cache, the attention's block table is scaled for a cache that
// interleaves keys and values, then blocks are scored, selected and turned into
// the pages that the attention reads: 8 pages of 16 tokens a block and side.
func.func @m3_step(%new_keys: memref<?x128xbf16>, %new_slots: memref<?xi32>,
                   %table: memref<?x?xi32>, %attn_table: memref<?x?xi32>,
                   %q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
                   %index_table: memref<?x?xi32>, %lens: memref<?xi32>,
                   %idx: memref<1x?x16xi32>, %pages: memref<?x128xi32>, %ctx: memref<?xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 131072, max_requests = 256},
                winnow.attention = {kv_heads = 1, page_size = 16, block_pages = 16}} {
  winnow.insert_keys %new_keys, %new_slots, %keys
      : memref<?x128xbf16>, memref<?xi32>, memref<?x128x128xf8E4M3FN>
  winnow.rebase_table %table, %attn_table {sides = 2} : memref<?x?xi32>, memref<?x?xi32>
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%index_table] on %rows
      {reduce = max, init_blocks = 0, local_blocks = 1}
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>, memref<?x?xi32>,
        !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16, ties = highest_block, order = score_descending}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx {layout = head_major, pad = -1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>
  winnow.remap_pages %selection via %attn_table into %pages, %ctx
      {pages_per_block = 8, kv_heads = 1, pad = 0}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}
