// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: winnow-opt %s --winnow-verify-contract -split-input-file -verify-diagnostics

// Each limit of 'aiter_msa' broken alone, with its words, at the place that fixes
// the value. Some cannot be broken here: the dialect refuses kv heads that are no
// multiple of the index heads, tables of anything but i32, lengths that disagree
// with the query's rows, and keys of another number format than the query's; the
// score buffer is the plan's own. Those are for the runtime.

// Met, on every edge: nothing is said.
func.func @heads_times_query_len_at_16(
    %q: memref<?x4x128xf8E4M3FN>,
    %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>,
    %attn: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<4x?x16xi32>,
    %pages: memref<?x128xi32>,
    %ctx: memref<?xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 1048576, max_requests = 4},
                winnow.attention = {kv_heads = 8, page_size = 16}} {
  %rows = winnow.uniform_rows %lens {query_len = 4} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = max}
      : memref<?x4x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 4>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 4, heads = 4, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 4, heads = 4, block_size = 128, k = 16>,
        memref<4x?x16xi32>
  winnow.remap_pages %selection via %attn into %pages, %ctx
      {pages_per_block = 8, kv_heads = 8}
      : !winnow.selection<query_len = 4, heads = 4, block_size = 128, k = 16>,
        memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}

// -----

// An entry without a contract is held to nothing.
func.func @no_contract(
    %q: memref<?x1x128xf8E4M3FN>,
    %keys: memref<?x32x128xf8E4M3FN>,
    %table: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<1x?x3xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = max}
      : memref<?x1x128xf8E4M3FN>, memref<?x32x128xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 3}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 32>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 32, k = 3>,
        memref<1x?x3xi32>
  return
}

// -----

// expected-note@below {{'number_format' is held to the contract here}}
func.func @number_format(
    // expected-error@below {{contract 'aiter_msa', limit 'query_dtype': query element type is bf16, needed f8E4M3FN (query and index cache are multiplied as fp8 e4m3)}}
    %q: memref<?x1x128xbf16>,
    // expected-error@below {{contract 'aiter_msa', limit 'key_dtype': index cache element type is bf16, needed f8E4M3FN (query and index cache are multiplied as fp8 e4m3)}}
    %keys: memref<?x128x128xbf16>,
    %table: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = max}
      : memref<?x1x128xbf16>, memref<?x128x128xbf16>,
        memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<1x?x16xi32>
  return
}

// -----

// expected-note@below {{'reduction' is held to the contract here}}
func.func @reduction(
    %q: memref<?x1x128xf8E4M3FN>,
    %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  // expected-error@below {{contract 'aiter_msa', limit 'score_reduction': score reduction over tokens is sum, needed max (a block's score is the largest of its tokens' scores)}}
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = sum}
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<1x?x16xi32>
  return
}

// -----

// expected-note@below {{'top_k' is held to the contract here}}
func.func @top_k(
    %q: memref<?x1x128xf8E4M3FN>,
    %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<1x?x8xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = max}
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 1>
  // expected-error@below {{contract 'aiter_msa', limit 'k': top-k is 8 blocks, needed 16 blocks (AITER's top-k is compiled for one number of blocks)}}
  %selection = winnow.topk %scores {k = 8}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 8>,
        memref<1x?x8xi32>
  return
}

// -----

// expected-note@below {{'block_size' is held to the contract here}}
func.func @block_size(
    %q: memref<?x1x128xf8E4M3FN>,
    // expected-error@below {{contract 'aiter_msa', limit 'block_size': sparse block size is 64 tokens, needed 128 tokens (AITER's kernels are compiled for one block size)}}
    %keys: memref<?x64x128xf8E4M3FN>,
    %table: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = max}
      : memref<?x1x128xf8E4M3FN>, memref<?x64x128xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 64>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 64, k = 16>,
        memref<1x?x16xi32>
  return
}

// -----

// expected-note@below {{'head_dim' is held to the contract here}}
func.func @head_dim(
    // expected-error@below {{contract 'aiter_msa', limit 'head_dim': index head dim is 64, needed 128 (one MFMA covers the head dim)}}
    %q: memref<?x1x64xf8E4M3FN>,
    %keys: memref<?x128x64xf8E4M3FN>,
    %table: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = max}
      : memref<?x1x64xf8E4M3FN>, memref<?x128x64xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<1x?x16xi32>
  return
}

