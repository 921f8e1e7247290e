// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Register layouts of the matrix instructions, element by element, and their
// arithmetic. The layouts are written out here anew, from the ISA's tables: a
// layout error changes which products meet.
#include "TestKernels.h"

#include <cmath>
#include <functional>
#include <limits>

namespace winnow::sim::test {
namespace {

/// Where an operand element lies: lane, and bit offset in the lane's registers.
struct Place {
  unsigned lane, bit;
};
using PlaceOf = std::function<Place(unsigned rowOrColumn, unsigned k)>;

/// Register-major words of 64 lanes.
class Registers {
public:
  explicit Registers(unsigned count) : words(count * 64) {}
  void set(Place p, unsigned width, uint32_t code) {
    for (unsigned i = 0; i < width; ++i) {
      unsigned bit = p.bit + i;
      words[bit / 32 * 64 + p.lane] |= (code >> i & 1) << (bit % 32);
    }
  }
  std::vector<uint32_t> words;
};

/// Small distinct-ish values whose sums stay exact in f32.
int valueA(unsigned row, unsigned k) { return int((row * 7 + k * 3) % 13) - 6; }
int valueB(unsigned k, unsigned column) {
  return int((column * 5 + k * 11 + k / 16) % 13) - 6;
}

/// Codes of small integers, written by hand per format.
uint32_t encodeE4m3(int v) {
  static const uint8_t codes[] = {0x00, 0x38, 0x40, 0x44, 0x48, 0x4a, 0x4c};
  return codes[std::abs(v)] | (v < 0 ? 0x80 : 0);
}
uint32_t encodeE5m2(int v) {
  static const uint8_t codes[] = {0x00, 0x3c, 0x40, 0x42, 0x44, 0x45, 0x46};
  return codes[std::abs(v)] | (v < 0 ? 0x80 : 0);
}
// e2m3, e3m2, e2m1 hold 5 only in e2m3 and e3m2; fp4 rounds it here to 4.
uint32_t encodeE2m3(int v) {
  static const uint8_t codes[] = {0x00, 0x08, 0x10, 0x14, 0x18, 0x1a, 0x1c};
  return codes[std::abs(v)] | (v < 0 ? 0x20 : 0);
}
uint32_t encodeE3m2(int v) {
  static const uint8_t codes[] = {0x00, 0x0c, 0x10, 0x12, 0x14, 0x15, 0x16};
  return codes[std::abs(v)] | (v < 0 ? 0x20 : 0);
}
uint32_t encodeE2m1(int v) {
  static const uint8_t codes[] = {0x0, 0x2, 0x4, 0x5, 0x6, 0x6, 0x7};
  return codes[std::abs(v)] | (v < 0 ? 0x8 : 0);
}
int fp4Value(int v) { return v == 5 ? 4 : v == -5 ? -4 : v; }
uint32_t encodeHalf(int v) {
  static const uint16_t codes[] = {0x0000, 0x3c00, 0x4000, 0x4200,
                                   0x4400, 0x4500, 0x4600};
  return codes[std::abs(v)] | (v < 0 ? 0x8000 : 0);
}
uint32_t encodeBfloat(int v) { return bitsOf(float(v)) >> 16; }

struct Case {
  const char *name;
  unsigned m, k, width, registers;
  uint32_t (*encode)(int);
  PlaceOf place;
};

void PrintTo(const Case &c, std::ostream *out) { *out << c.name; }

/// One run of `perLane` consecutive k a lane.
PlaceOf consecutive(unsigned m, unsigned perLane, unsigned width) {
  return [=](unsigned i, unsigned k) {
    return Place{i + m * (k / perLane), k % perLane * width};
  };
}
/// Two runs of 16 bytes, half of K apart.
PlaceOf twoRuns(unsigned m, unsigned k) {
  return [=](unsigned i, unsigned at) {
    unsigned half = at / (k / 2), within = at % (k / 2);
    return Place{i + m * (within / 16), (half * 16 + within % 16) * 8};
  };
}

/// Row of D register r in lane l.
unsigned rowOf(unsigned m, unsigned r, unsigned lane) {
  return m == 16 ? 4 * (lane / 16) + r : 8 * (r / 4) + 4 * (lane / 32) + r % 4;
}

std::string range(const char *file, unsigned first, unsigned count) {
  return std::string(file) + "[" + std::to_string(first) + ":" +
         std::to_string(first + count - 1) + "]";
}

class MfmaLayout : public ::testing::TestWithParam<Case> {};

TEST_P(MfmaLayout, EveryElementIsWhereTheIsaSays) {
  const Case &c = GetParam();
  Registers a(c.registers), b(c.registers);
  for (unsigned i = 0; i < c.m; ++i)
    for (unsigned k = 0; k < c.k; ++k) {
      a.set(c.place(i, k), c.width, c.encode(valueA(i, k)));
      b.set(c.place(i, k), c.width, c.encode(valueB(k, i)));
    }
  unsigned results = c.m * c.m / 64;
  // C is distinct too: 1000 * row + column.
  std::vector<uint32_t> in = a.words;
  in.insert(in.end(), b.words.begin(), b.words.end());
  for (unsigned r = 0; r < results; ++r)
    for (unsigned l = 0; l < 64; ++l)
      in.push_back(bitsOf(float(1000 * rowOf(c.m, r, l) + l % c.m)));
  std::string body = loadInputs(0, 2 * c.registers + results);
  unsigned atB = c.registers, atC = 2 * c.registers;
  // The destination overlaps nothing.
  body += std::string("  ") + c.name + " " + range("v", 80, results) + ", " +
          range("v", 0, c.registers) + ", " + range("v", atB, c.registers) +
          ", " + range("v", atC, results) + "\n  s_nop 15\n  s_nop 15\n" +
          storeOutputs(80, results);
  std::vector<uint32_t> out = runWave(body, in, results * 64);
  for (unsigned r = 0; r < results; ++r)
    for (unsigned l = 0; l < 64; ++l) {
      unsigned row = rowOf(c.m, r, l), column = l % c.m;
      int want = int(1000 * row + column);
      for (unsigned k = 0; k < c.k; ++k)
        want += valueA(row, k) * valueB(k, column);
      ASSERT_EQ(floatOf(out[r * 64 + l]), float(want))
          << "row " << row << " column " << column;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, MfmaLayout,
    ::testing::Values(Case{"v_mfma_f32_16x16x128_f8f6f4", 16, 128, 8, 8,
                           encodeE4m3, twoRuns(16, 128)},
                      Case{"v_mfma_f32_32x32x64_f8f6f4", 32, 64, 8, 8,
                           encodeE4m3, twoRuns(32, 64)},
                      Case{"v_mfma_f32_16x16x32_fp8_fp8", 16, 32, 8, 2,
                           encodeE4m3, consecutive(16, 8, 8)},
                      Case{"v_mfma_f32_16x16x32_bf8_bf8", 16, 32, 8, 2,
                           encodeE5m2, consecutive(16, 8, 8)},
                      Case{"v_mfma_f32_32x32x16_fp8_fp8", 32, 16, 8, 2,
                           encodeE4m3, consecutive(32, 8, 8)},
                      Case{"v_mfma_f32_16x16x32_f16", 16, 32, 16, 4, encodeHalf,
                           consecutive(16, 8, 16)},
                      Case{"v_mfma_f32_16x16x32_bf16", 16, 32, 16, 4,
                           encodeBfloat, consecutive(16, 8, 16)},
                      Case{"v_mfma_f32_32x32x16_f16", 32, 16, 16, 4, encodeHalf,
                           consecutive(32, 8, 16)},
                      Case{"v_mfma_f32_32x32x16_bf16", 32, 16, 16, 4,
                           encodeBfloat, consecutive(32, 8, 16)},
                      Case{"v_mfma_f32_16x16x16_f16", 16, 16, 16, 2, encodeHalf,
                           consecutive(16, 4, 16)},
                      Case{"v_mfma_f32_16x16x16_bf16", 16, 16, 16, 2,
                           encodeBfloat, consecutive(16, 4, 16)},
                      Case{"v_mfma_f32_32x32x8_f16", 32, 8, 16, 2, encodeHalf,
                           consecutive(32, 4, 16)}),
    [](const auto &info) { return std::string(info.param.name); });

/// Runs one 16x16x128 over A (8 registers), B (8), C = 0; D in row, column.
using Matrix = std::vector<std::vector<float>>;
Matrix run16(const std::vector<uint32_t> &a, const std::vector<uint32_t> &b,
             const std::string &modifiers, unsigned registersA = 8,
             unsigned registersB = 8,
             const char *name = "v_mfma_f32_16x16x128_f8f6f4",
             const std::vector<uint32_t> &extra = {}) {
  std::vector<uint32_t> in = a;
  in.resize(8 * 64);
  in.insert(in.end(), b.begin(), b.end());
  in.resize(16 * 64);
  in.insert(in.end(), extra.begin(), extra.end());
  std::string body = loadInputs(0, unsigned(in.size() / 64));
  body += std::string("  ") + name + " v[80:83], " + range("v", 0, registersA) +
          ", " + range("v", 8, registersB) + ", 0" + modifiers +
          "\n  s_nop 15\n" + storeOutputs(80, 4);
  std::vector<uint32_t> out = runWave(body, in, 4 * 64);
  Matrix d(16, std::vector<float>(16));
  for (unsigned r = 0; r < 4; ++r)
    for (unsigned l = 0; l < 64; ++l)
      d[4 * (l / 16) + r][l % 16] = floatOf(out[r * 64 + l]);
  return d;
}

TEST(Mfma, MixesFormatsOfSixAndFourBits) {
  struct Format {
    const char *cbsz, *blgp;
    unsigned width, registers;
    uint32_t (*encode)(int);
    PlaceOf place;
    bool isFp4;
  };
  const Format formats[] = {
      {"", "", 8, 8, encodeE4m3, twoRuns(16, 128), false},
      {" cbsz:1", " blgp:1", 8, 8, encodeE5m2, twoRuns(16, 128), false},
      {" cbsz:2", " blgp:2", 6, 6, encodeE2m3, consecutive(16, 32, 6), false},
      {" cbsz:3", " blgp:3", 6, 6, encodeE3m2, consecutive(16, 32, 6), false},
      {" cbsz:4", " blgp:4", 4, 4, encodeE2m1, consecutive(16, 32, 4), true}};
  for (const Format &fa : formats)
    for (const Format &fb : formats) {
      Registers a(8), b(8);
      for (unsigned i = 0; i < 16; ++i)
        for (unsigned k = 0; k < 128; ++k) {
          a.set(fa.place(i, k), fa.width, fa.encode(valueA(i, k)));
          b.set(fb.place(i, k), fb.width, fb.encode(valueB(k, i)));
        }
      Matrix d = run16(a.words, b.words, std::string(fa.cbsz) + fb.blgp,
                       fa.registers, fb.registers);
      for (unsigned i = 0; i < 16; ++i)
        for (unsigned j = 0; j < 16; ++j) {
          int want = 0;
          for (unsigned k = 0; k < 128; ++k)
            want += (fa.isFp4 ? fp4Value(valueA(i, k)) : valueA(i, k)) *
                    (fb.isFp4 ? fp4Value(valueB(k, j)) : valueB(k, j));
          ASSERT_EQ(d[i][j], float(want))
              << fa.cbsz << fb.blgp << i << " " << j;
        }
    }
}

// Every row, column and run of 32 has a scale of its own; op_sel picks bytes.
TEST(Mfma, ScalesRunsOfThirtyTwo) {
  Registers a(8), b(8);
  PlaceOf place = twoRuns(16, 128);
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned k = 0; k < 128; ++k) {
      a.set(place(i, k), 8, encodeE4m3(valueA(i, k)));
      b.set(place(i, k), 8, encodeE4m3(valueB(k, i)));
    }
  auto scaleA = [](unsigned i, unsigned run) { return int(i % 4 + run) - 2; };
  auto scaleB = [](unsigned j, unsigned run) { return int(j % 3) - int(run); };
  std::vector<uint32_t> extra(128, 0);
  for (unsigned l = 0; l < 64; ++l) {
    // Byte 2 for A, byte 1 for B; the other bytes would be NaN.
    extra[l] = 0xff00ffffu | uint32_t(127 + scaleA(l % 16, l / 16)) << 16;
    extra[64 + l] = 0xffff00ffu | uint32_t(127 + scaleB(l % 16, l / 16)) << 8;
  }
  Matrix d =
      run16(a.words, b.words, ", v16, v17 op_sel:[0,1,0] op_sel_hi:[1,0,0]", 8,
            8, "v_mfma_scale_f32_16x16x128_f8f6f4", extra);
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned j = 0; j < 16; ++j) {
      double want = 0;
      for (unsigned k = 0; k < 128; ++k)
        want += valueA(i, k) * valueB(k, j) *
                std::ldexp(1.0, scaleA(i, k / 32) + scaleB(j, k / 32));
      ASSERT_EQ(d[i][j], float(want)) << i << " " << j;
    }
  // A scale of 255 is NaN and spoils its row only.
  extra[5] = 0xffffffff;
  d = run16(a.words, b.words, ", v16, v17 op_sel:[0,1,0] op_sel_hi:[1,0,0]", 8,
            8, "v_mfma_scale_f32_16x16x128_f8f6f4", extra);
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned j = 0; j < 16; ++j)
      EXPECT_EQ(std::isnan(d[i][j]), i == 5);
}

