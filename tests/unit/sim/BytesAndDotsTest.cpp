// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of byte differences, dot products, normalised integers, cube maps and
// f16 functions. Wanted values are worked out by hand.
#include "TestKernels.h"

#include <gmock/gmock.h>

namespace winnow::sim::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Bytes, SumsOfDifferences) {
  // Bytes of v1: 05 10 ff 00; of v2: 02 20 f0 00 (lowest first).
  auto got = runLanes(R"(
  v_msad_u8 v40, v1, v2, v3
  v_sad_hi_u8 v41, v1, v2, v3
  v_sad_u16 v42, v1, v2, v3
  v_lerp_u8 v43, v1, v2, v4
)",
                      {{0x00ff1005, 0x00f02002, 1000, 0x01000001},
                       {0x80ff1005, 0x00f02002, 1000, 0}},
                      4);
  // 3 + 16 + 15; the reference's zero byte is left out of the masked sum.
  EXPECT_EQ(got[0][0], 1000u + 34);
  EXPECT_EQ(got[1][0], 1000u + 34);
  EXPECT_EQ(got[0][1], 1000u + (34u << 16));
  EXPECT_EQ(got[1][1], 1000u + (162u << 16));
  // Halves: |0x1005 - 0x2002| = 0xffd, |0xff - 0xf0| = 15.
  EXPECT_EQ(got[0][2], 1000u + 0xffd + 15);
  // (5 + 2 + 1)/2 = 4, (16 + 32)/2 = 24, (255 + 240)/2 = 247, (0 + 0 + 1)/2 =
  // 0.
  EXPECT_EQ(got[0][3], 0x00f71804u);
}

TEST(Halves, SaturateWithClamp) {
  // 0x7000 + 0x2000 is more than 0x7fff, 0x9000 - 0x2000 less than -0x8000.
  auto got = runLanes(R"(
  v_mov_b32 v40, 0x55550000
  v_add_i16 v40, v1, v2 clamp
  v_sub_i16 v41, v3, v2 clamp
  v_add_i16 v42, v1, v2
  v_pk_add_i16 v43, v1, v2 clamp
  v_pk_sub_i16 v44, v3, v2 clamp
  v_pk_add_u16 v45, v3, v4 clamp
  v_pk_sub_u16 v46, v2, v1 clamp
  v_pk_add_u16 v47, v3, v4
)",
                      {{0x00037000, 0xffff2000, 0x00059000, 0x00078000}}, 8)[0];
  EXPECT_EQ(got[0] & 0xffff, 0x7fffu);
  EXPECT_EQ(got[1] & 0xffff, 0x8000u);
  EXPECT_EQ(got[2] & 0xffff, 0x9000u);
  EXPECT_EQ(got[3], 0x00027fffu); // 3 + -1
  EXPECT_EQ(got[4], 0x00068000u); // 5 - -1
  EXPECT_EQ(got[5], 0x000cffffu); // 0x9000 + 0x8000
  EXPECT_EQ(got[6], 0xfffc0000u); // 0x2000 - 0x7000
  EXPECT_EQ(got[7], 0x000c1000u);
}

TEST(Halves, MinimumAndMaximumOfThree) {
  // 1, -2, 0.5 low; -0, 0, NaN or 3 high.
  auto got = runLanes(R"(
  v_pk_minimum3_f16 v40, v1, v2, v3
  v_pk_maximum3_f16 v41, v1, v2, v3
  v_pk_minimum3_f16 v42, v1, v2, v4
  v_pk_maximum3_f16 v43, v1, v2, v4
)",
                      {{0x80003c00, 0x0000c000, 0x7e003800, 0x42003800}}, 4)[0];
  EXPECT_EQ(got[0] & 0xffff, 0xc000u);
  EXPECT_EQ(got[1] & 0xffff, 0x3c00u);
  EXPECT_GT(got[0] >> 16 & 0x7fff, 0x7c00u); // any NaN is the result
  EXPECT_GT(got[1] >> 16 & 0x7fff, 0x7c00u);
  EXPECT_EQ(got[2], 0x8000c000u); // -0 is less than 0
  EXPECT_EQ(got[3], 0x42003c00u);
}

