// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each check against a kernel with its fault planted, and against the same
// kernel with the fault mended.
#include "TestKernels.h"

#include <gmock/gmock.h>

namespace winnow::sim::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

LaunchOptions stopping(CheckKind kind) {
  LaunchOptions options;
  options.checks.set(kind, CheckAction::Stop);
  options.instructionLimit = 1000000;
  return options;
}

/// The error of a launch with one check on, "" when it ran.
std::string launchError(const std::string &hip, const char *kernel, Dim3 grid,
                        Dim3 block, CheckKind kind) {
  auto object = load(compileHip(hip));
  Device device;
  uint64_t data = upload(device, std::vector<uint32_t>(4096, 1), "data");
  Result<uint64_t> fresh = device.alloc(16384, "fresh");
  EXPECT_TRUE(fresh);
  Arguments arguments;
  arguments.add(data);
  Result<const KernelInfo *> info = object->find(kernel);
  EXPECT_TRUE(info);
  if ((*info)->arguments.size() > 1)
    arguments.add(*fresh);
  auto stats = device.launch(object, kernel, grid, block, arguments.bytes,
                             stopping(kind));
  return stats ? std::string() : stats.message();
}

std::string waveError(const std::string &body, CheckKind kind,
                      unsigned lanes = 64) {
  return runWaveError(body, std::vector<uint32_t>(256, 1), 64, lanes,
                      stopping(kind));
}

TEST(Checks, UninitialisedGlobalNamesBufferAndLane) {
  const char *kernel = R"(
    KERNEL k(u32 *data, u32 *fresh) {
      if (TX != 5) fresh[TX] = 1;
      data[TX] = fresh[63 - TX];
    })";
  EXPECT_THAT(
      launchError(kernel, "k", {}, {64, 1, 1}, CheckKind::UninitialisedGlobal),
      AllOf(HasSubstr("kernel 'k', workgroup (0, 0, 0), wave 0"),
            HasSubstr("`global_load_dword"),
            HasSubstr("uninitialised-global: 4 bytes at 0x"),
            HasSubstr("in 'fresh', which lane 58 reads")));
  EXPECT_EQ(launchError("KERNEL k(u32 *data, u32 *fresh) { fresh[TX] = 1; "
                        "data[TX] = fresh[63 - TX]; }",
                        "k", {}, {64, 1, 1}, CheckKind::UninitialisedGlobal),
            "");
}

TEST(Checks, UninitialisedBytesAreToldApart) {
  // Three bytes of the dword are written.
  const char *kernel = R"(
    KERNEL k(u32 *data, u8 *fresh) {
      fresh[4 * TX] = fresh[4 * TX + 1] = fresh[4 * TX + 3] = 7;
      __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
      data[TX] = ((volatile u8 *)fresh)[4 * TX + OFFSET];
    })";
  EXPECT_EQ(launchError(std::string("#define OFFSET 3\n") + kernel, "k", {},
                        {64, 1, 1}, CheckKind::UninitialisedGlobal),
            "");
  EXPECT_THAT(launchError(std::string("#define OFFSET 2\n") + kernel, "k", {},
                          {64, 1, 1}, CheckKind::UninitialisedGlobal),
              HasSubstr("1 bytes at 0x"));
}

TEST(Checks, AnUncheckedLaunchMayHaveWrittenAnything) {
  auto object = load(compileHip("KERNEL w(u32 *p) { p[TX] = 1; }"
                                "KERNEL r(u32 *p, u32 *q) { q[TX] = p[TX]; }"));
  Device device;
  auto p = device.alloc(256, "p"), q = device.alloc(256, "q");
  ASSERT_TRUE(p && q);
  Arguments one, two;
  one.add(*p);
  two.add(*p).add(*q);
  ASSERT_TRUE(device.launch(object, "w", {}, {64, 1, 1}, one.bytes));
  auto stats = device.launch(object, "r", {}, {64, 1, 1}, two.bytes,
                             stopping(CheckKind::UninitialisedGlobal));
  EXPECT_TRUE(stats) << stats.message();
}

