// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operations of a step become a kernel and a launch each, before those of
// the indexer.
// RUN: winnow-opt %s -winnow-plan | FileCheck %s
// RUN: winnow-opt %s -winnow-plan | winnow-opt | FileCheck %s

// CHECK-DAG: #[[ROW:.*]] = affine_map<()[s0] -> (s0, 2, 1)>
// CHECK-DAG: #[[SLOT:.*]] = affine_map<()[s0] -> (s0 ceildiv 256, 1, 1)>
// CHECK-DAG: #[[KEY:.*]] = affine_map<()[s0] -> ((s0 * 16) ceildiv 256, 1, 1)>
// CHECK: winnow.kernel @step_rebase_table(%table: memref<?x?xi32>, %rebased_table: memref<?x?xi32>)
// CHECK-NEXT: shape RebaseTable {kChunks = 2, kSides = 2, kThreads = 256, kWaves = 4}
// CHECK-NEXT: grid #[[ROW]] waves 4
// CHECK: winnow.stage.rebase_table %table into %rebased_table
// CHECK: winnow.kernel @step_rebase_slots(
// CHECK-NEXT: shape RebaseSlots {kBlockSize = 64, kSides = 2, kThreads = 256, kWaves = 4}
// CHECK-NEXT: grid #[[SLOT]] waves 4
// CHECK: winnow.kernel @step_insert_keys(
// CHECK-NEXT: shape InsertKeys {kBlockSize = 64, kHeadDim = 128, kThreads = 256, kWaves = 4}
// CHECK-NEXT: grid #[[KEY]] waves 4
// CHECK: winnow.stage.insert_keys %new_keys at %new_slots into %cache
// CHECK: winnow.kernel @step_rebase_slots_2(
// CHECK-NEXT: shape RebaseSlots_2 {
// CHECK: func.func @step(%[[T:.*]]: memref<?x?xi32>, %[[S:.*]]: memref<?xi32>
// CHECK: %[[ROWS:.*]] = winnow.extent %[[T]] axis 0 : memref<?x?xi32>
// CHECK-NEXT: winnow.launch @step_rebase_table[%[[ROWS]]] (%[[T]], %[[T]])
func.func @step(%table: memref<?x?xi32>, %slots: memref<?xi32>, %others: memref<?xi32>,
                %keys: memref<?x128xbf16>, %cache: memref<?x64x128xf8E4M3FN>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  winnow.rebase_table %table, %table {sides = 2} : memref<?x?xi32>, memref<?x?xi32>
  winnow.rebase_slots %slots, %slots {block_size = 64, sides = 2} : memref<?xi32>, memref<?xi32>
  winnow.insert_keys %keys, %slots, %cache : memref<?x128xbf16>, memref<?xi32>, memref<?x64x128xf8E4M3FN>
  winnow.rebase_slots %others, %others {block_size = 64, sides = 2} : memref<?xi32>, memref<?xi32>
  return
}
