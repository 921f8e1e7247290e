// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vector arithmetic: integer widths and carries, float rules, conversions,
// comparisons. Wanted values are worked out here, not by the simulator.
#include "TestKernels.h"

#include <array>
#include <cmath>
#include <limits>

namespace winnow::sim::test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr uint32_t kQuietNan = 0x7fc00000u, kSignalingNan = 0x7fa00001u;
/// IEEE mode is on and f32 denormals are kept.
const std::string kKeepDenormals =
    "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15\n";

/// One lane a row of `inputs`: v1, v2, ... hold its columns; results from v20.
std::vector<std::vector<uint32_t>>
runRows(const std::string &body,
        const std::vector<std::vector<uint32_t>> &inputs, unsigned results) {
  size_t columns = inputs[0].size();
  std::vector<uint32_t> in(columns * 64);
  for (size_t row = 0; row < inputs.size(); ++row)
    for (size_t c = 0; c < columns; ++c)
      in[c * 64 + row] = inputs[row][c];
  auto out = runWave(loadInputs(1, unsigned(columns)) + kKeepDenormals + body +
                         storeOutputs(20, results),
                     in, results * 64);
  std::vector<std::vector<uint32_t>> rows(inputs.size());
  for (size_t row = 0; row < inputs.size(); ++row)
    for (unsigned r = 0; r < results; ++r)
      rows[row].push_back(out[r * 64 + row]);
  return rows;
}

using Row = std::vector<uint32_t>;

TEST(Vector, CarryChains) {
  auto got = runRows(R"(
  v_add_co_u32 v20, vcc, v1, v3
  v_addc_co_u32 v21, vcc, v2, v4, vcc
  v_cndmask_b32 v22, 0, 1, vcc
  v_sub_co_u32 v23, s[20:21], v1, v3
  v_subb_co_u32 v24, s[20:21], v2, v4, s[20:21]
  v_subrev_co_u32 v25, vcc, v1, v3
  v_mad_u64_u32 v[26:27], s[20:21], v1, v3, v[2:3]
  v_cndmask_b32 v28, 0, 1, s[20:21]
)",
                     {{0xffffffff, 0xffffffff, 1, 0},
                      {5, 7, 6, 7},
                      {0x80000000, 1, 0x80000000, 2}},
                     9);
  for (size_t i = 0; i < 3; ++i) {
    std::array<std::array<uint32_t, 4>, 3> in = {
        {{0xffffffff, 0xffffffff, 1, 0},
         {5, 7, 6, 7},
         {0x80000000, 1, 0x80000000, 2}}};
    uint64_t a = uint64_t(in[i][1]) << 32 | in[i][0];
    uint64_t b = uint64_t(in[i][3]) << 32 | in[i][2];
    uint64_t sum = a + b, difference = a - b;
    EXPECT_EQ(got[i][0], uint32_t(sum));
    EXPECT_EQ(got[i][1], uint32_t(sum >> 32));
    EXPECT_EQ(got[i][2], sum < a);
    EXPECT_EQ(got[i][3], uint32_t(difference));
    EXPECT_EQ(got[i][4], uint32_t(difference >> 32));
    EXPECT_EQ(got[i][5], in[i][2] - in[i][0]);
    uint64_t addend = uint64_t(in[i][2]) << 32 | in[i][1];
    uint64_t product = uint64_t(in[i][0]) * in[i][2];
    EXPECT_EQ(got[i][6], uint32_t(product + addend));
    EXPECT_EQ(got[i][7], uint32_t((product + addend) >> 32));
    EXPECT_EQ(got[i][8], product + addend < product);
  }
}

