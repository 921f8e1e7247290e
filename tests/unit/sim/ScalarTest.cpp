// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalar arithmetic, SCC and hardware registers, with values worked out by
// hand.
#include "TestKernels.h"

#include <gmock/gmock.h>

namespace winnow::sim::test {
namespace {

/// Runs scalar code and returns s20, s21, ... and SCC's successive values kept
/// in them.
std::vector<uint32_t> runScalar(const std::string &body, unsigned results,
                                std::vector<uint32_t> in = {0}) {
  std::string text = body;
  for (unsigned i = 0; i < results; ++i)
    text += "  v_mov_b32 v" + std::to_string(20 + i) + ", s" +
            std::to_string(20 + i) + "\n";
  auto out = runWave(text + storeOutputs(20, results), in, results * 64);
  std::vector<uint32_t> first;
  for (unsigned i = 0; i < results; ++i)
    first.push_back(out[64 * i]);
  return first;
}

TEST(Scalar, CarryChainsAndOverflow) {
  auto got = runScalar(R"(
  s_mov_b32 s2, 0xffffffff
  s_mov_b32 s3, 0x7fffffff
  s_add_u32 s20, s2, 2
  s_addc_u32 s21, s2, 0
  s_addc_u32 s22, 0, 0
  s_sub_u32 s23, 1, 2
  s_subb_u32 s24, 5, 1
  s_cselect_b32 s25, 1, 0
  s_add_i32 s26, s3, 1
  s_cselect_b32 s27, 1, 0
  s_sub_i32 s28, s3, 1
  s_cselect_b32 s29, 1, 0
  s_mul_i32 s30, s2, 3
  s_mul_hi_u32 s31, s2, 3
  s_mul_hi_i32 s32, s2, 3
)",
                       13);
  EXPECT_EQ(got, (std::vector<uint32_t>{1, 0, 1, ~0u, 3, 0, 0x80000000u, 1,
                                        0x7ffffffeu, 0, 0xfffffffdu, 2, ~0u}));
}

TEST(Scalar, ShiftsAndBitFields) {
  auto got = runScalar(R"(
  s_mov_b32 s2, 0x80000001
  s_mov_b32 s3, 0x00f0abcd
  s_lshl_b32 s20, s2, 33
  s_lshr_b32 s21, s2, 31
  s_ashr_i32 s22, s2, 31
  s_bfe_u32 s23, s3, 0x80004
  s_bfe_i32 s24, s3, 0x80004
  s_bfe_u32 s25, s3, 0x00004
  s_bfm_b32 s26, 5, 4
  s_mov_b64 s[4:5], 1
  s_lshl_b64 s[28:29], s[4:5], 63
  s_ashr_i64 s[30:31], s[28:29], 62
  s_brev_b32 s27, s2
  s_bfe_u64 s[32:33], s[28:29], 0x02003e
  s_bfe_i64 s[34:35], s[28:29], 0x02003e
)",
                       16);
  EXPECT_EQ(got[0], 2u);
  EXPECT_EQ(got[1], 1u);
  EXPECT_EQ(got[2], ~0u);
  EXPECT_EQ(got[3], 0xbcu);
  EXPECT_EQ(got[4], 0xffffffbcu);
  EXPECT_EQ(got[5], 0u);
  EXPECT_EQ(got[6], 0x1f0u);
  EXPECT_EQ(got[7], 0x80000001u);
  EXPECT_EQ(got[8], 0u);
  EXPECT_EQ(got[9], 0x80000000u);
  EXPECT_EQ(got[10], 0xfffffffeu);
  EXPECT_EQ(got[11], ~0u);
  EXPECT_EQ(got[12], 2u);
  EXPECT_EQ(got[13], 0u);
  EXPECT_EQ(got[14], 0xfffffffeu);
  EXPECT_EQ(got[15], ~0u);
}

TEST(Scalar, CountsAndFinds) {
  auto got = runScalar(R"(
  s_mov_b32 s2, 0x00f00000
  s_mov_b64 s[4:5], 0
  s_mov_b32 s5, 0x100
  s_bcnt1_i32_b32 s20, s2
  s_bcnt1_i32_b64 s21, s[4:5]
  s_ff1_i32_b32 s22, s2
  s_ff1_i32_b64 s23, s[4:5]
  s_flbit_i32_b32 s24, s2
  s_flbit_i32_b64 s25, s[4:5]
  s_ff1_i32_b32 s26, 0
  s_flbit_i32 s27, -1
  s_flbit_i32 s28, -2
  s_sext_i32_i8 s29, 0x80
  s_abs_i32 s30, -5
  s_bitset1_b32 s31, 3
  s_pack_ll_b32_b16 s31, 0x1234, s2
  s_ff0_i32_b32 s32, -1
)",
                       13);
  EXPECT_EQ(got, (std::vector<uint32_t>{4, 1, 20, 40, 8, 23, ~0u, ~0u, 31,
                                        0xffffff80u, 5, 0x1234, ~0u}));
}

TEST(Scalar, ComparisonsBranchesAndLoops) {
  auto got = runScalar(R"(
  s_mov_b32 s20, 0
  s_mov_b32 s21, 10
L:
  s_add_i32 s20, s20, s21
  s_add_i32 s21, s21, -1
  s_cmp_lg_u32 s21, 0
  s_cbranch_scc1 L
  s_cmp_lt_i32 s21, -1
  s_cselect_b32 s22, 7, 8
  s_cmp_gt_u32 s21, -1
  s_cselect_b32 s23, 7, 8
  s_mov_b32 s2, -3
  s_cmpk_lt_i32 s2, 0xfffe
  s_cselect_b32 s24, 7, 8
  s_cmpk_gt_u32 s2, 0xfffe
  s_cselect_b32 s25, 7, 8
  s_bitcmp1_b32 s2, 1
  s_cselect_b32 s26, 7, 8
)",
                       7);
  EXPECT_EQ(got, (std::vector<uint32_t>{55, 0, 8, 8, 7, 7, 8}));
}

TEST(Scalar, LoadsIgnoreTheLowAddressBits) {
  auto got = runScalar(R"(
  s_mov_b32 s2, 5
  s_load_dword s20, s[8:9], s2
  s_load_dword s21, s[8:9], s2 offset:0x4
  s_load_dwordx2 s[22:23], s[8:9], 0x8
  s_waitcnt lgkmcnt(0)
)",
                       4, {10, 11, 12, 13});
  EXPECT_EQ(got, (std::vector<uint32_t>{11, 12, 12, 13}));
}

TEST(Scalar, ModeRegister) {
  auto got = runScalar(R"(
  s_getreg_b32 s20, hwreg(HW_REG_MODE, 4, 4)
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0
  s_getreg_b32 s21, hwreg(HW_REG_MODE, 4, 4)
)",
                       2);
  // .amdhsa_float_denorm_mode_32 defaults to flush, _16_64 to keep.
  EXPECT_EQ(got[0], 0xcu);
  EXPECT_EQ(got[1], 0xcu);
  EXPECT_THAT(
      runWaveError("  s_getreg_b32 s2, hwreg(HW_REG_TRAPSTS)\n", {0}, 1),
      ::testing::HasSubstr("hardware register 3 is not simulated"));
}

} // namespace
} // namespace winnow::sim::test
