// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strides that a description fixes: callers are held to them, and kernels that
// rely on them are given nothing else.
// RUN: split-file %s %t
// RUN: winnow emit %t/gaps.mlir -o %t/gaps
// RUN: FileCheck %s --check-prefix=GAPS < %t/gaps/manifest.json
// GAPS: "lowering": {
// GAPS-NEXT: "name": "generic-mfma"
// GAPS: "name": "query"
// GAPS: "layout": "rows"
// GAPS: "strides": [
// GAPS-NEXT: 256,
// GAPS-NEXT: null,
// GAPS-NEXT: 1
// GAPS: "name": "keys"
// GAPS: "strides": [
// GAPS-NEXT: 16384,
// GAPS-NEXT: 256,
// GAPS-NEXT: 1
// GAPS: "name": "index_table"
// GAPS: "strides": [
// GAPS-NEXT: 80,
// GAPS-NEXT: 1
// GAPS: "name": "seq_lens"
// GAPS: "layout": "contiguous"
// GAPS: "name": "selection"
// GAPS: "strides": [
// GAPS-NEXT: null,
// GAPS-NEXT: 12,
// GAPS-NEXT: 1

// The tools make tensors that lie so.
// RUN: winnow run %t/gaps.mlir --requests 3 --check --dump %t/dump | FileCheck %s
// RUN: winnow run %t/gaps.mlir --requests 3 --check --device host | FileCheck %s
// CHECK: check{{ +}}matches the reference
// RUN: %python -c "import json; [print(t['name'], *t['strides']) for t in json.load(open(r'%t/dump/launch.json'))['tensors']]" | FileCheck %s --check-prefix=LAID
// LAID-DAG: query 256 {{[0-9]+}} 1
// LAID-DAG: keys 16384 256 1
// LAID-DAG: index_table 80 1
// LAID-DAG: selection {{[0-9]+}} 12 1

// Dense, said in strides: the matrix kernels address nothing else.
// RUN: winnow emit %t/dense.mlir -o %t/dense
// RUN: FileCheck %s --check-prefix=DENSE --implicit-check-not=strides < %t/dense/manifest.json
// DENSE: "lowering": {
// DENSE-NEXT: "name": "mfma"
// DENSE: "name": "query"
// DENSE: "layout": "contiguous"
// DENSE: "name": "keys"
// DENSE: "layout": "contiguous"
// RUN: winnow run %t/dense.mlir --requests 3 --check | FileCheck %s

//--- gaps.mlir
func.func @gaps(%q: memref<?x1x128xf8E4M3FN, strided<[256, ?, 1]>>,
                %keys: memref<?x32x128xf8E4M3FN, strided<[16384, 256, 1]>>,
                %table: memref<?x64xi32, strided<[80, 1]>>,
                %lens: memref<?xi32, strided<[1], offset: ?>>,
                %idx: memref<1x?x4xi32, strided<[?, 12, 1]>>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1000, max_requests = 8}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32, strided<[1], offset: ?>>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x128xf8E4M3FN, strided<[256, ?, 1]>>,
        memref<?x32x128xf8E4M3FN, strided<[16384, 256, 1]>>,
        memref<?x64xi32, strided<[80, 1]>>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 4} : !winnow.scores<query_len = 1, heads = 1, block_size = 32>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 32, k = 4>,
        memref<1x?x4xi32, strided<[?, 12, 1]>>
  return
}

//--- dense.mlir
func.func @dense(%q: memref<?x1x128xf8E4M3FN, strided<[128, ?, 1]>>,
                 %keys: memref<?x32x128xf8E4M3FN, strided<[4096, 128, 1], offset: ?>>,
                 %table: memref<?x?xi32>, %lens: memref<?xi32>, %idx: memref<1x?x4xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1000, max_requests = 8}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x128xf8E4M3FN, strided<[128, ?, 1]>>,
        memref<?x32x128xf8E4M3FN, strided<[4096, 128, 1], offset: ?>>,
        memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 4} : !winnow.scores<query_len = 1, heads = 1, block_size = 32>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 32, k = 4>, memref<1x?x4xi32>
  return
}