TEST(Checks, UninitialisedLds) {
  std::string body = "  v_lshlrev_b32 v1, 2, v122\n"
                     "  v_mov_b32 v2, 0\n"
                     "  s_mov_b64 exec, 0xfffffff\n"
                     "  ds_write_b32 v1, v2 offset:16\n"
                     "  s_waitcnt lgkmcnt(0)\n";
  EXPECT_EQ(waveError(body + "  ds_read_b32 v3, v1 offset:16\n",
                      CheckKind::UninitialisedLds),
            "");
  EXPECT_THAT(waveError(body + "  ds_read_b32 v3, v1 offset:20\n",
                        CheckKind::UninitialisedLds),
              AllOf(HasSubstr("`ds_read_b32 v3, v1 offset:20`"),
                    HasSubstr("uninitialised-lds: LDS byte 0x80, which lane 27 "
                              "reads, was not written")));
}

const char *kExchange = R"(
  KERNEL k(u32 *data) {
    SHARED u32 s[128];
    s[TX] = data[TX];
    SYNC
    data[TX] = s[127 - TX];
  })";

TEST(Checks, LdsRaceBetweenBarriers) {
  EXPECT_EQ(launchError(std::string("#define SYNC sync();\n") + kExchange, "k",
                        {2, 1, 1}, {128, 1, 1}, CheckKind::LdsRace),
            "");
  EXPECT_THAT(launchError(std::string("#define SYNC\n") + kExchange, "k", {},
                          {128, 1, 1}, CheckKind::LdsRace),
              AllOf(HasSubstr("wave 1, at +0x"), HasSubstr("`ds_write_b32"),
                    HasSubstr("lds-race: LDS byte 0x100, which lane 0 writes, "
                              "was read by wave 0 with no barrier")));
}

TEST(Checks, LdsAtomicsDoNotRaceWithEachOther) {
  const char *kernel = R"(
    KERNEL k(u32 *data) {
      SHARED u32 s[64];
      s[TX & 63] = TX >> 6;
      sync();
      __hip_atomic_fetch_add(&s[data[TX] & 63], 1u, __ATOMIC_RELAXED, 3);
      AFTER
      data[TX] = s[TX & 63];
    })";
  // Both waves set the same words, to different values: a race of its own.
  EXPECT_THAT(launchError(std::string("#define AFTER sync();\n") + kernel, "k",
                          {}, {128, 1, 1}, CheckKind::LdsRace),
              HasSubstr("was written by wave 0"));
  EXPECT_EQ(launchError(std::string("#define AFTER sync();\n") + kernel, "k",
                        {}, {64, 1, 1}, CheckKind::LdsRace),
            "");
  // Both storing the same value is not.
  EXPECT_EQ(launchError("KERNEL k(u32 *data) { SHARED u32 s; s = data[0]; "
                        "sync(); data[TX] = s; }",
                        "k", {}, {128, 1, 1}, CheckKind::LdsRace),
            "");
  const char *separate = R"(
    KERNEL k(u32 *data) {
      SHARED u32 s[64];
      if (TX < 64) s[TX] = 0;
      sync();
      __hip_atomic_fetch_add(&s[data[TX] & 63], 1u, __ATOMIC_RELAXED, 3);
      AFTER
      data[TX] = s[TX & 63];
    })";
  EXPECT_EQ(launchError(std::string("#define AFTER sync();\n") + separate, "k",
                        {}, {128, 1, 1}, CheckKind::LdsRace),
            "");
  EXPECT_THAT(launchError(std::string("#define AFTER\n") + separate, "k", {},
                          {128, 1, 1}, CheckKind::LdsRace),
              HasSubstr("lds-race"));
}