// -----

// expected-note@below {{'heads' is held to the contract here}}
func.func @heads(
    // expected-error@below {{contract 'aiter_msa', limit 'index_heads': index heads is 17, needed at most 16 (the MFMA has 16 columns)}}
    %q: memref<?x17x128xf8E4M3FN>,
    %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<17x?x16xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  // expected-error@below {{contract 'aiter_msa', limit 'columns': index heads x query length is 17 x 1 = 17, needed at most 16 (the MFMA has 16 columns, one for each pair of token and head)}}
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = max}
      : memref<?x17x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 1, heads = 17, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 17, block_size = 128, k = 16>,
        memref<17x?x16xi32>
  return
}

// -----

// expected-note@below {{'columns' is held to the contract here}}
func.func @columns(
    %q: memref<?x1x128xf8E4M3FN>,
    %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  // expected-error@below {{contract 'aiter_msa', limit 'columns': index heads x query length is 1 x 17 = 17, needed at most 16 (the MFMA has 16 columns, one for each pair of token and head)}}
  %rows = winnow.uniform_rows %lens {query_len = 17} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = max}
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 17>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 17, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 17, heads = 1, block_size = 128, k = 16>,
        memref<1x?x16xi32>
  return
}

// -----

// expected-note@below {{'three_heads_six_rows' is held to the contract here}}
func.func @three_heads_six_rows(
    %q: memref<?x3x128xf8E4M3FN>,
    %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<3x?x16xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  // expected-error@below {{contract 'aiter_msa', limit 'columns': index heads x query length is 3 x 6 = 18, needed at most 16 (the MFMA has 16 columns, one for each pair of token and head)}}
  %rows = winnow.uniform_rows %lens {query_len = 6} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = max}
      : memref<?x3x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 6>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 6, heads = 3, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 6, heads = 3, block_size = 128, k = 16>,
        memref<3x?x16xi32>
  return
}

// -----

// expected-error@below {{contract 'aiter_msa', limit 'max_blocks': blocks per row is 8193 (longest sequence 1048577 tokens, sparse block size 128 tokens), needed at most 8192 (the top-k keeps a row in 128 slots x 64 lanes)}}
func.func @blocks(
    %q: memref<?x1x128xf8E4M3FN>,
    %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 1048577, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = max}
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<1x?x16xi32>
  return
}

// -----

// expected-error@below {{contract 'aiter_msa', limit 'kv_heads_without_table': kv heads is 4, needed 1 (without an emitted page table one kv head reads the selection)}}
func.func @kv_heads_without_table(
    %q: memref<?x1x128xf8E4M3FN>,
    %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 4096, max_requests = 4},
                winnow.attention = {kv_heads = 4, page_size = 16}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = max}
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<1x?x16xi32>
  return
}

// -----

// expected-note@below {{'page_numbering' is held to the contract here}}
func.func @page_numbering(
    %q: memref<?x1x128xf8E4M3FN>,
    %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>,
    %attn: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<1x?x16xi32>,
    %pages: memref<?x64xi32>,
    %ctx: memref<?xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = max}
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<1x?x16xi32>
  // expected-error@below {{contract 'aiter_msa', limit 'page_numbering': emitted page size is 32 tokens (sparse block size 128 tokens, pages per block 4), needed 16 tokens (the paired attention reads pages of 16 tokens)}}
  winnow.remap_pages %selection via %attn into %pages, %ctx
      {pages_per_block = 4, kv_heads = 1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<?x?xi32>, memref<?x64xi32>, memref<?xi32>
  return
}

// -----

// expected-error@below {{contract 'aiter_msa', limit 'attention_pairing': page size that the attention reads is 64 tokens, needed 16 tokens (the attention must read the page-16 numbering of the emitted table)}}
func.func @pairing(
    %q: memref<?x1x128xf8E4M3FN>,
    %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>,
    %attn: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<1x?x16xi32>,
    %pages: memref<?x128xi32>,
    %ctx: memref<?xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 4096, max_requests = 4},
                winnow.attention = {kv_heads = 1, page_size = 64}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = max}
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<1x?x16xi32>
  winnow.remap_pages %selection via %attn into %pages, %ctx
      {pages_per_block = 8, kv_heads = 1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}

// -----

