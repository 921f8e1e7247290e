// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What float instructions do with NaNs, infinities, signed zeros and the ends
// of their ranges. Wanted values are constants from the rules of the CDNA ISA
// manuals.
#include "TestKernels.h"

#include <gmock/gmock.h>

namespace winnow::sim::test {
namespace {

constexpr uint32_t kNan = 0x7fc00000, kSignaling = 0x7f800123,
                   kQuieted = 0x7fc00123, kInfinity = 0x7f800000,
                   kMinusInfinity = 0xff800000, kMinusZero = 0x80000000;
const std::string kKeepDenormals =
    "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15\n";
const std::string kNoIeee =
    "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 9, 1), 0\n";

using Row = std::vector<uint32_t>;

/// Column c of a row is v2+c of its lane; results begin at v20.
std::vector<Row> runRows(const std::string &body, const std::vector<Row> &rows,
                         unsigned results) {
  size_t columns = rows[0].size();
  std::vector<uint32_t> in(columns * 64);
  for (size_t r = 0; r < rows.size(); ++r)
    for (size_t c = 0; c < columns; ++c)
      in[c * 64 + r] = rows[r][c];
  auto out = runWave(loadInputs(2, unsigned(columns)) + kKeepDenormals + body +
                         storeOutputs(20, results),
                     in, results * 64);
  std::vector<Row> got(rows.size());
  for (size_t r = 0; r < rows.size(); ++r)
    for (unsigned i = 0; i < results; ++i)
      got[r].push_back(out[i * 64 + r]);
  return got;
}

const char *kExtremes = "  v_max_f32 v20, v2, v3\n  v_min_f32 v21, v2, v3\n"
                        "  v_max3_f32 v22, v2, v3, v4\n"
                        "  v_min3_f32 v23, v2, v3, v4\n"
                        "  v_med3_f32 v24, v2, v3, v4\n"
                        "  v_maximum3_f32 v25, v2, v3, v4\n"
                        "  v_minimum3_f32 v26, v2, v3, v4\n";

// In IEEE mode a signaling NaN comes back quiet; else it loses like a quiet
// one. maximum3 and minimum3 hand on any NaN, quiet.
TEST(FloatRules, NansOfMinimumAndMaximum) {
  uint32_t one = bitsOf(1), two = bitsOf(2), three = bitsOf(3);
  const std::vector<Row> in = {{one, three, two},      {kNan, one, two},
                               {one, kNan, two},       {one, two, kNan},
                               {kSignaling, one, two}, {one, kSignaling, two},
                               {one, two, kSignaling}, {kNan, kSignaling, one}};
  auto got = runRows(kExtremes, in, 7);
  // A nested maximum forgets the quieted NaN again.
  EXPECT_EQ(got[0], (Row{three, one, three, one, two, three, one}));
  EXPECT_EQ(got[1], (Row{one, one, two, one, one, kNan, kNan}));
  EXPECT_EQ(got[2], (Row{one, one, two, one, one, kNan, kNan}));
  EXPECT_EQ(got[3], (Row{two, one, two, one, one, kNan, kNan}));
  EXPECT_EQ(got[4],
            (Row{kQuieted, kQuieted, two, two, two, kQuieted, kQuieted}));
  EXPECT_EQ(got[5],
            (Row{kQuieted, kQuieted, two, two, two, kQuieted, kQuieted}));
  EXPECT_EQ(got[6],
            (Row{two, one, kQuieted, kQuieted, kQuieted, kQuieted, kQuieted}));
  EXPECT_EQ(got[7][0], kQuieted);
  EXPECT_EQ(got[7][2], one);
  got = runRows(kNoIeee + kExtremes, in, 7);
  EXPECT_EQ(got[4], (Row{one, one, two, one, one, kQuieted, kQuieted}));
  EXPECT_EQ(got[5], (Row{one, one, two, one, one, kQuieted, kQuieted}));
  EXPECT_EQ(got[6], (Row{two, one, two, one, one, kQuieted, kQuieted}));
}

TEST(FloatRules, SignedZerosOfMinimumAndMaximum) {
  uint32_t minusOne = bitsOf(-1), one = bitsOf(1);
  auto got = runRows(kExtremes,
                     {{0, kMinusZero, 0},
                      {kMinusZero, 0, kMinusZero},
                      {kMinusZero, 0, minusOne},
                      {kMinusZero, 0, one}},
                     7);
  // Row 2: the largest equals the first operand, -0 being +0; what is left is
  // {+0, -1}.
  EXPECT_EQ(got[0], (Row{0, kMinusZero, 0, kMinusZero, 0, 0, kMinusZero}));
  EXPECT_EQ(got[1], (Row{0, kMinusZero, 0, kMinusZero, 0, 0, kMinusZero}));
  EXPECT_EQ(got[2], (Row{0, kMinusZero, 0, minusOne, 0, 0, minusOne}));
  EXPECT_EQ(got[3], (Row{0, kMinusZero, one, kMinusZero, 0, one, kMinusZero}));
}

TEST(FloatRules, NansOfTheOtherPrecisions) {
  const char *body = "  v_max_f16 v20, v2, v3\n  v_min_f16 v21, v2, v3\n"
                     "  v_pk_max_f16 v22, v2, v3\n"
                     "  v_pk_min_f16 v23, v2, v3\n"
                     "  v_max_f64 v[24:25], v[4:5], v[6:7]\n"
                     "  v_min_f64 v[26:27], v[4:5], v[6:7]\n";
  // f16: sNaN 0x7d01 quiet 0x7f01; f64: sNaN ...0001.
  const std::vector<Row> in = {
      {0x7d017d01, 0x3c003c00, 1, 0x7ff00000, 0, 0x3ff00000},
      {0x3c003c00, 0x7e007e00, 0, 0x3ff00000, 0, 0x7ff80000},
      {0x80000000, 0x00008000, 0, 0x80000000, 0, 0}};
  auto got = runRows(body, in, 8);
  EXPECT_EQ(got[0], (Row{0x7f01, 0x7f01, 0x7f017f01, 0x7f017f01, 1, 0x7ff80000,
                         1, 0x7ff80000}));
  EXPECT_EQ(got[1], (Row{0x3c00, 0x3c00, 0x3c003c00, 0x3c003c00, 0, 0x3ff00000,
                         0, 0x3ff00000}));
  EXPECT_EQ(got[2], (Row{0, 0x8000, 0, 0x80008000, 0, 0, 0, 0x80000000}));
  got = runRows(kNoIeee + body, in, 8);
  EXPECT_EQ(got[0], (Row{0x3c00, 0x3c00, 0x3c003c00, 0x3c003c00, 0, 0x3ff00000,
                         0, 0x3ff00000}));
}

TEST(FloatRules, ArithmeticQuietsNans) {
  auto got = runRows(
      "  v_add_f32 v20, v2, v3\n  v_mul_f32 v21, v3, v2\n"
      "  v_fma_f32 v22, v3, v3, v2\n  v_floor_f32 v23, v2\n"
      "  v_rcp_f32 v24, v2\n  v_ldexp_f32 v25, v2, 3\n"
      "  v_fract_f32 v26, v2\n  v_trunc_f32 v27, v2\n  v_sqrt_f32 v28, v2\n"
      "  v_frexp_mant_f32 v29, v2\n  v_mov_b32 v30, v2\n",
      {{kSignaling, bitsOf(2)}}, 11)[0];
  for (unsigned i = 0; i < 10; ++i)
    EXPECT_EQ(got[i], kQuieted) << i;
  EXPECT_EQ(got[10], kSignaling); // a move moves bits
}

TEST(FloatRules, InvalidOperationsGiveThePositiveNan) {
  auto got = runRows("  v_sub_f32 v20, v2, v2\n  v_mul_f32 v21, v2, v3\n"
                     "  v_fma_f32 v22, v2, v3, v4\n  v_sqrt_f32 v23, -v4\n"
                     "  v_log_f32 v24, -v4\n  v_rsq_f32 v25, -v4\n"
                     "  v_sin_f32 v26, v2\n  v_mul_legacy_f32 v27, v2, v3\n"
                     "  v_fma_f32 v28, v2, v4, -v2\n",
                     {{kInfinity, 0, bitsOf(1)}}, 9)[0];
  EXPECT_EQ(got, (Row{kNan, kNan, kNan, kNan, kNan, kNan, kNan, 0, kNan}));
}

TEST(FloatRules, UnaryFunctionsAtTheirEnds) {
  auto got = runRows("  v_rcp_f32 v20, v2\n  v_rsq_f32 v21, v2\n"
                     "  v_sqrt_f32 v22, v2\n  v_exp_f32 v23, v2\n"
                     "  v_log_f32 v24, v2\n",
                     {{0},
                      {kMinusZero},
                      {kInfinity},
                      {kMinusInfinity},
                      {1},
                      {bitsOf(0x1p127f)}},
                     5);
  uint32_t one = bitsOf(1);
  EXPECT_EQ(got[0], (Row{kInfinity, kInfinity, 0, one, kMinusInfinity}));
  EXPECT_EQ(got[1], (Row{kMinusInfinity, kMinusInfinity, kMinusZero, one,
                         kMinusInfinity}));
  EXPECT_EQ(got[2], (Row{0, 0, kInfinity, kInfinity, kInfinity}));
  EXPECT_EQ(got[3], (Row{kMinusZero, kNan, kNan, 0, kNan}));
  // Denormals are zero to these units, as sources and as results.
  EXPECT_EQ(got[4], (Row{kInfinity, kInfinity, 0, one, kMinusInfinity}));
  EXPECT_EQ(got[5][0], 0u);
}

TEST(FloatRules, ExponentsAndMantissas) {
  auto got = runRows("  v_frexp_exp_i32_f32 v20, v2\n"
                     "  v_frexp_mant_f32 v21, v2\n"
                     "  v_ldexp_f32 v22, v2, v3\n"
                     "  v_frexp_exp_i32_f64 v23, v[4:5]\n"
                     "  v_frexp_mant_f64 v[24:25], v[4:5]\n",
                     {{bitsOf(12), 126, 0, 0x40280000},
                      {1, 200, 1, 0},
                      {kInfinity, ~0u, 0, 0x7ff00000},
                      {kMinusZero, 5, 0, 0x80000000},
                      {bitsOf(-1.5f), uint32_t(-149), 0, 0xbff80000},
                      {bitsOf(1), 0x7fffffff, 0, 0},
                      {bitsOf(-1), 0x80000000, 0, 0}},
                     6);
  EXPECT_EQ(got[0], (Row{4, bitsOf(0.75f), kInfinity, 4, 0, 0x3fe80000}));
  // 2^-149 is 0.5 * 2^-148; the f64 denormal is 2^-1074.
  EXPECT_EQ(got[1], (Row{uint32_t(-148), bitsOf(0.5f), bitsOf(0x1p51f),
                         uint32_t(-1073), 0, 0x3fe00000}));
  EXPECT_EQ(got[2], (Row{0, kInfinity, kInfinity, 0, 0, 0x7ff00000}));
  EXPECT_EQ(got[3], (Row{0, kMinusZero, kMinusZero, 0, 0, 0x80000000}));
  // -1.5 * 2^-149 is a tie between -2^-149 and -2^-148: to even.
  EXPECT_EQ(got[4], (Row{1, bitsOf(-0.75f), 0x80000002, 1, 0, 0xbfe80000}));
  EXPECT_EQ(got[5][2], kInfinity);
  EXPECT_EQ(got[6][2], kMinusZero);
}

TEST(FloatRules, FloatsToIntegers) {
  auto got =
      runRows("  v_cvt_i32_f32 v20, v2\n  v_cvt_u32_f32 v21, v2\n"
              "  v_cvt_rpi_i32_f32 v22, v2\n  v_cvt_flr_i32_f32 v23, v2\n",
              {{kNan},
               {kInfinity},
               {kMinusInfinity},
               {bitsOf(2147483520.0f)},
               {bitsOf(2147483648.0f)},
               {bitsOf(-2147483648.0f)},
               {bitsOf(4294967040.0f)},
               {bitsOf(4294967296.0f)},
               {bitsOf(-0.99f)},
               {bitsOf(-1)},
               {bitsOf(1.5f)},
               {bitsOf(-1.5f)},
               {1}},
              4);
  const uint32_t most = 0x7fffffff, least = 0x80000000;
  EXPECT_EQ(got[0], (Row{0, 0, 0, 0}));
  EXPECT_EQ(got[1], (Row{most, ~0u, most, most}));
  EXPECT_EQ(got[2], (Row{least, 0, least, least}));
  EXPECT_EQ(got[3], (Row{0x7fffff80, 0x7fffff80, 0x7fffff80, 0x7fffff80}));
  EXPECT_EQ(got[4], (Row{most, 0x80000000, most, most}));
  EXPECT_EQ(got[5], (Row{least, 0, least, least}));
  EXPECT_EQ(got[6], (Row{most, 0xffffff00, most, most}));
  EXPECT_EQ(got[7], (Row{most, ~0u, most, most}));
  EXPECT_EQ(got[8], (Row{0, 0, ~0u, ~0u}));
  EXPECT_EQ(got[9], (Row{~0u, 0, ~0u, ~0u}));
  EXPECT_EQ(got[10], (Row{1, 1, 2, 1}));
  EXPECT_EQ(got[11], (Row{~0u, 0, ~0u, uint32_t(-2)}));
  EXPECT_EQ(got[12], (Row{0, 0, 0, 0}));
}

TEST(FloatRules, DoublesAndHalvesToIntegers) {
  auto wide = [](double v, uint32_t half) {
    uint64_t bits = std::bit_cast<uint64_t>(v);
    return Row{uint32_t(bits), uint32_t(bits >> 32), half};
  };
  auto got = runRows("  v_cvt_i32_f64 v20, v[2:3]\n"
                     "  v_cvt_u32_f64 v21, v[2:3]\n"
                     "  v_cvt_f32_f64 v22, v[2:3]\n"
                     "  v_cvt_u16_f16 v23, v4\n  v_cvt_i16_f16 v24, v4\n"
                     "  v_cvt_f32_f16 v25, v4\n",
                     {wide(2147483647.75, 0x7bff), wide(-2147483649.0, 0xfbff),
                      wide(4294967295.9, 0x7c00), wide(1e300, 0xfc00),
                      wide(-0.5, 0x7e00), wide(0x1p-150, 0x0001)},
                     6);
  EXPECT_EQ(got[0], (Row{0x7fffffff, 0x7fffffff, bitsOf(0x1p31f), 65504, 32767,
                         bitsOf(65504)}));
  EXPECT_EQ(got[1],
            (Row{0x80000000, 0, bitsOf(-0x1p31f), 0, 0x8000, bitsOf(-65504)}));
  EXPECT_EQ(got[2],
            (Row{0x7fffffff, ~0u, bitsOf(0x1p32f), 0xffff, 32767, kInfinity}));
  EXPECT_EQ(got[3],
            (Row{0x7fffffff, ~0u, kInfinity, 0, 0x8000, kMinusInfinity}));
  EXPECT_EQ(got[4], (Row{0, 0, bitsOf(-0.5f), 0, 0, kNan}));
  // 2^-150 ties between 0 and 2^-149: to even.
  EXPECT_EQ(got[5], (Row{0, 0, 0, 0, 0, bitsOf(0x1p-24f)}));
}

TEST(FloatRules, NarrowingConversions) {
  auto got = runRows("  v_cvt_f16_f32 v20, v2\n"
                     "  v_cvt_pkrtz_f16_f32 v21, v2, v2\n"
                     "  v_cvt_pk_bf16_f32 v22, v2, v2\n"
                     "  v_cvt_pk_u16_u32 v23, v2, v3\n"
                     "  v_cvt_pk_i16_i32 v24, v2, v3\n",
                     {{bitsOf(65519.996f), 0xffff8000},
                      {bitsOf(65520), 0x8000},
                      {bitsOf(-1e10f), 0xffff7fff},
                      {bitsOf(0x1p-25f), 0},
                      {bitsOf(0x1.8p-25f), 0},
                      {kSignaling, 0},
                      {bitsOf(0x1.fffffep127f), 0}},
                     5);
  EXPECT_EQ(got[0][0], 0x7bffu);
  EXPECT_EQ(got[1][0], 0x7c00u);
  EXPECT_EQ(got[2][0], 0xfc00u);
  EXPECT_EQ(got[3][0], 0u); // half of the smallest: to even
  EXPECT_EQ(got[4][0], 1u);
  EXPECT_EQ(got[5][0], 0x7e00u); // the payload's upper bits are zero
  EXPECT_EQ(got[1][1], 0x7bff7bffu);
  EXPECT_EQ(got[2][1], 0xfbfffbffu);
  EXPECT_EQ(got[4][1], 0u);
  EXPECT_EQ(got[5][2] & 0x7fc0, 0x7fc0u);
  EXPECT_EQ(got[6][2], 0x7f807f80u);
  EXPECT_EQ(got[0][3], 0xffffffffu);
  EXPECT_EQ(got[3][3], 0x0000ffffu);
  EXPECT_EQ(got[0][4], 0x80007fffu);
  EXPECT_EQ(got[1][4], 0x7fff7fffu);
  EXPECT_EQ(got[2][4], 0x80008000u);
}

// v_div_fixup: quotient, denominator, numerator.
TEST(FloatRules, DivisionsSpecialCases) {
  uint32_t q = bitsOf(3), one = bitsOf(1), minusOne = bitsOf(-1);
  auto got = runRows("  v_div_fixup_f32 v20, v2, v3, v4\n",
                     {{q, one, kSignaling},
                      {q, kSignaling, one},
                      {q, 0, kMinusZero},
                      {q, kInfinity, kMinusInfinity},
                      {q, kMinusZero, one},
                      {q, minusOne, kInfinity},
                      {q, kInfinity, minusOne},
                      {q, one, kMinusZero},
                      {q, minusOne, one},
                      {bitsOf(-3), minusOne, minusOne}},
                     1);
  EXPECT_EQ(got[0][0], kQuieted);
  EXPECT_EQ(got[1][0], kQuieted);
  EXPECT_EQ(got[2][0], 0xffc00000u);
  EXPECT_EQ(got[3][0], 0xffc00000u);
  EXPECT_EQ(got[4][0], kMinusInfinity);
  EXPECT_EQ(got[5][0], kMinusInfinity);
  EXPECT_EQ(got[6][0], kMinusZero);
  EXPECT_EQ(got[7][0], kMinusZero);
  EXPECT_EQ(got[8][0], bitsOf(-3));
  EXPECT_EQ(got[9][0], bitsOf(3));
}

// v_div_scale of denominator and numerator, v_div_fmas with VCC on and off.
TEST(FloatRules, DivisionsScaling) {
  auto got =
      runRows("  v_div_scale_f32 v20, vcc, v2, v2, v3\n"
              "  v_cndmask_b32 v21, 0, 1, vcc\n"
              "  v_div_scale_f32 v22, vcc, v3, v2, v3\n"
              "  v_cndmask_b32 v23, 0, 1, vcc\n",
              {{bitsOf(3), bitsOf(7)},
               {bitsOf(0x1p-40f), bitsOf(0x1p60f)}, // quotient near the largest
               {1, bitsOf(1)},                      // denormal denominator
               {bitsOf(0x1p40f), bitsOf(0x1p-100f)}, // quotient a denormal
               {bitsOf(1), bitsOf(0x1p-120f)},       // tiny numerator
               {0, bitsOf(1)}},
              4);
  EXPECT_EQ(got[0], (Row{bitsOf(3), 0, bitsOf(7), 0}));
  EXPECT_EQ(got[1], (Row{bitsOf(0x1p24f), 1, bitsOf(0x1p60f), 1}));
  // 2^-149 and 1: 127 - 0 is far apart, which comes first.
  EXPECT_EQ(got[2], (Row{bitsOf(0x1p-85f), 1, bitsOf(1), 1}));
  EXPECT_EQ(got[3], (Row{bitsOf(0x1p40f), 1, bitsOf(0x1p-36f), 1}));
  EXPECT_EQ(got[4], (Row{bitsOf(0x1p64f), 0, bitsOf(0x1p-56f), 0}));
  EXPECT_EQ(got[5][0], kNan);

  got = runRows(
      "  s_mov_b64 vcc, 0x2\n  v_div_fmas_f32 v20, v2, v3, v4\n",
      {{bitsOf(3), bitsOf(5), bitsOf(7)}, {bitsOf(3), bitsOf(5), bitsOf(7)}},
      1);
  EXPECT_EQ(floatOf(got[0][0]), 22.0f);
  EXPECT_EQ(floatOf(got[1][0]), 22 * 0x1p64f);
  got = runRows("  s_mov_b64 vcc, 0x1\n  v_div_fmas_f32 v20, v2, v3, v4\n",
                {{bitsOf(0.5f), bitsOf(0.5f), bitsOf(0.25f)}}, 1);
  EXPECT_EQ(floatOf(got[0][0]), 0x1p-65f);
}

TEST(FloatRules, SdwaPicksHalvesAndAppliesSigns) {
  auto got = runRows("  v_add_f16_sdwa v20, v2, -v3 dst_sel:WORD_1 "
                     "dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:WORD_0\n"
                     "  v_cvt_f32_f16_sdwa v21, |v2| dst_sel:DWORD "
                     "dst_unused:UNUSED_PAD src0_sel:WORD_0\n"
                     "  v_mul_f32_sdwa v22, v4, v4 dst_sel:DWORD "
                     "dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD\n",
                     {{0x4200bc00, 0x12343c00, bitsOf(1.5f)}}, 3)[0];
  EXPECT_EQ(got[0], 0x40000000u); // 3 - 1 in the high half, the low one zero
  EXPECT_EQ(floatOf(got[1]), 1.0f);
  EXPECT_EQ(floatOf(got[2]), 2.25f);
}

} // namespace
} // namespace winnow::sim::test
