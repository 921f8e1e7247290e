// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions of small floats with scales, and stochastic rounding. Codes are
// written by hand from the formats' definitions.
#include "TestKernels.h"

#include <gmock/gmock.h>

#include <cmath>

namespace winnow::sim::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A scale of 4 has exponent field 129.
TEST(Scaled, NarrowsWithTheScaleDividedOut) {
  auto got = runLanes(
      R"(
  v_mov_b32 v40, v4
  v_cvt_scalef32_pk_fp8_f32 v40, v1, v2, v3
  v_mov_b32 v41, v4
  v_cvt_scalef32_pk_bf8_f32 v41, v1, v2, v3 op_sel:[0,0,0,1]
  v_mov_b32 v42, v4
  v_cvt_scalef32_pk_fp4_f32 v42, v1, v2, v3 op_sel:[0,0,1,1]
  v_mov_b32 v43, v4
  v_cvt_scalef32_pk_fp8_f16 v43, v5, v3
  v_mov_b32 v44, v4
  v_cvt_scalef32_pk_bf8_bf16 v44, v6, v3
  v_mov_b32 v45, v4
  v_cvt_scalef32_pk_fp4_bf16 v45, v6, v3 op_sel:[0,0,1,0]
  v_mov_b32 v46, v4
  v_cvt_scalef32_pk_fp8_f32 v46, v1, -v2, 1.0
)",
      {// 6 and -10 over 4: 1.5 and -2.5.
       {bitsOf(6), bitsOf(-10), bitsOf(4), 0x11223344, 0xc9004600, 0xc12040c0},
       // 1e6 / 4 is too large; the scale's fraction is ignored.
       {bitsOf(1e6f), bitsOf(-1e6f), bitsOf(7.5f), 0x11223344, 0x00017bff,
        0x00010000}},
      7);
  EXPECT_EQ(got[0][0], 0x1122c23cu); // e4m3 1.5: 3c, -2.5: c2
  EXPECT_EQ(got[0][1], 0xc13e3344u); // e5m2 1.5: 3e, -2.5: c1
  EXPECT_EQ(got[0][2], 0xc3223344u); // e2m1 1.5: 3; -2.5 ties to -2: c
  EXPECT_EQ(got[0][3], 0x1122c23cu);
  EXPECT_EQ(got[0][4], 0x1122c13eu);
  EXPECT_EQ(got[0][5], 0x1122c344u); // byte 1
  EXPECT_EQ(got[0][6], 0x1122524cu); // 6: 4c; 10: 52
  EXPECT_EQ(got[1][0], 0x1122ff7fu); // no infinity: NaN
  EXPECT_EQ(got[1][1], 0xfc7c3344u);
  EXPECT_EQ(got[1][2], 0xf7223344u); // largest
  // 65504 / 4 is too large; 2^-24 / 4 is zero.
  EXPECT_EQ(got[1][3], 0x1122007fu);
  // With FP16_OVFL they saturate.
  got = runLanes("  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\n"
                 "  v_mov_b32 v40, 0\n"
                 "  v_cvt_scalef32_pk_fp8_f32 v40, v1, v2, 1.0\n"
                 "  v_cvt_scalef32_pk_bf8_f32 v40, v1, v2, 1.0 "
                 "op_sel:[0,0,0,1]\n",
                 {{bitsOf(1e6f), 0xff800000}}, 1);
  EXPECT_EQ(got[0][0], 0xfb7bfe7eu);
}

