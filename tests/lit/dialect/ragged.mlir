// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ragged rows, and the types of what is computed from them.
// RUN: winnow-opt %s | FileCheck %s
// RUN: winnow-opt %s | winnow-opt | FileCheck %s
// RUN: winnow-opt %s -mlir-print-op-generic | winnow-opt | FileCheck %s
// RUN: winnow-opt %s -emit-bytecode | winnow-opt | FileCheck %s

// CHECK-LABEL: func.func private @types
// CHECK-SAME: (!winnow.rows<ragged>,
// CHECK-SAME: !winnow.scores<ragged, heads = 4, block_size = 64>,
// CHECK-SAME: !winnow.selection<ragged, heads = 4, block_size = 64, k = 16>)
func.func private @types(
    !winnow.rows<ragged>,
    // Facts may come in any order.
    !winnow.scores<heads = 4, ragged, block_size = 64>,
    !winnow.selection<k = 16, heads = 4, block_size = 64, ragged>)

// CHECK-LABEL: func.func @prefill
// CHECK-SAME: winnow.bounds = {max_query_len = 512 : i64, max_requests = 4 : i64, max_rows = 1024 : i64, max_seq_len = 4096 : i64}
func.func @prefill(%q: memref<?x4x64xbf16>, %keys: memref<?x64x64xbf16>, %table: memref<?x?xi32>,
                   %lens: memref<3xi32>, %cu: memref<4xi32, strided<[1], offset: ?>>,
                   %idx: memref<?x4x16xi32>, %pages: memref<?x?xi32>, %ctx: memref<?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4,
                                               max_query_len = 512, max_rows = 1024}} {
  // CHECK: %[[ROWS:.*]] = winnow.ragged_rows %{{.*}}, %{{.*}} : memref<3xi32>, memref<4xi32, strided<[1], offset: ?>>
  %r = winnow.ragged_rows %lens, %cu : memref<3xi32>, memref<4xi32, strided<[1], offset: ?>>
  // CHECK: %[[SCORES:.*]] = winnow.block_score %{{.*}} on %[[ROWS]] {{.*}}, !winnow.rows<ragged>
  %s = winnow.block_score %q, %keys[%table] on %r
      : memref<?x4x64xbf16>, memref<?x64x64xbf16>, memref<?x?xi32>, !winnow.rows<ragged>
  // CHECK: %[[SELECTION:.*]] = winnow.topk %[[SCORES]] {{.*}} : !winnow.scores<ragged, heads = 4, block_size = 64>
  %sel = winnow.topk %s {k = 16} : !winnow.scores<ragged, heads = 4, block_size = 64>
  // CHECK: winnow.store_selection %[[SELECTION]], {{.*}} : !winnow.selection<ragged, heads = 4, block_size = 64, k = 16>, memref<?x4x16xi32>
  winnow.store_selection %sel, %idx {layout = token_major}
      : !winnow.selection<ragged, heads = 4, block_size = 64, k = 16>, memref<?x4x16xi32>
  winnow.remap_pages %sel via %table into %pages, %ctx {pages_per_block = 4, kv_heads = 4}
      : !winnow.selection<ragged, heads = 4, block_size = 64, k = 16>, memref<?x?xi32>, memref<?x?xi32>, memref<?xi32>
  return
}
