// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// New index keys into MiniMax-M3's index cache, bf16 to fp8. A negative slot is
// a token that has no place: padding, or one that another rank keeps.
func.func @insert_keys(%keys: memref<?x128xbf16>, %slots: memref<?xi32>,
                       %cache: memref<?x128x128xf8E4M3FN>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 1048576, max_requests = 256}} {
  winnow.insert_keys %keys, %slots, %cache
      : memref<?x128xbf16>, memref<?xi32>, memref<?x128x128xf8E4M3FN>
  return
}
