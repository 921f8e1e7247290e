// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the lowerings ask of a merge, and of many requests.
// RUN: winnow-opt %s -winnow-select-lowering -split-input-file -verify-diagnostics | FileCheck %s

// The matrix lowering's merge is made for a number of ranks, and for few
// candidates.
// CHECK-LABEL: func.func @any_ranks
// CHECK: winnow.merge_candidates {{.*}} winnow.lowering = "generic", winnow.refusals = {mfma = ["contract 'winnow_mfma', limit 'merge_world_known': fixed number of ranks that are merged is false, needed true (a lane's share of the candidates is fixed when the kernel is made)"]}}
// CHECK: winnow.store_selection {{.*}} winnow.lowering = "generic", winnow.refusals = {mfma = ["shares a kernel with 'winnow.merge_candidates': contract 'winnow_mfma', limit 'merge_world_known'
func.func @any_ranks(%ids: memref<?x1x?x16xi32>, %best: memref<?x1x?x16xf32>, %lens: memref<?xi32>, %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1048576, max_requests = 256}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %0 = winnow.merge_candidates %ids, %best on %rows {block_size = 128, k = 16}
      : memref<?x1x?x16xi32>, memref<?x1x?x16xf32>, !winnow.rows<query_len = 1>
  winnow.store_selection %0, %idx : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>
  return
}

// -----

// CHECK-LABEL: func.func @many
// CHECK: winnow.merge_candidates {{.*}} winnow.lowering = "generic", winnow.refusals = {mfma = ["contract 'winnow_mfma', limit 'k': top-k is 65 blocks{{.*}}", "contract 'winnow_mfma', limit 'candidates': ranks that are merged x candidates of a rank is 257 x 65 = 16705, needed 1 to 16384 (
func.func @many(%ids: memref<257x1x?x65xi32>, %best: memref<257x1x?x65xf32>, %lens: memref<?xi32>, %idx: memref<1x?x65xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1048576, max_requests = 256}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %0 = winnow.merge_candidates %ids, %best on %rows {block_size = 128, k = 65}
      : memref<257x1x?x65xi32>, memref<257x1x?x65xf32>, !winnow.rows<query_len = 1>
  winnow.store_selection %0, %idx : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 65>, memref<1x?x65xi32>
  return
}

// -----

// Places are counted in 32 bits.
// expected-error@below {{no lowering takes 'too_many'}}
// expected-note@below {{'mfma' refuses 'winnow.merge_candidates': contract 'winnow_mfma', limit 'candidates': ranks that are merged x candidates of a rank is 1048576 x 2048 = 2147483648, needed 1 to 16384}}
// expected-note@below {{'generic' refuses 'winnow.merge_candidates': contract 'winnow_generic', limit 'candidates': ranks that are merged x candidates of a rank is 1048576 x 2048 = 2147483648, needed 1 to 1073741824 (the places of a row's candidates are counted in 32 bits)}}
func.func @too_many(%ids: memref<1048576x1x?x2048xi32>, %best: memref<1048576x1x?x2048xf32>, %lens: memref<?xi32>, %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1048576, max_requests = 256}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %0 = winnow.merge_candidates %ids, %best on %rows {block_size = 128, k = 16}
      : memref<1048576x1x?x2048xi32>, memref<1048576x1x?x2048xf32>, !winnow.rows<query_len = 1>
  winnow.store_selection %0, %idx : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>
  return
}

// -----

// A rank's share of the blocks is what the selection holds, not all of them.
// CHECK-LABEL: func.func @long_sequences
// CHECK: winnow.topk {{.*}} winnow.lowering = "mfma"}
func.func @long_sequences(%q: memref<?x1x128xbf16>, %keys: memref<?x32x128xbf16>, %table: memref<?x?xi32>,
                          %lens: memref<?xi32>, %ids: memref<1x?x16xi32>, %best: memref<1x?x16xf32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 8388608, max_requests = 256}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {rank = 7, world = 8}
      : memref<?x1x128xbf16>, memref<?x32x128xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %0 = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 32>
  winnow.store_candidates %0, %ids, %best
      : !winnow.selection<query_len = 1, heads = 1, block_size = 32, k = 16>, memref<1x?x16xi32>, memref<1x?x16xf32>
  return
}

// -----

// The score grid counts requests along y.
// expected-error@below {{no lowering takes 'many_requests'}}
// expected-note@below {{'mfma' refuses 'winnow.block_score': contract 'winnow_mfma', limit 'max_requests': most requests of a launch is 65536, needed at most 65535 (the grid counts requests along y, where HIP allows 65535 workgroups)}}
// expected-note@below {{'generic' refuses 'winnow.block_score': contract 'winnow_generic', limit 'max_requests': most requests of a launch is 65536, needed at most 65535}}
func.func @many_requests(%q: memref<?x1x128xbf16>, %keys: memref<?x32x128xbf16>, %table: memref<?x?xi32>,
                         %lens: memref<?xi32>, %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 65536}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x128xbf16>, memref<?x32x128xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %0 = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 32>
  winnow.store_selection %0, %idx : !winnow.selection<query_len = 1, heads = 1, block_size = 32, k = 16>, memref<1x?x16xi32>
  return
}
