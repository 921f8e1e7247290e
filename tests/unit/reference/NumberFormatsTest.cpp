// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fp8 e4m3fn over all of its 256 codes, against values built up step by step
// rather than from the exponent arithmetic under test.
#include "winnow/Reference/NumberFormats.h"

#include <gtest/gtest.h>

#include <random>

using namespace winnow::reference;

namespace {

/// The non-negative values in order: 16 steps of 2^-9 (the subnormals and the
/// first normal binade share it), then eight steps of each doubled size.
std::vector<double> magnitudes() {
  std::vector<double> values;
  double value = 0.0, step = 1.0 / 512;
  for (int code = 0; code < 0x7f; ++code) {
    values.push_back(value);
    if (code >= 16 && code % 8 == 0)
      step *= 2;
    value += step;
  }
  return values;
}

TEST(F8E4M3FN, DecodesEveryCode) {
  std::vector<double> wanted = magnitudes();
  ASSERT_EQ(wanted.size(), 127u);
  for (int code = 0; code < 127; ++code) {
    EXPECT_EQ(decodeF8E4M3FN(code), wanted[code]) << code;
    EXPECT_EQ(decodeF8E4M3FN(code | 0x80), -wanted[code]) << code;
    EXPECT_FALSE(std::signbit(decodeF8E4M3FN(code))) << code;
    EXPECT_TRUE(std::signbit(decodeF8E4M3FN(code | 0x80))) << code;
  }
  EXPECT_TRUE(std::isnan(decodeF8E4M3FN(0x7f)));
  EXPECT_TRUE(std::isnan(decodeF8E4M3FN(0xff)));
}

TEST(F8E4M3FN, DecodesTheValuesOfTheSpecification) {
  // OCP 8-bit Floating Point Specification, table 1.
  EXPECT_EQ(decodeF8E4M3FN(0x7e), 448.0f);
  EXPECT_EQ(decodeF8E4M3FN(0x08), 0.015625f);    // smallest normal, 2^-6
  EXPECT_EQ(decodeF8E4M3FN(0x07), 0.013671875f); // largest subnormal
  EXPECT_EQ(decodeF8E4M3FN(0x01), 0.001953125f); // smallest subnormal, 2^-9
  EXPECT_EQ(decodeF8E4M3FN(0x38), 1.0f);
  EXPECT_EQ(decodeF8E4M3FN(0xc4), -3.0f);
  // 0x80 is minus zero here; in FNUZ it would be NaN.
  EXPECT_EQ(decodeF8E4M3FN(0x80), 0.0f);
}

TEST(F8E4M3FN, EncodesEveryValueToItsCode) {
  for (int code = 0; code < 256; ++code) {
    if ((code & 0x7f) == 0x7f)
      continue;
    EXPECT_EQ(encodeF8E4M3FN(decodeF8E4M3FN(code)), code);
  }
}

TEST(F8E4M3FN, RoundsToNearestEven) {
  std::vector<double> values = magnitudes();
  for (int code = 0; code < 126; ++code) {
    // Exact in fp32: five significant bits.
    const auto middle =
        static_cast<float>((values[code] + values[code + 1]) / 2);
    const int even = code % 2 == 0 ? code : code + 1;
    EXPECT_EQ(encodeF8E4M3FN(middle), even) << code;
    EXPECT_EQ(encodeF8E4M3FN(std::nextafter(middle, 0.0f)), code) << code;
    EXPECT_EQ(encodeF8E4M3FN(std::nextafter(middle, 1e9f)), code + 1) << code;
    EXPECT_EQ(encodeF8E4M3FN(-middle), even | 0x80) << code;
  }
}

TEST(F8E4M3FN, SaturatesAndKeepsNaN) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (float value : {448.0f, 449.0f, 464.0f, 465.0f, 480.0f, 1e30f, inf}) {
    EXPECT_EQ(encodeF8E4M3FN(value), 0x7e) << value;
    EXPECT_EQ(encodeF8E4M3FN(-value), 0xfe) << value;
  }
  EXPECT_EQ(encodeF8E4M3FN(nan) & 0x7f, 0x7f);
  EXPECT_EQ(encodeF8E4M3FN(0.0f), 0x00);
  EXPECT_EQ(encodeF8E4M3FN(-0.0f), 0x80);
  EXPECT_EQ(encodeF8E4M3FN(-1e-30f), 0x80);
  EXPECT_EQ(encodeF8E4M3FN(std::numeric_limits<float>::denorm_min()), 0x00);
}

TEST(F8E4M3FN, EncodesRandomValuesToTheNearest) {
  std::vector<double> values = magnitudes();
  // Predictable on purpose: a failure has to come back.
  // NOLINTNEXTLINE(bugprone-random-generator-seed)
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    // Uniform in the exponent, so every binade is met.
    const float value = std::ldexp(1.0f + (random() >> 9) * 0x1p-23f,
                                   static_cast<int>(random() % 22) - 12);
    const double got = values[encodeF8E4M3FN(value)];
    double nearest = 1e9;
    for (double candidate : values)
      nearest = std::min(nearest, std::fabs(candidate - value));
    EXPECT_EQ(std::fabs(got - value), nearest) << value;
  }
}

TEST(OtherFormats, DecodeKnownCodes) {
  EXPECT_EQ(decodeF8E5M2(0x3c), 1.0f);
  EXPECT_EQ(decodeF8E5M2(0x7b), 57344.0f); // largest
  EXPECT_EQ(decodeF8E5M2(0x01), 0x1p-16f); // smallest subnormal
  EXPECT_EQ(decodeF8E5M2(0xfc), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(decodeF8E5M2(0x7d)));
  EXPECT_EQ(decodeF16(0x3555), 0.333251953125f);
  EXPECT_EQ(decodeF16(0x7bff), 65504.0f);
  EXPECT_EQ(decodeF16(0x0001), 0x1p-24f);
  EXPECT_EQ(decodeBF16(0x3f80), 1.0f);
  EXPECT_EQ(decodeBF16(0xc2f7), -123.5f);
  EXPECT_EQ(decodeBF16(0xff80), -std::numeric_limits<float>::infinity());
}

TEST(OtherFormats, NamesAreMlirs) {
  EXPECT_EQ(parseNumberFormat("f8E4M3FN"), NumberFormat::F8E4M3FN);
  EXPECT_EQ(parseNumberFormat("bf16"), NumberFormat::BF16);
  EXPECT_EQ(parseNumberFormat("f8E4M3FNUZ"), std::nullopt);
  EXPECT_EQ(byteWidth(NumberFormat::F8E5M2), 1);
  EXPECT_EQ(byteWidth(NumberFormat::F16), 2);
}

} // namespace
