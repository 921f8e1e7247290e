// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables, slots and keys that do not fit, and writes in the wrong order.
// RUN: winnow-opt %s -verify-diagnostics -split-input-file

func.func @f(%in: memref<4x7xi32>, %out: memref<4x6xi32>) {
  // expected-error@below {{'winnow.rebase_table' op axis 1 of output has to be at least 7, that of input, found 6 in 'memref<4x6xi32>' for 'memref<4x7xi32>'}}
  winnow.rebase_table %in, %out {sides = 2} : memref<4x7xi32>, memref<4x6xi32>
  return
}

// -----

func.func @f(%in: memref<?x7xi32>, %out: memref<?x7xi32, strided<[4, 1]>>) {
  // expected-error@below {{'winnow.rebase_table' op the rows of output overlap: axis 0 has stride 4 and a row 7 entries}}
  winnow.rebase_table %in, %out {sides = 2} : memref<?x7xi32>, memref<?x7xi32, strided<[4, 1]>>
  return
}

// -----

func.func @f(%in: memref<?x7xi32>) {
  // expected-error@below {{option 'sides' of 'winnow.rebase_table' has to be an integer from 1 to 1024, found 0}}
  winnow.rebase_table %in, %in {sides = 0} : memref<?x7xi32>, memref<?x7xi32>
  return
}

// -----

func.func @f(%in: memref<9xi32>, %out: memref<8xi32>) {
  // expected-error@below {{'winnow.rebase_slots' op axis 0 of output has to be at least 9, that of input, found 8 in 'memref<8xi32>' for 'memref<9xi32>'}}
  winnow.rebase_slots %in, %out {sides = 2, block_size = 128} : memref<9xi32>, memref<8xi32>
  return
}

// -----

func.func @f(%in: memref<9xi32>) {
      // expected-error@below {{missing option 'block_size' of 'winnow.rebase_slots' (an integer from 1 to 65536)}}
  winnow.rebase_slots %in, %in {sides = 2} : memref<9xi32>, memref<9xi32>
  return
}

// -----

func.func @f(%k: memref<?x64xbf16>, %s: memref<?xi32>, %c: memref<?x32x128xbf16>) {
  // expected-error@below {{'winnow.insert_keys' op axis 2 of cache (head dim) has to be that of the keys, 64 in 'memref<?x64xbf16>', found 128 in 'memref<?x32x128xbf16>'}}
  winnow.insert_keys %k, %s, %c : memref<?x64xbf16>, memref<?xi32>, memref<?x32x128xbf16>
  return
}

// -----

func.func @f(%k: memref<?x60xbf16>, %s: memref<?xi32>, %c: memref<?x32x60xbf16>) {
  // expected-error@below {{'winnow.insert_keys' op axis 1 of keys (head dim) has to be a multiple of 8 from 8 to 4096, found 60 in 'memref<?x60xbf16>'}}
  winnow.insert_keys %k, %s, %c : memref<?x60xbf16>, memref<?xi32>, memref<?x32x60xbf16>
  return
}

// -----

func.func @f(%k: memref<?x64xbf16>, %s: memref<?xi32>, %c: memref<?x?x64xbf16>) {
  // expected-error@below {{'winnow.insert_keys' op axis 1 of cache (tokens of a block) has to be an integer from 1 to 65536, found ? in 'memref<?x?x64xbf16>'}}
  winnow.insert_keys %k, %s, %c : memref<?x64xbf16>, memref<?xi32>, memref<?x?x64xbf16>
  return
}

// -----

func.func @f(%k: memref<7x64xbf16>, %s: memref<8xi32>, %c: memref<?x32x64xbf16>) {
  // expected-error@below {{'winnow.insert_keys' op keys and slots have to be as many, found 7 in 'memref<7x64xbf16>' and 8 in 'memref<8xi32>'}}
  winnow.insert_keys %k, %s, %c : memref<7x64xbf16>, memref<8xi32>, memref<?x32x64xbf16>
  return
}

// -----

func.func @f(%k: memref<?x64xbf16>, %s: memref<?xi32>, %c: memref<?x32x64xbf16, strided<[1024, 32, 1]>>) {
  // expected-error@below {{'winnow.insert_keys' op the rows of cache overlap}}
  winnow.insert_keys %k, %s, %c : memref<?x64xbf16>, memref<?xi32>, memref<?x32x64xbf16, strided<[1024, 32, 1]>>
  return
}

// -----

func.func @f(%k: memref<?x64xbf16>, %s: memref<?xi32>, %c: memref<?x32x64xf8E5M2>) {
  // expected-error@below {{'winnow.insert_keys' op operand #2 must be a key cache, a memref [pages, block_size, head_dim] of f8E4M3FN or bf16 or f16}}
  winnow.insert_keys %k, %s, %c : memref<?x64xbf16>, memref<?xi32>, memref<?x32x64xf8E5M2>
  return
}

// -----

func.func @f(%k: memref<?x64xf8E4M3FN>, %s: memref<?xi32>, %c: memref<?x32x64xbf16>) {
  // expected-error@below {{'winnow.insert_keys' op operand #0 must be new keys, a memref [tokens, head_dim] of f32 or bf16 or f16}}
  winnow.insert_keys %k, %s, %c : memref<?x64xf8E4M3FN>, memref<?xi32>, memref<?x32x64xbf16>
  return
}

// -----

// A read before the write would be of other memory.
func.func @f(%slots: memref<?xi32>, %keys: memref<?x64xbf16>, %cache: memref<?x32x64xf8E4M3FN>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  // expected-note@below {{the read is here}}
  winnow.insert_keys %keys, %slots, %cache : memref<?x64xbf16>, memref<?xi32>, memref<?x32x64xf8E4M3FN>
  // expected-error@below {{'winnow.rebase_slots' op writes a memref of type 'memref<?xi32>' that is read as well}}
  winnow.rebase_slots %slots, %slots {sides = 2, block_size = 32} : memref<?xi32>, memref<?xi32>
  return
}

// -----

func.func @f(%slots: memref<?xi32>, %other: memref<?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  // expected-note@below {{the other write is here}}
  winnow.rebase_slots %slots, %other {sides = 2, block_size = 32} : memref<?xi32>, memref<?xi32>
  // expected-error@below {{'winnow.rebase_slots' op writes a memref of type 'memref<?xi32>' that is written already}}
  winnow.rebase_slots %slots, %other {sides = 2, block_size = 32} : memref<?xi32>, memref<?xi32>
  return
}

// -----

// Numbers past 32 bits.
// expected-note@below {{max_pages is given here}}
func.func @f(%table: memref<?x?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4, max_pages = 1073741825}} {
  // expected-error@below {{'winnow.rebase_table' op makes numbers up to max_pages * sides = 2147483650, more than the 2147483648 that 32 bits hold}}
  winnow.rebase_table %table, %table {sides = 2} : memref<?x?xi32>, memref<?x?xi32>
  return
}

// -----

// expected-note@below {{max_pages is given here}}
func.func @f(%slots: memref<?xi32>)
    attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, max_requests = 4, max_pages = 8388609}} {
  // expected-error@below {{'winnow.rebase_slots' op makes numbers up to max_pages * block_size * sides = 2147483904, more than the 2147483648 that 32 bits hold}}
  winnow.rebase_slots %slots, %slots {sides = 2, block_size = 128} : memref<?xi32>, memref<?xi32>
  return
}
