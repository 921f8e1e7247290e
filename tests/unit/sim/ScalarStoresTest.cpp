// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalar stores and atomics: memory after them, what they return, and what the
// checks say of them.
#include "TestKernels.h"

#include <gmock/gmock.h>

namespace winnow::sim::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// s[20:23] describes the first `bytes` of the results.
std::string descriptor(unsigned bytes) {
  return "  s_mov_b64 s[20:21], s[10:11]\n  s_mov_b32 s22, " +
         std::to_string(bytes) + "\n  s_mov_b32 s23, 0\n";
}

TEST(ScalarStores, WriteTheirDwords) {
  auto got = runWave(descriptor(40) + R"(
  s_mov_b32 s12, 12
  s_mov_b32 s13, 13
  s_mov_b32 s14, 14
  s_mov_b32 s15, 15
  s_mov_b32 s16, 8
  s_mov_b64 exec, 0
  s_store_dword s13, s[10:11], 0x0
  s_buffer_store_dword s15, s[20:23], 0x4
  s_store_dwordx2 s[12:13], s[10:11], s16
  s_store_dwordx4 s[12:15], s[10:11], s16 offset:0x8
  s_buffer_store_dwordx2 s[14:15], s[20:23], 0x20
  s_waitcnt lgkmcnt(0)
)",
                     {0}, 10);
  EXPECT_THAT(got, ElementsAre(13, 15, 12, 13, 12, 13, 14, 15, 14, 15));
}

struct AtomicCase {
  const char *name;
  int32_t after; // of -10 in memory and 3 in the register, sign extended
};
const AtomicCase kCases[] = {{"swap", 3},   {"add", -7}, {"sub", -13},
                             {"smin", -10}, {"umin", 3}, {"smax", 3},
                             {"umax", -10}, {"and", 2},  {"or", -9},
                             {"xor", -11},  {"inc", 0}, // -10 is not below 3
                             {"dec", 3},                // -10 is above 3
                             {"cmpswap", 3}};

TEST(ScalarStores, AtomicsOfBothWidths) {
  for (bool isWide : {false, true})
    for (bool isBuffer : {false, true}) {
      std::string body = descriptor(16 * std::size(kCases)) +
                         "  s_mov_b32 s12, -10\n  s_mov_b32 s13, -1\n";
      unsigned at = 0;
      for (const AtomicCase &c : kCases) {
        bool swaps = std::string(c.name) == "cmpswap";
        unsigned words = (isWide ? 2 : 1) * (swaps ? 2 : 1);
        body +=
            "  s_store_dwordx2 s[12:13], s[10:11], " + std::to_string(at) +
            "\n  s_waitcnt lgkmcnt(0)\n  s_mov_b32 s24, 3\n" +
            (isWide ? "  s_mov_b32 s25, 0\n  s_mov_b64 s[26:27], s[12:13]\n"
                    : "  s_mov_b32 s25, s12\n") +
            (isBuffer ? "  s_buffer_atomic_" : "  s_atomic_") + c.name +
            (isWide ? "_x2 " : " ") +
            (words == 1 ? "s24" : "s[24:" + std::to_string(23 + words) + "]") +
            (isBuffer ? ", s[20:23], " : ", s[10:11], ") + std::to_string(at) +
            " glc\n  s_waitcnt lgkmcnt(0)\n"
            "  s_store_dwordx2 s[24:25], s[10:11], " +
            std::to_string(at + 8) + "\n  s_waitcnt lgkmcnt(0)\n";
        at += 16;
      }
      auto got = runWave(body, {0}, at / 4);
      for (unsigned i = 0; i < std::size(kCases); ++i) {
        const AtomicCase &c = kCases[i];
        EXPECT_EQ(got[4 * i], uint32_t(c.after)) << c.name;
        // The high word is part of the number, or stays.
        EXPECT_EQ(got[4 * i + 1], isWide && c.after >= 0 ? 0 : 0xffffffffu)
            << c.name;
        EXPECT_EQ(got[4 * i + 2], uint32_t(-10)) << c.name;
        if (isWide) {
          EXPECT_EQ(got[4 * i + 3], 0xffffffffu) << c.name;
        }
      }
    }
}

