// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `winnow.*` attributes and the functions that carry them.
// RUN: winnow-opt %s -verify-diagnostics -split-input-file

// Attributes that are not there, or not there.
// expected-error@below {{unknown attribute 'winnow.entri' on 'func.func'; known: winnow.entry, winnow.contract, winnow.bounds, winnow.attention, winnow.lowering, winnow.refusals, winnow.arch, winnow.facts, winnow.schedule, winnow.schedule_from, winnow.join}}
func.func private @f() attributes {winnow.entri}

// -----

// expected-error@below {{attribute 'winnow.bounds' belongs on 'func.func', found on 'builtin.module'}}
module attributes {winnow.bounds = {max_seq_len = 1, max_requests = 1}} {
}

// -----

func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{attribute 'winnow.entry' belongs on 'func.func', found on 'winnow.topk'}}
  %0 = winnow.topk %s {k = 16, winnow.entry} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{unknown attribute 'winnow.foo' on 'winnow.topk'; known: winnow.entry}}
  %0 = winnow.topk %s {k = 16, winnow.foo} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

// expected-error@below {{attribute 'winnow.lowering' belongs on an operation of the winnow dialect, found on 'func.func'}}
func.func private @f() attributes {winnow.lowering = "mfma"}

// -----

// expected-error@below {{unknown attribute 'winnow.role' on argument #1; known: winnow.entry}}
func.func private @f(i32, i32 {winnow.role = "keys"})

// -----

// expected-error@below {{unknown attribute 'winnow.role' on result #0; known: winnow.entry}}
func.func private @f() -> (i32 {winnow.role = "keys"})

// -----

// What each holds.
// expected-error@below {{attribute 'winnow.entry' has no value, found 1 : i64}}
func.func private @f() attributes {winnow.entry = 1 : i64}

// -----

// expected-error@below {{attribute 'winnow.contract' has to name a contract, found "aiter"; known: aiter_msa}}
func.func private @f() attributes {winnow.contract = "aiter"}

// -----

// expected-error@below {{attribute 'winnow.contract' has to name a contract, found 3 : i64; known: aiter_msa}}
func.func private @f() attributes {winnow.contract = 3}

// -----

// expected-error@below {{attribute 'winnow.contract' has to name a contract, found unit; known: aiter_msa}}
func.func private @f() attributes {winnow.contract}

// -----

// expected-error@below {{attribute 'winnow.bounds' has to be a dictionary of max_seq_len, max_requests, max_pages, max_query_len, max_rows, found 5 : i64}}
func.func private @f() attributes {winnow.bounds = 5}

// -----

// expected-error@below {{missing option 'max_requests' of 'winnow.bounds' (an integer from 1 to 2147483647)}}
func.func private @f() attributes {winnow.bounds = {max_seq_len = 1}}

// -----

// expected-error@below {{missing option 'max_seq_len' of 'winnow.bounds' (an integer from 1 to 2147483647)}}
func.func private @f() attributes {winnow.bounds = {max_requests = 1}}

// -----

// expected-error@below {{unknown option 'most_rows' of 'winnow.bounds'; known: max_seq_len, max_requests}}
func.func private @f() attributes {winnow.bounds = {max_seq_len = 1, max_requests = 1, most_rows = 1}}

// -----

// expected-error@below {{option 'max_seq_len' of 'winnow.bounds' has to be an integer from 1 to 2147483647, found 0 : i64}}
func.func private @f() attributes {winnow.bounds = {max_seq_len = 0, max_requests = 1}}

// -----

// expected-error@below {{option 'max_seq_len' of 'winnow.bounds' has to be an integer from 1 to 2147483647, found -1 : i64}}
func.func private @f() attributes {winnow.bounds = {max_seq_len = -1, max_requests = 1}}

// -----

// expected-error@below {{option 'max_seq_len' of 'winnow.bounds' has to be an integer from 1 to 2147483647, found 2147483648 : i64}}
func.func private @f() attributes {winnow.bounds = {max_seq_len = 2147483648, max_requests = 1}}

