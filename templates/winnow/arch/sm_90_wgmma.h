// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The matrix instructions of sm_90 that four warps execute together (wgmma, of
// which code has to be for sm_90a): those of one warp reach about 60 % of their
// rate. Queries are operand A, in registers; keys are operand B and stay in
// local memory. Sections named here are those of the PTX ISA 9.0.
#pragma once

#include "winnow/arch/sm_90.h"

namespace winnow {

/// Where keys are, for the matrix units: the lower word of their descriptor is
/// the address in units of 16 bytes, the upper one says that patterns of eight
/// rows are 1024 bytes apart and swizzled by 128 bytes ("Matrix Descriptor
/// Format"). The compiler is told that all lanes agree on it: between products
/// it would else move a new one to scalar registers.
inline constexpr u32 kKeyDescriptor = 1u << 30 | 1024 / 16;
WINNOW_DEVICE u32 describe_keys(const void *local) {
  return read_first_lane(local_address(local) / 16);
}

/// What the matrix units read and write is ordered after what came before.
WINNOW_DEVICE void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
/// Products from the last end of some to here come together.
WINNOW_DEVICE void end_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// multiply_step() is one step of 16 elements: 64 queries, 16 of each warp,
// times 16, 32 or 64 tokens. Lane l has the sums of rows l / 4 and l / 4 + 8
// with the tokens 8 * j + 2 * (l % 4) and the next, four numbers for each j
// ("Register Fragments", matrix D). The first step writes the sums, the others
// add to them. await_products() waits until all but the last `Pending` groups
// of products are there, of which `sum` is one that is.
//
// An instruction names all its registers, so that for each number of tokens
// there is one to write out: the sums, then 4 words of queries, then the two of
// the descriptor.
#define WINNOW_FOUR(constraint, i)                                             \
  constraint(sum[i]), constraint(sum[i + 1]), constraint(sum[i + 2]),          \
      constraint(sum[i + 3])
#define WINNOW_EIGHT(constraint, i)                                            \
  WINNOW_FOUR(constraint, i), WINNOW_FOUR(constraint, i + 4)
#define WINNOW_SIXTEEN(constraint, i)                                          \
  WINNOW_EIGHT(constraint, i), WINNOW_EIGHT(constraint, i + 8)
#define WINNOW_ALL_16(constraint) WINNOW_EIGHT(constraint, 0)
#define WINNOW_ALL_32(constraint) WINNOW_SIXTEEN(constraint, 0)
#define WINNOW_ALL_64(constraint)                                              \
  WINNOW_SIXTEEN(constraint, 0), WINNOW_SIXTEEN(constraint, 16)
#define WINNOW_OPERANDS_16                                                     \
  "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, "                     \
  "keys, adds, 1, 1, 0;"
#define WINNOW_UPPER_16 "{%12, %13}"
#define WINNOW_OPERANDS_32                                                     \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, "                   \
  "%13, %14, %15}, {%16, %17, %18, %19}, keys, adds, 1, 1, "                   \
  "0;"
#define WINNOW_UPPER_32 "{%20, %21}"
#define WINNOW_OPERANDS_64                                                     \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, "                   \
  "%13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "                    \
  "%24, %25, %26, %27, %28, %29, %30, %31}, {%32, %33, %34, "                  \
  "%35}, keys, adds, 1, 1, 0;"
#define WINNOW_UPPER_64 "{%36, %37}"
#define WINNOW_MULTIPLY(tokens, type, constraint, adds)                        \
  asm volatile("{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, " adds ", 0;\n\t"   \
               ".reg .b64 keys;\n\tmov.b64 keys, " WINNOW_UPPER_##tokens       \
               ";\n\t"                                                         \
               "wgmma.mma_async.sync.aligned.m64n" #tokens "k16.f32." type     \
               "." type " " WINNOW_OPERANDS_##tokens "\n\t}"                   \
               : WINNOW_ALL_##tokens(constraint)                               \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(keys),        \
                 "n"(kKeyDescriptor))

/// Whether the elements are bf16; else they are f16 or have become that.
template <class Element> inline constexpr bool kIsBf16 = false;
template <> inline constexpr bool kIsBf16<bf16> = true;

#define WINNOW_PENDING_16 "%8"
#define WINNOW_PENDING_32 "%16"
#define WINNOW_PENDING_64 "%32"

#define WINNOW_PRODUCTS(tokens)                                                \
  template <class Element, bool Adds>                                          \
  WINNOW_DEVICE void multiply_step(const u32(&a)[4], u32 keys,                 \
                                   float (&sum)[tokens / 2]) {                 \
    if constexpr (kIsBf16<Element> && Adds)                                    \
      WINNOW_MULTIPLY(tokens, "bf16", "+f", "1");                              \
    else if constexpr (kIsBf16<Element>)                                       \
      WINNOW_MULTIPLY(tokens, "bf16", "=f", "0");                              \
    else if constexpr (Adds)                                                   \
      WINNOW_MULTIPLY(tokens, "f16", "+f", "1");                               \
    else                                                                       \
      WINNOW_MULTIPLY(tokens, "f16", "=f", "0");                               \
  }                                                                            \
  template <i32 Pending>                                                       \
  WINNOW_DEVICE void await_products(float (&sum)[tokens / 2]) {                \
    asm volatile("wgmma.wait_group.sync.aligned " WINNOW_PENDING_##tokens ";"  \
                 : WINNOW_ALL_##tokens("+f")                                   \
                 : "n"(Pending)                                                \
                 : "memory");                                                  \
  }
WINNOW_PRODUCTS(16)
WINNOW_PRODUCTS(32)
WINNOW_PRODUCTS(64)
#undef WINNOW_FOUR
#undef WINNOW_EIGHT
#undef WINNOW_SIXTEEN
#undef WINNOW_MULTIPLY
#undef WINNOW_PRODUCTS
#undef WINNOW_ALL_16
#undef WINNOW_ALL_32
#undef WINNOW_ALL_64
#undef WINNOW_OPERANDS_16
#undef WINNOW_OPERANDS_32
#undef WINNOW_OPERANDS_64
#undef WINNOW_UPPER_16
#undef WINNOW_UPPER_32
#undef WINNOW_UPPER_64
#undef WINNOW_PENDING_16
#undef WINNOW_PENDING_32
#undef WINNOW_PENDING_64

} // namespace winnow
