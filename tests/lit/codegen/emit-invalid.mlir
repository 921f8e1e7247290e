// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What cannot be written as HIP is refused with its place.
// RUN: split-file %s %t
// RUN: not winnow-translate --winnow-to-hip %t/no-entry.mlir 2>&1 | FileCheck %s --check-prefix=NO-ENTRY
// RUN: not winnow-translate --winnow-to-hip %t/unused.mlir 2>&1 | FileCheck %s --check-prefix=UNUSED
// RUN: not winnow-translate --winnow-to-hip %t/absent.mlir 2>&1 | FileCheck %s --check-prefix=ABSENT -DFILE=%t/absent.mlir
// RUN: not winnow-translate --winnow-to-hip %t/syntax.mlir 2>&1 | FileCheck %s --check-prefix=SYNTAX

// NO-ENTRY: error: no function has the attribute 'winnow.entry', so there is nothing to write

// UNUSED: unused.mlir:1:1: error: 'winnow.kernel' op argument 0 is used by no stage

// ABSENT: cannot open input file '[[FILE]]': No such file or directory

// SYNTAX: syntax.mlir:1:1: error: custom op

//--- no-entry.mlir
func.func @plain() {
  return
}

//--- unused.mlir
winnow.kernel @k(%lens: memref<?xi32>) shape S {kHeads = 1} grid affine_map<()[s0] -> (s0, 1, 1)> waves 1 {
}
func.func @f(%lens: memref<?xi32>) attributes {winnow.entry, winnow.bounds = {max_seq_len = 8, max_requests = 8}} {
  %requests = winnow.requests %lens : memref<?xi32>
  winnow.launch @k[%requests](%lens) : memref<?xi32>
  return
}

//--- syntax.mlir
func. @f
