// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ground that every device header stands on: fixed-width types, attribute
// macros, and what a kernel asks of its workgroup. The generic kernels use
// nothing else of a target. Clang, hipRTC, nvcc and NVRTC alike can compile it:
// nothing is included, neither a vendor's headers nor the C library's.
#pragma once

namespace winnow {

using u8 = unsigned char;
using u16 = unsigned short;
using i32 = int;
using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;

/// Four words that are loaded and stored at once.
struct alignas(16) u32x4 {
  u32 x, y, z, w;
};

static_assert(sizeof(i32) == 4 && sizeof(i64) == 8, "device integer widths");

/// 16-bit floating point in memory. Elements of fp8 travel as u8.
struct bf16 {
  u16 bits;
};
struct f16 {
  u16 bits;
};

// clang-format off
#if defined(__CUDACC__)
/// A leaf function: always inlined, so that a kernel makes no calls and needs
/// no stack.
#define WINNOW_DEVICE __device__ __forceinline__
/// The same of a lambda, after its parameters. Left to itself clang optimizes
/// each on its own first, which takes as long as the kernel does.
#define WINNOW_INLINE
/// A variable in the workgroup's local memory (LDS, CUDA's shared memory).
#define WINNOW_SHARED __shared__
/// A kernel that is only ever launched with workgroups of `threads` lanes.
#define WINNOW_KERNEL(threads) \
  extern "C" __global__ __launch_bounds__(threads) void
#else
#define WINNOW_DEVICE __attribute__((device, always_inline)) inline
#define WINNOW_INLINE __attribute__((always_inline))
#define WINNOW_SHARED __attribute__((shared))
#define WINNOW_KERNEL(threads) \
  extern "C" __attribute__((global, amdgpu_flat_work_group_size(threads, threads))) void
#endif
/// The same of a kernel whose waves share what they multiply.
#define WINNOW_SHARING_KERNEL(threads) WINNOW_KERNEL(threads)
// clang-format on

WINNOW_DEVICE constexpr i32 min(i32 a, i32 b) { return a < b ? a : b; }
WINNOW_DEVICE constexpr i32 max(i32 a, i32 b) { return a > b ? a : b; }
WINNOW_DEVICE constexpr u32 min(u32 a, u32 b) { return a < b ? a : b; }
WINNOW_DEVICE constexpr i64 min(i64 a, i64 b) { return a < b ? a : b; }
WINNOW_DEVICE constexpr u32 max(u32 a, u32 b) { return a > b ? a : b; }
WINNOW_DEVICE constexpr u64 min(u64 a, u64 b) { return a < b ? a : b; }
WINNOW_DEVICE constexpr u64 max(u64 a, u64 b) { return a > b ? a : b; }

WINNOW_DEVICE float float_of_bits(u32 bits) {
  return __builtin_bit_cast(float, bits);
}
WINNOW_DEVICE u32 bits_of_float(float value) {
  return __builtin_bit_cast(u32, value);
}

/// The score of a block with nothing to see: below every number.
inline constexpr float kNoScore = __builtin_bit_cast(float, 0xff800000u);

/// In place of the product of a token that is not to be seen: a NaN, which a
/// maximum leaves out. All ones are an operand that takes no register.
inline constexpr float kNoProduct = __builtin_bit_cast(float, 0xffffffffu);

#if defined(__CUDACC__)

/// The index of this lane in its workgroup, and of the workgroup in the grid.
WINNOW_DEVICE i32 thread_index() { return static_cast<i32>(threadIdx.x); }
WINNOW_DEVICE i32 workgroup_x() { return static_cast<i32>(blockIdx.x); }
WINNOW_DEVICE i32 workgroup_y() { return static_cast<i32>(blockIdx.y); }

/// Four bytes at any address: the rows of a strided tensor may start anywhere.
/// A load that is not aligned would be a fault.
WINNOW_DEVICE u32 load_word(const u8 *address) {
  if (reinterpret_cast<u64>(address) % 4 == 0)
    return *reinterpret_cast<const u32 *>(address);
  return address[0] | address[1] << 8 | address[2] << 16 |
         static_cast<u32>(address[3]) << 24;
}

/// a * b + c, rounded once.
WINNOW_DEVICE float multiply_add(float a, float b, float c) {
  return ::fmaf(a, b, c);
}

/// The larger of two; of a NaN and another, the other.
WINNOW_DEVICE float max_but_nan(float a, float b) { return ::fmaxf(a, b); }

/// How many bits are set.
WINNOW_DEVICE i32 count_bits(u32 value) { return ::__popc(value); }

/// The number of the lowest bit that is set, of which there has to be one, and
/// all bits in reverse order.
WINNOW_DEVICE i32 lowest_bit(u32 value) { return ::__ffs(value) - 1; }
WINNOW_DEVICE u32 reverse_bits(u32 value) { return ::__brev(value); }

/// What any lane has written to local memory before is seen by all after.
WINNOW_DEVICE void local_barrier() { ::__syncthreads(); }

/// Adds to a counter in local memory; returns what it was.
WINNOW_DEVICE u32 add_local(u32 *counter, u32 value) {
  return ::atomicAdd(counter, value);
}

/// What any lane of the workgroup has written anywhere is seen by all after.
WINNOW_DEVICE void workgroup_barrier() { ::__syncthreads(); }

/// What this lane has written is seen by the lanes of the device that acquire
/// after they have seen an atomic of this workgroup that comes later. On NVIDIA
/// the barrier before that atomic and the atomic's own release are enough, and
/// its acquire and the barrier after it: causality order is transitive over
/// scopes (PTX ISA, "Memory Consistency Model").
WINNOW_DEVICE void release_to_device() {}
WINNOW_DEVICE void acquire_from_device() {}

/// Atomics of a counter that all workgroups of the device share. The first two
/// return what it was, and both release and acquire.
WINNOW_DEVICE u64 add_on_device(u64 *counter, u64 value) {
  u64 before;
  asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], %2;"
               : "=l"(before)
               : "l"(counter), "l"(value)
               : "memory");
  return before;
}
WINNOW_DEVICE u64 exchange_if_equal(u64 *counter, u64 expected, u64 value) {
  u64 before;
  asm volatile("atom.acq_rel.gpu.global.cas.b64 %0, [%1], %2, %3;"
               : "=l"(before)
               : "l"(counter), "l"(expected), "l"(value)
               : "memory");
  return before;
}
WINNOW_DEVICE u64 load_from_device(const u64 *counter) {
  u64 value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
               : "=l"(value)
               : "l"(counter)
               : "memory");
  return value;
}
WINNOW_DEVICE void store_to_device(u64 *counter, u64 value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(counter), "l"(value)
               : "memory");
}