// -----

// expected-error@below {{option 'max_requests' of 'winnow.bounds' has to be an integer from 1 to 2147483647, found 1 : i32}}
func.func private @f() attributes {winnow.bounds = {max_seq_len = 1, max_requests = 1 : i32}}

// -----

// expected-error@below {{option 'max_requests' of 'winnow.bounds' has to be an integer from 1 to 2147483647, found "many"}}
func.func private @f() attributes {winnow.bounds = {max_seq_len = 1, max_requests = "many"}}

// -----

// expected-error@below {{attribute 'winnow.attention' has to be a dictionary of kv_heads, page_size, block_pages, found "page-16"}}
func.func private @f() attributes {winnow.attention = "page-16"}

// -----

// expected-error@below {{option 'page_size' of 'winnow.attention' has to be an integer from 1 to 65536, found 0 : i64}}
func.func private @f() attributes {winnow.attention = {kv_heads = 1, page_size = 0}}

// -----

// expected-error@below {{missing option 'kv_heads' of 'winnow.attention' (an integer from 1 to 65536)}}
func.func private @f() attributes {winnow.attention = {page_size = 16}}

// -----

// expected-error@below {{unknown option 'pages' of 'winnow.attention'; known: kv_heads, page_size}}
func.func private @f() attributes {winnow.attention = {kv_heads = 1, page_size = 16, pages = 1}}

// -----

// Without an entry they would be ignored.
// expected-error@below {{attribute 'winnow.contract' needs 'winnow.entry' on the same function}}
func.func private @f() attributes {winnow.contract = "aiter_msa"}

// -----

// expected-error@below {{attribute 'winnow.bounds' needs 'winnow.entry' on the same function}}
func.func private @f() attributes {winnow.bounds = {max_seq_len = 1, max_requests = 1}}

// -----

// expected-error@below {{attribute 'winnow.attention' needs 'winnow.entry' on the same function}}
func.func private @f() attributes {winnow.attention = {kv_heads = 1, page_size = 16}}

// -----

// Names that generated source cannot use.
// expected-error@below {{an entry has to be named by a C identifier, which its kernels are named after, found 'm3-decode'}}
func.func @"m3-decode"(%a: memref<?xi32>) attributes {winnow.entry, winnow.bounds = {max_seq_len = 1024, max_requests = 4}} {
  return
}

// -----

// expected-error@below {{an entry's name has at most 100 characters, for files are named after it; found 101}}
func.func @long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_x(%a: memref<?xi32>) attributes {winnow.entry, winnow.bounds = {max_seq_len = 1024, max_requests = 4}} {
  return
}

// -----

// expected-error@below {{an entry has to be named by a C identifier, which its kernels are named after, found '3m'}}
func.func @"3m"(%a: memref<?xi32>) attributes {winnow.entry, winnow.bounds = {max_seq_len = 1024, max_requests = 4}} {
  return
}

// -----

// What an entry looks like.
// expected-error@below {{entry 'f' needs a body, found a declaration}}
func.func private @f() attributes {winnow.entry, winnow.bounds = {max_seq_len = 1024, max_requests = 4}}

// -----

func.func @f(%a: memref<?xi32>,
             // expected-error@below {{argument #1 of entry 'f' has to be a memref, found 'i32'}}
             %n: i32) attributes {winnow.entry, winnow.bounds = {max_seq_len = 1024, max_requests = 4}} {
  return
}

// -----

func.func @f(
    // expected-error@below {{argument #0 of entry 'f' has to be a memref, found '!winnow.rows<query_len = 1>'}}
    %r: !winnow.rows<query_len = 1>) attributes {winnow.entry, winnow.bounds = {max_seq_len = 1024, max_requests = 4}} {
  return
}

// -----

