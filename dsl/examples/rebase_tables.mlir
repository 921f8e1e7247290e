// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Once a step, for a cache that interleaves the keys and values of a block: the
// attention's block table and the slots of the new tokens, from numbers of one
// side to numbers of both. The slots are moved in place.
func.func @rebase_tables(%table: memref<?x?xi32>, %rebased: memref<?x?xi32>,
                         %slots: memref<?xi32>)
    attributes {winnow.entry,
                winnow.bounds = {max_seq_len = 1048576, max_requests = 256, max_pages = 1048576}} {
  winnow.rebase_table %table, %rebased {sides = 2} : memref<?x?xi32>, memref<?x?xi32>
  winnow.rebase_slots %slots, %slots {block_size = 128, sides = 2} : memref<?xi32>, memref<?xi32>
  return
}