// expected-note@below {{'query_strides' is held to the contract here}}
func.func @query_strides(
    // expected-error@below {{contract 'aiter_msa', limit 'query_layout': query layout is strided, needed contiguous (the score kernels take no query strides)}}
    %q: memref<?x2x128xf8E4M3FN, strided<[512, 256, 1]>>,
    %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<2x?x16xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = max}
      : memref<?x2x128xf8E4M3FN, strided<[512, 256, 1]>>, memref<?x128x128xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 1, heads = 2, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 2, block_size = 128, k = 16>,
        memref<2x?x16xi32>
  return
}

// -----

// expected-note@below {{'unknown_query_strides' is held to the contract here}}
func.func @unknown_query_strides(
    // expected-error@below {{contract 'aiter_msa', limit 'query_layout': query layout is strided, needed contiguous (the score kernels take no query strides)}}
    %q: memref<?x1x128xf8E4M3FN, strided<[?, ?, 1]>>,
    %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = max}
      : memref<?x1x128xf8E4M3FN, strided<[?, ?, 1]>>, memref<?x128x128xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<1x?x16xi32>
  return
}

// -----

// expected-note@below {{'key_strides' is held to the contract here}}
func.func @key_strides(
    %q: memref<?x1x128xf8E4M3FN>,
    // expected-error@below {{contract 'aiter_msa', limit 'key_layout': index cache layout is strided, needed contiguous (the score kernels take no index cache strides)}}
    %keys: memref<?x128x128xf8E4M3FN, strided<[32768, 256, 1]>>,
    %table: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = max}
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN, strided<[32768, 256, 1]>>,
        memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<1x?x16xi32>
  return
}

// -----

// expected-note@below {{'index_table_rows' is held to the contract here}}
func.func @index_table_rows(
    %q: memref<?x1x128xf8E4M3FN>,
    %keys: memref<?x128x128xf8E4M3FN>,
    // expected-error@below {{contract 'aiter_msa', limit 'index_table_rows': index table rows is 8, needed equal to requests = 4 (each request has one index table row)}}
    %table: memref<8x?xi32>,
    %lens: memref<4xi32>,
    %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<4xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = max}
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>,
        memref<8x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<1x?x16xi32>
  return
}

// -----

// expected-note@below {{'attention_table_rows' is held to the contract here}}
func.func @attention_table_rows(
    %q: memref<4x1x128xf8E4M3FN>,
    %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<4x?xi32>,
    // expected-error@below {{contract 'aiter_msa', limit 'attention_table_rows': attention table rows is 8, needed equal to requests = 4 (each request has one attention table row)}}
    %attn: memref<8x?xi32>,
    %lens: memref<4xi32>,
    %idx: memref<1x?x16xi32>,
    %pages: memref<?x128xi32>,
    %ctx: memref<?xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<4xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = max}
      : memref<4x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>,
        memref<4x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<1x?x16xi32>
  winnow.remap_pages %selection via %attn into %pages, %ctx
      {pages_per_block = 8, kv_heads = 1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<8x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}

// -----

// The stride of an axis of extent 1 is never used; an offset moves the whole.
func.func @strides_of_one_row(
    %q: memref<?x1x128xf8E4M3FN, strided<[128, ?, 1]>>,
    %keys: memref<?x128x128xf8E4M3FN, strided<[16384, 128, 1], offset: ?>>,
    %table: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = max}
      : memref<?x1x128xf8E4M3FN, strided<[128, ?, 1]>>, memref<?x128x128xf8E4M3FN, strided<[16384, 128, 1], offset: ?>>,
        memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<1x?x16xi32>
  return
}

// -----

// expected-error@below {{contract 'aiter_msa', limit 'attention_kv_heads': kv heads that the attention reads is 4, needed equal to kv heads = 1 (the attention must read one table row for each kv head that the indexer emits)}}
func.func @attention_kv_heads(
    %q: memref<?x1x128xf8E4M3FN>,
    %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>,
    %attn: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %pages: memref<?x128xi32>,
    %ctx: memref<?xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 4096, max_requests = 4},
                winnow.attention = {kv_heads = 4, page_size = 16}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>, memref<?x?xi32>,
        !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.remap_pages %selection via %attn into %pages, %ctx
      {pages_per_block = 8, kv_heads = 1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}