#else

WINNOW_DEVICE i32 thread_index() { return __builtin_amdgcn_workitem_id_x(); }

/// A grid has fewer than 2^31 workgroups in x and fewer than 2^16 in y (HIP
/// programming guide, "Launch bounds"). To know that spares arithmetic in 64
/// bits.
WINNOW_DEVICE i32 workgroup_x() {
  const i32 x = __builtin_amdgcn_workgroup_id_x();
  __builtin_assume(x >= 0);
  return x;
}
WINNOW_DEVICE i32 workgroup_y() {
  const i32 y = __builtin_amdgcn_workgroup_id_y();
  __builtin_assume(y >= 0 && y < 0x10000);
  return y;
}

// Neighbouring loads are merged into wider ones where the target has them.
WINNOW_DEVICE u32 load_word(const u8 *address) {
  using Word = u32 __attribute__((aligned(1), may_alias));
  return *reinterpret_cast<const Word *>(address);
}

WINNOW_DEVICE float multiply_add(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}

WINNOW_DEVICE float max_but_nan(float a, float b) {
  return __builtin_fmaxf(a, b);
}

WINNOW_DEVICE i32 count_bits(u32 value) { return __builtin_popcount(value); }
WINNOW_DEVICE i32 lowest_bit(u32 value) { return __builtin_ctz(value); }
WINNOW_DEVICE u32 reverse_bits(u32 value) {
  return __builtin_bitreverse32(value);
}

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

WINNOW_DEVICE void workgroup_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

WINNOW_DEVICE void release_to_device() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
}
WINNOW_DEVICE void acquire_from_device() {
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
}

WINNOW_DEVICE u64 add_on_device(u64 *counter, u64 value) {
  return __hip_atomic_fetch_add(counter, value, __ATOMIC_ACQ_REL,
                                __HIP_MEMORY_SCOPE_AGENT);
}
WINNOW_DEVICE u64 exchange_if_equal(u64 *counter, u64 expected, u64 value) {
  __hip_atomic_compare_exchange_strong(counter, &expected, value,
                                       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE,
                                       __HIP_MEMORY_SCOPE_AGENT);
  return expected;
}
WINNOW_DEVICE u64 load_from_device(const u64 *counter) {
  return __hip_atomic_load(counter, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
WINNOW_DEVICE void store_to_device(u64 *counter, u64 value) {
  __hip_atomic_store(counter, value, __ATOMIC_RELAXED,
                     __HIP_MEMORY_SCOPE_AGENT);
}

WINNOW_DEVICE u32 add_local(u32 *counter, u32 value) {
  return __hip_atomic_fetch_add(counter, value, __ATOMIC_RELAXED,
                                __HIP_MEMORY_SCOPE_WORKGROUP);
}

#endif

} // namespace winnow
