// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A code object to damage: two kernels, a function, LDS, a barrier, an atomic,
// matrices, and data that needs relocation.
#define KERNEL extern "C" __attribute__((global)) void
#define DEVICE __attribute__((device))
#define SHARED __attribute__((shared))
typedef int i32x8 __attribute__((ext_vector_type(8)));
typedef float f32x4 __attribute__((ext_vector_type(4)));

DEVICE __attribute__((noinline)) int helper(int v) { return v * 3 + 1; }
DEVICE int table[4] = {1, 2, 3, 4};
DEVICE int *pointer = &table[1];

KERNEL exchange(int *data, int *out) {
  SHARED int s[128];
  int i = (int)__builtin_amdgcn_workitem_id_x();
  s[i] = data[i] + helper(i);
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  out[i] = s[127 - i] + pointer[i & 1];
  __hip_atomic_fetch_add(out + 200, 1, __ATOMIC_RELAXED, 4);
}

KERNEL matrix(const i32x8 *a, const i32x8 *b, f32x4 *d) {
  int i = (int)__builtin_amdgcn_workitem_id_x();
  f32x4 c = {};
  d[i] = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a[i], b[i], c, 0, 0,
                                                          0, 127, 0, 127);
}
