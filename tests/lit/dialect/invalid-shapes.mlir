// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Extents and facts that have to agree, and do not.
// RUN: winnow-opt %s -verify-diagnostics -split-input-file

// The facts that scores carry.
func.func @f(%q: memref<?x64xbf16>, %k: memref<?x32x64xbf16>,
             %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op query has to be a memref [rows, heads, head_dim], found 'memref<?x64xbf16>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x64xbf16>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x64xbf16>,
             %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op keys have to be a memref [pages, block_size, head_dim], found 'memref<?x64xbf16>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%q: memref<?x?x64xbf16>, %k: memref<?x32x64xbf16>,
             %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op axis 1 of query (index heads) has to be an integer from 1 to 128, found ? in 'memref<?x?x64xbf16>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x?x64xbf16>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%q: memref<?x0x64xbf16>, %k: memref<?x32x64xbf16>,
             %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op axis 1 of query (index heads) has to be an integer from 1 to 128, found 0 in 'memref<?x0x64xbf16>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x0x64xbf16>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%q: memref<?x129x64xbf16>, %k: memref<?x32x64xbf16>,
             %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op axis 1 of query (index heads) has to be an integer from 1 to 128, found 129 in 'memref<?x129x64xbf16>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x129x64xbf16>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x?x64xbf16>,
             %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op axis 1 of keys (tokens of a block) has to be an integer from 1 to 65536, found ? in 'memref<?x?x64xbf16>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x?x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x0x64xbf16>,
             %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op axis 1 of keys (tokens of a block) has to be an integer from 1 to 65536, found 0 in 'memref<?x0x64xbf16>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x0x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x65537x64xbf16>,
             %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op axis 1 of keys (tokens of a block) has to be an integer from 1 to 65536, found 65537 in 'memref<?x65537x64xbf16>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x65537x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

// Number formats that differ.
func.func @f(%q: memref<?x1x64xbf16>,
             // expected-note@below {{the keys come from here}}
             %k: memref<?x32x64xf16>,
             %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op query and keys have to be of one number format, found 'bf16' and 'f16'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x32x64xf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

// Head dims.
func.func @f(%q: memref<?x1x?xbf16>, %k: memref<?x32x64xbf16>,
             %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op axis 2 of query (head dim) has to be a multiple of 8 from 8 to 4096, found ? in 'memref<?x1x?xbf16>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x?xbf16>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%q: memref<?x1x0xbf16>, %k: memref<?x32x64xbf16>,
             %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op axis 2 of query (head dim) has to be a multiple of 8 from 8 to 4096, found 0 in 'memref<?x1x0xbf16>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x0xbf16>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%q: memref<?x1x60xbf16>, %k: memref<?x32x64xbf16>,
             %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op axis 2 of query (head dim) has to be a multiple of 8 from 8 to 4096, found 60 in 'memref<?x1x60xbf16>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x60xbf16>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%q: memref<?x1x4104xbf16>, %k: memref<?x32x64xbf16>,
             %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op axis 2 of query (head dim) has to be a multiple of 8 from 8 to 4096, found 4104 in 'memref<?x1x4104xbf16>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x4104xbf16>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(
    // expected-note@below {{the query comes from here}}
    %q: memref<?x1x64xbf16>,
    %k: memref<?x32x128xbf16>, %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op axis 2 of keys (head dim) has to be that of the query, 64, found 128 in 'memref<?x32x128xbf16>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x32x128xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(
    // expected-note@below {{the query comes from here}}
    %q: memref<?x1x64xbf16>,
    %k: memref<?x32x?xbf16>, %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{'winnow.block_score' op axis 2 of keys (head dim) has to be that of the query, 64, found ? in 'memref<?x32x?xbf16>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x32x?xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

// Rows and requests.
func.func @f(%q: memref<12x1x64xbf16>, %k: memref<?x32x64xbf16>, %t: memref<?x?xi32>, %lens: memref<4xi32>) {
  // expected-note@below {{the requests are counted here}}
  %rows = winnow.uniform_rows %lens {query_len = 2} : memref<4xi32>
  // expected-error@below {{'winnow.block_score' op axis 0 of query has to be 8 (4 requests of query_len rows), found 12 in 'memref<12x1x64xbf16>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<12x1x64xbf16>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 2>
  return
}

// -----

func.func @f(%q: memref<8x1x64xbf16>, %k: memref<?x32x64xbf16>, %t: memref<3x?xi32>, %lens: memref<4xi32>) {
  // expected-note@below {{the requests are counted here}}
  %rows = winnow.uniform_rows %lens {query_len = 2} : memref<4xi32>
  // expected-error@below {{'winnow.block_score' op axis 0 of index_table has to be at least the number of requests, 4, found 3 in 'memref<3x?xi32>'}}
  %0 = winnow.block_score %q, %k[%t] on %rows
      : memref<8x1x64xbf16>, memref<?x32x64xbf16>, memref<3x?xi32>, !winnow.rows<query_len = 2>
  return
}

// -----

// Layouts that are taken for each other.
func.func @f(// expected-note@below {{the selection is made here}}
             %s: !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>,
             %m: memref<?x4x16xi32>) {
  // expected-error@below {{'winnow.store_selection' op axis 0 of indices (index heads, with layout = head_major) has to be that of the selection, 4, found ? in 'memref<?x4x16xi32>'}}
  winnow.store_selection %s, %m  : !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>, memref<?x4x16xi32>
  return
}

// -----

func.func @f(// expected-note@below {{the selection is made here}}
             %s: !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>,
             %m: memref<4x?x16xi32>) {
  // expected-error@below {{'winnow.store_selection' op axis 1 of indices (index heads, with layout = token_major) has to be that of the selection, 4, found ? in 'memref<4x?x16xi32>'}}
  winnow.store_selection %s, %m {layout = token_major} : !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>, memref<4x?x16xi32>
  return
}

// -----

func.func @f(// expected-note@below {{the selection is made here}}
             %s: !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>,
             %m: memref<2x?x16xi32>) {
  // expected-error@below {{'winnow.store_selection' op axis 0 of indices (index heads, with layout = head_major) has to be that of the selection, 4, found 2 in 'memref<2x?x16xi32>'}}
  winnow.store_selection %s, %m  : !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>, memref<2x?x16xi32>
  return
}

// -----

func.func @f(// expected-note@below {{the selection is made here}}
             %s: !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>,
             %m: memref<4x?x32xi32>) {
  // expected-error@below {{'winnow.store_selection' op axis 2 of indices (k, with layout = head_major) has to be that of the selection, 16, found 32 in 'memref<4x?x32xi32>'}}
  winnow.store_selection %s, %m  : !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>, memref<4x?x32xi32>
  return
}

// -----

func.func @f(// expected-note@below {{the selection is made here}}
             %s: !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>,
             %m: memref<4x?x?xi32>) {
  // expected-error@below {{'winnow.store_selection' op axis 2 of indices (k, with layout = head_major) has to be that of the selection, 16, found ? in 'memref<4x?x?xi32>'}}
  winnow.store_selection %s, %m  : !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>, memref<4x?x?xi32>
  return
}

// -----

// Rows that share memory.
func.func @f(%s: !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>,
             %m: memref<4x?x16xi32, strided<[?, 8, 1]>>) {
  // expected-error@below {{'winnow.store_selection' op the rows of indices overlap: axis 1 has stride 8 and a row 16 entries, in 'memref<4x?x16xi32, strided<[?, 8, 1]>>'}}
  winnow.store_selection %s, %m  : !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>, memref<4x?x16xi32, strided<[?, 8, 1]>>
  return
}

// -----

func.func @f(%s: !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>,
             %m: memref<4x?x16xi32, strided<[0, 16, 1]>>) {
  // expected-error@below {{'winnow.store_selection' op the rows of indices overlap: axis 0 has stride 0 and a row 16 entries, in 'memref<4x?x16xi32, strided<[0, 16, 1]>>'}}
  winnow.store_selection %s, %m  : !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>, memref<4x?x16xi32, strided<[0, 16, 1]>>
  return
}

// -----

func.func @f(%s: !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>,
             %m: memref<4x?x16xi32, strided<[-15, 16, 1]>>) {
  // expected-error@below {{'winnow.store_selection' op the rows of indices overlap: axis 0 has stride -15 and a row 16 entries, in 'memref<4x?x16xi32, strided<[-15, 16, 1]>>'}}
  winnow.store_selection %s, %m  : !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>, memref<4x?x16xi32, strided<[-15, 16, 1]>>
  return
}

// -----

// Rows, all the way from the requests.
func.func @f(%q: memref<8x1x64xbf16>, %k: memref<?x128x64xbf16>, %t: memref<4x?xi32>, %lens: memref<4xi32>,
             %m: memref<1x4x16xi32>) {
  // expected-note@below {{the requests are counted here}}
  %rows = winnow.uniform_rows %lens {query_len = 2} : memref<4xi32>
  %scores = winnow.block_score %q, %k[%t] on %rows
      : memref<8x1x64xbf16>, memref<?x128x64xbf16>, memref<4x?xi32>, !winnow.rows<query_len = 2>
  %s = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 2, heads = 1, block_size = 128>
  // expected-error@below {{'winnow.store_selection' op axis 1 of indices has to be 8 (4 requests of query_len rows), found 4 in 'memref<1x4x16xi32>'}}
  winnow.store_selection %s, %m : !winnow.selection<query_len = 2, heads = 1, block_size = 128, k = 16>, memref<1x4x16xi32>
  return
}

// -----

func.func @f(%q: memref<8x1x64xbf16>, %k: memref<?x128x64xbf16>, %t: memref<4x?xi32>, %lens: memref<4xi32>,
             %m: memref<4x1x16xi32>) {
  // expected-note@below {{the requests are counted here}}
  %rows = winnow.uniform_rows %lens {query_len = 2} : memref<4xi32>
  %scores = winnow.block_score %q, %k[%t] on %rows
      : memref<8x1x64xbf16>, memref<?x128x64xbf16>, memref<4x?xi32>, !winnow.rows<query_len = 2>
  %s = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 2, heads = 1, block_size = 128>
  // expected-error@below {{'winnow.store_selection' op axis 0 of indices has to be 8 (4 requests of query_len rows), found 4 in 'memref<4x1x16xi32>'}}
  winnow.store_selection %s, %m {layout = token_major} : !winnow.selection<query_len = 2, heads = 1, block_size = 128, k = 16>, memref<4x1x16xi32>
  return
}

// -----

func.func @f(%q: memref<8x1x64xbf16>, %k: memref<?x128x64xbf16>, %t: memref<4x?xi32>, %lens: memref<4xi32>,
             %at: memref<?x?xi32>, %p: memref<8x128xi32>, %c: memref<?xi32>) {
  // expected-note@below {{the requests are counted here}}
  %rows = winnow.uniform_rows %lens {query_len = 2} : memref<4xi32>
  %scores = winnow.block_score %q, %k[%t] on %rows
      : memref<8x1x64xbf16>, memref<?x128x64xbf16>, memref<4x?xi32>, !winnow.rows<query_len = 2>
  %s = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 2, heads = 1, block_size = 128>
  // expected-error@below {{'winnow.remap_pages' op axis 0 of pages has to be 16 (4 requests of query_len rows of kv_heads), found 8 in 'memref<8x128xi32>'}}
  winnow.remap_pages %s via %at into %p, %c {pages_per_block = 8, kv_heads = 2}
      : !winnow.selection<query_len = 2, heads = 1, block_size = 128, k = 16>, memref<?x?xi32>, memref<8x128xi32>, memref<?xi32>
  return
}

// -----

func.func @f(%q: memref<8x1x64xbf16>, %k: memref<?x128x64xbf16>, %t: memref<4x?xi32>, %lens: memref<4xi32>,
             %at: memref<?x?xi32>, %p: memref<?x128xi32>, %c: memref<8xi32>) {
  // expected-note@below {{the requests are counted here}}
  %rows = winnow.uniform_rows %lens {query_len = 2} : memref<4xi32>
  %scores = winnow.block_score %q, %k[%t] on %rows
      : memref<8x1x64xbf16>, memref<?x128x64xbf16>, memref<4x?xi32>, !winnow.rows<query_len = 2>
  %s = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 2, heads = 1, block_size = 128>
  // expected-error@below {{'winnow.remap_pages' op axis 0 of context_lens has to be 16 (4 requests of query_len rows of kv_heads), found 8 in 'memref<8xi32>'}}
  winnow.remap_pages %s via %at into %p, %c {pages_per_block = 8, kv_heads = 2}
      : !winnow.selection<query_len = 2, heads = 1, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x128xi32>, memref<8xi32>
  return
}

// -----

func.func @f(%q: memref<8x1x64xbf16>, %k: memref<?x128x64xbf16>, %t: memref<4x?xi32>, %lens: memref<4xi32>,
             %at: memref<2x?xi32>, %p: memref<?x128xi32>, %c: memref<?xi32>) {
  // expected-note@below {{the requests are counted here}}
  %rows = winnow.uniform_rows %lens {query_len = 2} : memref<4xi32>
  %scores = winnow.block_score %q, %k[%t] on %rows
      : memref<8x1x64xbf16>, memref<?x128x64xbf16>, memref<4x?xi32>, !winnow.rows<query_len = 2>
  %s = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 2, heads = 1, block_size = 128>
  // expected-error@below {{'winnow.remap_pages' op axis 0 of attention_table has to be at least the number of requests, 4, found 2 in 'memref<2x?xi32>'}}
  winnow.remap_pages %s via %at into %p, %c {pages_per_block = 8, kv_heads = 2}
      : !winnow.selection<query_len = 2, heads = 1, block_size = 128, k = 16>, memref<2x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}

// -----

// kv heads that the index heads cannot serve evenly.
func.func @f(// expected-note@below {{the selection is made here}}
             %s: !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>,
             %t: memref<?x?xi32>, %p: memref<?x128xi32>, %c: memref<?xi32>) {
  // expected-error@below {{'winnow.remap_pages' op kv_heads has to be a multiple of the selection's index heads, 4, found 6}}
  winnow.remap_pages %s via %t into %p, %c {pages_per_block = 8, kv_heads = 6}
      : !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}

// -----

func.func @f(// expected-note@below {{the selection is made here}}
             %s: !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>,
             %t: memref<?x?xi32>, %p: memref<?x128xi32>, %c: memref<?xi32>) {
  // expected-error@below {{'winnow.remap_pages' op kv_heads has to be a multiple of the selection's index heads, 4, found 2}}
  winnow.remap_pages %s via %t into %p, %c {pages_per_block = 8, kv_heads = 2}
      : !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}

// -----

// Pages that do not fill a block.
func.func @f(// expected-note@below {{the selection is made here}}
             %s: !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>,
             %t: memref<?x?xi32>, %p: memref<?x128xi32>, %c: memref<?xi32>) {
  // expected-error@below {{'winnow.remap_pages' op pages_per_block has to divide the selection's block size, 128, found 3}}
  winnow.remap_pages %s via %t into %p, %c {pages_per_block = 3, kv_heads = 4}
      : !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}

// -----

func.func @f(// expected-note@below {{the selection is made here}}
             %s: !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>,
             %t: memref<?x?xi32>, %p: memref<?x128xi32>, %c: memref<?xi32>) {
  // expected-error@below {{'winnow.remap_pages' op pages_per_block has to divide the selection's block size, 128, found 256}}
  winnow.remap_pages %s via %t into %p, %c {pages_per_block = 256, kv_heads = 4}
      : !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}

// -----

// A page table that is too narrow.
func.func @f(%s: !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>,
             %t: memref<?x?xi32>, %p: memref<?x127xi32>, %c: memref<?xi32>) {
  // expected-error@below {{'winnow.remap_pages' op axis 1 of pages has to be at least k * pages_per_block = 16 * 8 = 128, found 127 in 'memref<?x127xi32>'}}
  winnow.remap_pages %s via %t into %p, %c {pages_per_block = 8, kv_heads = 4}
      : !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x127xi32>, memref<?xi32>
  return
}

// -----

// Two counts of the same rows.
func.func @f(%s: !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>,
             %t: memref<?x?xi32>, %p: memref<32x128xi32>, %c: memref<16xi32>) {
  // expected-error@below {{'winnow.remap_pages' op pages and context_lens have to have one row for each (row, kv head), found 32 in 'memref<32x128xi32>' and 16 in 'memref<16xi32>'}}
  winnow.remap_pages %s via %t into %p, %c {pages_per_block = 8, kv_heads = 4}
      : !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>, memref<?x?xi32>, memref<32x128xi32>, memref<16xi32>
  return
}

// -----

// Rows that share memory.
func.func @f(%s: !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>,
             %t: memref<?x?xi32>, %p: memref<?x128xi32, strided<[100, 1]>>, %c: memref<?xi32>) {
  // expected-error@below {{'winnow.remap_pages' op the rows of pages overlap: axis 0 has stride 100 and a row 128 entries, in 'memref<?x128xi32, strided<[100, 1]>>'}}
  winnow.remap_pages %s via %t into %p, %c {pages_per_block = 8, kv_heads = 4}
      : !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x128xi32, strided<[100, 1]>>, memref<?xi32>
  return
}
