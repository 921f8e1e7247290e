// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: winnow-opt %s --winnow-verify-contract -split-input-file -verify-diagnostics

// A description that breaks many limits hears about all of them.

// expected-note@below {{'all_at_once' is held to the contract here}}
// expected-error@below {{contract 'aiter_msa', limit 'max_blocks': blocks per row is 16385 (longest sequence 1048577 tokens, sparse block size 64 tokens), needed at most 8192 (the top-k keeps a row in 128 slots x 64 lanes)}}
// expected-error@below {{contract 'aiter_msa', limit 'attention_pairing': page size that the attention reads is 64 tokens, needed 16 tokens (the attention must read the page-16 numbering of the emitted table)}}
func.func @all_at_once(
    // expected-error@below {{contract 'aiter_msa', limit 'query_dtype': query element type is f16, needed f8E4M3FN (query and index cache are multiplied as fp8 e4m3)}}
    // expected-error@below {{contract 'aiter_msa', limit 'head_dim': index head dim is 64, needed 128 (one MFMA covers the head dim)}}
    // expected-error@below {{contract 'aiter_msa', limit 'index_heads': index heads is 20, needed at most 16 (the MFMA has 16 columns)}}
    // expected-error@below {{contract 'aiter_msa', limit 'query_layout': query layout is strided, needed contiguous (the score kernels take no query strides)}}
    %q: memref<?x20x64xf16, strided<[2560, 128, 1]>>,
    // expected-error@below {{contract 'aiter_msa', limit 'key_dtype': index cache element type is f16, needed f8E4M3FN (query and index cache are multiplied as fp8 e4m3)}}
    // expected-error@below {{contract 'aiter_msa', limit 'block_size': sparse block size is 64 tokens, needed 128 tokens (AITER's kernels are compiled for one block size)}}
    // expected-error@below {{contract 'aiter_msa', limit 'key_layout': index cache layout is strided, needed contiguous (the score kernels take no index cache strides)}}
    %keys: memref<?x64x64xf16, strided<[8192, 128, 1]>>,
    // expected-error@below {{contract 'aiter_msa', limit 'index_table_rows': index table rows is 5, needed equal to requests = 4 (each request has one index table row)}}
    %table: memref<5x?xi32>,
    // expected-error@below {{contract 'aiter_msa', limit 'attention_table_rows': attention table rows is 6, needed equal to requests = 4 (each request has one attention table row)}}
    %attn: memref<6x?xi32>,
    %lens: memref<4xi32>,
    %idx: memref<20x?x8xi32>,
    %pages: memref<?x64xi32>,
    %ctx: memref<?xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 1048577, max_requests = 4},
                winnow.attention = {kv_heads = 20, page_size = 64}} {
  // expected-error@below {{contract 'aiter_msa', limit 'columns': index heads x query length is 20 x 2 = 40, needed at most 16 (the MFMA has 16 columns, one for each pair of token and head)}}
  %rows = winnow.uniform_rows %lens {query_len = 2} : memref<4xi32>
  // expected-error@below {{contract 'aiter_msa', limit 'score_reduction': score reduction over tokens is mean, needed max (a block's score is the largest of its tokens' scores)}}
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = mean}
      : memref<?x20x64xf16, strided<[2560, 128, 1]>>, memref<?x64x64xf16, strided<[8192, 128, 1]>>,
        memref<5x?xi32>, !winnow.rows<query_len = 2>
  // expected-error@below {{contract 'aiter_msa', limit 'k': top-k is 8 blocks, needed 16 blocks (AITER's top-k is compiled for one number of blocks)}}
  %selection = winnow.topk %scores {k = 8}
      : !winnow.scores<query_len = 2, heads = 20, block_size = 64>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 2, heads = 20, block_size = 64, k = 8>,
        memref<20x?x8xi32>
  // expected-error@below {{contract 'aiter_msa', limit 'page_numbering': emitted page size is 8 tokens (sparse block size 64 tokens, pages per block 8), needed 16 tokens (the paired attention reads pages of 16 tokens)}}
  winnow.remap_pages %selection via %attn into %pages, %ctx
      {pages_per_block = 8, kv_heads = 20}
      : !winnow.selection<query_len = 2, heads = 20, block_size = 64, k = 8>,
        memref<6x?xi32>, memref<?x64xi32>, memref<?xi32>
  return
}

// -----

// Every entry of a module is held to its own contract.
// expected-note@below {{'first' is held to the contract here}}
func.func @first(
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

// expected-note@below {{'second' is held to the contract here}}
func.func @second(
    %q: memref<?x1x128xf8E4M3FN>,
    %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  // expected-error@below {{contract 'aiter_msa', limit 'columns': index heads x query length is 1 x 20 = 20, needed at most 16 (the MFMA has 16 columns, one for each pair of token and head)}}
  %rows = winnow.uniform_rows %lens {query_len = 20} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = max}
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 20>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 20, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 20, heads = 1, block_size = 128, k = 16>,
        memref<1x?x16xi32>
  return
}