TEST(Scaled, WidensWithTheScaleMultipliedIn) {
  // Bytes e4m3 3c (1.5), c2 (-2.5), 01 (2^-9), 7e (448).
  auto got = runLanes(R"(
  v_cvt_scalef32_pk_f32_fp8 v[40:41], v1, v2
  v_cvt_scalef32_pk_f32_fp8 v[42:43], v1, v2 op_sel:[1,0,0]
  v_cvt_scalef32_f32_fp8 v44, v1, v2 op_sel:[0,1,0]
  v_cvt_scalef32_f32_bf8 v45, v1, v2
  v_cvt_scalef32_pk_f32_fp4 v[46:47], v1, v2 op_sel:[1,0,0]
  v_cvt_scalef32_pk_f16_fp8 v48, v1, v2
  v_cvt_scalef32_pk_bf16_bf8 v49, v1, v2 op_sel:[1,0,0]
  v_mov_b32 v50, v3
  v_cvt_scalef32_f16_fp8 v50, v1, v2 op_sel:[1,0,1]
  v_cvt_scalef32_pk_bf16_fp4 v51, v1, v2 op_sel:[1,1,0]
)",
                      {{0x7e01c23c, bitsOf(4), 0x11223344}}, 12)[0];
  EXPECT_EQ(got[0], bitsOf(6));
  EXPECT_EQ(got[1], bitsOf(-10));
  EXPECT_EQ(got[2], bitsOf(0x1p-7f));
  EXPECT_EQ(got[3], bitsOf(1792));
  // op_sel[1:0] picks the byte: [0,1] is byte 2.
  EXPECT_EQ(got[4], bitsOf(0x1p-7f));
  EXPECT_EQ(got[5], bitsOf(4)); // e5m2 3c is 1
  // Byte 1 is c2: nibbles 2 (1) and c (-2).
  EXPECT_EQ(got[6], bitsOf(4));
  EXPECT_EQ(got[7], bitsOf(-8));
  EXPECT_EQ(got[8], 0xc9004600u);
  // e5m2 01 is 2^-16, 7e a NaN.
  EXPECT_EQ(got[9] & 0xffff, bitsOf(0x1p-14f) >> 16);
  EXPECT_TRUE(std::isnan(floatOf(got[9] & 0xffff0000)));
  EXPECT_EQ(got[10], 0xc9003344u);
  // Byte 3, 7e: nibbles e (-4) and 7 (6), times 4.
  EXPECT_EQ(got[11], (bitsOf(24) & 0xffff0000) | bitsOf(-16) >> 16);
}

// Where MODE flushes f32 denormals everything else has its usual result.
TEST(Scaled, DenormalsThatModeFlushesStop) {
  const std::string flush =
      "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\n";
  const std::string narrow =
      flush +
      "  v_mov_b32 v40, 0\n  v_cvt_scalef32_pk_fp8_f32 v40, v1, v1, v2\n";
  const std::string wide = flush + "  v_cvt_scalef32_f32_fp8 v40, v1, v2\n";
  // The e4m3 denormal 2^-9 is widened; times 2^-120 it is an f32 denormal.
  EXPECT_EQ(runLanes(narrow, {{bitsOf(1.5f), bitsOf(1)}}, 1)[0][0], 0x3c3cu);
  EXPECT_EQ(runLanes(wide, {{1, bitsOf(1)}}, 1)[0][0], bitsOf(0x1p-9f));
  EXPECT_THAT(runLanesError(narrow, {{1, bitsOf(1)}}),
              HasSubstr("MODE flushes"));
  EXPECT_THAT(runLanesError(wide, {{1, bitsOf(0x1p-120f)}}),
              HasSubstr("MODE flushes"));
}

TEST(Scaled, ThirtyTwoOfSixBits) {
  // Lane values i / 4 - 4 as f32 in v[1:32] come from constants; the six-bit
  // codes of e2m3 times 1/8 are their own magnitudes below 32.
  std::string body;
  for (unsigned i = 0; i < 32; ++i)
    body += "  v_mov_b32 v" + std::to_string(2 + i) + ", " +
            std::to_string(bitsOf(float(int(i) - 16) / 4)) + "\n";
  body += R"(
  v_cvt_scalef32_2xpk16_fp6_f32 v[40:45], v[2:17], v[18:33], 1.0
  v_cvt_scalef32_pk32_f32_fp6 v[46:77], v[40:45], v1
)";
  auto got = runLanes(body, {{bitsOf(2)}}, 38)[0];
  // Elements alternate between the operands: -4 + i/4 and i/4.
  for (unsigned i = 0; i < 32; ++i) {
    float value = i % 2 ? float(i / 2) / 4 : float(i / 2) / 4 - 4;
    unsigned at = 6 * i;
    uint64_t window = got[at / 32];
    if (at / 32 < 5)
      window |= uint64_t(got[at / 32 + 1]) << 32;
    unsigned code = window >> (at % 32) & 63;
    // Below 2 eighths count; from 2 quarters, exactly.
    unsigned magnitude = unsigned(std::fabs(value) * 8);
    unsigned want = magnitude < 16   ? magnitude
                    : magnitude < 32 ? 16 + (magnitude - 16) / 2
                                     : 24 + (magnitude - 32) / 4;
    EXPECT_EQ(code, want | (value < 0 ? 32 : 0)) << i;
    EXPECT_EQ(got[6 + i], bitsOf(2 * value)) << i;
  }
}