// expected-error@below {{entry 'f' has to have no results, found 'memref<?xi32>'}}
func.func @f(%a: memref<?xi32>) -> memref<?xi32> attributes {winnow.entry, winnow.bounds = {max_seq_len = 1024, max_requests = 4}} {
  return %a : memref<?xi32>
}

// -----

// expected-error@below {{entry 'f' needs 'winnow.bounds' = {max_seq_len, max_requests}}}
func.func @f(%a: memref<?xi32>) attributes {winnow.entry} {
  return
}

// -----

// expected-error@below {{the body of entry 'f' has to be one block, found 2}}
func.func @f(%a: memref<?xi32>) attributes {winnow.entry, winnow.bounds = {max_seq_len = 1024, max_requests = 4}} {
  return
^unreachable:
  return
}

// -----

// expected-note@below {{the entry is here}}
func.func @f(%a: memref<?xi32>) attributes {winnow.entry, winnow.bounds = {max_seq_len = 1024, max_requests = 4}} {
  // expected-error@below {{an entry holds operations of the winnow dialect only, found 'arith.constant'}}
  %0 = arith.constant 0 : i32
  return
}

// -----

// Nothing to do.
// expected-error@below {{entry 'f' writes nothing: it needs a winnow.store_selection, winnow.remap_pages or winnow.store_candidates}}
func.func @f(%a: memref<?xi32>) attributes {winnow.entry, winnow.bounds = {max_seq_len = 1024, max_requests = 4}} {
  %rows = winnow.uniform_rows %a {query_len = 1} : memref<?xi32>
  return
}

// -----

// One writer for each memref.
func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x128x64xbf16>, %t: memref<?x?xi32>, %lens: memref<?xi32>,
             %m: memref<1x?x16xi32>, %p: memref<?x?xi32>, %c: memref<?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 16385, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x128x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %s = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  // expected-note@below {{the other write is here}}
  winnow.store_selection %s, %m : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>
  // expected-error@below {{'winnow.store_selection' op writes a memref of type 'memref<1x?x16xi32>' that is written already}}
  winnow.store_selection %s, %m : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>
  return
}

// -----

func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x128x64xbf16>, %t: memref<?x?xi32>, %lens: memref<?xi32>,
             %m: memref<1x?x16xi32>, %p: memref<?x?xi32>, %c: memref<?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 16385, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x128x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %s = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  // expected-note@below {{the other write is here}}
  winnow.remap_pages %s via %t into %p, %c {pages_per_block = 1, kv_heads = 1} : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x?xi32>, memref<?xi32>
  // expected-error@below {{'winnow.remap_pages' op writes a memref of type 'memref<?x?xi32>' that is written already}}
  winnow.remap_pages %s via %t into %p, %c {pages_per_block = 1, kv_heads = 1} : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x?xi32>, memref<?xi32>
  return
}

// -----

// No memref is both input and output.
func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x128x64xbf16>, %t: memref<?x?xi32>, %lens: memref<?xi32>,
             %m: memref<1x?x16xi32>, %p: memref<?x?xi32>, %c: memref<?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 16385, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  // expected-note@below {{the read is here}}
  %scores = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x128x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %s = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  // expected-error@below {{'winnow.remap_pages' op writes a memref of type 'memref<?x?xi32>' that is read as well}}
  winnow.remap_pages %s via %p into %t, %c {pages_per_block = 1, kv_heads = 1} : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x?xi32>, memref<?xi32>
  return
}

// -----

func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x128x64xbf16>, %t: memref<?x?xi32>, %lens: memref<?xi32>,
             %m: memref<1x?x16xi32>, %p: memref<?x?xi32>, %c: memref<?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 16385, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x128x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %s = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  // expected-error@below {{'winnow.remap_pages' op writes a memref of type 'memref<?x?xi32>' that is read as well}}
  // expected-note@below {{the read is here}}
  winnow.remap_pages %s via %p into %p, %c {pages_per_block = 1, kv_heads = 1} : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x?xi32>, memref<?xi32>
  return
}

