// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types and attributes, and the types that operations infer.
// RUN: winnow-opt %s | winnow-opt | FileCheck %s
// RUN: winnow-opt %s -mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// CHECK-LABEL: func.func private @types
// CHECK-SAME: (!winnow.rows<query_len = 4>,
// CHECK-SAME: !winnow.scores<query_len = 1, heads = 128, block_size = 65536>,
// CHECK-SAME: !winnow.selection<query_len = 1, heads = 1, block_size = 1, k = 2048>)
func.func private @types(
    !winnow.rows<query_len = 4>,
    // Facts may come in any order.
    !winnow.scores<block_size = 65536, query_len = 1, heads = 128>,
    !winnow.selection<k = 2048, query_len = 1, heads = 1, block_size = 1>)

// CHECK-LABEL: func.func private @attributes
// CHECK-SAME: max = #winnow.token_reduction<max>
// CHECK-SAME: mean = #winnow.token_reduction<mean>
// CHECK-SAME: order = [#winnow.selection_order<score_descending>, #winnow.selection_order<ascending>]
// CHECK-SAME: sum = #winnow.token_reduction<sum>
// CHECK-SAME: ties = [#winnow.tie_rule<highest_block>, #winnow.tie_rule<lowest_block>]
func.func private @attributes() attributes {
    max = #winnow.token_reduction<max>, sum = #winnow.token_reduction<sum>,
    mean = #winnow.token_reduction<mean>,
    ties = [#winnow.tie_rule<highest_block>, #winnow.tie_rule<lowest_block>],
    order = [#winnow.selection_order<score_descending>, #winnow.selection_order<ascending>],
    // CHECK-SAME: z = [#winnow.selection_layout<head_major>, #winnow.selection_layout<token_major>]
    z = [#winnow.selection_layout<head_major>, #winnow.selection_layout<token_major>]}

// CHECK-LABEL: func.func @inferred
// GENERIC-LABEL: sym_name = "inferred"
func.func @inferred(%q: memref<?x3x64xbf16>, %k: memref<?x32x64xbf16>, %t: memref<?x?xi32>,
                    %lens: memref<?xi32>) {
  // GENERIC: "winnow.uniform_rows"(%{{.*}}) <{query_len = 5 : i64}> : (memref<?xi32>) -> !winnow.rows<query_len = 5>
  %rows = winnow.uniform_rows %lens {query_len = 5} : memref<?xi32>
  // GENERIC: "winnow.block_score"(%{{.*}}) <{init_blocks = 0 : i64, local_blocks = 0 : i64, rank = 0 : i64, reduce = #winnow.token_reduction<max>, world = 1 : i64}> : {{.*}} -> !winnow.scores<query_len = 5, heads = 3, block_size = 32>
  %scores = winnow.block_score %q, %k[%t] on %rows
      : memref<?x3x64xbf16>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 5>
  // GENERIC: "winnow.topk"(%{{.*}}) <{k = 7 : i64, order = #winnow.selection_order<score_descending>, ties = #winnow.tie_rule<highest_block>}> : {{.*}} -> !winnow.selection<query_len = 5, heads = 3, block_size = 32, k = 7>
  %sel = winnow.topk %scores {k = 7} : !winnow.scores<query_len = 5, heads = 3, block_size = 32>
  return
}

// The names that printing gives to results.
// CHECK-LABEL: func.func @names
func.func @names(%lens: memref<?xi32>,
                 %s: !winnow.scores<query_len = 1, heads = 1, block_size = 16>) {
  // CHECK: %rows = winnow.uniform_rows
  %0 = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  // CHECK: %selection = winnow.topk
  %1 = winnow.topk %s {k = 1} : !winnow.scores<query_len = 1, heads = 1, block_size = 16>
  return
}