TEST(Mfma, SumsByAscendingKInRunsOfThirtyTwo) {
  // e5m2: 49152 is 0x7a, 2^-10 is 0x14, 1 is 0x3c. 49152^2 swallows what comes
  // before it in the same run; later runs are summed on their own first.
  PlaceOf place = twoRuns(16, 128);
  auto result = [&](std::vector<std::pair<unsigned, unsigned>> codes) {
    Registers a(8), b(8);
    for (auto [k, code] : codes) {
      a.set(place(0, k), 8, code);
      b.set(place(0, k), 8, k < 100 ? 0x7a : 0x3c);
    }
    return run16(a.words, b.words, " cbsz:1 blgp:1")[0][0];
  };
  // 1*49152 is lost when it meets 2^31 in its run ... unless it is alone.
  EXPECT_EQ(result({{0, 0x7a}, {1, 0xfa}, {2, 0x14}}), 49152.0f * 0x1p-10f);
  EXPECT_EQ(result({{0, 0x14}, {1, 0x7a}, {2, 0xfa}}), 0.0f);
  EXPECT_EQ(result({{0, 0x7a}, {1, 0xfa}, {33, 0x14}}), 49152.0f * 0x1p-10f);
  EXPECT_EQ(result({{0, 0x14}, {33, 0x7a}, {34, 0xfa}}), 49152.0f * 0x1p-10f);
  EXPECT_EQ(result({{31, 0x14}, {32, 0x7a}, {64, 0xfa}}), 0.0f);
}