TEST(Doubles, SegmentsOfTwoOverPi) {
  // 2 / pi is 0.A2F9836E4E441529FC2757D1F534... in hexadecimal. Its first 53
  // bits; the next 53 times 2^-53; with an exponent of 1 more than 1077 the
  // 53 bits after the first; with 1968 those after bit 891 times 2^128.
  auto got =
      runLanes(R"(
  v_trig_preop_f64 v[40:41], v[2:3], v1
  v_trig_preop_f64 v[42:43], v[2:3], v4
  v_trig_preop_f64 v[44:45], v[6:7], v1
  v_trig_preop_f64 v[46:47], v[8:9], v5
)",
               {{0, 0, 0x3ff00000, 1, 32, 0, 0x43600000, 0, 0x7b000000}}, 8)[0];
  EXPECT_THAT(got, ElementsAre(0x6dc9c882, 0x3fe45f30, // A2F9836E4E441 0
                               0x9d5f47d4, 0x3c94a7f0, // 101 29FC2757D1F5 00
                               0xb727220a, 0x3fc17cc1,
                               // bits 891 to 943: 10111 4F463F669E5F
                               0x3f669e5f, 0x10374f46));
}

TEST(Bytes, SlidingSums) {
  // Window bytes 1 2 3 4 5 6 7 8 against 1 1 0 1: with the zero they add up to
  // |1-1|+|2-1|+3+|4-1| = 7 at offset 0, 11, 15, 19; masked 4, 7, 10, 13.
  {
    auto got =
        runLanes(R"(
  v_mov_b32 v14, 100
  v_mov_b32 v15, 200
  v_mov_b32 v16, 300
  v_mov_b32 v17, 400
  v_mov_b32 v10, v1
  v_mov_b32 v11, v2
  v_mov_b32 v12, v4
  v_mov_b32 v13, v5
  v_qsad_pk_u16_u8 v[40:41], v[10:11], v3, v[12:13]
  v_mqsad_pk_u16_u8 v[42:43], v[10:11], v3, v[12:13]
  v_mqsad_u32_u8 v[44:47], v[10:11], v3, v[14:17]
)",
                 {{0x04030201, 0x08070605, 0x01000101, 0xffff000a, 0}}, 8)[0];
    EXPECT_THAT(got,
                ElementsAre(((0xffffu + 11) << 16 | (10 + 7)), 19u << 16 | 15,
                            (0xffffu + 7) << 16 | (10 + 4), 13u << 16 | 10,
                            100 + 4, 200 + 7, 300 + 10, 400 + 13));
  }
}

TEST(Bytes, ShiftsAndSaturates) {
  auto got = runLanes(R"(
  v_mov_b32 v40, v4
  v_ashr_pk_i8_i32 v40, v1, v2, v3
  v_mov_b32 v41, v4
  v_ashr_pk_u8_i32 v41, v1, v2, v3 op_sel:[0,0,0,1]
  v_sat_pk_u8_i16 v42, v1
  v_prng_b32 v43, v1
  v_cvt_pk_u8_f32 v44, v5, v3, v4
  v_cvt_off_f32_i4 v45, v2
)",
                      {{0xfffff800, 0x00007f7f, 4, 0x11223344, bitsOf(77)},
                       {0xffffff38, 0x00000ff9, 33, 0x11223344, bitsOf(-5)}},
                      6);
  // -2048 >> 4 = -128; 0x7f7 = 2039 saturates.
  EXPECT_EQ(got[0][0], 0x11227f80u);
  // Unsigned: 0 and 255 in the upper half.
  EXPECT_EQ(got[0][1], 0xff003344u);
  // Halves -2048 and -1.
  EXPECT_EQ(got[0][2], 0u);
  EXPECT_EQ(got[0][3], (0xfffff800u << 1) ^ 197);
  EXPECT_EQ(got[0][4], 0x1122334du); // byte 4 & 3
  EXPECT_EQ(got[0][5], bitsOf(-1.0f / 16));
  // Shift by 33 is by 1: -200 >> 1 = -100, 0xff9 >> 1 saturates.
  EXPECT_EQ(got[1][0], 0x11227f9cu);
  EXPECT_EQ(got[1][4], 0x11220044u); // byte 1 of -5: zero
  EXPECT_EQ(got[1][5], bitsOf(-7.0f / 16));
  EXPECT_EQ(runLanes("  v_prng_b32 v40, v1\n", {{0x40000000}}, 1)[0][0],
            0x80000000u);
  EXPECT_THAT(
      runLanesError("  v_cvt_pk_u8_f32 v40, v1, 0, 0\n", {{bitsOf(2.5f)}}),
      HasSubstr("how a fraction rounds to a byte is not documented"));
}