TEST(Scaled, StochasticRoundingAddsAndTruncates) {
  // 1.0625 lies half way between the e4m3 neighbours 1 and 1.125: the 20 bits
  // that are cut off are 0x80000, so that a seed from 0x80000000 on rounds up.
  auto got = runLanes(R"(
  v_mov_b32 v40, v3
  v_cvt_sr_fp8_f32 v40, v1, v2
  v_mov_b32 v41, v3
  v_cvt_sr_bf8_f32 v41, v1, v2 op_sel:[0,0,1,0]
  v_mov_b32 v42, v3
  v_cvt_sr_f16_f32 v42, v4, v2 op_sel:[0,0,1]
  v_mov_b32 v43, v3
  v_cvt_sr_bf16_f32 v43, v4, v2
  v_mov_b32 v44, v3
  v_cvt_scalef32_sr_fp8_f32 v44, v1, v2, 2.0 op_sel:[0,0,1,1]
)",
                      {{bitsOf(1.0625f), 0x7fffffff, 0x11223344, 0x3f801800},
                       {bitsOf(1.0625f), 0x80000000, 0x11223344, 0x3f801800},
                       {bitsOf(-1.0625f), 0xc0000000, 0x11223344, 0x3f801800}},
                      5);
  EXPECT_EQ(got[0][0], 0x11223338u);
  EXPECT_EQ(got[1][0], 0x11223339u);
  EXPECT_EQ(got[2][0], 0x112233b9u);
  // e5m2 cuts 21 bits, a quarter of the unit 0.25: a seed from 0xc0000000.
  EXPECT_EQ(got[0][1], 0x11223c44u);
  EXPECT_EQ(got[1][1], 0x11223c44u);
  EXPECT_EQ(got[2][1], 0x1122bd44u);
  // 1 + 0x1800 * 2^-23: f16 cuts 13 bits, three quarters of its unit.
  EXPECT_EQ(got[0][2], 0x3c013344u);
  EXPECT_EQ(got[1][2], 0x3c013344u);
  // bf16 cuts 16 bits: 0x1800 of 0x10000 needs 0xe800 or more.
  EXPECT_EQ(got[0][3], 0x11223f80u);
  EXPECT_EQ(got[2][3], 0x11223f80u);
  // Half the value, the same fraction.
  EXPECT_EQ(got[0][4], 0x30223344u);
  EXPECT_EQ(got[1][4], 0x31223344u);
}

TEST(Scaled, StochasticPairsStepTheirRandomNumber) {
  // e2m1 cuts 22 bits: 1.25 is half way from 1 to 1.5. The first element meets
  // the seed, the second one its successor: seed << 1 ^ 197 if it was negative.
  auto got = runLanes(R"(
  v_mov_b32 v8, v1
  v_mov_b32 v9, v1
  v_mov_b32 v40, 0
  v_cvt_scalef32_sr_pk_fp4_f32 v40, v[8:9], v2, 1.0
  v_mov_b32 v41, 0
  v_cvt_scalef32_sr_pk_fp4_bf16 v41, v3, v2, 1.0
)",
                      {{bitsOf(1.25f), 0x80000000, 0x3fa03fa0},
                       {bitsOf(1.25f), 0x40000000, 0x3fa03fa0}},
                      2);
  EXPECT_THAT(got[0], ElementsAre(0x23u, 0x23u)); // up to 1.5, then 197: down
  EXPECT_THAT(got[1], ElementsAre(0x32u, 0x32u)); // down, then 0x80000000: up
}

TEST(Scaled, WhatIsNotKnownStops) {
  auto error = [](const std::string &body, uint32_t value) {
    return runLanesError(body, {{value}});
  };
  EXPECT_THAT(error("  v_cvt_sr_fp8_f32 v40, v1, v1\n", bitsOf(0x1p-7f)),
              HasSubstr("below the smallest normal number"));
  EXPECT_THAT(
      error("  v_cvt_scalef32_pk_fp4_f32 v40, v1, v1, 1.0\n", 0x7fc00000),
      HasSubstr("a NaN in a format without one"));
  EXPECT_THAT(
      error("  v_cvt_scalef32_pk_fp8_f32 v40, 1.0, 1.0, v1\n", 0x7fc00000),
      HasSubstr("a NaN scale"));
}

} // namespace
} // namespace winnow::sim::test
