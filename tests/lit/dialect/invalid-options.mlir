// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every way in which options in braces and facts in angle brackets can be wrong.
// RUN: winnow-opt %s -verify-diagnostics -split-input-file

// An unknown option.
func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{unknown option 'foo' of 'winnow.topk'; known: k, ties, order}}
  %0 = winnow.topk %s {k = 16, foo = 1} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

// Twice the same.
func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{option 'k' of 'winnow.topk' is given twice}}
  %0 = winnow.topk %s {k = 16, ties = lowest_block, k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

// Twice the same discardable attribute.
func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{attribute 'winnow.lowering' of 'winnow.topk' is given twice}}
  %0 = winnow.topk %s {k = 16, winnow.lowering = "a", winnow.lowering = "b"} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

// A missing one; the place is where it could have stood.
func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  %0 = winnow.topk %s {ties = lowest_block
    // expected-error@below {{missing option 'k' of 'winnow.topk' (an integer from 1 to 2048)}}
    } : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

// No braces at all.
func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{missing option 'k' of 'winnow.topk' (an integer from 1 to 2048)}}
  %0 = winnow.topk %s  : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

// Empty braces.
func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{missing option 'k' of 'winnow.topk' (an integer from 1 to 2048)}}
  %0 = winnow.topk %s {} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

// Values out of range.
func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{option 'k' of 'winnow.topk' has to be an integer from 1 to 2048, found 0}}
  %0 = winnow.topk %s {k = 0} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{option 'k' of 'winnow.topk' has to be an integer from 1 to 2048, found 2049}}
  %0 = winnow.topk %s {k = 2049} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{option 'k' of 'winnow.topk' has to be an integer from 1 to 2048, found -16}}
  %0 = winnow.topk %s {k = -16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

// More than 64 bits, and a number that 64 bits would wrap to 16.
func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{option 'k' of 'winnow.topk' has to be an integer from 1 to 2048, found 18446744073709551632}}
  %0 = winnow.topk %s {k = 18446744073709551632} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

// Each option is checked where it stands.
func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  %0 = winnow.topk %s {
    ties = lowest_block,
    // expected-error@below {{option 'order' of 'winnow.topk' has to be one of score_descending, ascending, found 'descending'}}
    order = descending,
    k = 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

// Wrong kinds of value.
func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{option 'k' of 'winnow.topk' has to be an integer from 1 to 2048, found 'max'}}
  %0 = winnow.topk %s {k = max} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{option 'k' of 'winnow.topk' has to be an integer from 1 to 2048, found '"16"'}}
  %0 = winnow.topk %s {k = "16"} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{option 'k' of 'winnow.topk' has to be an integer from 1 to 2048, found '1.500000e+00 : f64'}}
  %0 = winnow.topk %s {k = 1.5} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{option 'k' of 'winnow.topk' has to be an integer from 1 to 2048, found no value}}
  %0 = winnow.topk %s {k = } : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{option 'k' of 'winnow.topk' has to be an integer from 1 to 2048, found '[16]'}}
  %0 = winnow.topk %s {k = [16]} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{option 'ties' of 'winnow.topk' has to be one of highest_block, lowest_block, found 1}}
  %0 = winnow.topk %s {k = 16, ties = 1} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{option 'ties' of 'winnow.topk' has to be one of highest_block, lowest_block, found '"lowest_block"'}}
  %0 = winnow.topk %s {k = 16, ties = "lowest_block"} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

// No name.
func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{expected the name of an option of 'winnow.topk'; known: k, ties, order}}
  %0 = winnow.topk %s {16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{expected the name of an option of 'winnow.topk'; known: k, ties, order}}
  %0 = winnow.topk %s {k = 16,} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

// No equals sign.
func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{expected '='}}
  %0 = winnow.topk %s {k 16} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

// A typed integer.
func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{expected '}'}}
  %0 = winnow.topk %s {k = 16 : i32} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

