// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counters of small kernels against figures worked out by hand.
#include "TestKernels.h"

#include <gmock/gmock.h>

namespace winnow::sim::test {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const KernelProfile>
profileOf(const std::string &body, Dim3 grid = {}, unsigned items = 64) {
  auto object =
      load(assemble(kernelAround("  s_load_dwordx4 s[8:11], s[0:1], 0x0\n"
                                 "  s_waitcnt lgkmcnt(0)\n"
                                 "  v_and_b32 v122, 0x3ff, v0\n" +
                                 body)));
  Device device;
  uint64_t in = upload(device, std::vector<uint32_t>(16384), "in");
  uint64_t out = upload(device, std::vector<uint32_t>(16384), "out");
  Arguments arguments;
  arguments.add(in).add(out);
  LaunchOptions options;
  options.profile = true;
  auto stats =
      device.launch(object, "k", grid, {items, 1, 1}, arguments.bytes, options);
  if (!stats) {
    ADD_FAILURE() << stats.message();
    return nullptr;
  }
  EXPECT_EQ(stats->profile->total.executions, stats->instructions);
  EXPECT_EQ(stats->profile->total.bytesLoaded, stats->bytesLoaded);
  EXPECT_EQ(stats->profile->total.bytesStored, stats->bytesStored);
  return stats->profile;
}

Counters countersOf(const KernelProfile &profile, const std::string &text) {
  for (const InstructionProfile &in : profile.instructions)
    if (in.text.starts_with(text))
      return in.counters;
  ADD_FAILURE() << "no instruction begins with " << text;
  return {};
}

TEST(Profile, ContiguousAndStridedLoads) {
  auto profile = profileOf("  v_lshlrev_b32 v1, 2, v122\n"
                           "  v_lshlrev_b32 v2, 8, v122\n"
                           "  v_mov_b32 v3, 0\n"
                           "  global_load_dword v10, v1, s[8:9]\n"
                           "  global_load_dwordx4 v[12:15], v2, s[8:9]\n"
                           "  global_load_dwordx2 v[16:17], v3, s[8:9]\n"
                           "  global_load_dword v18, v1, s[8:9] offset:4\n"
                           "  s_waitcnt vmcnt(0)\n");
  ASSERT_TRUE(profile);
  // 64 dwords side by side from an aligned address.
  Counters whole = countersOf(*profile, "global_load_dword v10");
  EXPECT_EQ(whole.bytesLoaded, 256u);
  EXPECT_EQ(whole.lines64, 4u);
  EXPECT_EQ(whole.lines128, 2u);
  EXPECT_DOUBLE_EQ(whole.coalescing(), 1.0);
  // 16 bytes of each 256.
  Counters strided = countersOf(*profile, "global_load_dwordx4");
  EXPECT_EQ(strided.bytesLoaded, 1024u);
  EXPECT_EQ(strided.lines64, 64u);
  EXPECT_EQ(strided.lines128, 64u);
  EXPECT_DOUBLE_EQ(strided.coalescing(), 0.25);
  EXPECT_EQ(strided.issueCycles, 64u);
  // Every lane asks for the same 8 bytes.
  Counters shared = countersOf(*profile, "global_load_dwordx2");
  EXPECT_EQ(shared.bytesLoaded, 512u);
  EXPECT_EQ(shared.differentBytes, 8u);
  EXPECT_EQ(shared.lines64, 1u);
  // One dword further: a fifth line.
  Counters shifted = countersOf(*profile, "global_load_dword v18");
  EXPECT_EQ(shifted.lines64, 5u);
  EXPECT_EQ(shifted.lines128, 3u);
  // Dwords 0-64 and four of each 64 (those at 0 and 64 are counted already,
  // but for 3 of the second), and the 16 bytes of arguments.
  EXPECT_EQ(profile->distinctBytes, 4u * (65 + 4 * 64 - 4 - 1) + 16);
}

TEST(Profile, LdsBankConflicts) {
  // 64 banks of 4 bytes, 128 bytes a clock: 32 lanes at once.
  auto profile = profileOf("  v_lshlrev_b32 v1, 2, v122\n"
                           "  v_lshlrev_b32 v2, 8, v122\n"
                           "  v_and_b32 v2, 0x300, v2\n"
                           "  v_mov_b32 v3, 0\n"
                           "  ds_write_b32 v1, v1\n"
                           "  ds_read_b32 v10, v2\n"
                           "  ds_read_b32 v11, v3\n"
                           "  s_waitcnt lgkmcnt(0)\n");
  ASSERT_TRUE(profile);
  EXPECT_EQ(countersOf(*profile, "ds_write_b32").bankConflictCycles, 0u);
  EXPECT_EQ(countersOf(*profile, "ds_write_b32").ldsBytes, 256u);
  // Four dwords of one bank, for each half of the wave.
  EXPECT_EQ(countersOf(*profile, "ds_read_b32 v10").bankConflictCycles, 6u);
  // One dword for all lanes is no conflict.
  EXPECT_EQ(countersOf(*profile, "ds_read_b32 v11").bankConflictCycles, 0u);
}

TEST(Profile, MatrixPassesAndLanes) {
  auto profile =
      profileOf("  s_mov_b64 exec, 0xff\n"
                "  v_mov_b32 v1, 1.0\n"
                "  v_exp_f32 v2, v1\n"
                "  s_mov_b64 exec, -1\n"
                "  v_mfma_f32_16x16x128_f8f6f4 a[0:3], v[8:15], v[16:23], 0\n"
                "  v_mfma_f32_32x32x64_f8f6f4 a[0:15], v[8:11], v[16:19], 0 "
                "cbsz:4 blgp:4\n"
                "  v_mfma_f32_32x32x16_f16 a[0:15], v[8:11], v[16:19], 0\n"
                "  s_nop 7\n",
                {3, 1, 1}, 128);
  ASSERT_TRUE(profile);
  // Three workgroups of two waves.
  EXPECT_EQ(profile->waves, 6u);
  Counters fp8 = countersOf(*profile, "v_mfma_f32_16x16x128");
  EXPECT_EQ(fp8.mfmaPasses, 6u * 8);
  EXPECT_EQ(fp8.mfmaOperations, 6u * 2 * 16 * 16 * 128);
  EXPECT_EQ(fp8.issueCycles, 6u * 32);
  EXPECT_EQ(countersOf(*profile, "v_mfma_f32_32x32x64").mfmaPasses, 6u * 8);
  EXPECT_EQ(countersOf(*profile, "v_mfma_f32_32x32x16").mfmaPasses, 6u * 8);
  EXPECT_EQ(countersOf(*profile, "v_exp_f32").activeLanes, 6u * 8);
  EXPECT_EQ(countersOf(*profile, "v_exp_f32").issueCycles, 6u * 16);
  EXPECT_EQ(countersOf(*profile, "s_nop 7").issueCycles, 6u * 32);
}

TEST(Profile, TextJsonAndPageShowTheKernel) {
  auto profile = profileOf("  v_mov_b32 v1, 0\n"
                           "  v_cmp_lt_u32 vcc, v1, v122\n");
  ASSERT_TRUE(profile);
  EXPECT_THAT(profileText(*profile), HasSubstr("v_cmp_lt_u32_e32 vcc"));
  EXPECT_THAT(profileJson(*profile),
              HasSubstr("\"text\": \"v_cmp_lt_u32_e32 vcc, v1, v122\""));
  std::string page = profileHtml("a <title>", {profile.get()});
  EXPECT_THAT(page, HasSubstr("<h1>a &lt;title&gt;</h1>"));
  EXPECT_THAT(page, HasSubstr("v_cmp_lt_u32_e32 vcc, v1, v122"));
  EXPECT_THAT(page, HasSubstr("k has no matrix operations"));
  // Nothing is loaded from elsewhere.
  EXPECT_EQ(page.find("http"), std::string::npos);
  EXPECT_EQ(page.find("<script"), std::string::npos);
}

} // namespace
} // namespace winnow::sim::test
