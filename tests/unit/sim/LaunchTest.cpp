// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel ABI and control flow, on kernels that clang compiles.
#include "TestKernels.h"

namespace winnow::sim::test {
namespace {

TEST(Launch, AddsVectorsWithAPartialLastWave) {
  auto object = load(compileHip(R"(
    KERNEL vadd(const float *a, const float *b, float *c, int n) {
      int i = BX * 256 + TX;
      if (i < n) c[i] = a[i] + b[i];
    })"));
  Device device;
  constexpr int n = 1000;
  std::vector<float> a(n), b(n);
  for (int i = 0; i < n; ++i) {
    a[i] = float(i) * 0.5f;
    b[i] = float(3 * i);
  }
  uint64_t pa = upload(device, a, "a"), pb = upload(device, b, "b");
  uint64_t pc = upload(device, std::vector<float>(1024, -1), "c");
  EXPECT_GT(pa, uint64_t(1) << 32);
  Arguments arguments;
  arguments.add(pa).add(pb).add(pc).add(n);
  auto stats =
      device.launch(object, "vadd", {4, 1, 1}, {256, 1, 1}, arguments.bytes);
  ASSERT_TRUE(stats) << stats.message();
  auto c = download<float>(device, pc, 1024);
  for (int i = 0; i < 1024; ++i)
    EXPECT_EQ(c[i], i < n ? a[i] + b[i] : -1.0f) << i;
  EXPECT_EQ(stats->workgroups, 4u);
  EXPECT_EQ(stats->waves, 16u);
  EXPECT_EQ(stats->vectorLoads, 2 * 16u);
  EXPECT_EQ(stats->vectorStores, 16u);
  EXPECT_EQ(stats->bytesStored, uint64_t(4 * n));
  EXPECT_EQ(stats->instructions,
            stats->valu + stats->salu + stats->scalarMemory +
                stats->vectorLoads + stats->vectorStores +
                stats->vectorAtomics + stats->lds + stats->mfma +
                stats->branches + stats->waits);
}

// Every id of a 3-D launch, and block shapes whose waves are partial.
TEST(Launch, PacksWorkItemAndWorkgroupIds) {
  auto object = load(compileHip(R"(
    KERNEL ids(u32 *out, int items) {
      int x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y(),
          z = __builtin_amdgcn_workitem_id_z();
      int gx = __builtin_amdgcn_workgroup_id_x(), gy = __builtin_amdgcn_workgroup_id_y(),
          gz = __builtin_amdgcn_workgroup_id_z();
      int item = x + 5 * (y + 7 * z), group = gx + 2 * (gy + 3 * gz);
      out[group * items + item] = gx | gy << 4 | gz << 8 | x << 12 | y << 16 | z << 20;
    })"));
  Device device;
  constexpr unsigned items = 5 * 7 * 3;
  uint64_t out =
      upload(device, std::vector<uint32_t>(2 * 3 * 4 * items, ~0u), "out");
  Arguments arguments;
  arguments.add(out).add(int(items));
  auto stats =
      device.launch(object, "ids", {2, 3, 4}, {5, 7, 3}, arguments.bytes);
  ASSERT_TRUE(stats) << stats.message();
  EXPECT_EQ(stats->waves, 24u * 2);
  auto got = download<uint32_t>(device, out, 24 * items);
  for (unsigned group = 0; group < 24; ++group)
    for (unsigned item = 0; item < items; ++item) {
      unsigned gx = group % 2, gy = group / 2 % 3, gz = group / 6;
      unsigned x = item % 5, y = item / 5 % 7, z = item / 35;
      ASSERT_EQ(got[group * items + item],
                gx | gy << 4 | gz << 8 | x << 12 | y << 16 | z << 20);
    }
}

TEST(Launch, FillsHiddenArguments) {
  auto object = load(compileHip(R"(
    KERNEL hidden(u32 *out) {
      auto *p = (const __attribute__((address_space(4))) char *)__builtin_amdgcn_implicitarg_ptr();
      auto count = (const __attribute__((address_space(4))) u32 *)p;
      auto size = (const __attribute__((address_space(4))) unsigned short *)(p + 12);
      auto dims = (const __attribute__((address_space(4))) unsigned short *)(p + 64);
      if (TX == 0 && BX == 0) {
        out[0] = count[0]; out[1] = count[1]; out[2] = count[2];
        out[3] = size[0]; out[4] = size[1]; out[5] = size[2];
        out[6] = size[3]; out[7] = dims[0];
      }
    })"));
  Device device;
  uint64_t out = upload(device, std::vector<uint32_t>(8, 99), "out");
  Arguments arguments;
  arguments.add(out);
  auto stats =
      device.launch(object, "hidden", {3, 1, 1}, {64, 1, 1}, arguments.bytes);
  ASSERT_TRUE(stats) << stats.message();
  EXPECT_EQ(download<uint32_t>(device, out, 8),
            (std::vector<uint32_t>{3, 1, 1, 64, 1, 1, 0, 1}));
}

// Lanes leave a loop at different times; the result is a per-lane Collatz
// count.
TEST(Launch, RunsDivergentLoops) {
  auto object = load(compileHip(R"(
    KERNEL collatz(u32 *out) {
      u32 n = BX * 128 + TX + 1, steps = 0;
      while (n != 1) { n = n & 1 ? 3 * n + 1 : n / 2; ++steps; }
      out[BX * 128 + TX] = steps;
    })"));
  Device device;
  uint64_t out = upload(device, std::vector<uint32_t>(512, ~0u), "out");
  Arguments arguments;
  arguments.add(out);
  auto stats =
      device.launch(object, "collatz", {4, 1, 1}, {128, 1, 1}, arguments.bytes);
  ASSERT_TRUE(stats) << stats.message();
  auto got = download<uint32_t>(device, out, 512);
  for (unsigned i = 0; i < 512; ++i) {
    unsigned n = i + 1, steps = 0;
    for (; n != 1; ++steps)
      n = n & 1 ? 3 * n + 1 : n / 2;
    ASSERT_EQ(got[i], steps) << i;
  }
}

TEST(Launch, PreloadsKernelArguments) {
  auto body = std::string(R"(
.text
.globl k
.p2align 8
.type k,@function
k:
  s_trap 2
  .fill 63, 4, 0xbf800000
  v_mov_b32 v2, s4
  v_mov_b32 v3, s5
  v_lshlrev_b32 v0, 3, v0
  global_store_dwordx2 v0, v[2:3], s[2:3]
  s_endpgm
.Lend:
.size k, .Lend-k
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_kernarg_size 16
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_user_sgpr_kernarg_preload_length 4
  .amdhsa_user_sgpr_kernarg_preload_offset 0
  .amdhsa_next_free_vgpr 8
  .amdhsa_accum_offset 8
  .amdhsa_next_free_sgpr 16
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.kernels:
  - { .name: k, .symbol: k.kd, .kernarg_segment_size: 16, .kernarg_segment_align: 8,
      .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64,
      .sgpr_count: 16, .vgpr_count: 8, .max_flat_workgroup_size: 64,
      .args: [ { .offset: 0, .size: 8, .value_kind: global_buffer },
               { .offset: 8, .size: 8, .value_kind: by_value } ] }
...
.end_amdgpu_metadata
)");
  auto object = load(assemble(body));
  Device device;
  uint64_t out = upload(device, std::vector<uint32_t>(128, 0), "out");
  Arguments arguments;
  arguments.add(out).add(uint64_t(0x1122334455667788));
  auto stats =
      device.launch(object, "k", {1, 1, 1}, {64, 1, 1}, arguments.bytes);
  ASSERT_TRUE(stats) << stats.message();
  auto got = download<uint64_t>(device, out, 64);
  for (uint64_t value : got)
    EXPECT_EQ(value, 0x1122334455667788u);
}

// An array that clang keeps in scratch, indexed per lane.
TEST(Launch, KeepsScratchOfEachLane) {
  auto object = load(compileHip(R"(
    KERNEL scratch(const int *a, int *out, int n) {
      int buffer[64], t = TX;
      for (int i = 0; i < 64; ++i) buffer[i] = a[i] * t;
      for (int i = 0; i < n; ++i) buffer[(i * 7 + t) & 63] += i;
      int sum = 0;
      for (int i = 0; i < n; ++i) sum = sum * 3 + buffer[(a[i] + t) & 63];
      out[t] = sum;
    })"));
  EXPECT_GT(object->kernels()[0].privateSegmentSize, 0u);
  Device device;
  constexpr int n = 100;
  std::vector<int> a(n);
  for (int i = 0; i < n; ++i)
    a[i] = i * i % 77;
  uint64_t pa = upload(device, a, "a");
  uint64_t out = upload(device, std::vector<int>(64), "out");
  Arguments arguments;
  arguments.add(pa).add(out).add(n);
  auto stats =
      device.launch(object, "scratch", {1, 1, 1}, {64, 1, 1}, arguments.bytes);
  ASSERT_TRUE(stats) << stats.message();
  auto got = download<int>(device, out, 64);
  for (int t = 0; t < 64; ++t) {
    int buffer[64], sum = 0;
    for (int i = 0; i < 64; ++i)
      buffer[i] = a[i] * t;
    for (int i = 0; i < n; ++i)
      buffer[(i * 7 + t) & 63] += i;
    for (int i = 0; i < n; ++i)
      sum = int(unsigned(sum) * 3u + unsigned(buffer[(a[i] + t) & 63]));
    EXPECT_EQ(got[t], sum) << t;
  }
}

// The words that clang reads for the sizes of a workgroup: it takes the third
// for 32 bits, as what is reserved beside it has to be 0.
TEST(Launch, DispatchPacketSaysTheSizesAndNothingElse) {
  auto object = load(compileHip(R"(
    KERNEL packet(u32 *out) {
      auto words = (const __attribute__((address_space(4))) u32 *)
          __builtin_amdgcn_dispatch_ptr();
      if (TX == 0 && BX == 0)
        for (int i = 0; i < 16; ++i) out[i] = words[i];
    })"));
  Device device;
  uint64_t out = upload(device, std::vector<uint32_t>(16, 7), "out");
  Arguments arguments;
  arguments.add(out);
  auto stats =
      device.launch(object, "packet", {3, 2, 5}, {64, 2, 4}, arguments.bytes);
  ASSERT_TRUE(stats) << stats.message();
  auto got = download<uint32_t>(device, out, 16);
  EXPECT_EQ(got[1], 64u | 2u << 16);
  EXPECT_EQ(got[2], 4u);
  EXPECT_EQ(got[3], 192u);
  EXPECT_EQ(got[4], 4u);
  EXPECT_EQ(got[5], 20u);
  for (int word : {12, 13}) // reserved
    EXPECT_EQ(got[word], 0u) << word;
}

TEST(Launch, CallsFunctionsAndReadsConstants) {
  auto object = load(compileHip(R"(
    __attribute__((constant)) int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
    DEVICE __attribute__((noinline)) int pick(int i) { return table[i & 7] * (i + 1); }
    KERNEL calls(int *out) { out[TX] = pick(TX) + pick(TX + 3); })"));
  Device device;
  uint64_t out = upload(device, std::vector<int>(64), "out");
  Arguments arguments;
  arguments.add(out);
  auto stats =
      device.launch(object, "calls", {1, 1, 1}, {64, 1, 1}, arguments.bytes);
  ASSERT_TRUE(stats) << stats.message();
  auto got = download<int>(device, out, 64);
  const int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
  for (int t = 0; t < 64; ++t)
    EXPECT_EQ(got[t], table[t & 7] * (t + 1) + table[(t + 3) & 7] * (t + 4));
}

// A recursive function and an array of no known size: stacks that the compiler
// cannot bound.
TEST(Launch, GivesUnboundedStacksRoom) {
  auto object = load(compileHip(R"(
    DEVICE __attribute__((noinline)) int walk(const int *next, int i, int depth) {
      volatile int mine[3] = {i, depth, i ^ depth};
      int rest = depth ? walk(next, next[i], depth - 1) : 7;
      return rest * 3 + mine[depth % 3];
    }
    KERNEL recursion(const int *next, int *out) { out[TX] = walk(next, TX, TX % 9); }
    KERNEL array(const int *in, int *out, int n) {
      int *values = (int *)__builtin_alloca(n * 4), sum = 0;
      for (int i = 0; i < n; ++i) values[i] = in[i] * TX;
      for (int i = 0; i < n; ++i) sum = sum * 5 + values[n - 1 - i];
      out[TX] = sum;
    })"));
  std::vector<int> next(64);
  for (int i = 0; i < 64; ++i)
    next[i] = (i * 29 + 11) % 64;
  Device device;
  uint64_t in = upload(device, next, "next");
  uint64_t out = upload(device, std::vector<int>(64), "out");
  Arguments arguments;
  arguments.add(in).add(out);
  LaunchOptions options;
  auto stats = device.launch(object, "recursion", {1, 1, 1}, {64, 1, 1},
                             arguments.bytes, options);
  ASSERT_TRUE(stats) << stats.message();
  auto got = download<int>(device, out, 64);
  for (int t = 0; t < 64; ++t) {
    int at[9], depth = t % 9, value = 7;
    for (int d = depth, i = t; d >= 0; --d, i = next[i])
      at[d] = i;
    for (int d = 0; d <= depth; ++d) {
      int mine[3] = {at[d], d, at[d] ^ d};
      value = value * 3 + mine[d % 3];
    }
    EXPECT_EQ(got[t], value) << t;
  }
  constexpr int n = 21;
  arguments.add(n);
  stats = device.launch(object, "array", {1, 1, 1}, {64, 1, 1}, arguments.bytes,
                        options);
  ASSERT_TRUE(stats) << stats.message();
  got = download<int>(device, out, 64);
  for (int t = 0; t < 64; ++t) {
    unsigned sum = 0;
    for (int i = n; i-- > 0;)
      sum = sum * 5 + unsigned(next[i] * t);
    EXPECT_EQ(got[t], int(sum)) << t;
  }
  // The room is bounded, and what overruns it stops.
  options.stackBytes = 0;
  stats = device.launch(object, "array", {1, 1, 1}, {64, 1, 1}, arguments.bytes,
                        options);
  EXPECT_NE(stats.message().find("bytes of scratch a lane"), std::string::npos)
      << stats.message();
}

// An array that clang moves to LDS, a part of it for each work item, with the
// workgroup's sizes from the dispatch packet.
TEST(Launch, RunsArraysThatTheCompilerMovesToLds) {
  auto object = load(compileHip(R"(
    __attribute__((amdgpu_flat_work_group_size(1, 256)))
    KERNEL moved(const int *in, int *out) {
      double values[10];
      for (int i = 0; i < 10; ++i) values[i] = in[i] + TX;
      for (int i = 0; i < in[10]; ++i) values[(in[i] + TX) % 10] += i;
      double sum = 0;
      for (int i = 0; i < in[10]; ++i) sum = sum * 3 + values[in[i + 10] % 10];
      out[TX + 16 * (int)__builtin_amdgcn_workitem_id_y()] = (int)sum;
    })"));
  std::vector<int> in(64);
  for (int i = 0; i < 64; ++i)
    in[i] = (i * 7 + 3) % 10;
  in[10] = 9;
  Device device;
  uint64_t from = upload(device, in, "in");
  uint64_t out = upload(device, std::vector<int>(64), "out");
  Arguments arguments;
  arguments.add(from).add(out);
  auto stats =
      device.launch(object, "moved", {1, 1, 1}, {16, 4, 1}, arguments.bytes);
  ASSERT_TRUE(stats) << stats.message();
  auto got = download<int>(device, out, 64);
  for (int t = 0; t < 64; ++t) {
    double values[10], sum = 0;
    for (int i = 0; i < 10; ++i)
      values[i] = in[i] + t % 16;
    for (int i = 0; i < 9; ++i)
      values[(in[i] + t % 16) % 10] += i;
    for (int i = 0; i < 9; ++i)
      sum = sum * 3 + values[in[i + 10] % 10];
    EXPECT_EQ(got[t], int(sum)) << t;
  }
}

// The result of a launch does not depend on the number of host threads.
TEST(Launch, ThreadsDoNotChangeResults) {
  auto object = load(compileHip(R"(
    KERNEL count(u32 *histogram, u64 *sum, const u32 *in) {
      u32 v = in[BX * 64 + TX];
      __hip_atomic_fetch_add(&histogram[v & 63], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
      __hip_atomic_fetch_add(sum, (u64)v << 8, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    })"));
  std::vector<uint32_t> in(64 * 100);
  uint64_t want = 0;
  std::vector<uint32_t> histogram(64);
  for (size_t i = 0; i < in.size(); ++i) {
    in[i] = uint32_t(i * 2654435761u >> 7);
    want += uint64_t(in[i]) << 8;
    ++histogram[in[i] & 63];
  }
  for (unsigned threads : {1u, 2u, 4u}) {
    Device device;
    uint64_t h = upload(device, std::vector<uint32_t>(64), "histogram");
    uint64_t s = upload(device, std::vector<uint64_t>(1), "sum");
    uint64_t pin = upload(device, in, "in");
    Arguments arguments;
    arguments.add(h).add(s).add(pin);
    LaunchOptions options;
    options.threads = threads;
    auto stats = device.launch(object, "count", {100, 1, 1}, {64, 1, 1},
                               arguments.bytes, options);
    ASSERT_TRUE(stats) << stats.message();
    EXPECT_EQ(download<uint32_t>(device, h, 64), histogram);
    EXPECT_EQ(download<uint64_t>(device, s, 1)[0], want);
    EXPECT_GT(stats->vectorAtomics, 0u);
  }
}

} // namespace
} // namespace winnow::sim::test