// Values that are wrong by themselves.
func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{expected integer value}}
  %0 = winnow.topk %s {k = -max} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{expected ',' or ']'}}
  %0 = winnow.topk %s {k = [1 2]} : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

func.func @f(%s: !winnow.scores<query_len = 1, heads = 1, block_size = 128>) {
  // expected-error@below {{expected attribute value}}
  %0 = winnow.topk %s {k = 16, winnow.lowering = } : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  return
}

// -----

// Every other option of every other operation.
func.func @f(%lens: memref<?xi32>) {
  // expected-error@below {{option 'query_len' of 'winnow.uniform_rows' has to be an integer from 1 to 65536, found 65537}}
  %0 = winnow.uniform_rows %lens {query_len = 65537} : memref<?xi32>
  return
}

// -----

func.func @f(%lens: memref<?xi32>) {
  // expected-error@below {{unknown option 'k' of 'winnow.uniform_rows'; known: query_len}}
  %0 = winnow.uniform_rows %lens {k = 1} : memref<?xi32>
  return
}

// -----

func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x32x64xbf16>, %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{option 'reduce' of 'winnow.block_score' has to be one of max, sum, mean, found 'min'}}
  %0 = winnow.block_score %q, %k[%t] on %rows {reduce = min}
      : memref<?x1x64xbf16>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x32x64xbf16>, %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{option 'init_blocks' of 'winnow.block_score' has to be an integer from 0 to 2147483647, found -1}}
  %0 = winnow.block_score %q, %k[%t] on %rows {init_blocks = -1}
      : memref<?x1x64xbf16>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x32x64xbf16>, %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{option 'local_blocks' of 'winnow.block_score' has to be an integer from 0 to 2147483647, found 2147483648}}
  %0 = winnow.block_score %q, %k[%t] on %rows {local_blocks = 2147483648}
      : memref<?x1x64xbf16>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%q: memref<?x1x64xbf16>, %k: memref<?x32x64xbf16>, %t: memref<?x?xi32>, %rows: !winnow.rows<query_len = 1>) {
  // expected-error@below {{unknown option 'causal' of 'winnow.block_score'; known: reduce, init_blocks, local_blocks, rank, world}}
  %0 = winnow.block_score %q, %k[%t] on %rows {causal = 1}
      : memref<?x1x64xbf16>, memref<?x32x64xbf16>, memref<?x?xi32>, !winnow.rows<query_len = 1>
  return
}

// -----

func.func @f(%s: !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, %m: memref<1x?x16xi32>) {
  // expected-error@below {{option 'layout' of 'winnow.store_selection' has to be one of head_major, token_major, found 'row_major'}}
  winnow.store_selection %s, %m {layout = row_major} : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>
  return
}

// -----

func.func @f(%s: !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, %m: memref<1x?x16xi32>) {
  // expected-error@below {{option 'pad' of 'winnow.store_selection' has to be -1 or 0, found -2}}
  winnow.store_selection %s, %m {pad = -2} : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>
  return
}

// -----

func.func @f(%s: !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, %m: memref<1x?x16xi32>) {
  // expected-error@below {{unknown option 'order' of 'winnow.store_selection'; known: layout, pad}}
  winnow.store_selection %s, %m {order = ascending} : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<1x?x16xi32>
  return
}

// -----

