// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands that no operation could take: element type, rank, layout, memory
// space.
// RUN: winnow-opt %s -verify-diagnostics -split-input-file

// Element type, rank, layout, memory space of the lengths.
func.func @f(%lens: memref<?xi64>) {
  // expected-error@below {{'winnow.uniform_rows' op operand #0 must be sequence lengths, a memref [requests] of i32, strided, contiguous along its last axis, in the default memory space, but got 'memref<?xi64>'}}
  %0 = winnow.uniform_rows %lens {query_len = 1} : memref<?xi64>
  return
}

// -----

func.func @f(%lens: memref<?x1xi32>) {
  // expected-error@below {{'winnow.uniform_rows' op operand #0 must be sequence lengths, a memref [requests] of i32, strided, contiguous along its last axis, in the default memory space, but got 'memref<?x1xi32>'}}
  %0 = winnow.uniform_rows %lens {query_len = 1} : memref<?x1xi32>
  return
}

// -----

func.func @f(%lens: memref<?xi32, strided<[2]>>) {
  // expected-error@below {{'winnow.uniform_rows' op operand #0 must be sequence lengths, a memref [requests] of i32, strided, contiguous along its last axis, in the default memory space, but got 'memref<?xi32, strided<[2]>>'}}
  %0 = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32, strided<[2]>>
  return
}

// -----

func.func @f(%lens: memref<?xi32, strided<[?]>>) {
  // expected-error@below {{'winnow.uniform_rows' op operand #0 must be sequence lengths, a memref [requests] of i32, strided, contiguous along its last axis, in the default memory space, but got 'memref<?xi32, strided<[?]>>'}}
  %0 = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32, strided<[?]>>
  return
}

// -----

func.func @f(%lens: memref<?xi32, 3>) {
  // expected-error@below {{'winnow.uniform_rows' op operand #0 must be sequence lengths, a memref [requests] of i32, strided, contiguous along its last axis, in the default memory space, but got 'memref<?xi32, 3>'}}
  %0 = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32, 3>
  return
}

// -----

func.func @f(%lens: memref<?xindex>) {
  // expected-error@below {{'winnow.uniform_rows' op operand #0 must be sequence lengths, a memref [requests] of i32, strided, contiguous along its last axis, in the default memory space, but got 'memref<?xindex>'}}
  %0 = winnow.uniform_rows %lens {query_len = 1} : memref<?xindex>
  return
}

// -----

func.func @f(%lens: memref<?xui32>) {
  // expected-error@below {{'winnow.uniform_rows' op operand #0 must be sequence lengths, a memref [requests] of i32, strided, contiguous along its last axis, in the default memory space, but got 'memref<?xui32>'}}
  %0 = winnow.uniform_rows %lens {query_len = 1} : memref<?xui32>
  return
}

// -----

// No memref at all.
func.func @f(%lens: i32) {
  // expected-error@below {{invalid kind of type specified: expected builtin.memref, but found 'i32'}}
  %0 = winnow.uniform_rows %lens {query_len = 1} : i32
  return
}

// -----

func.func @f(%lens: memref<*xi32>) {
  // expected-error@below {{invalid kind of type specified: expected builtin.memref, but found 'memref<*xi32>'}}
  %0 = winnow.uniform_rows %lens {query_len = 1} : memref<*xi32>
  return
}

// -----