TEST(Checks, GlobalRaceOfWorkgroups) {
  EXPECT_THAT(launchError("KERNEL k(u32 *data) { data[BX + TX] = 7; }", "k",
                          {2, 1, 1}, {64, 1, 1}, CheckKind::GlobalRace),
              AllOf(HasSubstr("workgroup (1, 0, 0), wave 0"),
                    HasSubstr("in 'data', which lane 0 writes, was written by "
                              "workgroup number 0 of this launch")));
  EXPECT_THAT(launchError("KERNEL k(u32 *data) { data[BX * 64 + TX] = "
                          "data[(BX ? BX - 1 : 0) * 64 + TX]; }",
                          "k", {2, 1, 1}, {64, 1, 1}, CheckKind::GlobalRace),
              HasSubstr("which lane 0 reads, was written by workgroup number"));
  EXPECT_EQ(launchError("KERNEL k(u32 *data) { data[BX * 64 + TX] = "
                        "data[4095 - TX]; }",
                        "k", {8, 1, 1}, {64, 1, 1}, CheckKind::GlobalRace),
            "");
  // Neighbouring bytes are not the same place.
  EXPECT_EQ(launchError("KERNEL k(u8 *data) { data[2 * TX + BX] = 7; }", "k",
                        {2, 1, 1}, {64, 1, 1}, CheckKind::GlobalRace),
            "");
}

TEST(Checks, AnAtomicOrdersWorkgroups) {
  // The last workgroup to arrive reads what the others wrote.
  const char *kernel = R"(
    KERNEL k(u32 *data, u32 *fresh) {
      data[BX * 64 + TX] = BX;
      u32 before = 0;
      if (TX == 0)
        before = COUNT;
      before = __builtin_amdgcn_readfirstlane(before);
      if (before == 4)
        for (int i = 0; i < 4; ++i) fresh[i * 64 + TX] = data[i * 64 + TX];
    })";
  EXPECT_EQ(launchError(std::string("#define COUNT __hip_atomic_fetch_add("
                                    "&data[1024], 1u, __ATOMIC_ACQ_REL, 4)\n") +
                            kernel,
                        "k", {4, 1, 1}, {64, 1, 1}, CheckKind::GlobalRace),
            "");
  EXPECT_THAT(launchError(std::string("#define COUNT (BX + 1)\n") + kernel, "k",
                          {4, 1, 1}, {64, 1, 1}, CheckKind::GlobalRace),
              HasSubstr("global-race"));
}

TEST(Checks, BarrierThatSomeWavesNeverReach) {
  const char *kernel = "KERNEL k(u32 *data) { if (TX < 64) return; "
                       "data[TX] = 1; sync(); data[TX] = 2; }";
  EXPECT_THAT(
      launchError(kernel, "k", {}, {128, 1, 1}, CheckKind::DivergentBarrier),
      AllOf(HasSubstr("wave 1"), HasSubstr("`s_barrier`"),
            HasSubstr("1 of the workgroup's 2 waves never arrive")));
}

TEST(Checks, WavesAtDifferentBarriers) {
  std::string body = "  v_readfirstlane_b32 s20, v0\n"
                     "  s_bitcmp1_b32 s20, 6\n"
                     "  s_cbranch_scc1 Second\n"
                     "  s_barrier\n"
                     "  s_branch Done\n"
                     "Second:\n"
                     "  s_nop 0\n"
                     "  s_barrier\n"
                     "Done:\n";
  EXPECT_THAT(waveError(body, CheckKind::DivergentBarrier, 128),
              HasSubstr("together with wave 1, which waits at another one"));
}

const char *kLoad = "  v_lshlrev_b32 v1, 2, v122\n"
                    "  global_load_dword v2, v1, s[8:9]\n"
                    "  global_load_dword v3, v1, s[8:9] offset:256\n";

TEST(Checks, LoadsHaveToBeWaitedFor) {
  auto error = [](const std::string &body) {
    return waveError(kLoad + body, CheckKind::MissingWait);
  };
  EXPECT_THAT(error("  v_add_u32 v4, v2, v1\n"),
              AllOf(HasSubstr("missing-wait: reads vector register 2"),
                    HasSubstr("s_waitcnt vmcnt is missing"),
                    HasSubstr("`v_add_u32_e32 v4, v2, v1`")));
  // They complete in order: one left means that the first is there.
  EXPECT_EQ(error("  s_waitcnt vmcnt(1)\n  v_add_u32 v4, v2, v1\n"), "");
  EXPECT_THAT(error("  s_waitcnt vmcnt(1)\n  v_add_u32 v4, v3, v1\n"),
              HasSubstr("reads vector register 3"));
  EXPECT_THAT(error("  v_mov_b32 v3, 0\n"),
              HasSubstr("overwrites vector register 3"));
  EXPECT_THAT(error("  s_waitcnt lgkmcnt(0)\n  v_add_u32 v4, v2, v1\n"),
              HasSubstr("vmcnt is missing"));
}

