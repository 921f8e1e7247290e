// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: winnow-opt %s --winnow-select-lowering -split-input-file -verify-diagnostics

// What no lowering takes is refused with every reason of every lowering, each at
// its own place; what one takes is not mentioned.

// expected-error@below {{no lowering takes 'too_many_blocks'}}
// expected-note@below {{'mfma' refuses 'winnow.topk': contract 'winnow_mfma', limit 'max_blocks': blocks per row of a shard is 2147483647 (longest sequence 2147483647 tokens, sparse block size 1 token, shards of the blocks 1), needed 1 to 32768 (the top-k keeps a row in 16 waves x 64 lanes x 32 slots)}}
// expected-note@below {{'generic' refuses 'winnow.topk': contract 'winnow_generic', limit 'max_blocks': blocks per row is 2147483647 (longest sequence 2147483647 tokens, sparse block size 1 token), needed 1 to 1073741824 (the width of the score buffer is a 32-bit number)}}
// expected-note@below {{'generic' refuses 'winnow.block_score': contract 'winnow_generic', limit 'max_blocks': blocks per row is 2147483647}}
func.func @too_many_blocks(
    // expected-note@below {{'mfma' refuses 'winnow.block_score': contract 'winnow_mfma', limit 'query_dtype': query element type is f8E5M2, needed}}
    // expected-note@below {{'mfma' refuses 'winnow.block_score': contract 'winnow_mfma', limit 'head_dim': index head dim is 64, needed 128}}
    %q: memref<?x1x64xf8E5M2>,
    // expected-note@below {{'mfma' refuses 'winnow.block_score': contract 'winnow_mfma', limit 'key_dtype': index cache element type is f8E5M2, needed}}
    // expected-note@below {{'mfma' refuses 'winnow.block_score': contract 'winnow_mfma', limit 'block_size': sparse block size is 1 token, needed one of 32, 64, 128, 256 tokens}}
    %keys: memref<?x1x64xf8E5M2>,
    %table: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<1x?x65xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 2147483647, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 2} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x64xf8E5M2>, memref<?x1x64xf8E5M2>, memref<?x?xi32>, !winnow.rows<query_len = 2>
  // expected-note@below {{'mfma' refuses 'winnow.topk': contract 'winnow_mfma', limit 'k': top-k is 65 blocks, needed 1 to 64 blocks}}
  %selection = winnow.topk %scores {k = 65}
      : !winnow.scores<query_len = 2, heads = 1, block_size = 1>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 2, heads = 1, block_size = 1, k = 65>,
        memref<1x?x65xi32>
  return
}

// -----

// A lowering that the description asks for is given or refused, never replaced.
// expected-error@below {{no lowering takes 'asked'}}
func.func @asked(
    %q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>, %lens: memref<?xi32>, %idx: memref<1x?x65xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 1>
  // expected-note@below {{'mfma' refuses 'winnow.topk': contract 'winnow_mfma', limit 'k': top-k is 65 blocks, needed 1 to 64 blocks}}
  // expected-note@below {{'generic' refuses 'winnow.topk': the description asks for 'mfma'}}
  %selection = winnow.topk %scores {k = 65, winnow.lowering = "mfma"}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 65>,
        memref<1x?x65xi32>
  return
}

// -----

// expected-error@below {{no lowering takes 'misspelt'}}
func.func @misspelt(
    %q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>, %lens: memref<?xi32>, %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  // expected-error@below {{there is no lowering 'quantum'; known: mfma, mma, generic}}
  // expected-note@below {{'mfma' refuses 'winnow.block_score': the description asks for 'quantum'}}
  // expected-note@below {{'generic' refuses 'winnow.block_score': the description asks for 'quantum'}}
  %scores = winnow.block_score %q, %keys[%table] on %rows {winnow.lowering = "quantum"}
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

// The program as a whole: a value that nothing reads.
func.func @unread(
    %q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>, %lens: memref<?xi32>, %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  // expected-error@below {{'winnow.topk' makes a value that nothing reads: store it, emit a page table of it, or leave the operation out}}
  %other = winnow.topk %scores {k = 8}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<1x?x16xi32>
  return
}

// -----

// An attention that reads pages of 16 tokens, which nothing emits.
// expected-error@below {{contract 'winnow_program', limit 'page_table_missing': page size that the attention reads is 16 tokens, needed equal to sparse block size = 128 (without a remap_pages the attention is given block numbers, and its pages have to be the blocks)}}
func.func @page_table_missing(
    %q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>, %lens: memref<?xi32>, %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4},
                winnow.attention = {kv_heads = 1, page_size = 16}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
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

// A page table in another numbering and for other heads than the attention's:
// nobody could read it.
// expected-error@below {{contract 'winnow_program', limit 'page_size': page size that the attention reads is 64 tokens, needed equal to emitted page size = 16 (the attention has to read the numbering that remap_pages emits)}}
// expected-error@below {{contract 'winnow_program', limit 'kv_heads': kv heads that the attention reads is 4, needed equal to kv heads = 1 (the attention has to read one table row for each kv head that remap_pages emits)}}
func.func @another_table(
    %q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>, %lens: memref<?xi32>, %pages: memref<?x128xi32>, %ctx: memref<?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4},
                winnow.attention = {kv_heads = 4, page_size = 64}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.remap_pages %selection via %table into %pages, %ctx {pages_per_block = 8, kv_heads = 1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}