// -----

func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x128x64xbf16>, %t: memref<?x?xi32>, %lens: memref<?xi32>,
             %m: memref<1x?x16xi32>, %p: memref<?x?xi32>, %c: memref<?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 16385, max_requests = 4}} {
  // expected-note@below {{the read is here}}
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x128x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %s = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  // expected-error@below {{'winnow.remap_pages' op writes a memref of type 'memref<?xi32>' that is read as well}}
  winnow.remap_pages %s via %t into %p, %lens {pages_per_block = 1, kv_heads = 1} : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x?xi32>, memref<?xi32>
  return
}

// -----

// Static extents that the bounds exceed: 16385 tokens are 129 blocks.
// expected-note@below {{max_seq_len is given here}}
func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x128x64xbf16>, %t: memref<?x128xi32>, %lens: memref<?xi32>,
             %m: memref<1x?x16xi32>, %p: memref<?x128xi32>, %c: memref<?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 16385, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  // expected-error@below {{'winnow.block_score' op axis 1 of index_table has to be at least 129 (16385 tokens in blocks of 128), found 128 in 'memref<?x128xi32>'}}
  %scores = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x128x64xbf16>, memref<?x128xi32>, !winnow.rows<query_len = 1>
  %s = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %s, %m : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>
  return
}

// -----

// expected-note@below {{max_requests is given here}}
func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x128x64xbf16>, %t: memref<?x?xi32>, %lens: memref<5xi32>,
             %m: memref<1x?x16xi32>, %p: memref<?x?xi32>, %c: memref<?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 16385, max_requests = 4}} {
  // expected-error@below {{'winnow.uniform_rows' op axis 0 of lens (requests) has to be at most max_requests, 4, found 5 in 'memref<5xi32>'}}
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<5xi32>
  %scores = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x128x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %s = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %s, %m : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>
  return
}

// -----

// expected-note@below {{max_seq_len is given here}}
func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x128x64xbf16>, %t: memref<?x?xi32>, %at: memref<?x128xi32>,
             %lens: memref<?xi32>, %p: memref<?x16xi32>, %c: memref<?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 2147483647, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %k[%t] on %rows
      : memref<?x1x64xbf16>, memref<?x128x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %s = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  // expected-error@below {{'winnow.remap_pages' op axis 1 of attention_table has to be at least 16777216 (2147483647 tokens in blocks of 128), found 128 in 'memref<?x128xi32>'}}
  winnow.remap_pages %s via %at into %p, %c {pages_per_block = 1, kv_heads = 1} : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x128xi32>, memref<?x16xi32>, memref<?xi32>
  return
}

// -----

// Where a caller's tensor starts and how it steps: what no call can give.
func.func @f(
    // expected-error@below {{argument #0 of entry 'f' has offset 16, wanted none or ?: a caller gives the address of the first element, found 'memref<?x8xi32, strided<[8, 1], offset: 16>>'}}
    %in: memref<?x8xi32, strided<[8, 1], offset: 16>>, %out: memref<?x8xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1, max_requests = 1}} {
  winnow.rebase_table %in, %out {sides = 2}
      : memref<?x8xi32, strided<[8, 1], offset: 16>>, memref<?x8xi32>
  return
}

// -----

func.func @f(
    %in: memref<?x8xi32, strided<[?, 1], offset: ?>>,
    // expected-error@below {{argument #1 of entry 'f' has stride -8 along axis 0, wanted one from 0 up or ?, found 'memref<?x8xi32, strided<[-8, 1], offset: ?>>'}}
    %out: memref<?x8xi32, strided<[-8, 1], offset: ?>>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1, max_requests = 1}} {
  winnow.rebase_table %in, %out {sides = 2}
      : memref<?x8xi32, strided<[?, 1], offset: ?>>, memref<?x8xi32, strided<[-8, 1], offset: ?>>
  return
}
