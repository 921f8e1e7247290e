// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text to IR and back, for every operation: custom form, generic form, bytecode.
// RUN: winnow-opt %s | FileCheck %s
// RUN: winnow-opt %s | winnow-opt | FileCheck %s
// RUN: winnow-opt %s -mlir-print-op-generic | winnow-opt | FileCheck %s
// RUN: winnow-opt %s -emit-bytecode | winnow-opt | FileCheck %s

// CHECK-LABEL: func.func @uniform_rows
// CHECK-SAME: (%[[LENS:.*]]: memref<?xi32>)
func.func @uniform_rows(%lens: memref<?xi32>) {
  // CHECK-NEXT: %[[ROWS:.*]] = winnow.uniform_rows %[[LENS]] {query_len = 4} : memref<?xi32>
  %rows = winnow.uniform_rows %lens {query_len = 4} : memref<?xi32>
  return
}

// CHECK-LABEL: func.func @uniform_rows_strided
func.func @uniform_rows_strided(%lens: memref<8xi32, strided<[1], offset: ?>>) {
  // CHECK: winnow.uniform_rows %{{.*}} {query_len = 65536} : memref<8xi32, strided<[1], offset: ?>>
  %rows = winnow.uniform_rows %lens {query_len = 65536} : memref<8xi32, strided<[1], offset: ?>>
  return
}

