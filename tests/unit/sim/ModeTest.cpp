// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What MODE has beside rounding directions: f16 overflow, denormals of each
// precision, output modifiers, clamped NaNs.
#include "TestKernels.h"

namespace winnow::sim::test {
namespace {

std::string setField(unsigned first, unsigned width, unsigned value) {
  return "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, " + std::to_string(first) +
         ", " + std::to_string(width) + "), " + std::to_string(value) + "\n";
}

// FP16_OVFL: what overflows f16 stops at 65504, whatever the direction.
TEST(Mode, HalfOverflowSaturatesWhenModeSaysSo) {
  std::vector<uint32_t> in = std::vector<uint32_t>(128);
  in[0] = in[64] = 0x7bff; // largest + largest
  in[1] = in[65] = 0xfbff;
  in[2] = 0x7c00; // infinity stays
  in[66] = 0x3c00;
  auto out = runWave(loadInputs(1, 2) + setField(23, 1, 1) +
                         "  v_add_f16 v20, v1, v2\n  v_mul_f16 v21, v1, v2\n"
                         "  v_pk_add_f16 v22, v1, v2\n" +
                         setField(23, 1, 0) + "  v_add_f16 v23, v1, v2\n" +
                         storeOutputs(20, 4),
                     in, 256);
  EXPECT_EQ(out[0], 0x7bffu);
  EXPECT_EQ(out[1], 0xfbffu);
  EXPECT_EQ(out[2], 0x7c00u);
  EXPECT_EQ(out[64], 0x7bffu);
  EXPECT_EQ(out[65], 0x7bffu);
  EXPECT_EQ(out[128], 0x7bffu);
  EXPECT_EQ(out[192], 0x7c00u);
  EXPECT_EQ(out[193], 0xfc00u);
}

// Each precision has a bit for denormal sources and one for denormal results.
TEST(Mode, DenormalsOfSourcesAndResults) {
  // Lanes: a denormal source with a normal result, and the other way round.
  std::vector<uint32_t> in(7 * 64);
  auto put = [&](unsigned lane, float a, float b, uint16_t ha, uint16_t hb,
                 double da, double db) {
    in[lane] = bitsOf(a);
    in[64 + lane] = bitsOf(b);
    in[128 + lane] = ha * 0x10001u;
    in[192 + lane] = hb * 0x10001u;
    uint64_t x = std::bit_cast<uint64_t>(da), y = std::bit_cast<uint64_t>(db);
    in[256 + lane] = uint32_t(x >> 32);
    in[320 + lane] = uint32_t(y >> 32);
  };
  put(0, 0x1p-130f, 0x1p10f, 0x0100, 0x6400, 0x1p-1030, 0x1p20); // * 1024
  put(1, 0x1p-126f, 0x1p-1f, 0x0400, 0x3800, 0x1p-1022, 0.5);
  std::string body = "  v_mov_b32 v10, 0\n  v_mov_b32 v11, v5\n"
                     "  v_mov_b32 v12, 0\n  v_mov_b32 v13, v6\n";
  for (unsigned bits = 0; bits < 4; ++bits) {
    // Eight registers a setting, pairs at even ones.
    auto v = [&](unsigned i) { return std::to_string(20 + 8 * bits + i); };
    body += setField(4, 4, bits | (~bits & 3) << 2) + "  v_mul_f32 v" + v(0) +
            ", v1, v2\n"
            "  v_mov_b32 v14, v1\n  v_mov_b32 v15, v1\n"
            "  v_mov_b32 v16, v2\n  v_mov_b32 v17, v2\n"
            "  v_pk_mul_f32 v[" +
            v(2) + ":" + v(3) + "], v[14:15], v[16:17]\n" +
            setField(4, 4, (~bits & 3) | bits << 2) + "  v_mul_f16 v" + v(1) +
            ", v3, v4\n  v_pk_mul_f16 v" + v(4) + ", v3, v4\n  v_mul_f64 v[" +
            v(6) + ":" + v(7) + "], v[10:11], v[12:13]\n";
  }
  auto out =
      runWave(loadInputs(1, 6) + body + storeOutputs(20, 32), in, 32 * 64);
  for (unsigned bits = 0; bits < 4; ++bits) {
    auto got = [&](unsigned i, unsigned lane) {
      return out[(8 * bits + i) * 64 + lane];
    };
    bool sources = bits & 1, results = bits & 2;
    float single[] = {sources ? 0x1p-120f : 0, results ? 0x1p-127f : 0};
    // 0x0100 is 2^-16; times 1024 it is 2^-6.
    uint32_t half[] = {sources ? 0x2400u : 0, results ? 0x0200u : 0};
    double wide[] = {sources ? 0x1p-1010 : 0, results ? 0x1p-1023 : 0};
    for (unsigned lane = 0; lane < 2; ++lane) {
      EXPECT_EQ(floatOf(got(0, lane)), single[lane]) << bits << lane;
      EXPECT_EQ(floatOf(got(2, lane)), single[lane]) << bits << lane;
      EXPECT_EQ(floatOf(got(3, lane)), single[lane]) << bits << lane;
      EXPECT_EQ(got(1, lane), half[lane]) << bits << lane;
      EXPECT_EQ(got(4, lane), half[lane] * 0x10001u) << bits << lane;
      EXPECT_EQ(
          std::bit_cast<double>(uint64_t(got(7, lane)) << 32 | got(6, lane)),
          wide[lane])
          << bits << lane;
    }
  }
}

// v_cmp_class tests bits; a flushed denormal is still told from zero.
TEST(Mode, ClassesSeeDenormalsInEveryMode) {
  std::vector<uint32_t> in(64);
  in[0] = 1;
  in[1] = 0;
  auto out = runWave(loadInputs(1, 1) + setField(4, 4, 0) +
                         "  v_mov_b32 v2, 0x80\n  v_cmp_class_f32 vcc, v1, v2\n"
                         "  v_cndmask_b32 v20, 0, 1, vcc\n"
                         "  v_cmp_eq_f32 vcc, 0, v1\n"
                         "  v_cndmask_b32 v21, 0, 1, vcc\n" +
                         storeOutputs(20, 2),
                     in, 128);
  EXPECT_EQ(out[0], 1u);
  EXPECT_EQ(out[1], 0u);
  EXPECT_EQ(out[64], 1u); // the comparison flushes
}

TEST(Mode, ModeReadsBackAndStartsAsTheDescriptorSays) {
  // FLOAT_MODE 0xf0 is the default of neither: descriptor says f64 only.
  auto out =
      runWave("  s_getreg_b32 s20, hwreg(HW_REG_MODE)\n" + setField(0, 4, 9) +
                  "  s_getreg_b32 s21, hwreg(HW_REG_MODE, 0, 4)\n"
                  "  s_mov_b32 s22, 0x5\n"
                  "  s_setreg_b32 hwreg(HW_REG_MODE, 2, 2), s22\n"
                  "  s_getreg_b32 s22, hwreg(HW_REG_MODE, 0, 4)\n"
                  "  v_mov_b32 v20, s20\n  v_mov_b32 v21, s21\n"
                  "  v_mov_b32 v22, s22\n" +
                  storeOutputs(20, 3),
              {0}, 192);
  EXPECT_EQ(out[0] & 0x3ff, 0x3c0u); // IEEE, DX10_CLAMP, f16/f64 denormals
  EXPECT_EQ(out[64], 9u);
  EXPECT_EQ(out[128], 5u);
}

// Output modifiers: not in IEEE mode, not while denormal results are kept; -0
// comes out as +0.
TEST(Mode, OutputModifiersObeyMode) {
  std::vector<uint32_t> in(128);
  in[0] = bitsOf(3);
  in[64] = bitsOf(0.5f);
  in[1] = bitsOf(-0.0f);
  in[65] = bitsOf(-0.0f);
  const char *add = "  v_add_f32 %, v1, v2 mul:4\n";
  auto line = [&](unsigned d) {
    std::string text = add;
    return text.replace(text.find('%'), 1, "v" + std::to_string(d));
  };
  auto out = runWave(loadInputs(1, 2) + setField(4, 4, 0) + line(20) +
                         setField(9, 1, 0) + line(21) + setField(4, 4, 15) +
                         line(22) + storeOutputs(20, 3),
                     in, 192);
  EXPECT_EQ(floatOf(out[0]), 3.5f);
  EXPECT_EQ(floatOf(out[64]), 14.0f);
  EXPECT_EQ(floatOf(out[128]), 3.5f);
  EXPECT_EQ(out[1], 0x80000000u);
  EXPECT_EQ(out[65], 0u);
}

// DX10_CLAMP decides what a clamped NaN is.
TEST(Mode, ClampOfNan) {
  std::vector<uint32_t> in(64, 0x7fc00000u);
  auto out = runWave(loadInputs(2, 1) + "  v_add_f32 v20, v2, v2 clamp\n" +
                         setField(8, 1, 0) + "  v_add_f32 v21, v2, v2 clamp\n" +
                         "  v_pk_add_f32 v[22:23], v[2:3], v[2:3] "
                         "op_sel_hi:[0,0] clamp\n" +
                         storeOutputs(20, 3),
                     in, 192);
  EXPECT_EQ(out[0], 0u);
  EXPECT_EQ(out[64], 0x7fc00000u);
  EXPECT_EQ(out[128], 0x7fc00000u);
}

} // namespace
} // namespace winnow::sim::test
