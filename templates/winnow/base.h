// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ground that every other device header stands on: fixed-width types,
// attribute macros and wave coordinates. Nothing is included, neither HIP's
// headers nor the C library's, so that clang and hipRTC alike can compile it.
#pragma once

namespace winnow {

using u8 = unsigned char;
using i32 = int;
using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;

using i32x4 = i32 __attribute__((ext_vector_type(4)));
using i32x8 = i32 __attribute__((ext_vector_type(8)));
using u32x2 = u32 __attribute__((ext_vector_type(2)));
using u32x4 = u32 __attribute__((ext_vector_type(4)));
using f32x4 = float __attribute__((ext_vector_type(4)));

static_assert(sizeof(i32) == 4 && sizeof(i64) == 8, "device integer widths");

// clang-format off
/// A leaf function: always inlined, so that a kernel makes no calls and needs
/// no stack.
#define WINNOW_DEVICE __attribute__((device, always_inline)) inline
/// A variable in the workgroup's local memory (LDS).
#define WINNOW_SHARED __attribute__((shared))
/// A kernel that is only ever launched with workgroups of `threads` lanes.
#define WINNOW_KERNEL(threads) \
  extern "C" __attribute__((global, amdgpu_flat_work_group_size(threads, threads))) void
// clang-format on

/// gfx9 waves have 64 lanes.
inline constexpr i32 kWaveLanes = 64;

/// The score of a block with nothing to see: below every number.
inline constexpr float kNoScore = -__builtin_huge_valf();

WINNOW_DEVICE constexpr i32 min(i32 a, i32 b) { return a < b ? a : b; }
WINNOW_DEVICE constexpr i32 max(i32 a, i32 b) { return a > b ? a : b; }
WINNOW_DEVICE constexpr u32 min(u32 a, u32 b) { return a < b ? a : b; }
WINNOW_DEVICE constexpr u32 max(u32 a, u32 b) { return a > b ? a : b; }

/// The index of this lane in its workgroup and in its wave.
WINNOW_DEVICE i32 thread_index() { return __builtin_amdgcn_workitem_id_x(); }
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
