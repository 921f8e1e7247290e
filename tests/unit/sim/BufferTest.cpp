// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffer memory: addresses from descriptors, range checks, atomics, what is
// refused; loads into LDS; and that the checks see all of it.
#include "TestKernels.h"

#include <gmock/gmock.h>

#include <numeric>

namespace winnow::sim::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::vector<uint32_t> iota(size_t count, uint32_t start = 0) {
  std::vector<uint32_t> v(count);
  std::iota(v.begin(), v.end(), start);
  return v;
}

/// s[20:23] describes the input, with that stride and number of records; v120
/// is lane * 4.
std::string descriptor(unsigned stride, unsigned records,
                       const std::string &word3 = "0x27000",
                       const std::string &buffer = "8") {
  std::string high = buffer == "8" ? "9" : "11";
  return "  s_mov_b32 s20, s" + buffer + "\n  s_or_b32 s21, s" + high + ", " +
         std::to_string(stride << 16) + "\n  s_mov_b32 s22, " +
         std::to_string(records) + "\n  s_mov_b32 s23, " + word3 +
         "\n  v_lshlrev_b32 v120, 2, v122\n";
}

TEST(Buffer, RawLoadsAndTheirRange) {
  // 48 dwords and a half are in range.
  auto out = runWave(descriptor(0, 4 * 48) + R"(
  buffer_load_dword v1, v120, s[20:23], 0 offen
  buffer_load_dword v2, off, s[20:23], 0 offset:16
  s_mov_b32 s24, 64
  v_and_b32 v10, 31, v122
  v_lshlrev_b32 v10, 2, v10
  buffer_load_dword v3, v10, s[20:23], s24 offen
  buffer_load_dwordx4 v[4:7], v120, s[20:23], 0 offen
  s_waitcnt vmcnt(0)
)" + storeOutputs(1, 7),
                     iota(256, 1000), 7 * 64);
  for (unsigned l = 0; l < 64; ++l) {
    EXPECT_EQ(out[l], l < 48 ? 1000 + l : 0);
    EXPECT_EQ(out[64 + l], 1004u);
    EXPECT_EQ(out[128 + l], 1016u + l % 32);
    // Dwords out of range are zero one by one.
    for (unsigned d = 0; d < 4; ++d)
      EXPECT_EQ(out[64 * (3 + d) + l], l + d < 48 ? 1000 + l + d : 0) << l;
  }
}

TEST(Buffer, StructuredLoadsCheckTheIndexAlone) {
  auto out = runWave(descriptor(12, 20) + R"(
  v_mov_b32 v20, v122
  v_mov_b32 v21, 4
  buffer_load_dword v1, v20, s[20:23], 0 idxen offset:4
  buffer_load_dwordx2 v[2:3], v[20:21], s[20:23], 0 idxen offen
  s_waitcnt vmcnt(0)
)" + storeOutputs(1, 3),
                     iota(256), 3 * 64);
  for (unsigned l = 0; l < 64; ++l) {
    EXPECT_EQ(out[l], l < 20 ? 3 * l + 1 : 0);
    EXPECT_EQ(out[64 + l], l < 20 ? 3 * l + 1 : 0);
    EXPECT_EQ(out[128 + l], l < 20 ? 3 * l + 2 : 0);
  }
}

TEST(Buffer, AddsTheLane) {
  // Stride 20 bytes: no range check, the lane is the index.
  auto out = runWave(descriptor(20, 0, "0x800000") + R"(
  buffer_load_dword v1, off, s[20:23], 0 offset:8
  s_waitcnt vmcnt(0)
)" + storeOutputs(1, 1),
                     iota(512), 64);
  for (unsigned l = 0; l < 64; ++l)
    EXPECT_EQ(out[l], 5 * l + 2);
}

