// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MiniMax-M3's indexer for decode where eight ranks share the blocks of every
// sequence: rank 3 holds the blocks 3, 11, 19 and so on of each. A step has
// three parts:
//
//   1. every rank runs its own `m3_rank` (the option `rank` says which it is)
//      and gets its 16 best blocks of each row, with their scores;
//   2. the ranks exchange them, 16 numbers and 16 scores a row: an all-gather,
//      which is the caller's;
//   3. every rank runs `m3_merge` and has the selection and the page table that
//      one rank with all blocks would have made, bit for bit.
//
// Which blocks are local, and how far a row sees, goes by a block's number in
// the whole sequence.
func.func @m3_rank(%q: memref<?x1x128xf8E4M3FN>,
                   %keys: memref<?x128x128xf8E4M3FN>,
                   %index_table: memref<?x?xi32>,
                   %lens: memref<?xi32>,
                   %ids: memref<1x?x16xi32>,
                   %scores: memref<1x?x16xf32>)
    attributes {winnow.entry,
                winnow.bounds = {max_seq_len = 1048576, max_requests = 256}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %own = winnow.block_score %q, %keys[%index_table] on %rows
           {reduce = max, init_blocks = 0, local_blocks = 1,
            rank = 3, world = 8}
           : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>,
             memref<?x?xi32>, !winnow.rows<query_len = 1>
  %best = winnow.topk %own
            {k = 16, ties = highest_block, order = score_descending}
            : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_candidates %best, %ids, %scores
    : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
      memref<1x?x16xi32>, memref<1x?x16xf32>
  return
}

// What all ranks handed on, one after the other: [8, 1, rows, 16].
func.func @m3_merge(%ids: memref<8x1x?x16xi32>,
                    %scores: memref<8x1x?x16xf32>,
                    %lens: memref<?xi32>,
                    %attn_table: memref<?x?xi32>,
                    %idx: memref<1x?x16xi32>,
                    %pages: memref<?x128xi32>,
                    %ctx: memref<?xi32>)
    attributes {winnow.entry,
                winnow.bounds = {max_seq_len = 1048576, max_requests = 256},
                winnow.attention = {kv_heads = 1, page_size = 16}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %selection = winnow.merge_candidates %ids, %scores on %rows
                 {block_size = 128, k = 16, ties = highest_block,
                  order = score_descending}
                 : memref<8x1x?x16xi32>, memref<8x1x?x16xf32>,
                   !winnow.rows<query_len = 1>
  winnow.store_selection %selection, %idx {layout = head_major, pad = -1}
    : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
      memref<1x?x16xi32>
  winnow.remap_pages %selection via %attn_table into %pages, %ctx
    {pages_per_block = 8, kv_heads = 1, pad = 0}
    : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
      memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}