TEST(Bytes, CubeMaps) {
  auto got = runLanes(R"(
  v_cubeid_f32 v40, v1, v2, v3
  v_cubesc_f32 v41, v1, v2, v3
  v_cubetc_f32 v42, v1, v2, v3
  v_cubema_f32 v43, v1, v2, v3
)",
                      {{bitsOf(1), bitsOf(2), bitsOf(-3)},
                       {bitsOf(1), bitsOf(-4), bitsOf(3)},
                       {bitsOf(-5), bitsOf(4), bitsOf(3)}},
                      4);
  EXPECT_THAT(got[0],
              ElementsAre(bitsOf(5), bitsOf(-1), bitsOf(-2), bitsOf(-6)));
  EXPECT_THAT(got[1],
              ElementsAre(bitsOf(3), bitsOf(1), bitsOf(-3), bitsOf(-8)));
  EXPECT_THAT(got[2],
              ElementsAre(bitsOf(1), bitsOf(3), bitsOf(-4), bitsOf(-10)));
}

TEST(Bytes, NormalisedIntegers) {
  auto got = runLanes(
      R"(
  v_cvt_pknorm_i16_f32 v40, v1, v2
  v_cvt_pknorm_u16_f32 v41, v1, v2
  v_cvt_pknorm_i16_f16 v42, v3, v3
  v_cvt_norm_u16_f16 v43, v3
)",
      {{bitsOf(-1), bitsOf(0.5f), 0x3800}, {bitsOf(2), bitsOf(-0.25f), 0xc400}},
      4);
  // 0.5 * 32767 = 16383.5 to 16384; 0.5 * 65535 = 32767.5 to 32768.
  EXPECT_EQ(got[0][0], 0x40008001u);
  EXPECT_EQ(got[0][1], 0x80000000u);
  EXPECT_EQ(got[0][2], 0x40004000u);
  EXPECT_EQ(got[0][3], 0x8000u);
  // -0.25 * 32767 = -8191.75 to -8192.
  EXPECT_EQ(got[1][0], 0xe0007fffu);
  EXPECT_EQ(got[1][1], 0x0000ffffu);
  EXPECT_EQ(got[1][2], 0x80018001u);
  EXPECT_EQ(got[1][3], 0u);
}

TEST(Dots, Integers) {
  auto got = runLanes(R"(
  v_dot2_i32_i16 v40, v1, v2, v3
  v_dot2_u32_u16 v41, v1, v2, v3
  v_dot4_i32_i8 v42, v1, v2, v3
  v_dot4_u32_u8 v43, v1, v2, v3
  v_dot8_i32_i4 v44, v1, v2, v3
  v_dot8_u32_u4 v45, v1, v2, v3
  v_mov_b32 v46, v3
  v_dot4c_i32_i8 v46, v1, v2
  v_mov_b32 v47, v3
  v_dot2c_i32_i16 v47, v1, v2
  v_mov_b32 v48, v3
  v_dot8c_i32_i4 v48, v1, v2
)",
                      {{0xfffe0003, 0x00058004, 1000}}, 9)[0];
  // Halves: 3 and -2 (65534); -32764 (32772) and 5.
  EXPECT_EQ(int(got[0]), 1000 + 3 * -32764 - 2 * 5);
  EXPECT_EQ(got[1], 1000u + 3 * 32772 + 65534 * 5);
  // Bytes: 3 0 -2 -1 and 4 -128 5 0.
  EXPECT_EQ(int(got[2]), 1000 + 12 - 10);
  EXPECT_EQ(got[3], 1000u + 12 + 254 * 5);
  // Nibbles: 3 0 0 0 -2 -1 -1 -1 and 4 0 0 -8 5 0 0 0.
  EXPECT_EQ(int(got[4]), 1000 + 12 - 10);
  EXPECT_EQ(got[5], 1000u + 12 + 14 * 5);
  EXPECT_EQ(got[6], got[2]);
  EXPECT_EQ(got[7], got[0]);
  EXPECT_EQ(got[8], got[4]);
}

