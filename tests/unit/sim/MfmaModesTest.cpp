// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f64 matrices and the broadcasts of cbsz, abid and blgp. Layouts are those of
// the ISA's "General input and output layout", written out anew.
#include "TestKernels.h"

#include <gmock/gmock.h>

namespace winnow::sim::test {
namespace {

using ::testing::HasSubstr;

uint64_t bits64(double v) { return std::bit_cast<uint64_t>(v); }

/// Two registers a value.
class Doubles {
public:
  explicit Doubles(unsigned pairs) : words(pairs * 128) {}
  void set(unsigned item, unsigned lane, double v) {
    words[2 * item * 64 + lane] = uint32_t(bits64(v));
    words[(2 * item + 1) * 64 + lane] = uint32_t(bits64(v) >> 32);
  }
  std::vector<uint32_t> words;
};
double doubleAt(const std::vector<uint32_t> &words, size_t begin, unsigned item,
                unsigned lane) {
  return std::bit_cast<double>(
      uint64_t(words[begin + (2 * item + 1) * 64 + lane]) << 32 |
      words[begin + 2 * item * 64 + lane]);
}

// Different for every element; sums of products stay exact.
double valueA(unsigned b, unsigned i, unsigned k) {
  return 1 + b * 100 + i * 5 + k * 0.25;
}
double valueB(unsigned b, unsigned k, unsigned j) {
  return 2 - b * 50.0 + j * 3 - k * 0.5;
}
double valueC(unsigned b, unsigned i, unsigned j) {
  return 10000.0 * i + 100 * j + b;
}

TEST(MfmaDouble, EveryElement) {
  struct Case {
    const char *name;
    unsigned m, blocks;
  };
  for (const Case &c : {Case{"v_mfma_f64_16x16x4_f64", 16, 1},
                        Case{"v_mfma_f64_4x4x4_4b_f64", 4, 4}}) {
    unsigned items = c.m * c.m * c.blocks / 64;
    Doubles a(1), b(1), results(items);
    // K_L = 1: A[b][i][k] is in lane i + M * (b + B * k), B alike.
    for (unsigned block = 0; block < c.blocks; ++block)
      for (unsigned i = 0; i < c.m; ++i)
        for (unsigned k = 0; k < 4; ++k) {
          unsigned lane = i + c.m * (block + c.blocks * k);
          a.set(0, lane, valueA(block, i, k));
          b.set(0, lane, valueB(block, k, i));
        }
    // H = 1; of 16x16, D[i][j] is item i / 4 of lane j + 16 * (i % 4); of 4x4,
    // lane j + 4 * (i + 4 * block).
    auto place = [&](unsigned block, unsigned i, unsigned j) {
      return c.m == 16
                 ? std::pair<unsigned, unsigned>(i / 4, j + 16 * (i % 4))
                 : std::pair<unsigned, unsigned>(0, j + 4 * (i + 4 * block));
    };
    for (unsigned block = 0; block < c.blocks; ++block)
      for (unsigned i = 0; i < c.m; ++i)
        for (unsigned j = 0; j < c.m; ++j) {
          auto [item, lane] = place(block, i, j);
          results.set(item, lane, valueC(block, i, j));
        }
    std::vector<uint32_t> in = a.words;
    in.insert(in.end(), b.words.begin(), b.words.end());
    in.insert(in.end(), results.words.begin(), results.words.end());
    unsigned registers = 2 * items;
    auto range = [&](unsigned first) {
      return "v[" + std::to_string(first) + ":" +
             std::to_string(first + registers - 1) + "]";
    };
    std::string text = std::string("  ") + c.name + " ";
    // As it is; with A and C negated; from a constant.
    auto out = runWave(loadInputs(0, 4 + registers) + text + range(40) +
                           ", v[0:1], v[2:3], " + range(4) + "\n" + text +
                           range(48) + ", v[0:1], v[2:3], " + range(4) +
                           " neg:[1,0,1]\n" + text + range(56) +
                           ", v[0:1], v[2:3], 1.0\n  s_nop 15\n  s_nop 15\n" +
                           storeOutputs(40, 24),
                       in, 24 * 64);
    for (unsigned block = 0; block < c.blocks; ++block)
      for (unsigned i = 0; i < c.m; ++i)
        for (unsigned j = 0; j < c.m; ++j) {
          double product = 0;
          for (unsigned k = 0; k < 4; ++k)
            product += valueA(block, i, k) * valueB(block, k, j);
          auto [item, lane] = place(block, i, j);
          double with = valueC(block, i, j);
          EXPECT_EQ(doubleAt(out, 0, item, lane), with + product);
          EXPECT_EQ(doubleAt(out, 8 * 64, item, lane), -with - product);
          EXPECT_EQ(doubleAt(out, 16 * 64, item, lane), 1 + product);
        }
  }
}

// 4x4x1 in 16 blocks: lane l holds A[l / 4][l % 4] and B[l / 4][l % 4], and
// D[b] [i][j] is in register i of lane j + 4 * b.
TEST(MfmaBroadcast, LanesOfAAndB) {
  struct Case {
    unsigned cbsz, abid, blgp;
  };
  const std::vector<Case> cases = {{0, 0, 1}, {0, 0, 2}, {0, 0, 3}, {0, 0, 4},
                                   {0, 0, 5}, {0, 0, 6}, {0, 0, 7}, {1, 1, 0},
                                   {2, 3, 0}, {3, 5, 2}, {4, 9, 0}};
  std::vector<uint32_t> in(128);
  for (unsigned l = 0; l < 64; ++l) {
    in[l] = bitsOf(float(l + 1));
    in[64 + l] = bitsOf(float(1000 + l));
  }
  std::string body = loadInputs(0, 2);
  for (size_t n = 0; n < cases.size(); ++n)
    body += "  v_mfma_f32_4x4x1_16b_f32 v[" + std::to_string(40 + 4 * n) + ":" +
            std::to_string(43 + 4 * n) +
            "], v0, v1, 0 cbsz:" + std::to_string(cases[n].cbsz) +
            " abid:" + std::to_string(cases[n].abid) +
            " blgp:" + std::to_string(cases[n].blgp) + "\n";
  body += "  s_nop 15\n" + storeOutputs(40, unsigned(4 * cases.size()));
  auto out = runWave(body, in, cases.size() * 256);
  auto laneOfB = [](unsigned l, unsigned blgp) {
    switch (blgp) {
    case 1:
      return l % 32;
    case 2:
      return l % 32 + 32;
    case 3:
      return (l + 16) % 64;
    case 4:
      return l % 16;
    case 5:
      return l % 16 + 16;
    case 6:
      return l % 16 + 32;
    case 7:
      return l % 16 + 48;
    default:
      return l;
    }
  };
  for (size_t n = 0; n < cases.size(); ++n)
    for (unsigned l = 0; l < 64; ++l)
      for (unsigned i = 0; i < 4; ++i) {
        unsigned size = 64 >> cases[n].cbsz, from = l / 4 * 4 + i;
        unsigned a = from % size + size * cases[n].abid;
        unsigned b = laneOfB(l, cases[n].blgp);
        ASSERT_EQ(floatOf(out[n * 256 + i * 64 + l]),
                  float((a + 1) * (1000 + b)))
            << n << " lane " << l << " row " << i;
      }
}

TEST(MfmaBroadcast, SingleBlocksHaveBlgpAlone) {
  std::vector<uint32_t> in(128);
  for (unsigned l = 0; l < 64; ++l) {
    in[l] = bitsOf(float(l % 7 + 1));
    in[64 + l] = bitsOf(float(l + 1));
  }
  // 32x32x2: lane l holds column l % 32 and k = l / 32. blgp 1 makes both k the
  // first one's.
  auto out = runWave(loadInputs(0, 2) +
                         "  v_mfma_f32_32x32x2_f32 v[40:55], v0, v1, 0 blgp:1\n"
                         "  s_nop 15\n  s_nop 15\n" +
                         storeOutputs(40, 1),
                     in, 64);
  for (unsigned l = 0; l < 64; ++l) {
    unsigned row = 4 * (l / 32); // register 0
    EXPECT_EQ(floatOf(out[l]), float((row % 7 + 1) * (l % 32 + 1) +
                                     ((row + 32) % 7 + 1) * (l % 32 + 1)));
  }
  EXPECT_THAT(
      runWaveError("  v_mfma_f32_32x32x2_f32 v[40:55], v0, v1, 0 cbsz:1\n", {0},
                   64),
      HasSubstr("cbsz 1 and abid 0 are not defined for 1 blocks"));
}

} // namespace
} // namespace winnow::sim::test
