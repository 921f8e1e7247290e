// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the M3 example does not use: several heads and rows, token-major ids in
// ascending order, the lowest block on ties, other paddings, two pages a block.
func.func @many(%q: memref<?x4x128xf8E4M3FN>,
                %keys: memref<?x64x128xf8E4M3FN>,
                %index_table: memref<?x?xi32>, %attn_table: memref<?x?xi32>,
                %lens: memref<?xi32>, %idx: memref<?x4x7xi32>,
                %pages: memref<?x14xi32>, %ctx: memref<?xi32>)
    attributes {winnow.entry,
                winnow.bounds = {max_seq_len = 20000, max_requests = 9}} {
  %rows = winnow.uniform_rows %lens {query_len = 3} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%index_table] on %rows
              {init_blocks = 1}
              : memref<?x4x128xf8E4M3FN>, memref<?x64x128xf8E4M3FN>,
                memref<?x?xi32>, !winnow.rows<query_len = 3>
  %selection = winnow.topk %scores
                 {k = 7, ties = lowest_block, order = ascending}
                 : !winnow.scores<query_len = 3, heads = 4, block_size = 64>
  winnow.store_selection %selection, %idx {layout = token_major, pad = 0}
    : !winnow.selection<query_len = 3, heads = 4, block_size = 64, k = 7>,
      memref<?x4x7xi32>
  winnow.remap_pages %selection via %attn_table into %pages, %ctx
    {pages_per_block = 2, kv_heads = 8, pad = -1}
    : !winnow.selection<query_len = 3, heads = 4, block_size = 64, k = 7>,
      memref<?x?xi32>, memref<?x14xi32>, memref<?xi32>
  return
}
