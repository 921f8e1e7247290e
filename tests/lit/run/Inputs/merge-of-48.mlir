// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A merge alone: what the matrix lowering asks of scoring (block size, heads)
// is not asked of it.
func.func @merge(%ids: memref<2x20x?x20xi32>, %scores: memref<2x20x?x20xf32>, %lens: memref<?xi32>,
                 %idx: memref<20x?x20xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 65536, max_requests = 32}} {
  %rows = winnow.uniform_rows %lens {query_len = 2} : memref<?xi32>
  %0 = winnow.merge_candidates %ids, %scores on %rows {block_size = 48, k = 20}
      : memref<2x20x?x20xi32>, memref<2x20x?x20xf32>, !winnow.rows<query_len = 2>
  winnow.store_selection %0, %idx {layout = head_major, pad = -1}
      : !winnow.selection<query_len = 2, heads = 20, block_size = 48, k = 20>, memref<20x?x20xi32>
  return
}
