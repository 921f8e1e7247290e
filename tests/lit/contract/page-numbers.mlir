// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The largest page number has to fit int32; max_pages says how many blocks the
// attention's cache has. The last page of the last kv head of the last block is
// max_pages * pages_per_block * kv_heads - 1.
// RUN: winnow-opt %s --winnow-select-lowering -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @fits
// CHECK: winnow.remap_pages {{.*}}winnow.lowering = "mfma"
func.func @fits(%q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>, %lens: memref<?xi32>, %pages: memref<?x128xi32>, %ctx: memref<?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4, max_pages = 268435456}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.remap_pages %selection via %table into %pages, %ctx {pages_per_block = 8, kv_heads = 1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}

// -----

// expected-error@below {{no lowering takes 'too_many'}}
// expected-note@below {{'mfma' refuses 'winnow.remap_pages': contract 'winnow_mfma', limit 'page_numbers': blocks of the attention's cache x pages per block x kv heads is 268435457 x 8 x 1 = 2147483656, needed at most 2147483648 (page numbers are 32-bit)}}
// expected-note@below {{'generic' refuses 'winnow.remap_pages': contract 'winnow_generic', limit 'page_numbers': blocks of the attention's cache x pages per block x kv heads is 268435457 x 8 x 1 = 2147483656, needed at most 2147483648 (page numbers are 32-bit)}}
func.func @too_many(%q: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>, %lens: memref<?xi32>, %pages: memref<?x128xi32>, %ctx: memref<?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4, max_pages = 268435457}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.remap_pages %selection via %table into %pages, %ctx {pages_per_block = 8, kv_heads = 1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}