TEST(ScalarStores, WithoutGlcTheRegisterStays) {
  auto got = runWave(R"(
  s_mov_b32 s12, 5
  s_store_dword s12, s[10:11], 0x0
  s_atomic_add s12, s[10:11], 0x0
  s_atomic_inc s12, s[10:11], 0x0
  s_waitcnt lgkmcnt(0)
  s_store_dword s12, s[10:11], 0x4
  s_waitcnt lgkmcnt(0)
)",
                     {0}, 2);
  EXPECT_THAT(got, ElementsAre(0, 5)); // 10 is not below 5
}

TEST(ScalarStores, WhatIsOutOfBoundsStops) {
  EXPECT_THAT(
      runWaveError("  s_store_dwordx4 s[12:15], s[10:11], 0x100\n", {0}, 1),
      HasSubstr("scalar store of 16 bytes"));
  EXPECT_THAT(runWaveError(descriptor(16) +
                               "  s_buffer_atomic_add s12, s[20:23], 0x10\n",
                           {0}, 64),
              HasSubstr("of a buffer of 16 bytes"));
  EXPECT_THAT(
      runWaveError("  s_atomic_add_x2 s[12:13], s[10:11], 0x4\n", {0}, 64),
      HasSubstr("not a multiple of 8"));
}

TEST(ScalarStores, ChecksSeeThem) {
  auto run = [](const std::string &body, CheckKind kind, uint32_t groups) {
    auto object =
        load(assemble(kernelAround("  s_load_dwordx2 s[8:9], s[0:1], 0x0\n"
                                   "  s_waitcnt lgkmcnt(0)\n" +
                                   body)));
    Device device;
    auto p = device.alloc(64, "fresh");
    Arguments arguments;
    arguments.add(*p).add(*p);
    LaunchOptions options;
    options.checks.set(kind, CheckAction::Stop);
    auto stats = device.launch(object, "k", {groups, 1, 1}, {64, 1, 1},
                               arguments.bytes, options);
    return stats ? std::string() : stats.message();
  };
  const std::string store = "  s_store_dword s2, s[8:9], 0x0\n"
                            "  s_waitcnt lgkmcnt(0)\n";
  const std::string add = "  s_atomic_add s2, s[8:9], 0x0 glc\n";
  EXPECT_EQ(run(store + add, CheckKind::UninitialisedGlobal, 1), "");
  EXPECT_THAT(run(add, CheckKind::UninitialisedGlobal, 1),
              HasSubstr("`s_atomic_add"));
  EXPECT_EQ(run(add, CheckKind::GlobalRace, 2), "");
  EXPECT_THAT(run(store, CheckKind::GlobalRace, 2), HasSubstr("global-race"));
  EXPECT_THAT(run(add + "  s_add_u32 s3, s2, 1\n", CheckKind::MissingWait, 1),
              HasSubstr("missing-wait"));
}

// Loops that poll memory in these ways wait for others.
TEST(ScalarStores, PollingIsWaiting) {
  const std::string polls[] = {
      "  s_buffer_load_dword s12, s[20:23], 0x8\n",
      "  s_mov_b32 s12, 0\n  s_buffer_atomic_or s12, s[20:23], 0x8 glc\n",
      "  s_mov_b32 s12, 0\n  s_atomic_or s12, s[10:11], 0x8 glc\n",
      "  buffer_load_dword v1, off, s[20:23], 0 offset:8\n"
      "  s_waitcnt vmcnt(0)\n  v_readfirstlane_b32 s12, v1\n"};
  for (const std::string &poll : polls)
    EXPECT_THAT(runWaveError(descriptor(64) + "  s_mov_b32 s23, 0x20000\n" +
                                 "again:\n" + poll +
                                 "  s_waitcnt lgkmcnt(0)\n"
                                 "  s_cmp_eq_u32 s12, 77\n"
                                 "  s_cbranch_scc0 again\n",
                             {0}, 64),
                HasSubstr("deadlock: the wave spins on 0x"))
        << poll;
}

} // namespace
} // namespace winnow::sim::test