TEST(Vector, IntegerOperations) {
  auto got = runRows(R"(
  v_lshl_add_u32 v20, v1, 4, v2
  v_add3_u32 v21, v1, v2, v3
  v_bfe_u32 v22, v1, 8, 12
  v_bfe_i32 v23, v1, 8, 12
  v_bfi_b32 v24, v1, v2, v3
  v_perm_b32 v25, v1, v2, v3
  v_alignbit_b32 v26, v1, v2, 8
  v_alignbyte_b32 v27, v1, v2, 3
  v_mul_hi_u32 v28, v1, v2
  v_mul_hi_i32 v29, v1, v2
  v_med3_i32 v30, v1, v2, v3
  v_mul_u32_u24 v31, v1, v2
  v_mul_i32_i24 v32, v1, v2
  v_lshlrev_b32 v33, 36, v1
  v_ashrrev_i32 v34, 4, v1
  v_bitop3_b32 v35, v1, v2, v3 bitop3:0x96
  v_bcnt_u32_b32 v36, v1, v2
  v_ffbh_u32 v37, v3
  v_lshl_add_u64 v[38:39], v[2:3], 3, v[2:3]
  v_xad_u32 v40, v1, v2, v3
)",
                     {{0xf1234567, 0x00fedcba, 0x07060c01}}, 21)[0];
  uint32_t a = 0xf1234567, b = 0x00fedcba, c = 0x07060c01;
  EXPECT_EQ(got[0], (a << 4) + b);
  EXPECT_EQ(got[1], a + b + c);
  EXPECT_EQ(got[2], 0x345u);
  EXPECT_EQ(got[3], 0x345u);
  EXPECT_EQ(got[4], (a & b) | (~a & c));
  // Selectors 1, 12, 6, 7: byte 1 of b, zero, byte 2 and byte 3 of a.
  EXPECT_EQ(got[5], 0xf12300dcu);
  EXPECT_EQ(got[6], 0x6700fedcu);
  EXPECT_EQ(got[7], 0x23456700u);
  EXPECT_EQ(got[8], uint32_t(uint64_t(a) * b >> 32));
  EXPECT_EQ(got[9], uint32_t(uint64_t(int64_t(int32_t(a)) * int32_t(b)) >> 32));
  EXPECT_EQ(got[10], b);
  EXPECT_EQ(got[11], 0x234567u * 0xfedcbau);
  EXPECT_EQ(got[12], uint32_t(0x234567 * (int64_t(0xfedcba) - 0x1000000)));
  EXPECT_EQ(got[13], a << 4);
  EXPECT_EQ(got[14], 0xff123456u);
  EXPECT_EQ(got[15], a ^ b ^ c);
  EXPECT_EQ(got[16], b + 16u);
  EXPECT_EQ(got[17], 5u);
  uint64_t wide = uint64_t(c) << 32 | b;
  EXPECT_EQ(got[18], uint32_t((wide << 3) + wide));
  EXPECT_EQ(got[19], uint32_t(((wide << 3) + wide) >> 32));
  EXPECT_EQ(got[20], (a ^ b) + c);
}

TEST(Vector, SixtyFourBitShiftsAndComparisons) {
  std::vector<Row> in = {
      {36, 0x89abcdef, 0x81234567, 0, 1}, {65, 1, 0, 0, 0}, {0, 5, 7, 5, 7}};
  auto got = runRows(R"(
  v_lshlrev_b64 v[20:21], v1, v[2:3]
  v_lshrrev_b64 v[22:23], v1, v[2:3]
  v_ashrrev_i64 v[24:25], v1, v[2:3]
  v_cmp_gt_u64 vcc, v[2:3], v[4:5]
  v_cndmask_b32 v26, 0, 1, vcc
  v_cmp_gt_i64 vcc, v[2:3], v[4:5]
  v_cndmask_b32 v27, 0, 1, vcc
)",
                     in, 8);
  for (size_t i = 0; i < in.size(); ++i) {
    uint64_t v = uint64_t(in[i][2]) << 32 | in[i][1];
    uint64_t other = uint64_t(in[i][4]) << 32 | in[i][3];
    unsigned n = in[i][0] % 64;
    auto pair = [&](size_t at) {
      return uint64_t(got[i][at + 1]) << 32 | got[i][at];
    };
    EXPECT_EQ(pair(0), v << n);
    EXPECT_EQ(pair(2), v >> n);
    EXPECT_EQ(pair(4), uint64_t(int64_t(v) >> n));
    EXPECT_EQ(got[i][6], v > other);
    EXPECT_EQ(got[i][7], int64_t(v) > int64_t(other));
  }
}

