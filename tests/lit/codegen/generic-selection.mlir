// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each reason for which an operation goes to the generic lowering; scoring and
// selecting are decided apart.
// RUN: winnow-opt %s --winnow-select-lowering | FileCheck %s
// RUN: winnow-opt %s --winnow-select-lowering=prefer=generic | FileCheck %s --check-prefix=FORCED
// RUN: not winnow-opt %s --winnow-select-lowering=prefer=quantum 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// FORCED-NOT: winnow.lowering = "mfma"
// FORCED-NOT: winnow.refusals
// UNKNOWN: option 'prefer' names the lowering 'quantum'; known: mfma, mma, generic

// CHECK-LABEL: func.func @scores_only
// CHECK: winnow.uniform_rows {{.*}} winnow.lowering = "generic"}
// CHECK: winnow.block_score {{.*}} winnow.lowering = "generic", winnow.refusals = {mfma = [
// CHECK-SAME: "contract 'winnow_mfma', limit 'query_dtype': query element type is f8E5M2, needed
// CHECK-SAME: "contract 'winnow_mfma', limit 'key_dtype': index cache element type is f8E5M2, needed
// CHECK-SAME: "contract 'winnow_mfma', limit 'score_reduction': score reduction over tokens is sum, needed max (
// CHECK-SAME: "contract 'winnow_mfma', limit 'head_dim': index head dim is 72, needed
// CHECK-SAME: "contract 'winnow_mfma', limit 'index_heads': index heads is 17, needed 1 to 16 (
// CHECK-SAME: "contract 'winnow_mfma', limit 'queries': index heads x query length is 17 x 2 = 34, needed 1 to 16 (
// CHECK-SAME: "contract 'winnow_mfma', limit 'block_size': sparse block size is 48 tokens, needed one of 32, 64, 128, 256 tokens (
// CHECK-SAME: "contract 'winnow_mfma', limit 'query_layout': query layout is strided, needed contiguous (
// CHECK-SAME: "contract 'winnow_mfma', limit 'key_layout': index cache layout is strided, needed contiguous (
// CHECK: winnow.topk {{.*}} winnow.lowering = "mfma"}
// CHECK: winnow.store_selection {{.*}} winnow.lowering = "mfma"}
func.func @scores_only(
    %q: memref<?x17x72xf8E5M2, strided<[2176, 128, 1]>>,
    %keys: memref<?x48x72xf8E5M2, strided<[6144, 128, 1]>>,
    %table: memref<?x?xi32>, %lens: memref<?xi32>, %idx: memref<17x?x16xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 2} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = sum}
      : memref<?x17x72xf8E5M2, strided<[2176, 128, 1]>>, memref<?x48x72xf8E5M2, strided<[6144, 128, 1]>>,
        memref<?x?xi32>, !winnow.rows<query_len = 2>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 2, heads = 17, block_size = 48>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 2, heads = 17, block_size = 48, k = 16>,
        memref<17x?x16xi32>
  return
}

// CHECK-LABEL: func.func @selects_only
// CHECK: winnow.uniform_rows {{.*}} winnow.lowering = "mfma"}
// CHECK: winnow.block_score {{.*}} winnow.lowering = "mfma"}
// CHECK: winnow.topk {{.*}} winnow.lowering = "generic", winnow.refusals = {mfma = [
// CHECK-SAME: "contract 'winnow_mfma', limit 'k': top-k is 65 blocks, needed 1 to 64 blocks (
// CHECK-SAME: "contract 'winnow_mfma', limit 'max_blocks': blocks per row of a shard is 32769 (longest sequence 1048577 tokens, sparse block size 32 tokens, shards of the blocks 1), needed 1 to 32768 (
// What shares the kernel follows, and says so.
// CHECK: winnow.store_selection {{.*}} winnow.lowering = "generic", winnow.refusals = {mfma = [
// CHECK-SAME: "shares a kernel with 'winnow.topk': contract 'winnow_mfma', limit 'k': top-k is 65 blocks
func.func @selects_only(
    %q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x32x128xf8E4M3FN>,
    %table: memref<?x?xi32>, %lens: memref<?xi32>, %idx: memref<1x?x65xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1048577, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x128xf8E4M3FN>, memref<?x32x128xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 65}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 32>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 32, k = 65>,
        memref<1x?x65xi32>
  return
}
