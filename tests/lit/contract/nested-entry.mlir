// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An entry that passes would walk past is an error, not nothing.
// RUN: winnow-opt %s -winnow-verify-contract -verify-diagnostics
// RUN: not winnow check %s 2>&1 | FileCheck %s
// CHECK: error: 'winnow.entry' on a function inside 'builtin.module'

module {
  module {
    // expected-error@below {{'winnow.entry' on a function inside 'builtin.module'; entries stand in the outermost module}}
    func.func @f(%in: memref<?x?xi32>, %out: memref<?x?xi32>)
        attributes {winnow.entry, winnow.bounds = {max_seq_len = 1, max_requests = 1}} {
      winnow.rebase_table %in, %out {sides = 2} : memref<?x?xi32>, memref<?x?xi32>
      return
    }
  }
}