TEST(Vector, MaximumAndMinimumRules) {
  // Kernels run in IEEE mode: a signaling NaN comes back quiet.
  struct Case {
    uint32_t a, b, largest, smallest;
  };
  uint32_t one = bitsOf(1), two = bitsOf(2), zero = 0,
           negativeZero = 0x80000000;
  std::vector<Case> cases = {
      {one, two, two, one},
      {two, one, two, one},
      {kQuietNan, one, one, one},
      {one, kQuietNan, one, one},
      {kQuietNan, kQuietNan, kQuietNan, kQuietNan},
      {kSignalingNan, one, kSignalingNan | 0x400000, kSignalingNan | 0x400000},
      {one, kSignalingNan, kSignalingNan | 0x400000, kSignalingNan | 0x400000},
      {zero, negativeZero, zero, negativeZero},
      {negativeZero, zero, zero, negativeZero},
      {bitsOf(-kInf), bitsOf(kInf), bitsOf(kInf), bitsOf(-kInf)},
      {1, 2, 2, 1}};
  std::vector<Row> in;
  for (const Case &c : cases)
    in.push_back({c.a, c.b});
  auto got =
      runRows("  v_max_f32 v20, v1, v2\n  v_min_f32 v21, v1, v2\n", in, 2);
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(got[i][0], cases[i].largest) << i;
    EXPECT_EQ(got[i][1], cases[i].smallest) << i;
  }
}

TEST(Vector, ThreeOperandMaximumSkipsNan) {
  uint32_t nan = kQuietNan, a = bitsOf(-3), b = bitsOf(5), c = bitsOf(4);
  auto got =
      runRows("  v_max3_f32 v20, v1, v2, v3\n  v_min3_f32 v21, v1, v2, v3\n"
              "  v_med3_f32 v22, v1, v2, v3\n",
              {{a, b, c}, {nan, b, c}, {a, nan, nan}, {nan, nan, nan}}, 3);
  EXPECT_EQ(got[0], (Row{b, a, c}));
  EXPECT_EQ(got[1], (Row{b, c, c}));
  EXPECT_EQ(got[2], (Row{a, a, a}));
  EXPECT_EQ(got[3], (Row{nan, nan, nan}));
}

TEST(Vector, FloatArithmetic) {
  auto got =
      runRows(R"(
  v_add_f32 v20, v1, v2
  v_mul_f32 v21, v1, v2
  v_fma_f32 v22, v1, v2, v3
  v_sub_f32 v23, v1, v2
  v_fma_f32 v24, -v1, |v2|, v3
  v_mov_b32 v25, v3
  v_fmac_f32 v25, v1, v2
  v_mul_f32 v26, 0.5, v1
  v_fmaak_f32 v27, v1, v2, 0x40400000
  v_fmamk_f32 v28, v1, 0x40400000, v2
)",
              {{bitsOf(1.5f), bitsOf(-2.25f), bitsOf(10)},
               {bitsOf(kInf), bitsOf(-kInf), bitsOf(1)},
               {bitsOf(0x1.000002p0f), bitsOf(0x1.000002p0f), bitsOf(-1)},
               {1, bitsOf(1), 0}},
              9);
  auto f = [&](size_t row, size_t column) { return floatOf(got[row][column]); };
  EXPECT_EQ(f(0, 0), -0.75f);
  EXPECT_EQ(f(0, 1), -3.375f);
  EXPECT_EQ(f(0, 2), 6.625f);
  EXPECT_EQ(f(0, 3), 3.75f);
  EXPECT_EQ(f(0, 4), 10 - 1.5f * 2.25f);
  EXPECT_EQ(f(0, 5), 6.625f);
  EXPECT_EQ(f(0, 6), 0.75f);
  EXPECT_EQ(f(0, 7), 3 - 3.375f);
  EXPECT_EQ(f(0, 8), 4.5f - 2.25f);
  // inf - inf is the positive default NaN, not x86's negative one.
  EXPECT_EQ(got[1][0], kQuietNan);
  EXPECT_EQ(f(1, 1), -kInf);
  // One rounding: 2^-22 + 2^-46, which a separate product loses.
  EXPECT_EQ(f(2, 2), 0x1.000001p-22f);
  // Denormals are kept in this mode.
  EXPECT_EQ(got[3][1], 1u);
}

