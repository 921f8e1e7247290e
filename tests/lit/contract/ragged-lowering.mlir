// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ragged rows go to the matrix cores with up to sixteen heads of any type that
// has an MFMA; what those refuse goes to the generic lowering, kernel by kernel.
// RUN: winnow-opt %s -split-input-file -winnow-select-lowering=arch=gfx950 | FileCheck %s
// RUN: winnow-opt %s -split-input-file -winnow-select-lowering=arch=gfx90a | FileCheck %s --check-prefix=GFX90A

// CHECK-LABEL: func.func @prefill
// CHECK: winnow.block_score {{.*}}winnow.lowering = "mfma"
// CHECK: winnow.topk {{.*}}winnow.lowering = "mfma"
// GFX90A-LABEL: func.func @prefill
// GFX90A: winnow.ragged_rows {{.*}}winnow.lowering = "generic"
// GFX90A: winnow.block_score {{.*}}winnow.lowering = "generic"
// GFX90A: winnow.topk {{.*}}winnow.lowering = "generic"
// GFX90A: winnow.store_selection {{.*}}winnow.lowering = "generic"
func.func @prefill(%q: memref<?x16x128xf16>, %keys: memref<?x128x128xf16>, %table: memref<?x?xi32>,
                   %lens: memref<?xi32>, %cu: memref<?xi32>, %idx: memref<16x?x16xi32>)
    attributes {winnow.entry,
                winnow.bounds = {max_seq_len = 1048576, max_requests = 64, max_query_len = 4096, max_rows = 8192}} {
  %rows = winnow.ragged_rows %lens, %cu : memref<?xi32>, memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x16x128xf16>, memref<?x128x128xf16>, memref<?x?xi32>, !winnow.rows<ragged>
  %selection = winnow.topk %scores {k = 16} : !winnow.scores<ragged, heads = 16, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<ragged, heads = 16, block_size = 128, k = 16>, memref<16x?x16xi32>
  return
}

// -----

// CHECK-LABEL: func.func @wide
// CHECK: winnow.block_score {{.*}}winnow.lowering = "generic", winnow.refusals = {mfma = ["contract 'winnow_mfma', limit 'index_heads': index heads is 17, needed 1 to 16 (the MFMA has room for 16 queries)"]}
// CHECK: winnow.topk {{.*}}winnow.lowering = "mfma"
func.func @wide(%q: memref<?x17x128xf16>, %keys: memref<?x128x128xf16>, %table: memref<?x?xi32>,
                %lens: memref<?xi32>, %cu: memref<?xi32>, %idx: memref<17x?x16xi32>)
    attributes {winnow.entry,
                winnow.bounds = {max_seq_len = 1048576, max_requests = 64, max_query_len = 4096, max_rows = 8192}} {
  %rows = winnow.ragged_rows %lens, %cu : memref<?xi32>, memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x17x128xf16>, memref<?x128x128xf16>, memref<?x?xi32>, !winnow.rows<ragged>
  %selection = winnow.topk %scores {k = 16} : !winnow.scores<ragged, heads = 17, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<ragged, heads = 17, block_size = 128, k = 16>, memref<17x?x16xi32>
  return
}

// -----

// CHECK-LABEL: func.func @many
// CHECK: winnow.block_score {{.*}}winnow.lowering = "mfma"
// CHECK: winnow.topk {{.*}}k = 100{{.*}}winnow.lowering = "generic", winnow.refusals = {mfma = ["contract 'winnow_mfma', limit 'k': top-k is 100 blocks, needed 1 to 64 blocks (one wave of 64 lanes ranks the kept blocks)"]}
func.func @many(%q: memref<?x16x128xf16>, %keys: memref<?x128x128xf16>, %table: memref<?x?xi32>,
                %lens: memref<?xi32>, %cu: memref<?xi32>, %idx: memref<16x?x100xi32>)
    attributes {winnow.entry,
                winnow.bounds = {max_seq_len = 1048576, max_requests = 64, max_query_len = 4096, max_rows = 8192}} {
  %rows = winnow.ragged_rows %lens, %cu : memref<?xi32>, memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x16x128xf16>, memref<?x128x128xf16>, memref<?x?xi32>, !winnow.rows<ragged>
  %selection = winnow.topk %scores {k = 100} : !winnow.scores<ragged, heads = 16, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<ragged, heads = 16, block_size = 128, k = 100>, memref<16x?x100xi32>
  return
}
