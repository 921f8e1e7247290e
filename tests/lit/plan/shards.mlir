// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stages of what ranks exchange, and of the merge.
// RUN: winnow-opt %s | FileCheck %s
// RUN: winnow-opt %s | winnow-opt | FileCheck %s
// RUN: winnow-opt %s -mlir-print-op-generic | winnow-opt | FileCheck %s
// RUN: winnow-opt %s -emit-bytecode | winnow-opt | FileCheck %s

// CHECK-LABEL: winnow.kernel @rank(
// CHECK-SAME:  %[[SCORE:.+]]: memref<1x?x1024xf32>, %[[LENS:.+]]: memref<?xi32>, %[[IDS:.+]]: memref<1x?x16xi32>, %[[BEST:.+]]: memref<1x?x16xf32>)
winnow.kernel @rank(%scores: memref<1x?x1024xf32>, %lens: memref<?xi32>, %ids: memref<1x?x16xi32>, %best: memref<1x?x16xf32>)
    shape Select {kHeads = 1} grid affine_map<()[s0] -> (s0, 1, 1)> waves 1 {
  %row = winnow.stage.select_row %lens : memref<?xi32>
  %keys = winnow.stage.load_score_row %scores for %row : memref<1x?x1024xf32>
  %candidates = winnow.stage.narrow %keys for %row
  %ranking = winnow.stage.rank %candidates for %row
  // CHECK: winnow.stage.store_candidates %ranking for %row of %[[SCORE]] into %[[IDS]], %[[BEST]] : memref<1x?x1024xf32>, memref<1x?x16xi32>, memref<1x?x16xf32>
  winnow.stage.store_candidates %ranking for %row of %scores into %ids, %best : memref<1x?x1024xf32>, memref<1x?x16xi32>, memref<1x?x16xf32>
}

// CHECK-LABEL: winnow.kernel @merge(
// CHECK-SAME:  %rank_ids: memref<8x1x?x16xi32>, %rank_scores: memref<8x1x?x16xf32>, %seq_lens: memref<?xi32>)
winnow.kernel @merge(%ids: memref<8x1x?x16xi32>, %best: memref<8x1x?x16xf32>, %lens: memref<?xi32>)
    shape Merge {kHeads = 1} grid affine_map<()[s0] -> (s0, 1, 1)> waves 1 {
  %row = winnow.stage.select_row %lens : memref<?xi32>
  // CHECK: %[[KEYS:.+]] = winnow.stage.load_candidates %rank_ids, %rank_scores for %row : memref<8x1x?x16xi32>, memref<8x1x?x16xf32>
  %keys = winnow.stage.load_candidates %ids, %best for %row : memref<8x1x?x16xi32>, memref<8x1x?x16xf32>
  // CHECK: winnow.stage.narrow %[[KEYS]] for %row
  %candidates = winnow.stage.narrow %keys for %row
}

// CHECK-LABEL: winnow.kernel @generic_merge(
winnow.kernel @generic_merge(%ids: memref<?x1x?x16xi32>, %best: memref<?x1x?x16xf32>, %lens: memref<?xi32>, %scores: memref<1x?x1024xf32>, %out: memref<1x?x16xi32>, %outbest: memref<1x?x16xf32>)
    shape Merge {kHeads = 1} grid affine_map<()[s0] -> (s0, 1, 1)> waves 4 {
  %row = winnow.stage.generic_select_row %lens : memref<?xi32>
  // CHECK: %[[CANDIDATES:.+]] = winnow.stage.generic_rank_candidates %rank_ids, %rank_scores for %row : memref<?x1x?x16xi32>, memref<?x1x?x16xf32>
  %candidates = winnow.stage.generic_rank_candidates %ids, %best for %row : memref<?x1x?x16xi32>, memref<?x1x?x16xf32>
  // CHECK: %[[CUT:.+]] = winnow.stage.generic_find_merged_cut %[[CANDIDATES]]
  %cut = winnow.stage.generic_find_merged_cut %candidates
  // CHECK: %[[RANKING:.+]] = winnow.stage.generic_sort_merged %[[CANDIDATES]] from %[[CUT]]
  %ranking = winnow.stage.generic_sort_merged %candidates from %cut
  // CHECK: winnow.stage.generic_store_candidates %[[RANKING]] for %row of %score into %candidate_ids, %candidate_scores : memref<1x?x1024xf32>, memref<1x?x16xi32>, memref<1x?x16xf32>
  winnow.stage.generic_store_candidates %ranking for %row of %scores into %out, %outbest : memref<1x?x1024xf32>, memref<1x?x16xi32>, memref<1x?x16xf32>
}