TEST(Checks, ScalarLoadsCompleteInAnyOrder) {
  auto error = [](const std::string &body) {
    return waveError("  s_load_dword s20, s[8:9], 0x0\n"
                     "  s_load_dwordx2 s[22:23], s[8:9], 0x8\n" +
                         body,
                     CheckKind::MissingWait);
  };
  EXPECT_THAT(error("  s_mov_b32 s30, s20\n"), HasSubstr("reads s20"));
  EXPECT_THAT(error("  s_waitcnt lgkmcnt(1)\n  s_mov_b32 s30, s20\n"),
              HasSubstr("reads s20"));
  EXPECT_THAT(error("  s_add_u32 s30, s2, s23\n"), HasSubstr("reads s23"));
  EXPECT_EQ(error("  s_waitcnt lgkmcnt(0)\n  s_add_u32 s30, s20, s23\n"), "");
}

TEST(Checks, LdsAccessesAreWaitedFor) {
  std::string write = "  v_lshlrev_b32 v1, 2, v122\n"
                      "  ds_write_b32 v1, v1\n";
  EXPECT_THAT(waveError(write + "  s_barrier\n", CheckKind::MissingWait),
              HasSubstr("passes a barrier with an LDS store on its way"));
  EXPECT_EQ(waveError(write + "  s_waitcnt lgkmcnt(0)\n  s_barrier\n",
                      CheckKind::MissingWait),
            "");
  std::string reads = "  v_lshlrev_b32 v1, 2, v122\n"
                      "  ds_read_b32 v2, v1\n"
                      "  ds_read_b64 v[4:5], v1\n";
  EXPECT_EQ(waveError(reads + "  s_waitcnt lgkmcnt(1)\n  v_mov_b32 v8, v2\n",
                      CheckKind::MissingWait),
            "");
  EXPECT_THAT(waveError(reads + "  s_waitcnt lgkmcnt(1)\n  v_mov_b32 v8, v5\n",
                        CheckKind::MissingWait),
              HasSubstr("reads vector register 5"));
}

TEST(Checks, WarningsAreCountedOnceAnInstruction) {
  auto object = load(compileHip("KERNEL k(u32 *data) { data[TX] = 7; }"));
  Device device;
  uint64_t data = upload(device, std::vector<uint32_t>(64), "data");
  Arguments arguments;
  arguments.add(data);
  LaunchOptions options;
  options.checks = Checks::all(CheckAction::Warn);
  auto stats = device.launch(object, "k", {3, 1, 1}, {64, 1, 1},
                             arguments.bytes, options);
  ASSERT_TRUE(stats) << stats.message();
  ASSERT_EQ(stats->findings.size(), 1u);
  EXPECT_EQ(stats->findings[0].kind, CheckKind::GlobalRace);
  EXPECT_EQ(stats->findings[0].count, 2u);
  EXPECT_THAT(stats->findings[0].message,
              HasSubstr("workgroup (1, 0, 0), wave 0, at +0x"));
  EXPECT_EQ(download<uint32_t>(device, data, 64), std::vector<uint32_t>(64, 7));
}

TEST(Checks, LineInformationNamesTheSourceLine) {
  auto object = load(compileHip("KERNEL k(const u32 *in, u32 *out) {\n"
                                "  u32 v = in[TX];\n"
                                "  out[TX] = v + 1;\n"
                                "}\n",
                                "gfx950", "-gline-tables-only"));
  Device device;
  uint64_t in = upload(device, std::vector<uint32_t>(64), "in");
  uint64_t out = upload(device, std::vector<uint32_t>(63), "out");
  Arguments arguments;
  arguments.add(in).add(out);
  auto stats = device.launch(object, "k", {}, {64, 1, 1}, arguments.bytes);
  ASSERT_FALSE(stats);
  // The third line of the source, after twelve of the prelude.
  EXPECT_THAT(stats.message(),
              HasSubstr("(kernel.hip:15): out-of-bounds: global "
                        "store"));
}

} // namespace
} // namespace winnow::sim::test