func.func @f(%s: !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, %t: memref<?x?xi32>, %p: memref<?x128xi32>, %c: memref<?xi32>) {
  // expected-error@below {{option 'pages_per_block' of 'winnow.remap_pages' has to be an integer from 1 to 65536, found 0}}
  winnow.remap_pages %s via %t into %p, %c {pages_per_block = 0, kv_heads = 1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}

// -----

func.func @f(%s: !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, %t: memref<?x?xi32>, %p: memref<?x128xi32>, %c: memref<?xi32>) {
  // expected-error@below {{option 'kv_heads' of 'winnow.remap_pages' has to be an integer from 1 to 65536, found 65537}}
  winnow.remap_pages %s via %t into %p, %c {pages_per_block = 8, kv_heads = 65537}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}

// -----

func.func @f(%s: !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, %t: memref<?x?xi32>, %p: memref<?x128xi32>, %c: memref<?xi32>) {
  // expected-error@below {{option 'pad' of 'winnow.remap_pages' has to be -1 or 0, found 1}}
  winnow.remap_pages %s via %t into %p, %c {pages_per_block = 8, kv_heads = 1, pad = 1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}

// -----

func.func @f(%s: !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, %t: memref<?x?xi32>, %p: memref<?x128xi32>, %c: memref<?xi32>) {
  // expected-error@below {{unknown option 'heads' of 'winnow.remap_pages'; known: pages_per_block, kv_heads, pad, table_sides}}
  winnow.remap_pages %s via %t into %p, %c {pages_per_block = 8, heads = 1}
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}

// -----

func.func @f(%s: !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, %t: memref<?x?xi32>, %p: memref<?x128xi32>, %c: memref<?xi32>) {
  winnow.remap_pages %s via %t into %p, %c {kv_heads = 1
      // expected-error@below {{missing option 'pages_per_block' of 'winnow.remap_pages' (an integer from 1 to 65536)}}
      }
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}

// -----

func.func @f(%s: !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, %t: memref<?x?xi32>, %p: memref<?x128xi32>, %c: memref<?xi32>) {
  winnow.remap_pages %s via %t into %p, %c {pages_per_block = 8
      // expected-error@below {{missing option 'kv_heads' of 'winnow.remap_pages' (an integer from 1 to 65536)}}
      }
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>, memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}

// -----

// The facts of types are options too.
// expected-error@below {{option 'query_len' of '!winnow.rows' has to be an integer from 1 to 65536, or 'ragged' alone, found 0}}
func.func private @f(!winnow.rows<query_len = 0>)

// -----

// expected-error@below {{unknown option 'q' of '!winnow.rows'; known: query_len}}
func.func private @f(!winnow.rows<q = 1>)

// -----

// expected-error@below {{missing option 'query_len' of '!winnow.rows' (an integer from 1 to 65536, or 'ragged' alone)}}
func.func private @f(!winnow.rows<>)

// -----

// expected-error@below {{missing option 'query_len' of '!winnow.rows' (an integer from 1 to 65536, or 'ragged' alone)}}
func.func private @f(!winnow.rows)

// -----

// expected-error@below {{expected the name of an option of '!winnow.rows'; known: query_len}}
func.func private @f(!winnow.rows<1>)

// -----

// No discardable attributes on a type.
// expected-error@below {{unknown option 'other.x' of '!winnow.rows'; known: query_len}}
func.func private @f(!winnow.rows<query_len = 1, other.x = 1>)

// -----

// expected-error@below {{option 'heads' of '!winnow.scores' has to be an integer from 1 to 128, found 129}}
func.func private @f(!winnow.scores<query_len = 1, heads = 129, block_size = 128>)

// -----

// expected-error@below {{option 'block_size' of '!winnow.scores' has to be an integer from 1 to 65536, found 65537}}
func.func private @f(!winnow.scores<query_len = 1, heads = 1, block_size = 65537>)

// -----

// expected-error@below {{missing option 'block_size' of '!winnow.scores' (an integer from 1 to 65536)}}
func.func private @f(!winnow.scores<query_len = 1, heads = 1>)

// -----

// expected-error@below {{option 'k' of '!winnow.selection' has to be an integer from 1 to 2048, found 'sixteen'}}
func.func private @f(!winnow.selection<query_len = 1, heads = 1, block_size = 128, k = sixteen>)

// -----

// expected-error@below {{option 'heads' of '!winnow.selection' is given twice}}
func.func private @f(!winnow.selection<query_len = 1, heads = 1, heads = 1, block_size = 128, k = 16>)

// -----

// A type that is not there.
// expected-error@below {{unknown  type `row` in dialect `winnow`}}
func.func private @f(!winnow.row<query_len = 1>)