TEST(Vector, FlushesDenormalsWhenModeSaysSo) {
  std::vector<uint32_t> in(128);
  in[0] = 1;
  in[64] = bitsOf(1);
  in[1] = bitsOf(0x1p-126f);
  in[65] = bitsOf(0.5f);
  in[2] = 0x80000001;
  in[66] = bitsOf(1);
  std::string body = loadInputs(1, 2) +
                     "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\n"
                     "  v_mul_f32 v20, v1, v2\n"
                     "  v_max_f32 v21, v1, v1\n  v_mov_b32 v22, v1\n" +
                     storeOutputs(20, 3);
  auto out = runWave(body, in, 192);
  EXPECT_EQ(out[0], 0u);
  EXPECT_EQ(out[1], 0u);
  EXPECT_EQ(out[2], 0x80000000u);
  EXPECT_EQ(out[64], 0u);
  EXPECT_EQ(out[128], 1u);
}

TEST(Vector, Transcendentals) {
  auto got =
      runRows(R"(
  v_rcp_f32 v20, v1
  v_rsq_f32 v21, v1
  v_sqrt_f32 v22, v1
  v_exp_f32 v23, v1
  v_log_f32 v24, v1
  v_floor_f32 v25, v1
  v_ceil_f32 v26, v1
  v_rndne_f32 v27, v1
  v_trunc_f32 v28, v1
  v_fract_f32 v29, v1
)",
              {{bitsOf(4)}, {bitsOf(-2.5f)}, {bitsOf(0)}, {bitsOf(kInf)}}, 10);
  auto row = [&](size_t i) {
    std::vector<float> v;
    for (uint32_t bits : got[i])
      v.push_back(floatOf(bits));
    return v;
  };
  EXPECT_EQ(row(0), (std::vector<float>{0.25f, 0.5f, 2, 16, 2, 4, 4, 4, 4, 0}));
  EXPECT_TRUE(std::isnan(row(1)[2]) && std::isnan(row(1)[4]));
  EXPECT_EQ(row(1)[5], -3);
  EXPECT_EQ(row(1)[6], -2);
  EXPECT_EQ(row(1)[7], -2);
  EXPECT_EQ(row(1)[8], -2);
  EXPECT_EQ(row(1)[9], 0.5f);
  EXPECT_EQ(row(2)[0], kInf);
  EXPECT_EQ(row(2)[4], -kInf);
  EXPECT_EQ(row(3)[0], 0.0f);
}

TEST(Vector, OutputModifiersAndClamp) {
  std::vector<uint32_t> in(128);
  in[0] = bitsOf(3);
  in[64] = bitsOf(0.125f);
  in[1] = bitsOf(-3);
  in[65] = bitsOf(0.125f);
  in[2] = kQuietNan;
  in[66] = bitsOf(1);
  std::string body = loadInputs(1, 2) +
                     "  v_add_f32 v20, v1, v2 clamp\n"
                     "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 6), 0x10\n"
                     "  v_add_f32 v21, v1, v2 mul:4\n"
                     "  v_mul_f32 v22, v1, v2 div:2\n" +
                     storeOutputs(20, 3);
  auto out = runWave(body, in, 192);
  EXPECT_EQ(floatOf(out[0]), 1.0f);
  EXPECT_EQ(floatOf(out[1]), 0.0f);
  EXPECT_EQ(floatOf(out[2]), 0.0f); // DX10_CLAMP
  EXPECT_EQ(floatOf(out[64]), 12.5f);
  EXPECT_EQ(floatOf(out[129]), -0.1875f);
}