TEST(Buffer, NarrowLoads) {
  std::vector<uint32_t> in(64);
  for (unsigned l = 0; l < 64; ++l)
    in[l] = 0x80818283 + 0x01010101 * l;
  auto out = runWave(descriptor(0, 256) + R"(
  v_mov_b32 v5, -1
  v_mov_b32 v6, -1
  v_mov_b32 v7, -1
  v_mov_b32 v8, -1
  buffer_load_ubyte v1, v120, s[20:23], 0 offen offset:1
  buffer_load_sbyte v2, v120, s[20:23], 0 offen offset:1
  buffer_load_ushort v3, v120, s[20:23], 0 offen offset:2
  buffer_load_sshort v4, v120, s[20:23], 0 offen offset:2
  buffer_load_ubyte_d16 v5, v120, s[20:23], 0 offen
  buffer_load_sbyte_d16_hi v6, v120, s[20:23], 0 offen
  buffer_load_short_d16 v7, v120, s[20:23], 0 offen
  buffer_load_short_d16_hi v8, v120, s[20:23], 0 offen
  s_waitcnt vmcnt(0)
)" + storeOutputs(1, 8),
                     in, 8 * 64);
  for (unsigned l = 0; l < 64; ++l) {
    uint32_t v = in[l];
    EXPECT_EQ(out[l], v >> 8 & 0xff);
    EXPECT_EQ(out[64 + l], uint32_t(int8_t(v >> 8)));
    EXPECT_EQ(out[128 + l], v >> 16);
    EXPECT_EQ(out[192 + l], uint32_t(int16_t(v >> 16)));
    EXPECT_EQ(out[256 + l], 0xffff0000 | (v & 0xff));
    EXPECT_EQ(out[320 + l], uint32_t(int8_t(v)) << 16 | 0xffff);
    EXPECT_EQ(out[384 + l], 0xffff0000 | (v & 0xffff));
    EXPECT_EQ(out[448 + l], v << 16 | 0xffff);
  }
}

TEST(Buffer, StoresDropWhatIsOutOfRange) {
  auto out = runWave(descriptor(0, 4 * 130, "0x27000", "10") + R"(
  v_mov_b32 v8, 7
  v_add_u32 v9, 100, v122
  v_lshlrev_b32 v3, 3, v122
  buffer_store_dword v9, v120, s[20:23], 0 offen
  buffer_store_dwordx2 v[8:9], v3, s[20:23], 0 offen offset:256
  v_mov_b32 v4, 0xab
  buffer_store_byte v4, v120, s[20:23], 0 offen offset:1
)",
                     {0}, 200);
  for (unsigned i = 0; i < 200; ++i) {
    uint32_t want = i >= 130 ? 0xdeadbeef
                    : i < 64 ? 0x0000ab00 | (100 + i)
                    : i % 2  ? 100 + (i - 64) / 2
                             : 7;
    EXPECT_EQ(out[i], want) << i;
  }
}

TEST(Buffer, Atomics) {
  auto out = runWave(descriptor(0, 16, "0x27000", "10") + R"(
  v_mov_b32 v1, 0
  v_mov_b32 v4, 1.0
  v_mov_b32 v5, 0x3c004000          // f16: 2, 1
  v_mov_b32 v6, 0x3f804000          // bf16: 2, 1
  buffer_store_dword v1, off, s[20:23], 0
  buffer_store_dword v1, off, s[20:23], 0 offset:4
  buffer_store_dword v1, off, s[20:23], 0 offset:8
  buffer_store_dword v1, off, s[20:23], 0 offset:12
  s_waitcnt vmcnt(0)
  v_mov_b32 v2, v122
  buffer_atomic_add v2, off, s[20:23], 0 sc0
  buffer_atomic_add_f32 v4, off, s[20:23], 0 offset:4
  buffer_atomic_pk_add_f16 v5, off, s[20:23], 0 offset:8
  buffer_atomic_pk_add_bf16 v6, off, s[20:23], 0 offset:12
  v_mov_b32 v8, 5
  v_mov_b32 v9, 2016
  buffer_atomic_cmpswap v[8:9], off, s[20:23], 0 sc0
  v_mov_b32 v3, 1
  buffer_atomic_add v3, v120, s[20:23], 0 offen offset:16 sc0
  s_waitcnt vmcnt(0)
  v_add_u32 v121, 256, v120
  global_store_dword v121, v2, s[10:11]
  global_store_dword v121, v8, s[10:11] offset:256
  global_store_dword v121, v3, s[10:11] offset:512
)",
                     {0}, 64 * 4);
  EXPECT_EQ(out[0], 5u); // swapped by the first lane, 2016 = 0 + ... + 63
  EXPECT_EQ(out[1], bitsOf(64));
  EXPECT_EQ(out[2], 0x54005800u); // 64, 128
  EXPECT_EQ(out[3], 0x42804300u); // bf16: 64, 128
  for (unsigned l = 0; l < 64; ++l) {
    EXPECT_EQ(out[64 + l], l * (l - 1) / 2); // sums of the lanes before
    EXPECT_EQ(out[128 + l], l ? 5u : 2016u);
    EXPECT_EQ(out[192 + l], 0u); // out of range: nothing, and zero
  }
}

