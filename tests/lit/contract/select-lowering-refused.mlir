// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: winnow-opt %s --winnow-select-lowering -split-input-file -verify-diagnostics

// A description that no lowering takes is refused with every reason, each at its
// own place.

// expected-error@below {{no lowering takes 'many_reasons'}}
// expected-note@below {{'mfma' refuses: contract 'winnow_mfma', limit 'max_blocks': blocks per row is 32769 (longest sequence 1572865 tokens, sparse block size 48 tokens), needed 1 to 32768 (the top-k keeps a row in 16 waves x 64 lanes x 32 slots)}}
func.func @many_reasons(
    // expected-note@below {{'mfma' refuses: contract 'winnow_mfma', limit 'query_dtype': query element type is bf16, needed f8E4M3FN (the kernels feed fp8 e4m3 to both sides of the MFMA)}}
    // expected-note@below {{'mfma' refuses: contract 'winnow_mfma', limit 'head_dim': index head dim is 64, needed 128 (one 16x16x128 MFMA covers the head dim)}}
    // expected-note@below {{'mfma' refuses: contract 'winnow_mfma', limit 'index_heads': index heads is 17, needed 1 to 16 (the MFMA has 16 rows for queries)}}
    // expected-note@below {{'mfma' refuses: contract 'winnow_mfma', limit 'query_layout': query layout is strided, needed contiguous (a lane reads 16 bytes of a query row at a fixed distance)}}
    %q: memref<?x17x64xbf16, strided<[2176, 128, 1]>>,
    // expected-note@below {{'mfma' refuses: contract 'winnow_mfma', limit 'key_dtype': index cache element type is bf16, needed f8E4M3FN (the kernels feed fp8 e4m3 to both sides of the MFMA)}}
    // expected-note@below {{'mfma' refuses: contract 'winnow_mfma', limit 'block_size': sparse block size is 48 tokens, needed one of 32, 64, 128, 256 tokens}}
    // expected-note@below {{'mfma' refuses: contract 'winnow_mfma', limit 'key_layout': index cache layout is strided, needed contiguous (a wave streams a block as one run of bytes)}}
    %keys: memref<?x48x64xbf16, strided<[6144, 128, 1]>>,
    %table: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<17x?x65xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1572865, max_requests = 4}} {
  // expected-note@below {{'mfma' refuses: contract 'winnow_mfma', limit 'queries': index heads x query length is 17 x 2 = 34, needed 1 to 16 (the MFMA has 16 rows, one for each pair of token and head)}}
  %rows = winnow.uniform_rows %lens {query_len = 2} : memref<?xi32>
  // expected-note@below {{'mfma' refuses: contract 'winnow_mfma', limit 'score_reduction': score reduction over tokens is sum, needed max (the kernels reduce a block's tokens by their maximum)}}
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = sum}
      : memref<?x17x64xbf16, strided<[2176, 128, 1]>>, memref<?x48x64xbf16, strided<[6144, 128, 1]>>,
        memref<?x?xi32>, !winnow.rows<query_len = 2>
  // expected-note@below {{'mfma' refuses: contract 'winnow_mfma', limit 'k': top-k is 65 blocks, needed 1 to 64 blocks (one wave of 64 lanes ranks the kept blocks)}}
  %selection = winnow.topk %scores {k = 65}
      : !winnow.scores<query_len = 2, heads = 17, block_size = 48>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 2, heads = 17, block_size = 48, k = 65>,
        memref<17x?x65xi32>
  return
}

// -----

// One entry that is refused keeps the others as they are.
func.func @fine(
    %q: memref<?x1x128xf8E4M3FN>,
    %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
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

// expected-error@below {{no lowering takes 'refused'}}
func.func @refused(
    %q: memref<?x1x128xf8E4M3FN>,
    %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<1x?x65xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = max}
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 1>
  // expected-note@below {{'mfma' refuses: contract 'winnow_mfma', limit 'k': top-k is 65 blocks, needed 1 to 64 blocks}}
  %selection = winnow.topk %scores {k = 65}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 65>,
        memref<1x?x65xi32>
  return
}