TEST(Mfma, NanAndInfinityPropagate) {
  PlaceOf place = twoRuns(16, 128);
  Registers a(8), b(8);
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned k = 0; k < 128; ++k)
      b.set(place(i, k), 8, 0x38);
  a.set(place(3, 77), 8, 0x7f); // e4m3 NaN
  a.set(place(4, 5), 8, 0xff);  // and its negative
  a.set(place(5, 5), 8, 0x01);  // smallest denormal, 2^-9
  Matrix d = run16(a.words, b.words, "");
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned j = 0; j < 16; ++j) {
      EXPECT_EQ(std::isnan(d[i][j]), i == 3 || i == 4) << i;
      if (i == 5) {
        EXPECT_EQ(d[i][j], 0x1p-9f);
      }
    }
  EXPECT_EQ(bitsOf(d[3][0]), 0x7fc00000u);
  // e5m2 infinities: inf * 1, inf - inf, inf * 0.
  Registers infinite(8);
  infinite.set(place(0, 0), 8, 0x7c);
  infinite.set(place(1, 0), 8, 0x7c);
  infinite.set(place(1, 1), 8, 0xfc);
  infinite.set(place(2, 9), 8, 0x7c);
  Registers ones(8);
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned k = 0; k < 128; ++k)
      ones.set(place(i, k), 8, k == 9 ? 0x00 : 0x38);
  d = run16(infinite.words, ones.words, " cbsz:1");
  EXPECT_EQ(d[0][0], std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(d[1][0]));
  EXPECT_TRUE(std::isnan(d[2][0]));
  EXPECT_EQ(d[3][0], 0.0f);
}

