// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ground that every device header stands on: fixed-width types, attribute
// macros, and what a kernel asks of its workgroup. The generic kernels use
// nothing else of a target, so this file is all that another platform has to
// provide. Nothing is included, neither HIP's headers nor the C library's, so
// that clang and hipRTC alike can compile it.
#pragma once

namespace winnow {

using u8 = unsigned char;
using u16 = unsigned short;
using i32 = int;
using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;

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

/// The score of a block with nothing to see: below every number.
inline constexpr float kNoScore = -__builtin_huge_valf();

WINNOW_DEVICE constexpr i32 min(i32 a, i32 b) { return a < b ? a : b; }
WINNOW_DEVICE constexpr i32 max(i32 a, i32 b) { return a > b ? a : b; }
WINNOW_DEVICE constexpr u32 min(u32 a, u32 b) { return a < b ? a : b; }
WINNOW_DEVICE constexpr i64 min(i64 a, i64 b) { return a < b ? a : b; }
WINNOW_DEVICE constexpr u32 max(u32 a, u32 b) { return a > b ? a : b; }

/// The index of this lane in its workgroup, and of the workgroup in the grid.
WINNOW_DEVICE i32 thread_index() { return __builtin_amdgcn_workitem_id_x(); }
WINNOW_DEVICE i32 workgroup_x() { return __builtin_amdgcn_workgroup_id_x(); }
WINNOW_DEVICE i32 workgroup_y() { return __builtin_amdgcn_workgroup_id_y(); }

/// Four bytes at any address: the rows of a strided tensor may start anywhere.
/// Neighbouring loads are merged into wider ones where the target has them.
WINNOW_DEVICE u32 load_word(const u8 *address) {
  using Word = u32 __attribute__((aligned(1), may_alias));
  return *reinterpret_cast<const Word *>(address);
}

/// a * b + c, rounded once.
WINNOW_DEVICE float multiply_add(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}

/// What any lane has written to local memory before is seen by all after.
WINNOW_DEVICE void local_barrier() {
  // Compilers before clang 19 order global memory too: correct, and slower.
#if __clang_major__ >= 19
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");
#else
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
#endif
}

/// Adds to a counter in local memory; returns what it was.
WINNOW_DEVICE u32 add_local(u32 *counter, u32 value) {
  return __hip_atomic_fetch_add(counter, value, __ATOMIC_RELAXED,
                                __HIP_MEMORY_SCOPE_WORKGROUP);
}

} // namespace winnow