TEST(Vector, FloatComparisonsAndClasses) {
  std::vector<Row> in = {{bitsOf(1), bitsOf(2)},
                         {bitsOf(2), bitsOf(2)},
                         {kQuietNan, bitsOf(2)},
                         {bitsOf(-0.0f), bitsOf(0)}};
  std::string body;
  const char *tests[] = {"lt", "eq",  "le",  "gt",  "lg",  "ge",  "o",
                         "u",  "nge", "nlg", "ngt", "nle", "neq", "nlt"};
  unsigned at = 20;
  for (const char *test : tests)
    body += std::string("  v_cmp_") + test +
            "_f32 vcc, v1, v2\n  v_cndmask_b32 v" + std::to_string(at++) +
            ", 0, 1, vcc\n";
  auto got = runRows(body, in, 14);
  EXPECT_EQ(got[0], (Row{1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(got[1], (Row{0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1}));
  EXPECT_EQ(got[2], (Row{0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(got[3], (Row{0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1}));

  const uint32_t values[] = {kSignalingNan,
                             kQuietNan,
                             bitsOf(-kInf),
                             bitsOf(-1),
                             0x80000001,
                             0x80000000,
                             0,
                             1,
                             bitsOf(1),
                             bitsOf(kInf)};
  in.clear();
  for (unsigned i = 0; i < 10; ++i)
    in.push_back({values[i], 1u << i, 0x3ffu & ~(1u << i)});
  got =
      runRows("  v_cmp_class_f32 vcc, v1, v2\n  v_cndmask_b32 v20, 0, 1, vcc\n"
              "  v_cmp_class_f32 vcc, v1, v3\n  v_cndmask_b32 v21, 0, 1, vcc\n",
              in, 2);
  for (unsigned i = 0; i < 10; ++i)
    EXPECT_EQ(got[i], (Row{1, 0})) << i;
}

TEST(Vector, Conversions) {
  auto got = runRows(R"(
  v_cvt_u32_f32 v20, v1
  v_cvt_i32_f32 v21, v1
  v_cvt_f16_f32 v22, v1
  v_cvt_f32_f16 v23, v22
  v_cvt_pk_bf16_f32 v24, v1, v1
  v_mov_b32 v25, 0
  v_cvt_pk_fp8_f32 v25, v1, v1
  v_cvt_f32_fp8 v26, v25
  v_cvt_f32_ubyte1 v27, v1
  v_cvt_f32_i32 v28, v1
  v_cvt_f32_u32 v29, v1
)",
                     {{bitsOf(2.75f)},
                      {bitsOf(-1e20f)},
                      {bitsOf(65520.0f)},
                      {bitsOf(0x1p-24f)},
                      {kQuietNan},
                      {bitsOf(0x1.01p0f)},
                      {bitsOf(17.0f)}},
                     10);
  EXPECT_EQ(got[0][0], 2u);
  EXPECT_EQ(got[0][1], 2u);
  EXPECT_EQ(got[0][2], 0x4180u);
  EXPECT_EQ(floatOf(got[0][3]), 2.75f);
  EXPECT_EQ(got[0][4], 0x40304030u);
  EXPECT_EQ(got[0][5], 0x4343u);
  EXPECT_EQ(floatOf(got[0][6]), 2.75f);
  EXPECT_EQ(floatOf(got[0][8]), float(bitsOf(2.75f)));
  EXPECT_EQ(got[1][0], 0u);
  EXPECT_EQ(got[1][1], 0x80000000u);
  EXPECT_EQ(got[1][2], 0xfc00u);
  EXPECT_EQ(floatOf(got[1][9]), float(bitsOf(-1e20f)));
  EXPECT_EQ(got[2][2], 0x7c00u); // halfway to 65536 rounds to infinity
  EXPECT_EQ(got[3][2], 0x0001u);
  EXPECT_EQ(floatOf(got[3][3]), 0x1p-24f);
  EXPECT_EQ(got[4][0], 0u);
  EXPECT_EQ(got[4][1], 0u);
  EXPECT_EQ(got[4][5] & 0x7f7f, 0x7f7fu);
  EXPECT_EQ(got[5][4], 0x3f803f80u);    // 1 + 2^-8 ties to even
  EXPECT_EQ(floatOf(got[6][6]), 16.0f); // 17 ties to even in e4m3
}

TEST(Vector, PackedOperations) {
  auto got =
      runRows(R"(
  v_pk_add_u16 v20, v2, v3
  v_pk_lshlrev_b16 v21, 4, v2 op_sel_hi:[0,1]
  v_pk_add_f16 v22, v2, v3
  v_pk_mul_f16 v23, v2, v3 op_sel:[1,0] op_sel_hi:[0,1]
  v_pk_add_f32 v[24:25], v[2:3], v[4:5]
  v_pk_fma_f32 v[26:27], v[2:3], v[4:5], v[2:3] op_sel_hi:[1,0,1] neg_lo:[0,0,1] neg_hi:[0,0,1]
  v_pk_mul_f32 v[28:29], v[2:3], 2.0 op_sel_hi:[1,0]
  v_pk_mov_b32 v[30:31], v[2:3], v[4:5] op_sel:[1,0]
)",
              {{0, 0x3c004000, 0x42004400, bitsOf(3), bitsOf(5)}}, 12)[0];
  uint32_t a = 0x3c004000, b = 0x42004400;
  EXPECT_EQ(got[0], 0x7e008400u);
  EXPECT_EQ(got[1], 0xc0000000u);
  EXPECT_EQ(got[2], 0x44004600u); // 1 + 3, 2 + 4
  EXPECT_EQ(got[3], 0x46004400u); // 2 * 3, 1 * 4
  EXPECT_EQ(floatOf(got[4]), floatOf(a) + 3);
  EXPECT_EQ(floatOf(got[5]), floatOf(b) + 5);
  EXPECT_EQ(floatOf(got[6]), std::fma(floatOf(a), 3.0f, -floatOf(a)));
  EXPECT_EQ(floatOf(got[7]), std::fma(floatOf(b), 3.0f, -floatOf(b)));
  EXPECT_EQ(floatOf(got[8]), floatOf(a) * 2);
  EXPECT_EQ(floatOf(got[9]), floatOf(b) * 2);
  EXPECT_EQ(got[10], b);
  EXPECT_EQ(got[11], bitsOf(3));
}

TEST(Vector, IntegerClampSaturates) {
  auto got = runRows(R"(
  v_add_u32_e64 v20, v1, v2 clamp
  v_sub_u32_e64 v21, v1, v2 clamp
  v_add_i32 v22, v1, v2 clamp
  v_sub_i32 v23, v1, v2 clamp
  v_add_u16_e64 v24, v1, v2 clamp
  v_sub_u16_e64 v25, v2, v1 clamp
)",
                     {{0x7fffffff, 0x90000001}, {0x80000000, 0x90008000}}, 6);
  EXPECT_EQ(got[0], (Row{~0u, 0, 0x10000000, 0x7fffffff, 0xffff, 0}));
  EXPECT_EQ(got[1], (Row{~0u, 0, 0x80000000, 0xefff8000, 0x8000, 0x8000}));
}

TEST(Vector, SixteenBitOperations) {
  auto got = runRows(R"(
  v_mov_b32 v20, -1
  v_add_u16 v20, v1, v2
  v_mov_b32 v21, -1
  v_mad_u16 v21, v1, v2, v2
  v_mov_b32 v22, -1
  v_mad_u16 v22, v1, v2, v2 op_sel:[1,0,0,1]
  v_mul_lo_u16 v23, v1, v2
  v_lshlrev_b16 v24, 3, v1
  v_max_i16 v25, v1, v2
  v_add_f16 v26, v3, v3
  v_fma_f16 v27, v3, v3, v3 op_sel:[1,0,0,0]
  v_cmp_lt_i16 vcc, v1, v2
  v_cndmask_b32 v28, 0, 1, vcc
)",
                     {{0x00038001, 0x1234ffff, 0x3c004200}}, 9)[0];
  EXPECT_EQ(got[0], 0x8000u);
  EXPECT_EQ(got[1], 0xffff0000u | ((0x8001u * 0xffffu + 0xffffu) & 0xffff));
  EXPECT_EQ(got[2], 0x0000ffffu | (3u * 0xffffu + 0xffffu) << 16);
  EXPECT_EQ(got[3], (0x8001u * 0xffffu) & 0xffff);
  EXPECT_EQ(got[4], 8u);
  EXPECT_EQ(got[5], 0xffffu);
  EXPECT_EQ(got[6], 0x4600u);          // 3 + 3
  EXPECT_EQ(got[7] & 0xffff, 0x4600u); // 1 * 3 + 3
  EXPECT_EQ(got[8], 1u);
}

TEST(Vector, HalfPrecision) {
  auto got = runRows(R"(
  v_rcp_f16 v20, v1
  v_sqrt_f16 v21, v1
  v_floor_f16 v22, v1
  v_max_f16 v23, v1, v2
  v_min_f16 v24, v1, v2
  v_max3_f16 v25, v1, v2, v3
  v_fma_f16 v26, v1, v2, v3
  v_pk_fma_f16 v27, v1, v2, v3
  v_ldexp_f16 v28, v1, 3
  v_fma_mix_f32 v29, v1, v2, v3 op_sel_hi:[1,1,1]
  v_cndmask_b32_e64 v30, -v4, |v4|, vcc
)",
                     {{0x4400, 0x3555, 0x3c01, bitsOf(-2)},
                      {0x7e01, 0x4000, 0x0001, bitsOf(1)},
                      {0x3c01, 0x3e00, 0x8001, bitsOf(1)}},
                     11);
  EXPECT_EQ(got[0][0] & 0xffff, 0x3400u);
  EXPECT_EQ(got[0][1] & 0xffff, 0x4000u);
  EXPECT_EQ(got[0][2] & 0xffff, 0x4400u);
  EXPECT_EQ(got[0][3], 0x4400u);
  EXPECT_EQ(got[0][4], 0x3555u);
  EXPECT_EQ(got[0][5] & 0xffff, 0x4400u);
  // 4 * 0.333251953125 + 1.0009765625 = 2.333984375 is exact.
  EXPECT_EQ(got[0][6] & 0xffff, 0x40abu);
  EXPECT_EQ(got[0][7] & 0xffff, 0x40abu);
  EXPECT_EQ(got[0][8], 0x5000u);
  EXPECT_EQ(floatOf(got[0][9]), 4 * 0.333251953125f + 1.0009765625f);
  EXPECT_EQ(got[1][3], 0x4000u); // a quiet NaN loses
  EXPECT_EQ(got[1][4], 0x4000u);
  // (1 + 2^-10) * 1.5 is a tie; -2^-24 decides it, which rounding to f32 on the
  // way would lose.
  EXPECT_EQ(got[2][6] & 0xffff, 0x3e01u);
  EXPECT_EQ(floatOf(got[0][10]), 2.0f);
}

// Division as clang expands it (div_scale, div_fmas, div_fixup) is exact to the
// last bit on ordinary and extreme operands.
TEST(Vector, DivisionIsCorrectlyRounded) {
  auto object = load(compileHip(R"(
    KERNEL divide(const float *a, const float *b, float *q, const double *x, const double *y, double *z) {
      int i = BX * 64 + TX;
      q[i] = a[i] / b[i];
      z[i] = x[i] / y[i];
    })"));
  std::vector<float> a, b;
  const float values[] = {1,           3,         -7,
                          0x1p-126f,   0x1p-140f, 0x1.fffffep127f,
                          0,           kInf,      0x1.234566p100f,
                          0x1.6p-100f, 10,        0.1f};
  for (float x : values)
    for (float y : values) {
      a.push_back(x);
      b.push_back(y);
    }
  while (a.size() % 64) {
    a.push_back(float(a.size()) * 1.37f);
    b.push_back(float(a.size()) * 0.77f - 9);
  }
  std::vector<double> x(a.begin(), a.end()), y(b.begin(), b.end());
  for (size_t i = 0; i < x.size(); ++i)
    x[i] *= 1.0000000001;
  Device device;
  size_t n = a.size();
  uint64_t pq = upload(device, std::vector<float>(n), "q");
  uint64_t pz = upload(device, std::vector<double>(n), "z");
  Arguments arguments;
  arguments.add(upload(device, a, "a")).add(upload(device, b, "b")).add(pq);
  arguments.add(upload(device, x, "x")).add(upload(device, y, "y")).add(pz);
  auto stats = device.launch(object, "divide", {uint32_t(n / 64), 1, 1},
                             {64, 1, 1}, arguments.bytes);
  ASSERT_TRUE(stats) << stats.message();
  auto q = download<float>(device, pq, n);
  auto z = download<double>(device, pz, n);
  for (size_t i = 0; i < n; ++i) {
    float want = a[i] / b[i];
    if (std::isnan(want))
      EXPECT_TRUE(std::isnan(q[i])) << a[i] << " / " << b[i];
    else
      EXPECT_EQ(q[i], want) << a[i] << " / " << b[i];
    double wide = x[i] / y[i];
    if (std::isnan(wide))
      EXPECT_TRUE(std::isnan(z[i])) << x[i] << " / " << y[i];
    else
      EXPECT_EQ(z[i], wide) << x[i] << " / " << y[i];
  }
}

} // namespace
} // namespace winnow::sim::test