TEST(Dots, Floats) {
  // f16: 2, 3 and 0.5, -1; bf16 the same values.
  auto got = runLanes(
      R"(
  v_dot2_f32_f16 v40, v1, v2, v5
  v_dot2_f32_f16 v41, v1, v2, v5 neg_lo:[1,0,0]
  v_dot2_f32_bf16 v42, v3, v4, v5
  v_mov_b32 v43, v5
  v_dot2c_f32_f16 v43, v1, v2
  v_mov_b32 v44, v5
  v_dot2c_f32_bf16 v44, v3, v4
)",
      {{0x42004000, 0xbc003800, 0x40404000, 0xbf803f00, bitsOf(10)}}, 5)[0];
  EXPECT_THAT(
      got, ElementsAre(bitsOf(8), bitsOf(6), bitsOf(8), bitsOf(8), bitsOf(8)));
  // 2^24 + 1 + 1 rounds away each one when it is added alone, as f16 does; the
  // bf16 form adds the products first.
  got = runLanes(R"(
  v_dot2_f32_f16 v40, v1, v1, v3
  v_dot2_f32_bf16 v41, v2, v2, v3
)",
                 {{0x3c003c00, 0x3f803f80, bitsOf(0x1p24f)}}, 2)[0];
  EXPECT_THAT(got, ElementsAre(bitsOf(0x1p24f), bitsOf(0x1p24f + 2)));
  EXPECT_THAT(runLanesError("  v_dot2c_f32_bf16 v2, v1, v1\n",
                            {{0x3f803f80, bitsOf(0x1p24f)}}),
              HasSubstr("the order of its sum"));
}

TEST(HalfFunctions, FractionsExponentsAndCircles) {
  auto got = runLanes(R"(
  v_fract_f16 v40, v1
  v_frexp_mant_f16 v41, v1
  v_frexp_exp_i16_f16 v42, v1
  v_sin_f16 v43, v2
  v_cos_f16 v44, v2
  v_fma_legacy_f16 v45, v1, v2, v1
  v_pk_fmac_f16 v46, v1, v2
)",
                      {// -1.25 and 0.25
                       {0xbd00, 0x3400},
                       // infinity and -0; the largest number of turns
                       {0x7c00, 0x8000},
                       {0x0001, 0x7bff},
                       // 6.5 and a twelfth of a turn
                       {0x4680, 0x2d55}},
                      6);
  EXPECT_EQ(got[0][0], 0x3a00u); // 0.75
  EXPECT_EQ(got[0][1], 0xb900u); // -0.625
  EXPECT_EQ(got[0][2], 1u);
  EXPECT_EQ(got[0][3], 0x3c00u);
  EXPECT_EQ(got[0][4], 0u);
  EXPECT_EQ(got[0][5], 0xbe40u); // -1.25 * 0.25 - 1.25 = -1.5625
  EXPECT_EQ(got[1][0], 0xfe00u);
  EXPECT_EQ(got[1][1], 0x7c00u);
  EXPECT_EQ(got[1][2], 0u);
  EXPECT_EQ(got[1][3], 0x8000u);
  EXPECT_EQ(got[1][4], 0x3c00u);
  EXPECT_EQ(got[2][1], 0x3800u); // 2^-24 = 0.5 * 2^-23
  EXPECT_EQ(got[2][2], 0xffe9u);
  EXPECT_EQ(got[2][3], 0u);
  EXPECT_EQ(got[2][4], 0x3c00u);
  EXPECT_EQ(got[3][0], 0x3800u);
  EXPECT_EQ(got[3][3], 0x3800u); // sine of 30 degrees
}

} // namespace
} // namespace winnow::sim::test
