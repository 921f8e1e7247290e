// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel that Winnow did not generate.
extern "C" __attribute__((global)) void axpy(float a, const float *x,
                                             float *y) {
  int i = (int)__builtin_amdgcn_workgroup_id_x() * 64 +
          (int)__builtin_amdgcn_workitem_id_x();
  y[i] += a * x[i];
}
