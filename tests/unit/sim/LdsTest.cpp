// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LDS: widths, offsets, atomics, barriers over several waves, permutations.
#include "TestKernels.h"

#include <algorithm>
#include <numeric>

namespace winnow::sim::test {
namespace {

std::vector<uint32_t> iota(size_t count, uint32_t start = 0) {
  std::vector<uint32_t> v(count);
  std::iota(v.begin(), v.end(), start);
  return v;
}

TEST(Lds, ReducesOverTheWavesOfAWorkgroup) {
  auto object = load(compileHip(R"(
    KERNEL reduce(const int *a, int *out) {
      SHARED int s[512];
      int t = TX;
      s[t] = a[BX * 512 + t];
      sync();
      for (int half = 256; half; half >>= 1) { if (t < half) s[t] += s[t + half]; sync(); }
      if (t == 0) out[BX] = s[0];
    })"));
  EXPECT_EQ(object->kernels()[0].groupSegmentSize, 2048u);
  Device device;
  std::vector<int> a(3 * 512);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = int(i * i % 1009) - 300;
  uint64_t pa = upload(device, a, "a"),
           out = upload(device, std::vector<int>(3), "out");
  Arguments arguments;
  arguments.add(pa).add(out);
  auto stats =
      device.launch(object, "reduce", {3, 1, 1}, {512, 1, 1}, arguments.bytes);
  ASSERT_TRUE(stats) << stats.message();
  auto got = download<int>(device, out, 3);
  for (int g = 0; g < 3; ++g)
    EXPECT_EQ(got[g], std::accumulate(a.begin() + g * 512,
                                      a.begin() + (g + 1) * 512, 0));
  EXPECT_GT(stats->lds, 0u);
}

TEST(Lds, HistogramAndPrefixSum) {
  auto object = load(compileHip(R"(
    KERNEL histogram(const u32 *keys, u32 *counts, u32 *offsets, int n) {
      SHARED u32 bins[256]; SHARED u32 waves[4];
      int t = TX;
      bins[t] = 0;
      sync();
      for (int i = t; i < n; i += 256)
        __hip_atomic_fetch_add(&bins[keys[i] >> 24], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
      sync();
      u32 v = bins[t], sum = v;
      for (int d = 1; d < 64; d <<= 1) {
        u32 other = __builtin_amdgcn_ds_bpermute(((t & 63) - d) * 4, sum);
        if ((t & 63) >= d) sum += other;
      }
      if ((t & 63) == 63) waves[t >> 6] = sum;
      sync();
      for (int w = 0; w < (t >> 6); ++w) sum += waves[w];
      counts[t] = v; offsets[t] = sum;
    })"));
  Device device;
  constexpr int n = 5000;
  std::vector<uint32_t> keys(n), want(256);
  for (int i = 0; i < n; ++i) {
    keys[i] = uint32_t(i) * 2654435761u;
    ++want[keys[i] >> 24];
  }
  uint64_t pk = upload(device, keys, "keys");
  uint64_t pc = upload(device, std::vector<uint32_t>(256), "counts");
  uint64_t po = upload(device, std::vector<uint32_t>(256), "offsets");
  Arguments arguments;
  arguments.add(pk).add(pc).add(po).add(n);
  auto stats = device.launch(object, "histogram", {1, 1, 1}, {256, 1, 1},
                             arguments.bytes);
  ASSERT_TRUE(stats) << stats.message();
  EXPECT_EQ(download<uint32_t>(device, pc, 256), want);
  std::partial_sum(want.begin(), want.end(), want.begin());
  EXPECT_EQ(download<uint32_t>(device, po, 256), want);
}

// Waves of one workgroup wait on each other without a barrier.
TEST(Lds, WavesMakeProgressWhileOthersSpin) {
  auto object = load(compileHip(R"(
    KERNEL relay(u32 *out) {
      SHARED u32 turn;
      int t = TX, wave = t >> 6;
      if (t == 0) __hip_atomic_store(&turn, 3u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
      sync();
      while (__hip_atomic_load(&turn, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP) != wave)
        __builtin_amdgcn_s_sleep(1);
      if ((t & 63) == 0) {
        out[wave] = __builtin_readcyclecounter() != 0 ? wave + 100 : 0;
        __hip_atomic_store(&turn, (u32)wave - 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
      }
    })"));
  Device device;
  uint64_t out = upload(device, std::vector<uint32_t>(4), "out");
  Arguments arguments;
  arguments.add(out);
  LaunchOptions options;
  options.instructionLimit = 10000000;
  auto stats = device.launch(object, "relay", {1, 1, 1}, {256, 1, 1},
                             arguments.bytes, options);
  ASSERT_TRUE(stats) << stats.message();
  EXPECT_EQ(download<uint32_t>(device, out, 4),
            (std::vector<uint32_t>{100, 101, 102, 103}));
}

TEST(Lds, WidthsAndOffsets) {
  auto in = iota(4 * 64, 0x80818283);
  std::string body = loadInputs(0, 4) + R"(
  v_lshlrev_b32 v10, 2, v120
  ds_write_b128 v10, v[0:3]
  s_waitcnt lgkmcnt(0)
  ds_read_b64 v[20:21], v10 offset:8
  ds_read_u8 v22, v10 offset:1
  ds_read_i8 v23, v10 offset:1
  ds_read_u16 v24, v10 offset:6
  ds_read_i16 v25, v10 offset:6
  ds_read2_b32 v[26:27], v10 offset0:3 offset1:1
  v_mov_b32 v11, 0
  ds_read2st64_b32 v[28:29], v11 offset0:0 offset1:3
  ds_read_b96 v[32:34], v10 offset:4
  ds_write_b8 v10, v1 offset:3
  ds_write_b16_d16_hi v10, v2
  ds_read_b32 v30, v10
  ds_read_u16_d16_hi v31, v10 offset:12
  s_waitcnt lgkmcnt(0)
)" + storeOutputs(20, 15);
  auto out = runWave(body, in, 15 * 64);
  for (unsigned l = 0; l < 64; ++l) {
    uint32_t w[4] = {in[l], in[64 + l], in[128 + l], in[192 + l]};
    auto got = [&](unsigned r) { return out[(r - 20) * 64 + l]; };
    EXPECT_EQ(got(20), w[2]);
    EXPECT_EQ(got(21), w[3]);
    EXPECT_EQ(got(22), w[0] >> 8 & 0xff);
    EXPECT_EQ(got(23), uint32_t(int32_t(int8_t(w[0] >> 8))));
    EXPECT_EQ(got(24), w[1] >> 16);
    EXPECT_EQ(got(25), uint32_t(int32_t(int16_t(w[1] >> 16))));
    EXPECT_EQ(got(26), w[3]);
    EXPECT_EQ(got(27), w[1]);
    // Elements 0 and 192 of the whole LDS: lane 0 register 0, lane 48 register
    // 0.
    EXPECT_EQ(got(28), in[0]);
    EXPECT_EQ(got(29), in[48]);
    EXPECT_EQ(got(30), (w[0] & 0x00ff0000) | (w[1] & 0xff) << 24 | w[2] >> 16);
    EXPECT_EQ(got(31) >> 16, w[3] & 0xffff);
    EXPECT_EQ(got(32), w[1]);
    EXPECT_EQ(got(34), w[3]);
  }
}

// All lanes hit one word; the returned values are a permutation in lane order.
TEST(Lds, Atomics) {
  auto in = iota(64, 5);
  std::string body = loadInputs(1, 1) + R"(
  v_mov_b32 v10, 0
  v_mov_b32 v11, 100
  v_mov_b32 v12, -1
  ds_write2_b32 v10, v11, v11 offset0:0 offset1:1
  ds_write2_b32 v10, v10, v12 offset0:2 offset1:3
  ds_write2_b32 v10, v11, v10 offset0:4 offset1:5
  s_waitcnt lgkmcnt(0)
  ds_add_rtn_u32 v20, v10, v1
  ds_max_u32 v10, v1 offset:4
  ds_min_i32 v10, v12 offset:4
  ds_max_rtn_u32 v21, v10, v1 offset:8
  ds_min_u32 v10, v1 offset:12
  ds_cmpst_rtn_b32 v22, v10, v11, v1 offset:16
  ds_or_b32 v10, v1 offset:20
  ds_read2_b32 v[24:25], v10 offset0:0 offset1:1
  ds_read2_b32 v[26:27], v10 offset0:2 offset1:3
  ds_read2_b32 v[28:29], v10 offset0:4 offset1:5
  v_mov_b32 v23, 0
  s_waitcnt lgkmcnt(0)
)" + storeOutputs(20, 10);
  auto out = runWave(body, in, 10 * 64);
  uint32_t sum = 100, bits = 0, largest = 0;
  for (unsigned l = 0; l < 64; ++l) {
    EXPECT_EQ(out[l], sum);
    sum += in[l];
    EXPECT_EQ(out[64 + l], largest);
    largest = std::max(largest, in[l]);
    EXPECT_EQ(out[128 + l], l == 0 ? 100u : in[0]);
    bits |= in[l];
  }
  EXPECT_EQ(out[4 * 64], sum);
  EXPECT_EQ(out[5 * 64], 0xffffffffu);
  EXPECT_EQ(out[6 * 64], 68u);
  EXPECT_EQ(out[7 * 64], 5u);
  EXPECT_EQ(out[8 * 64], in[0]);
  EXPECT_EQ(out[9 * 64], bits);
}

TEST(Lds, Permutations) {
  auto in = iota(64, 1000);
  std::string body = loadInputs(1, 1) + R"(
  v_sub_u32 v2, 252, v120
  ds_bpermute_b32 v20, v2, v1
  v_add_u32 v3, 8, v120
  ds_permute_b32 v21, v3, v1
  ds_swizzle_b32 v22, v1 offset:swizzle(QUAD_PERM,3,2,1,0)
  ds_swizzle_b32 v23, v1 offset:swizzle(SWAP,16)
  ds_swizzle_b32 v24, v1 offset:swizzle(BROADCAST,8,3)
  s_mov_b32 exec_lo, 0xffffffff
  s_mov_b32 exec_hi, 0xfffffff
  ds_bpermute_b32 v25, v2, v1
  s_mov_b64 exec, -1
  s_waitcnt lgkmcnt(0)
)" + storeOutputs(20, 6);
  auto out = runWave(body, in, 6 * 64);
  for (unsigned l = 0; l < 64; ++l) {
    EXPECT_EQ(out[l], in[63 - l]);
    EXPECT_EQ(out[64 + l], in[(l + 62) % 64]);
    EXPECT_EQ(out[128 + l], in[l ^ 3]);
    EXPECT_EQ(out[192 + l], in[l ^ 16]);
    EXPECT_EQ(out[256 + l], in[(l & ~7u) | 3]);
    if (l < 60) {
      EXPECT_EQ(out[320 + l], 63 - l < 60 ? in[63 - l] : 0u);
    }
  }
}

TEST(Lds, FlatAddressesReachLdsAndScratch) {
  std::string body = loadInputs(1, 1) + R"(
  s_mov_b64 s[20:21], src_shared_base
  v_mov_b32 v5, s21
  v_mov_b32 v4, v120
  flat_store_dword v[4:5], v1
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v20, v120
  s_waitcnt lgkmcnt(0)
  s_mov_b64 s[20:21], src_private_base
  v_mov_b32 v5, s21
  v_mov_b32 v4, 12
  flat_store_dword v[4:5], v1
  s_waitcnt vmcnt(0)
  scratch_load_dword v21, off, off offset:12
  v_mov_b32 v6, 4
  s_mov_b32 s30, 4
  scratch_load_dword v22, v6, s30 offset:4
  s_waitcnt vmcnt(0)
)" + storeOutputs(20, 3);
  auto in = iota(64, 7);
  auto out = runWave(body, in, 3 * 64);
  for (unsigned l = 0; l < 64; ++l) {
    EXPECT_EQ(out[l], in[l]);
    EXPECT_EQ(out[64 + l], in[l]);
    EXPECT_EQ(out[128 + l], in[l]);
  }
}

} // namespace
} // namespace winnow::sim::test
