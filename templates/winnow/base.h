// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the gfx9 kernels need beside the portable ground: vectors, waves of 64
// lanes, scalar registers and address spaces.
#pragma once

#include "winnow/portable.h"

namespace winnow {

/// 16-bit floating point. Elements of fp8 travel as u8.
using bf16 = __bf16;
using f16 = _Float16;

using i32x4 = i32 __attribute__((ext_vector_type(4)));
using i32x8 = i32 __attribute__((ext_vector_type(8)));
using u32x2 = u32 __attribute__((ext_vector_type(2)));
using u32x4 = u32 __attribute__((ext_vector_type(4)));
using f32x4 = float __attribute__((ext_vector_type(4)));
using bf16x8 = bf16 __attribute__((ext_vector_type(8)));
using f16x8 = f16 __attribute__((ext_vector_type(8)));

/// gfx9 waves have 64 lanes.
inline constexpr i32 kWaveLanes = 64;

/// The index of this lane in its wave.
WINNOW_DEVICE i32 lane_index() { return thread_index() % kWaveLanes; }

/// The index of this wave in its workgroup, in a scalar register: the compiler
/// cannot see that all lanes of a wave agree on it.
WINNOW_DEVICE i32 wave_index() {
  return __builtin_amdgcn_readfirstlane(thread_index() / kWaveLanes);
}

/// Memory at large, as opposed to a pointer that might be to LDS.
template <class T> using Global = T __attribute__((address_space(1)));

/// Holds an address that is the same in all lanes in scalar registers. Without
/// this the compiler folds a loop-invariant lane offset into it first, and is
/// left with more 64-bit vector additions in the loop.
WINNOW_DEVICE const Global<u8> *scalar_base(const u8 *address) {
  const u64 bits = reinterpret_cast<u64>(address);
  const u32 low = __builtin_amdgcn_readfirstlane(static_cast<u32>(bits));
  const u32 high = __builtin_amdgcn_readfirstlane(static_cast<u32>(bits >> 32));
  return reinterpret_cast<const Global<u8> *>(static_cast<u64>(high) << 32 |
                                              low);
}

/// Memory that no kernel writes while this one runs. Only this address space
/// is always read through the scalar cache when the address is uniform.
template <class T> using Constant = const T __attribute__((address_space(4)));

/// `table[index]` of an array that is constant for the launch; the index has
/// to be the same in all lanes.
template <class T> WINNOW_DEVICE T load_uniform(const T *table, i64 index) {
  return ((Constant<T> *)table)[index];
}

} // namespace winnow
