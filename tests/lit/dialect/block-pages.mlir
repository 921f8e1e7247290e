// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a block spans in the attention's cache is held against what remap_pages
// numbers through its table.
// RUN: winnow-opt %s -verify-diagnostics -split-input-file

// 8 pages a block through a table scaled by 2: 16.
func.func @fits(%s: memref<?x1x64xbf16>, %k: memref<?x128x64xbf16>, %t: memref<?x?xi32>, %lens: memref<?xi32>,
                %at: memref<?x?xi32>, %p: memref<?x?xi32>, %c: memref<?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4},
                winnow.attention = {kv_heads = 1, page_size = 16, block_pages = 16}} {
  winnow.rebase_table %at, %at {sides = 2} : memref<?x?xi32>, memref<?x?xi32>
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %s, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x128x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %sel = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.remap_pages %sel via %at into %p, %c {pages_per_block = 8, kv_heads = 1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x?xi32>, memref<?xi32>
  return
}

// -----

// A table that another entry has scaled.
func.func @scaled_before(%s: memref<?x1x64xbf16>, %k: memref<?x128x64xbf16>, %t: memref<?x?xi32>, %lens: memref<?xi32>,
                %at: memref<?x?xi32>, %p: memref<?x?xi32>, %c: memref<?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4},
                winnow.attention = {kv_heads = 1, page_size = 16, block_pages = 16}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %s, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x128x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %sel = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.remap_pages %sel via %at into %p, %c {pages_per_block = 8, kv_heads = 1, table_sides = 2}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x?xi32>, memref<?xi32>
  return
}

// -----

// The scaled table goes elsewhere.
// expected-note@below {{block_pages is given here}}
func.func @unscaled(%s: memref<?x1x64xbf16>, %k: memref<?x128x64xbf16>, %t: memref<?x?xi32>, %lens: memref<?xi32>,
                %at: memref<?x?xi32>, %other: memref<?x?xi32>, %p: memref<?x?xi32>, %c: memref<?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4},
                winnow.attention = {kv_heads = 1, page_size = 16, block_pages = 16}} {
  winnow.rebase_table %at, %other {sides = 2} : memref<?x?xi32>, memref<?x?xi32>
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %s, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x128x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %sel = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  // expected-error@below {{'winnow.remap_pages' op numbers 8 pages a block (pages_per_block = 8, times a table scaled by 1), but the attention's block_pages is 16}}
  winnow.remap_pages %sel via %at into %p, %c {pages_per_block = 8, kv_heads = 1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x?xi32>, memref<?xi32>
  return
}

// -----

// expected-note@below {{max_pages is given here}}
func.func @large(%s: memref<?x1x64xbf16>, %k: memref<?x128x64xbf16>, %t: memref<?x?xi32>, %lens: memref<?xi32>,
                %at: memref<?x?xi32>, %p: memref<?x?xi32>, %c: memref<?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4, max_pages = 134217729}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %s, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x128x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %sel = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  // expected-error@below {{'winnow.remap_pages' op makes numbers up to max_pages * sides * pages_per_block * kv_heads = 2147483664, more than the 2147483648 that 32 bits hold}}
  winnow.remap_pages %sel via %at into %p, %c {pages_per_block = 8, kv_heads = 1, table_sides = 2}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x?xi32>, memref<?xi32>
  return
}

// -----

// expected-error@below {{option 'block_pages' of 'winnow.attention' has to be an integer from 1 to 67108864, found 0 : i64}}
func.func private @f() attributes {winnow.entry, winnow.attention = {kv_heads = 1, page_size = 16, block_pages = 0}}
