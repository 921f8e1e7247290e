// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations in generic form, which reach the verifier past the parser.
// RUN: winnow-opt %s -verify-diagnostics -split-input-file

// What the parser never makes is refused as well when it comes in generic form.
func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{option 'k' of 'winnow.topk' has to be an integer from 1 to 2048, found 2049}}
  %0 = "winnow.topk"(%s) <{k = 2049 : i64}> : (!winnow.scores<query_len = 1, heads = 1, block_size = 128>) -> !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>
  return
}

// -----

func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{'winnow.topk' op requires attribute 'k'}}
  %0 = "winnow.topk"(%s) <{}> : (!winnow.scores<query_len = 1, heads = 1, block_size = 128>) -> !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>
  return
}

// -----

func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{'winnow.topk' op attribute 'k' failed to satisfy constraint: blocks kept, an integer from 1 to 2048}}
  %0 = "winnow.topk"(%s) <{k = 16 : i32}> : (!winnow.scores<query_len = 1, heads = 1, block_size = 128>) -> !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>
  return
}

// -----

func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{Invalid attribute `ties` in property conversion: 1 : i64}}
  %0 = "winnow.topk"(%s) <{k = 16 : i64, ties = 1 : i64}> : (!winnow.scores<query_len = 1, heads = 1, block_size = 128>) -> !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>
  return
}

// -----

func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{unknown option 'foo' of 'winnow.topk'; known: k, ties, order}}
  %0 = "winnow.topk"(%s) <{k = 16 : i64}> {foo = 1} : (!winnow.scores<query_len = 1, heads = 1, block_size = 128>) -> !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>
  return
}

// -----

// The result type is the one that follows from the operands.
func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@+2 {{'winnow.topk' op failed to infer returned types}}
  // expected-error@below {{'winnow.topk' op inferred type(s) '!winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 8>' are incompatible with return type(s) of operation '!winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>'}}
  %0 = "winnow.topk"(%s) <{k = 8 : i64}> : (!winnow.scores<query_len = 1, heads = 1, block_size = 128>) -> !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>
  return
}

// -----

func.func @f(%lens: memref<?xi32>) {
  // expected-error@below {{option 'query_len' of 'winnow.uniform_rows' has to be an integer from 1 to 65536, found 0}}
  %0 = "winnow.uniform_rows"(%lens) <{query_len = 0 : i64}> : (memref<?xi32>) -> !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x32x64xbf16>, %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{option 'init_blocks' of 'winnow.block_score' has to be an integer from 0 to 2147483647, found -5}}
  %0 = "winnow.block_score"(%q, %k, %t, %rows) <{init_blocks = -5 : i64}> : (memref<?x1x64xbf16>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>) -> !winnow.scores<query_len = 1, heads = 1, block_size = 32>
  return
}

// -----

func.func @f(%s: !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, %m: memref<1x?x16xi32>) {
  // expected-error@below {{option 'pad' of 'winnow.store_selection' has to be -1 or 0, found 7}}
  "winnow.store_selection"(%s, %m) <{pad = 7 : i64}> : (!winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>) -> ()
  return
}

// -----

func.func @f(%s: !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, %t: memref<?x?xi32>, %p: memref<?x128xi32>, %c: memref<?xi32>) {
  // expected-error@below {{option 'pages_per_block' of 'winnow.remap_pages' has to be an integer from 1 to 65536, found 0}}
  "winnow.remap_pages"(%s, %t, %p, %c) <{pages_per_block = 0 : i64, kv_heads = 1 : i64}> : (!winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>) -> ()
  return
}

// -----

// Operands of the wrong type or number.
func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{'winnow.store_selection' op expected 2 operands, but found 1}}
  "winnow.store_selection"(%s) : (!winnow.scores<query_len = 1, heads = 1, block_size = 128>) -> ()
  return
}

// -----

func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>, %m: memref<1x?x16xi32>) {
  // expected-error@below {{'winnow.store_selection' op operand #0 must be at most k blocks for each (index head, row), but got '!winnow.scores<query_len = 1, heads = 1, block_size = 128>'}}
  "winnow.store_selection"(%s, %m) : (!winnow.scores<query_len = 1, heads = 1, block_size = 128>, memref<1x?x16xi32>) -> ()
  return
}

// -----

func.func @f(%s: !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>) {
  // expected-error@below {{'winnow.topk' op operand #0 must be one score for each (index head, row, visible block), but got '!winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>'}}
  %0 = "winnow.topk"(%s) <{k = 16 : i64}> : (!winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>) -> !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>
  return
}

// -----

// In an entry, whose body is read before it is verified.
func.func @f(%m: memref<1x?x16xi32>) attributes {winnow.entry, winnow.bounds = {max_seq_len = 4, max_requests = 4}} {
  // expected-error@below {{'winnow.store_selection' op expected 2 operands, but found 0}}
  "winnow.store_selection"() : () -> ()
  return
}

// -----

// expected-error@below {{'func.func' op requires attribute 'function_type'}}
"func.func"() <{sym_name = "f"}> ({
}) {winnow.entry, winnow.bounds = {max_seq_len = 4, max_requests = 4}} : () -> ()