// Queries.
func.func @f(%q: memref<?x1x64xf32>, %k: memref<?x32x64xbf16>,
             %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op operand #0 must be index queries, a memref [rows, heads, head_dim] of f8E4M3FN or f8E5M2 or bf16 or f16, strided, contiguous along its last axis, in the default memory space, but got 'memref<?x1x64xf32>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xf32>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

// gfx942's own fp8 is another format.
func.func @f(%q: memref<?x1x64xf8E4M3FNUZ>, %k: memref<?x32x64xbf16>,
             %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op operand #0 must be index queries, a memref [rows, heads, head_dim] of f8E4M3FN or f8E5M2 or bf16 or f16, strided, contiguous along its last axis, in the default memory space, but got 'memref<?x1x64xf8E4M3FNUZ>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xf8E4M3FNUZ>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%q: memref<?x1x64xbf16, strided<[64, 64, 2]>>, %k: memref<?x32x64xbf16>,
             %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op operand #0 must be index queries, a memref [rows, heads, head_dim] of f8E4M3FN or f8E5M2 or bf16 or f16, strided, contiguous along its last axis, in the default memory space, but got 'memref<?x1x64xbf16, strided<[64, 64, 2]>>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16, strided<[64, 64, 2]>>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%q: memref<?x1x64xbf16, affine_map<(d0, d1, d2) -> (d2, d1, d0)>>, %k: memref<?x32x64xbf16>,
             %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op operand #0 must be index queries, a memref [rows, heads, head_dim] of f8E4M3FN or f8E5M2 or bf16 or f16, strided, contiguous along its last axis, in the default memory space, but got 'memref<?x1x64xbf16, affine_map<(d0, d1, d2) -> (d2, d1, d0)>>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16, affine_map<(d0, d1, d2) -> (d2, d1, d0)>>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%q: memref<?x1x64xbf16, 1>, %k: memref<?x32x64xbf16>,
             %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op operand #0 must be index queries, a memref [rows, heads, head_dim] of f8E4M3FN or f8E5M2 or bf16 or f16, strided, contiguous along its last axis, in the default memory space, but got 'memref<?x1x64xbf16, 1>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16, 1>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

// Keys.
func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x32x64xi8>,
             %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op operand #1 must be an index key cache, a memref [pages, block_size, head_dim] of f8E4M3FN or f8E5M2 or bf16 or f16, strided, contiguous along its last axis, in the default memory space, but got 'memref<?x32x64xi8>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x32x64xi8>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x32x64xbf16, strided<[?, ?, ?]>>,
             %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op operand #1 must be an index key cache, a memref [pages, block_size, head_dim] of f8E4M3FN or f8E5M2 or bf16 or f16, strided, contiguous along its last axis, in the default memory space, but got 'memref<?x32x64xbf16, strided<[?, ?, ?]>>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x32x64xbf16, strided<[?, ?, ?]>>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x32x64xbf16, 1>,
             %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op operand #1 must be an index key cache, a memref [pages, block_size, head_dim] of f8E4M3FN or f8E5M2 or bf16 or f16, strided, contiguous along its last axis, in the default memory space, but got 'memref<?x32x64xbf16, 1>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x32x64xbf16, 1>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

// Block tables.
func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x32x64xbf16>,
             %t: memref<?x?xi64>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op operand #2 must be a block table, a memref [requests, blocks] of i32, strided, contiguous along its last axis, in the default memory space, but got 'memref<?x?xi64>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x32x64xbf16>, memref<?x?xi64>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x32x64xbf16>,
             %t: memref<?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op operand #2 must be a block table, a memref [requests, blocks] of i32, strided, contiguous along its last axis, in the default memory space, but got 'memref<?xi32>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x32x64xbf16>, memref<?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x32x64xbf16>,
             %t: memref<?x?xi32, strided<[1, ?]>>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op operand #2 must be a block table, a memref [requests, blocks] of i32, strided, contiguous along its last axis, in the default memory space, but got 'memref<?x?xi32, strided<[1, ?]>>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x32x64xbf16>, memref<?x?xi32, strided<[1, ?]>>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x32x64xbf16>,
             %t: memref<?x?xi32, 1>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op operand #2 must be a block table, a memref [requests, blocks] of i32, strided, contiguous along its last axis, in the default memory space, but got 'memref<?x?xi32, 1>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x32x64xbf16>, memref<?x?xi32, 1>, !winnow.rows<query_len = 1>
  return
}

// -----

// Where a selection is stored.
func.func @f(%s: !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, %m: memref<1x?x16xi64>) {
  // expected-error@below {{'winnow.store_selection' op operand #1 must be selected blocks, a memref [heads, rows, k] or [rows, heads, k] of i32, strided, contiguous along its last axis, in the default memory space, but got 'memref<1x?x16xi64>'}}
  winnow.store_selection %s, %m : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi64>
  return
}

// -----

func.func @f(%s: !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, %m: memref<?x16xi32>) {
  // expected-error@below {{'winnow.store_selection' op operand #1 must be selected blocks, a memref [heads, rows, k] or [rows, heads, k] of i32, strided, contiguous along its last axis, in the default memory space, but got 'memref<?x16xi32>'}}
  winnow.store_selection %s, %m : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x16xi32>
  return
}

// -----

func.func @f(%s: !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, %m: memref<1x?x16xi32, strided<[?, ?, 2]>>) {
  // expected-error@below {{'winnow.store_selection' op operand #1 must be selected blocks, a memref [heads, rows, k] or [rows, heads, k] of i32, strided, contiguous along its last axis, in the default memory space, but got 'memref<1x?x16xi32, strided<[?, ?, 2]>>'}}
  winnow.store_selection %s, %m : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32, strided<[?, ?, 2]>>
  return
}

// -----

func.func @f(%s: !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, %m: memref<1x?x16xi32, 1>) {
  // expected-error@below {{'winnow.store_selection' op operand #1 must be selected blocks, a memref [heads, rows, k] or [rows, heads, k] of i32, strided, contiguous along its last axis, in the default memory space, but got 'memref<1x?x16xi32, 1>'}}
  winnow.store_selection %s, %m : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32, 1>
  return
}

// -----

// The attention's block table.
func.func @f(%s: !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
             %t: memref<?x?xi16>, %p: memref<?x128xi32>, %c: memref<?xi32>) {
  // expected-error@below {{'winnow.remap_pages' op operand #1 must be a block table, a memref [requests, blocks] of i32, strided, contiguous along its last axis, in the default memory space, but got 'memref<?x?xi16>'}}
  winnow.remap_pages %s via %t into %p, %c {pages_per_block = 8, kv_heads = 1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x?xi16>, memref<?x128xi32>, memref<?xi32>
  return
}

// -----

func.func @f(%s: !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
             %t: memref<?x?x?xi32>, %p: memref<?x128xi32>, %c: memref<?xi32>) {
  // expected-error@below {{'winnow.remap_pages' op operand #1 must be a block table, a memref [requests, blocks] of i32, strided, contiguous along its last axis, in the default memory space, but got 'memref<?x?x?xi32>'}}
  winnow.remap_pages %s via %t into %p, %c {pages_per_block = 8, kv_heads = 1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}

// -----

// The page table.
func.func @f(%s: !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
             %t: memref<?x?xi32>, %p: memref<?x128xi64>, %c: memref<?xi32>) {
  // expected-error@below {{'winnow.remap_pages' op operand #2 must be a page table, a memref [rows * kv_heads, entries] of i32, strided, contiguous along its last axis, in the default memory space, but got 'memref<?x128xi64>'}}
  winnow.remap_pages %s via %t into %p, %c {pages_per_block = 8, kv_heads = 1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x128xi64>, memref<?xi32>
  return
}

// -----

func.func @f(%s: !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
             %t: memref<?x?xi32>, %p: memref<?xi32>, %c: memref<?xi32>) {
  // expected-error@below {{'winnow.remap_pages' op operand #2 must be a page table, a memref [rows * kv_heads, entries] of i32, strided, contiguous along its last axis, in the default memory space, but got 'memref<?xi32>'}}
  winnow.remap_pages %s via %t into %p, %c {pages_per_block = 8, kv_heads = 1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x?xi32>, memref<?xi32>, memref<?xi32>
  return
}

// -----

func.func @f(%s: !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
             %t: memref<?x?xi32>, %p: memref<?x128xi32, strided<[256, 2]>>, %c: memref<?xi32>) {
  // expected-error@below {{'winnow.remap_pages' op operand #2 must be a page table, a memref [rows * kv_heads, entries] of i32, strided, contiguous along its last axis, in the default memory space, but got 'memref<?x128xi32, strided<[256, 2]>>'}}
  winnow.remap_pages %s via %t into %p, %c {pages_per_block = 8, kv_heads = 1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x128xi32, strided<[256, 2]>>, memref<?xi32>
  return
}

// -----

// The context lengths.
func.func @f(%s: !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
             %t: memref<?x?xi32>, %p: memref<?x128xi32>, %c: memref<?xi64>) {
  // expected-error@below {{'winnow.remap_pages' op operand #3 must be context lengths, a memref [rows * kv_heads] of i32, strided, contiguous along its last axis, in the default memory space, but got 'memref<?xi64>'}}
  winnow.remap_pages %s via %t into %p, %c {pages_per_block = 8, kv_heads = 1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x128xi32>, memref<?xi64>
  return
}

// -----

func.func @f(%s: !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
             %t: memref<?x?xi32>, %p: memref<?x128xi32>, %c: memref<?x1xi32>) {
  // expected-error@below {{'winnow.remap_pages' op operand #3 must be context lengths, a memref [rows * kv_heads] of i32, strided, contiguous along its last axis, in the default memory space, but got 'memref<?x1xi32>'}}
  winnow.remap_pages %s via %t into %p, %c {pages_per_block = 8, kv_heads = 1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x128xi32>, memref<?x1xi32>
  return
}

// -----

func.func @f(%s: !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
             %t: memref<?x?xi32>, %p: memref<?x128xi32>, %c: memref<?xi32, strided<[4]>>) {
  // expected-error@below {{'winnow.remap_pages' op operand #3 must be context lengths, a memref [rows * kv_heads] of i32, strided, contiguous along its last axis, in the default memory space, but got 'memref<?xi32, strided<[4]>>'}}
  winnow.remap_pages %s via %t into %p, %c {pages_per_block = 8, kv_heads = 1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x128xi32>, memref<?xi32, strided<[4]>>
  return
}
