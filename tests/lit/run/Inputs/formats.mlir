// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys of every format into caches of every format, through slots that are
// rebased first, for a cache whose pages hold two sides.
func.func @formats(%in: memref<?xi32>, %slots: memref<?xi32>,
                   %a: memref<?x64xf32>, %b: memref<?x64xbf16>, %c: memref<?x8xf16>, %d: memref<?x40xf32>,
                   %fp8: memref<?x32x64xf8E4M3FN>, %bf16: memref<?x32x64xbf16>, %f16: memref<?x32x8xf16>,
                   %wide: memref<?x32x40xf16>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  winnow.rebase_slots %in, %slots {block_size = 32, sides = 2} : memref<?xi32>, memref<?xi32>
  winnow.insert_keys %a, %slots, %fp8 : memref<?x64xf32>, memref<?xi32>, memref<?x32x64xf8E4M3FN>
  winnow.insert_keys %b, %slots, %bf16 : memref<?x64xbf16>, memref<?xi32>, memref<?x32x64xbf16>
  winnow.insert_keys %c, %slots, %f16 : memref<?x8xf16>, memref<?xi32>, memref<?x32x8xf16>
  winnow.insert_keys %d, %slots, %wide : memref<?x40xf32>, memref<?xi32>, memref<?x32x40xf16>
  return
}
