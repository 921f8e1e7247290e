// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel whose name is taken, by another entry here, gets one that is free.
// RUN: winnow-opt %s -winnow-plan | FileCheck %s
// RUN: winnow run %s --entry a --check
// RUN: winnow run %s --entry a_rebase_table --check

// CHECK: winnow.kernel @a_rebase_table_2(
// CHECK: func.func @a(
// CHECK: winnow.launch @a_rebase_table_2[
func.func @a(%in: memref<?x?xi32>, %out: memref<?x?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1024, max_requests = 4}} {
  winnow.rebase_table %in, %out {sides = 2} : memref<?x?xi32>, memref<?x?xi32>
  return
}

// CHECK: winnow.kernel @a_rebase_table_rebase_table(
// CHECK: func.func @a_rebase_table(
func.func @a_rebase_table(%in: memref<?x?xi32>, %out: memref<?x?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1024, max_requests = 4}} {
  winnow.rebase_table %in, %out {sides = 2} : memref<?x?xi32>, memref<?x?xi32>
  return
}