TEST(Buffer, WhatIsNotKnownStops) {
  auto error = [](const std::string &body) {
    return runWaveError(body, iota(256), 64);
  };
  const std::string load =
      "  buffer_load_dword v1, v120, s[20:23], s24 offen\n";
  EXPECT_THAT(error(descriptor(0, 1024) +
                    "  s_bitset1_b32 s21, 31\n"
                    "  s_mov_b32 s24, 0\n" +
                    load),
              HasSubstr("a swizzled buffer"));
  EXPECT_THAT(error(descriptor(0, 64) + "  s_mov_b32 s24, 4\n" + load),
              AllOf(HasSubstr("lane 15"), HasSubstr("is not documented")));
  EXPECT_THAT(error(descriptor(0, 1024, "0") + "  s_mov_b32 s24, 0\n" + load),
              HasSubstr("data format 0"));
  EXPECT_THAT(error(descriptor(0, 1024) +
                    "  buffer_load_dword v1, v120, s[20:23], 0 offen "
                    "offset:2\n"),
              HasSubstr("is not a multiple of 4"));
  EXPECT_THAT(error(descriptor(0, 8) +
                    "  buffer_load_dword v1, v120, s[20:23], 0 idxen\n"),
              HasSubstr("stride is 0"));
  // In the descriptor's range, out of the allocation.
  EXPECT_THAT(error(descriptor(0, 4096) +
                    "  buffer_load_dword v1, v120, s[20:23], 0 offen "
                    "offset:1024\n"),
              HasSubstr("is outside every live allocation"));
}

TEST(Buffer, ScalarLoads) {
  auto out = runWave(descriptor(0, 64) + R"(
  s_mov_b32 s30, 8
  s_buffer_load_dwordx2 s[24:25], s[20:23], 0x4
  s_buffer_load_dword s26, s[20:23], s30
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v1, s24
  v_mov_b32 v2, s25
  v_mov_b32 v3, s26
)" + storeOutputs(1, 3),
                     iota(64, 50), 3 * 64);
  EXPECT_EQ(out[0], 51u);
  EXPECT_EQ(out[64], 52u);
  EXPECT_EQ(out[128], 52u);
  EXPECT_THAT(
      runWaveError(descriptor(0, 64) +
                       "  s_buffer_load_dword s24, s[20:23], 0x40\n",
                   iota(64), 64),
      HasSubstr("reaches 4 bytes at offset 64 of a buffer of 64 bytes"));
}

// Compiled code, through clang's buffer builtins.
TEST(Buffer, CompiledBuiltins) {
  auto object = load(compileHip(R"(
    KERNEL k(int *p, int *q, int n) {
      __amdgpu_buffer_rsrc_t a = __builtin_amdgcn_make_buffer_rsrc(p, 0, n * 4, 0x27000);
      __amdgpu_buffer_rsrc_t b = __builtin_amdgcn_make_buffer_rsrc(q, 0, n * 4, 0x27000);
      int v = __builtin_amdgcn_raw_buffer_load_b32(a, TX * 4, 0, 0);
      __builtin_amdgcn_raw_buffer_store_b32(v * 2 + 1, b, TX * 4, 0, 0);
    })"));
  Device device;
  uint64_t p = upload(device, iota(64), "p"),
           q = upload(device, std::vector<uint32_t>(64, 9), "q");
  Arguments arguments;
  arguments.add(p).add(q).add(40);
  auto stats = device.launch(object, "k", {}, {64, 1, 1}, arguments.bytes);
  ASSERT_TRUE(stats) << stats.message();
  auto got = download<uint32_t>(device, q, 64);
  for (unsigned l = 0; l < 64; ++l)
    EXPECT_EQ(got[l], l < 40 ? 2 * l + 1 : 9);
}

std::string readLds(const std::string &wait) {
  return wait + R"(
  v_lshlrev_b32 v120, 2, v122
  ds_read_b32 v1, v120 offset:64
  ds_read_b32 v2, v120 offset:320
  s_waitcnt lgkmcnt(0)
)" + storeOutputs(1, 2);
}

