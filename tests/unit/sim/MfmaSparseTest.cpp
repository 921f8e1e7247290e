// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 8-bit matrix products with rows and columns of zeros, NaNs and infinities
// among them: what leaves rows out has to give what does not.
#include "TestKernels.h"

#include <cmath>
#include <functional>
#include <random>

namespace winnow::sim::test {
namespace {

/// OCP 8-bit formats by their definition.
double decode8(uint8_t code, bool isBf8) {
  int fractionBits = isBf8 ? 2 : 3, bias = isBf8 ? 15 : 7;
  int exponent = (code & 127) >> fractionBits;
  int fraction = code & ((1 << fractionBits) - 1);
  double sign = code & 128 ? -1 : 1;
  if (isBf8 && exponent == 31)
    return fraction ? NAN : sign * INFINITY;
  if (!isBf8 && (code & 127) == 127)
    return NAN;
  if (!exponent)
    return sign * std::ldexp(fraction, 1 - bias - fractionBits);
  return sign * std::ldexp(fraction + (1 << fractionBits),
                           exponent - bias - fractionBits);
}

using Fill = std::function<uint8_t(unsigned row, unsigned k)>;

/// Runs v_mfma_f32_16x16x128_f8f6f4 over a[row][k] and b[column][k], and holds
/// it against sums of 32 products at a time, in f32.
void check(const Fill &a, const Fill &b, bool isBf8) {
  // Lane l holds row l % 16; byte e of it is k = 16 (l / 16) + e % 16 + 64 (e /
  // 16).
  std::vector<uint32_t> in(20 * 64);
  std::mt19937 random(5);
  for (unsigned l = 0; l < 64; ++l) {
    for (unsigned e = 0; e < 32; ++e) {
      unsigned k = 16 * (l / 16) + e % 16 + 64 * (e / 16);
      in[e / 4 * 64 + l] |= uint32_t(a(l % 16, k)) << (8 * (e % 4));
      in[(8 + e / 4) * 64 + l] |= uint32_t(b(l % 16, k)) << (8 * (e % 4));
    }
    for (unsigned r = 0; r < 4; ++r)
      in[(16 + r) * 64 + l] =
          bitsOf(r == 3 ? -0.0f : float(int(random() % 100)) - 50);
  }
  std::string formats = isBf8 ? " cbsz:1 blgp:1" : "";
  auto out = runWave(loadInputs(0, 20) +
                         "  v_mfma_f32_16x16x128_f8f6f4 v[20:23], v[0:7], "
                         "v[8:15], v[16:19]" +
                         formats + "\n" + storeOutputs(20, 4),
                     in, 4 * 64);
  for (unsigned l = 0; l < 64; ++l)
    for (unsigned r = 0; r < 4; ++r) {
      unsigned row = 4 * (l / 16) + r, column = l % 16;
      float expected = floatOf(in[(16 + r) * 64 + l]);
      for (unsigned k0 = 0; k0 < 128; k0 += 32) {
        float sum = 0;
        for (unsigned k = k0; k < k0 + 32; ++k)
          sum = std::fma(float(decode8(a(row, k), isBf8)),
                         float(decode8(b(column, k), isBf8)), sum);
        expected += sum;
      }
      uint32_t bits = std::isnan(expected) ? 0x7fc00000u : bitsOf(expected);
      ASSERT_EQ(out[r * 64 + l], bits) << "row " << row << " column " << column;
    }
}

uint8_t pseudo(unsigned row, unsigned k, unsigned salt) {
  uint32_t v = (row * 131 + k) * 2654435761u + salt * 40503u;
  v ^= v >> 15;
  return uint8_t(v * 2246822519u >> 24);
}

/// Any finite code.
Fill finite(bool isBf8, unsigned salt) {
  return [=](unsigned row, unsigned k) {
    uint8_t code = pseudo(row, k, salt);
    bool isSpecial = isBf8 ? (code & 0x7c) == 0x7c : (code & 0x7f) == 0x7f;
    return isSpecial ? uint8_t(code & 0x83) : code;
  };
}

class MfmaSparse : public ::testing::TestWithParam<bool> {};

TEST_P(MfmaSparse, OneRowInUse) {
  Fill full = finite(GetParam(), 1), b = finite(GetParam(), 2);
  check([&](unsigned row, unsigned k) { return row == 5 ? full(row, k) : 0; },
        b, GetParam());
}

TEST_P(MfmaSparse, TwoColumnsInUse) {
  Fill a = finite(GetParam(), 3), full = finite(GetParam(), 4);
  // Negative zeros are zeros too.
  check(
      a,
      [&](unsigned column, unsigned k) {
        return column % 8 == 3 ? full(column, k) : uint8_t(k % 2 ? 0x80 : 0);
      },
      GetParam());
}

TEST_P(MfmaSparse, AllInUse) {
  check(finite(GetParam(), 5), finite(GetParam(), 6), GetParam());
}

TEST_P(MfmaSparse, NanTimesZeroIsNan) {
  Fill b = finite(GetParam(), 7);
  check([](unsigned, unsigned) { return uint8_t(0); },
        [&](unsigned column, unsigned k) {
          return column == 9 && k == 100 ? uint8_t(0x7f) : b(column, k);
        },
        GetParam());
}

TEST(MfmaSparseBf8, InfinityTimesZeroIsNan) {
  Fill b = finite(true, 8);
  check([](unsigned row, unsigned) { return uint8_t(row ? 0 : 0x3c); },
        [&](unsigned column, unsigned k) {
          return column == 2 && k == 7 ? uint8_t(0xfc) : b(column, k);
        },
        true);
}

INSTANTIATE_TEST_SUITE_P(Formats, MfmaSparse, ::testing::Bool(),
                         [](const auto &info) {
                           return info.param ? std::string("bf8")
                                             : std::string("fp8");
                         });

} // namespace
} // namespace winnow::sim::test
