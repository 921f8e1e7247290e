// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What runs once a step: rebase_table, rebase_slots, insert_keys.
// RUN: winnow-opt %s | FileCheck %s
// RUN: winnow-opt %s | winnow-opt | FileCheck %s
// RUN: winnow-opt %s -mlir-print-op-generic | winnow-opt | FileCheck %s
// RUN: winnow-opt %s -emit-bytecode | winnow-opt | FileCheck %s

// CHECK-LABEL: func.func @tables
func.func @tables(%in: memref<4x7xi32>, %out: memref<?x8xi32, strided<[16, 1]>>) {
  // CHECK: winnow.rebase_table %{{.*}}, %{{.*}} {sides = 2} : memref<4x7xi32>, memref<?x8xi32, strided<[16, 1]>>
  winnow.rebase_table %in, %out {sides = 2} : memref<4x7xi32>, memref<?x8xi32, strided<[16, 1]>>
  // CHECK: winnow.rebase_table %[[T:.*]], %[[T]] {sides = 1024} : memref<4x7xi32>, memref<4x7xi32>
  winnow.rebase_table %in, %in {sides = 1024} : memref<4x7xi32>, memref<4x7xi32>
  return
}

// CHECK-LABEL: func.func @slots
func.func @slots(%in: memref<?xi32>, %out: memref<64xi32>) {
  // CHECK: winnow.rebase_slots %{{.*}}, %{{.*}} {block_size = 128, sides = 2} : memref<?xi32>, memref<64xi32>
  winnow.rebase_slots %in, %out {sides = 2, block_size = 128} : memref<?xi32>, memref<64xi32>
  return
}

// CHECK-LABEL: func.func @keys
func.func @keys(%a: memref<?x64xf32>, %b: memref<8x64xbf16>, %c: memref<?x64xf16, strided<[?, 1]>>,
                %slots: memref<8xi32>, %fp8: memref<?x32x64xf8E4M3FN>,
                %wide: memref<?x32x64xbf16, strided<[8192, 128, 1]>>, %half: memref<?x1x64xf16>) {
  // CHECK: winnow.insert_keys %{{.*}}, %{{.*}}, %{{.*}} : memref<?x64xf32>, memref<8xi32>, memref<?x32x64xf8E4M3FN>
  winnow.insert_keys %a, %slots, %fp8 : memref<?x64xf32>, memref<8xi32>, memref<?x32x64xf8E4M3FN>
  // CHECK: winnow.insert_keys {{.*}} : memref<8x64xbf16>, memref<8xi32>, memref<?x32x64xbf16, strided<[8192, 128, 1]>>
  winnow.insert_keys %b, %slots, %wide : memref<8x64xbf16>, memref<8xi32>, memref<?x32x64xbf16, strided<[8192, 128, 1]>>
  // CHECK: winnow.insert_keys {{.*}} : memref<?x64xf16, strided<[?, 1]>>, memref<8xi32>, memref<?x1x64xf16>
  winnow.insert_keys %c, %slots, %half : memref<?x64xf16, strided<[?, 1]>>, memref<8xi32>, memref<?x1x64xf16>
  return
}

// Chains in one entry: what a step wrote is read after it, in place too.
// CHECK-LABEL: func.func @chain
func.func @chain(%slots: memref<?xi32>, %keys: memref<?x64xbf16>, %cache: memref<?x32x64xf8E4M3FN>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  winnow.rebase_slots %slots, %slots {sides = 2, block_size = 32} : memref<?xi32>, memref<?xi32>
  winnow.insert_keys %keys, %slots, %cache : memref<?x64xbf16>, memref<?xi32>, memref<?x32x64xf8E4M3FN>
  return
}