TEST(LoadToLds, PlacesByLane) {
  const std::string wait = "  s_waitcnt vmcnt(0)\n";
  std::vector<uint32_t> in = iota(512, 7000);
  // The offset moves both addresses; M0 the one in LDS alone.
  auto out = runWave("  v_lshlrev_b32 v120, 2, v122\n"
                     "  s_mov_b32 m0, 48\n"
                     "  global_load_lds_dword v120, s[8:9] offset:16\n"
                     "  s_mov_b32 m0, 304\n"
                     "  global_load_lds_ushort v120, s[8:9] offset:16\n" +
                         readLds(wait),
                     in, 128);
  for (unsigned l = 0; l < 64; ++l) {
    EXPECT_EQ(out[l], 7004 + l);
    EXPECT_EQ(out[64 + l], (7004 + l) & 0xffff);
  }
  // Signed bytes are extended; inactive lanes leave their place alone.
  in[0] = 0x80;
  out = runWave("  v_lshlrev_b32 v120, 2, v122\n"
                "  v_mov_b32 v5, 5\n"
                "  ds_write_b32 v120, v5 offset:64\n"
                "  ds_write_b32 v120, v5 offset:320\n"
                "  s_waitcnt lgkmcnt(0)\n"
                "  s_mov_b32 m0, 64\n"
                "  s_mov_b64 exec, 5\n"
                "  global_load_lds_sbyte v120, s[8:9]\n"
                "  s_mov_b64 exec, -1\n" +
                    readLds(wait),
                in, 128);
  EXPECT_EQ(out[0], 0xffffff80u);
  EXPECT_EQ(out[1], 5u);
  EXPECT_EQ(out[2], uint32_t(int8_t(7002)));
  EXPECT_EQ(out[3], 5u);
}

TEST(LoadToLds, FourDwordsAndBuffers) {
  std::vector<uint32_t> in = iota(512, 100);
  auto out = runWave(descriptor(0, 4 * 200) + R"(
  v_lshlrev_b32 v3, 4, v122
  s_mov_b32 m0, 0
  buffer_load_dwordx4 v3, s[20:23], 0 offen lds
  s_waitcnt vmcnt(0)
  ds_read_b32 v1, v120
  ds_read_b32 v2, v120 offset:768
  s_waitcnt lgkmcnt(0)
)" + storeOutputs(1, 2),
                     in, 128);
  // 16 bytes a lane; dwords from 200 on are out of range and zero.
  for (unsigned l = 0; l < 64; ++l) {
    EXPECT_EQ(out[l], 100 + l);
    EXPECT_EQ(out[64 + l], l < 8 ? 100 + 192 + l : 0);
  }
  // Three dwords leave a gap of one.
  out = runWave(R"(
  v_lshlrev_b32 v120, 2, v122
  v_mov_b32 v5, 5
  ds_write_b32 v120, v5
  s_waitcnt lgkmcnt(0)
  v_mul_u32_u24 v3, 12, v122
  s_mov_b32 m0, 0
  s_mov_b64 exec, 0xffff
  global_load_lds_dwordx3 v3, s[8:9]
  s_mov_b64 exec, -1
  s_waitcnt vmcnt(0)
  ds_read_b32 v1, v120
  s_waitcnt lgkmcnt(0)
)" + storeOutputs(1, 1),
                in, 64);
  for (unsigned l = 0; l < 64; ++l)
    EXPECT_EQ(out[l], l % 4 == 3 ? 5 : 100 + l / 4 * 3 + l % 4);
}

TEST(LoadToLds, WhatIsWrongIsNamed) {
  auto error = [](const std::string &body) {
    return runWaveError(body, iota(256), 64);
  };
  const std::string load = "  v_lshlrev_b32 v120, 2, v122\n"
                           "  global_load_lds_dword v120, s[8:9]\n";
  EXPECT_THAT(error("  s_mov_b32 m0, 800\n" + load),
              AllOf(HasSubstr("LDS store"), HasSubstr("by lane 56")));
  EXPECT_THAT(error("  s_mov_b32 m0, 2\n" + load),
              HasSubstr("M0, the LDS offset, is 0x2"));
}

LaunchOptions stopping(CheckKind kind) {
  LaunchOptions options;
  options.checks.set(kind, CheckAction::Stop);
  options.instructionLimit = 100000;
  return options;
}

TEST(LoadToLds, ReadingBeforeTheWaitIsFound) {
  auto error = [](const std::string &wait) {
    return runWaveError("  v_lshlrev_b32 v120, 2, v122\n"
                        "  s_mov_b32 m0, 64\n"
                        "  global_load_lds_dword v120, s[8:9]\n"
                        "  s_mov_b32 m0, 320\n"
                        "  global_load_lds_dword v120, s[8:9]\n" +
                            wait +
                            "  ds_read_b32 v1, v120 offset:64\n"
                            "  s_waitcnt lgkmcnt(0)\n",
                        iota(256), 64, 64, stopping(CheckKind::MissingWait));
  };
  EXPECT_EQ(error("  s_waitcnt vmcnt(1)\n"), "");
  EXPECT_THAT(error("  s_waitcnt vmcnt(2)\n"),
              AllOf(HasSubstr("ds_read_b32"), HasSubstr("LDS byte 0x40"),
                    HasSubstr("an s_waitcnt vmcnt is missing")));
}