// The options' defaults are always printed.
// CHECK-LABEL: func.func @block_score_defaults
// CHECK-SAME: (%[[Q:.*]]: memref<?x4x64xbf16>, %[[K:.*]]: memref<?x64x64xbf16>, %[[T:.*]]: memref<?x?xi32>, %[[ROWS:.*]]: !winnow.rows<query_len = 1>)
func.func @block_score_defaults(%q: memref<?x4x64xbf16>, %k: memref<?x64x64xbf16>,
                                %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // CHECK-NEXT: %[[SCORES:.*]] = winnow.block_score %[[Q]], %[[K]][%[[T]]] on %[[ROWS]] {reduce = max, init_blocks = 0, local_blocks = 0, rank = 0, world = 1} : memref<?x4x64xbf16>, memref<?x64x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %scores = winnow.block_score %q, %k[%t] on %rows
      : memref<?x4x64xbf16>, memref<?x64x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// Any order in, one order out.
// CHECK-LABEL: func.func @block_score_order
func.func @block_score_order(%q: memref<?x128x4096xf16>, %k: memref<?x1x4096xf16>,
                             %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 2>) {
  // CHECK: winnow.block_score {{.*}} {reduce = sum, init_blocks = 2147483647, local_blocks = 3, rank = 0, world = 1} :
  %sum = winnow.block_score %q, %k[%t] on %rows {local_blocks = 3, reduce = sum, init_blocks = 2147483647}
      : memref<?x128x4096xf16>, memref<?x1x4096xf16>, memref<?x?xi32>, !winnow.rows<query_len = 2>
  // CHECK: winnow.block_score {{.*}} {reduce = mean, init_blocks = 0, local_blocks = 0, rank = 0, world = 1} :
  %mean = winnow.block_score %q, %k[%t] on %rows {reduce = mean}
      : memref<?x128x4096xf16>, memref<?x1x4096xf16>, memref<?x?xi32>, !winnow.rows<query_len = 2>
  return
}

// Slices of larger buffers; all four number formats.
// CHECK-LABEL: func.func @block_score_strided
func.func @block_score_strided(
    %q: memref<?x1x8xf8E5M2, strided<[64, 8, 1], offset: 16>>,
    %k: memref<?x128x8xf8E5M2, strided<[?, ?, 1], offset: ?>>,
    %t: memref<?x?xi32, strided<[?, 1]>>, %rows: !winnow.rows<query_len = 1>) {
  // CHECK: winnow.block_score {{.*}} : memref<?x1x8xf8E5M2, strided<[64, 8, 1], offset: 16>>, memref<?x128x8xf8E5M2, strided<[?, ?, 1], offset: ?>>, memref<?x?xi32, strided<[?, 1]>>, !winnow.rows<query_len = 1>
  %scores = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x8xf8E5M2, strided<[64, 8, 1], offset: 16>>,
        memref<?x128x8xf8E5M2, strided<[?, ?, 1], offset: ?>>,
        memref<?x?xi32, strided<[?, 1]>>, !winnow.rows<query_len = 1>
  return
}

// CHECK-LABEL: func.func @topk
// CHECK-SAME: (%[[SCORES:.*]]: !winnow.scores<query_len = 1, heads = 1, block_size = 128>)
func.func @topk(%scores: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // CHECK-NEXT: winnow.topk %[[SCORES]] {k = 16, ties = highest_block, order = score_descending} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  %0 = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  // CHECK-NEXT: winnow.topk %[[SCORES]] {k = 2048, ties = lowest_block, order = ascending} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  %1 = winnow.topk %scores {order = ascending, k = 2048, ties = lowest_block}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  // A number may be written in hexadecimal.
  // CHECK-NEXT: winnow.topk %[[SCORES]] {k = 32,
  %2 = winnow.topk %scores {k = 0x20} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// Discardable attributes follow the options, whatever their order was.
// CHECK-LABEL: func.func @discardable
func.func @discardable(%scores: !winnow.scores<query_len = 1, heads = 1, block_size = 128>,
                       %lens: memref<?xi32>) {
  // CHECK-NEXT: winnow.topk %{{.*}} {k = 16, ties = highest_block, order = score_descending, other.flag, winnow.lowering = "mfma", winnow.refusals = ["no", 3]} :
  %0 = winnow.topk %scores {winnow.refusals = ["no", 3], winnow.lowering = "mfma", k = 16, other.flag}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  // CHECK-NEXT: winnow.uniform_rows %{{.*}} {query_len = 1, "other.two words" = 1 : i64} :
  %1 = winnow.uniform_rows %lens {"query_len" = 1, "other.two words" = 1} : memref<?xi32>
  return
}

// CHECK-LABEL: func.func @store_selection
func.func @store_selection(
    %s: !winnow.selection<query_len = 1, heads = 4, block_size = 64, k = 16>,
    %head: memref<4x?x16xi32>, %token: memref<?x4x16xi32, strided<[128, 32, 1]>>) {
  // CHECK-NEXT: winnow.store_selection %{{.*}}, %{{.*}} {layout = head_major, pad = -1} : !winnow.selection<query_len = 1, heads = 4, block_size = 64, k = 16>, memref<4x?x16xi32>
  winnow.store_selection %s, %head
      : !winnow.selection<query_len = 1, heads = 4, block_size = 64, k = 16>, memref<4x?x16xi32>
  // CHECK-NEXT: winnow.store_selection %{{.*}}, %{{.*}} {layout = token_major, pad = 0} : !winnow.selection<query_len = 1, heads = 4, block_size = 64, k = 16>, memref<?x4x16xi32, strided<[128, 32, 1]>>
  winnow.store_selection %s, %token {pad = 0, layout = token_major}
      : !winnow.selection<query_len = 1, heads = 4, block_size = 64, k = 16>,
        memref<?x4x16xi32, strided<[128, 32, 1]>>
  return
}

// CHECK-LABEL: func.func @remap_pages
func.func @remap_pages(
    %s: !winnow.selection<query_len = 1, heads = 2, block_size = 128, k = 16>,
    %t: memref<?x?xi32>, %pages: memref<?x128xi32>, %wide: memref<?x?xi32>, %ctx: memref<?xi32>) {
  // CHECK-NEXT: winnow.remap_pages %{{.*}} via %{{.*}} into %{{.*}}, %{{.*}} {pages_per_block = 8, kv_heads = 2, pad = 0, table_sides = 1} : !winnow.selection<query_len = 1, heads = 2, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  winnow.remap_pages %s via %t into %pages, %ctx {kv_heads = 2, pages_per_block = 8}
      : !winnow.selection<query_len = 1, heads = 2, block_size = 128, k = 16>, memref<?x?xi32>,
        memref<?x128xi32>, memref<?xi32>
  // CHECK-NEXT: winnow.remap_pages %{{.*}} via %{{.*}} into %{{.*}}, %{{.*}} {pages_per_block = 128, kv_heads = 6, pad = -1, table_sides = 1} :
  winnow.remap_pages %s via %t into %wide, %ctx {pad = -1, kv_heads = 6, pages_per_block = 128}
      : !winnow.selection<query_len = 1, heads = 2, block_size = 128, k = 16>, memref<?x?xi32>,
        memref<?x?xi32>, memref<?xi32>
  return
}

// Static extents that agree: 8 requests of 2 rows, 4 kv heads.
// CHECK-LABEL: func.func @static_extents
func.func @static_extents(
    %q: memref<16x2x128xf8E4M3FN>, %k: memref<64x128x128xf8E4M3FN>, %table: memref<9x40xi32>,
    %lens: memref<8xi32>, %idx: memref<2x16x16xi32>, %pages: memref<64x128xi32>, %ctx: memref<64xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 5120, max_requests = 8}} {
  %rows = winnow.uniform_rows %lens {query_len = 2} : memref<8xi32>
  %scores = winnow.block_score %q, %k[%table] on %rows
      : memref<16x2x128xf8E4M3FN>, memref<64x128x128xf8E4M3FN>, memref<9x40xi32>, !winnow.rows<query_len = 2>
  %sel = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 2, heads = 2, block_size = 128>
  // CHECK: winnow.store_selection %{{.*}} memref<2x16x16xi32>
  winnow.store_selection %sel, %idx
      : !winnow.selection<query_len = 2, heads = 2, block_size = 128, k = 16>, memref<2x16x16xi32>
  // CHECK: winnow.remap_pages %{{.*}} memref<64x128xi32>, memref<64xi32>
  winnow.remap_pages %sel via %table into %pages, %ctx {pages_per_block = 8, kv_heads = 4}
      : !winnow.selection<query_len = 2, heads = 2, block_size = 128, k = 16>, memref<9x40xi32>,
        memref<64x128xi32>, memref<64xi32>
  return
}
