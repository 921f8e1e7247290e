// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of the kinds that others write: the order of an append to a list by
// ballots and an atomic cursor, and a function that calls itself.
#define KERNEL extern "C" __attribute__((global)) void
#define DEVICE __attribute__((device))
#define TX __builtin_amdgcn_workitem_id_x()
#define BX __builtin_amdgcn_workgroup_id_x()

// The multiples of three among n numbers, in no order of the waves.
KERNEL compact(const unsigned *in, unsigned *out, unsigned *count, unsigned n) {
  unsigned i = BX * 256 + TX;
  bool keep = i < n && in[i] % 3 == 0;
  unsigned long long mask = __builtin_amdgcn_ballot_w64(keep);
  unsigned rank = __builtin_amdgcn_mbcnt_hi(
      unsigned(mask >> 32), __builtin_amdgcn_mbcnt_lo(unsigned(mask), 0));
  unsigned base = 0;
  if ((TX & 63) == 0)
    base = __hip_atomic_fetch_add(count, unsigned(__builtin_popcountll(mask)),
                                  __ATOMIC_RELAXED, 4);
  base = __builtin_amdgcn_readfirstlane(base);
  if (keep)
    out[base + rank] = in[i];
}

DEVICE __attribute__((noinline)) unsigned fibonacci(unsigned n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
KERNEL recurse(unsigned *data) { data[TX] = fibonacci(data[TX]); }