TEST(LoadToLds, OtherWavesNeedTheWaitBeforeTheBarrier) {
  auto error = [](const std::string &wait) {
    // Every wave loads its 64 dwords and reads those of the next one.
    return runWaveError("  v_lshlrev_b32 v120, 2, v122\n"
                        "  v_readfirstlane_b32 s20, v120\n"
                        "  s_mov_b32 m0, s20\n"
                        "  global_load_lds_dword v120, s[8:9]\n" +
                            wait +
                            "  s_barrier\n"
                            "  v_xor_b32 v1, 0x100, v120\n"
                            "  ds_read_b32 v1, v1\n"
                            "  s_waitcnt lgkmcnt(0)\n",
                        iota(256), 64, 128, stopping(CheckKind::MissingWait));
  };
  EXPECT_EQ(error("  s_waitcnt vmcnt(0)\n"), "");
  EXPECT_THAT(error(""), HasSubstr("missing before the barrier"));
}

TEST(LoadToLds, RacesAndUninitialisedReadsAreFound) {
  const std::string load = "  v_lshlrev_b32 v120, 2, v122\n"
                           "  s_mov_b32 m0, 0\n"
                           "  global_load_lds_dword v120, s[8:9]\n"
                           "  s_waitcnt vmcnt(0)\n"
                           "  v_and_b32 v1, 63, v122\n"
                           "  v_lshlrev_b32 v1, 2, v1\n";
  EXPECT_THAT(runWaveError(load + "  ds_read_b32 v2, v1\n", iota(256), 64, 128,
                           stopping(CheckKind::LdsRace)),
              HasSubstr("lds-race"));
  EXPECT_EQ(runWaveError(load + "  ds_read_b32 v2, v1\n", iota(256), 64, 64,
                         stopping(CheckKind::UninitialisedLds)),
            "");
  EXPECT_THAT(runWaveError(load + "  ds_read_b32 v2, v1 offset:4\n", iota(256),
                           64, 64, stopping(CheckKind::UninitialisedLds)),
              HasSubstr("LDS byte 0x100"));
}

TEST(Buffer, ChecksSeeThem) {
  auto object = load(
      assemble(kernelAround("  s_load_dwordx4 s[8:11], s[0:1], 0x0\n"
                            "  s_waitcnt lgkmcnt(0)\n"
                            "  v_and_b32 v122, 0x3ff, v0\n" +
                            descriptor(0, 512) +
                            "  buffer_load_dword v1, v120, s[20:23], 0 offen\n"
                            "  v_add_u32 v2, v1, v1\n")));
  auto run = [&](CheckKind kind, bool written) {
    Device device;
    auto p = device.alloc(512, "fresh");
    std::vector<uint32_t> values = iota(written ? 64 : 60);
    EXPECT_TRUE(device.write(*p, std::as_bytes(std::span(values))));
    Arguments arguments;
    arguments.add(*p).add(*p);
    auto stats = device.launch(object, "k", {}, {64, 1, 1}, arguments.bytes,
                               stopping(kind));
    return stats ? std::string() : stats.message();
  };
  EXPECT_EQ(run(CheckKind::UninitialisedGlobal, true), "");
  EXPECT_THAT(run(CheckKind::UninitialisedGlobal, false),
              AllOf(HasSubstr("`buffer_load_dword"), HasSubstr("lane 60")));
  EXPECT_THAT(run(CheckKind::MissingWait, true),
              HasSubstr("an s_waitcnt vmcnt is missing"));
  // Workgroups store to one place.
  auto race =
      load(assemble(kernelAround("  s_load_dwordx4 s[8:11], s[0:1], 0x0\n"
                                 "  s_waitcnt lgkmcnt(0)\n"
                                 "  v_and_b32 v122, 0x3ff, v0\n" +
                                 descriptor(0, 512) +
                                 "  buffer_store_dword v120, v120, s[20:23], 0 "
                                 "offen\n")));
  Device device;
  uint64_t p = upload(device, iota(128), "p");
  Arguments arguments;
  arguments.add(p).add(p);
  auto stats = device.launch(race, "k", {2, 1, 1}, {64, 1, 1}, arguments.bytes,
                             stopping(CheckKind::GlobalRace));
  ASSERT_FALSE(stats);
  EXPECT_THAT(stats.message(), HasSubstr("global-race"));
}

} // namespace
} // namespace winnow::sim::test