// MFMA ignores EXEC, takes AGPRs, and may write over its own operands.
TEST(Mfma, IgnoresExecAndUsesAccumulationRegisters) {
  std::vector<uint32_t> in(4 * 64);
  for (unsigned l = 0; l < 64; ++l) {
    in[l] = in[64 + l] = 0x3c003c00; // four f16 ones a lane
    in[128 + l] = in[192 + l] = 0x40004000;
  }
  std::string body = loadInputs(0, 4) + R"(
  v_accvgpr_write_b32 a10, v0
  v_accvgpr_write_b32 a11, v1
  s_nop 3
  s_mov_b64 exec, 0xff
  v_mfma_f32_16x16x16_f16 a[0:3], a[10:11], v[2:3], 1.0
  s_nop 15
  v_mfma_f32_16x16x16_f16 a[0:3], v[2:3], v[2:3], a[0:3]
  s_nop 15
  v_mfma_f32_16x16x16_f16 v[0:3], v[2:3], v[2:3], 0
  s_mov_b64 exec, -1
  s_nop 15
  v_accvgpr_read_b32 v4, a0
  v_accvgpr_read_b32 v5, a3
  v_mov_b32 v6, v0
)" + storeOutputs(4, 3);
  auto out = runWave(body, in, 3 * 64);
  for (unsigned l = 0; l < 64; ++l) {
    EXPECT_EQ(floatOf(out[l]), 1 + 16 * 2 + 16 * 4.0f);
    EXPECT_EQ(floatOf(out[64 + l]), 1 + 16 * 2 + 16 * 4.0f);
    EXPECT_EQ(floatOf(out[128 + l]), 16 * 4.0f);
  }
}

} // namespace
} // namespace winnow::sim::test
