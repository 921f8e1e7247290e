// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rebase_table, rebase_slots and insert_keys, worked by hand, and conversions
// held against searches over all codes.
#include "Support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace winnow::reference;
using testing::ElementsAre;

namespace {

TEST(RebaseTable, EveryEntryScales) {
  Tensor<int32_t, 2> table{{2, 3}, {0, 1, -1, 7, -2, 1 << 30}};
  Tensor<int32_t, 2> out{{2, 3}, {9, 9, 9, 9, 9, 9}};
  const auto &in = table;
  ASSERT_EQ(rebaseTable(in.view(), 2, out.view()), std::nullopt);
  EXPECT_THAT(out.values, ElementsAre(0, 2, -2, 14, -4,
                                      std::numeric_limits<int32_t>::min()));
  // In place, and into a larger table whose rest stays.
  ASSERT_EQ(rebaseTable(in.view(), 3, table.view()), std::nullopt);
  EXPECT_EQ(table.values[1], 3);
  Tensor<int32_t, 2> large{{3, 4}, int32_t(9)};
  ASSERT_EQ(rebaseTable(in.view(), 1, large.view()), std::nullopt);
  EXPECT_THAT(large.values,
              ElementsAre(0, 3, -3, 9, 21, -6, table.values[5], 9, 9, 9, 9, 9));
}

TEST(RebaseTable, TooSmallNamesBothShapesAndWritesNothing) {
  const Tensor<int32_t, 2> in{{2, 3}, int32_t(1)};
  Tensor<int32_t, 2> out{{2, 2}, int32_t(9)};
  EXPECT_EQ(rebaseTable(in.view(), 2, out.view()).value_or(""),
            "output of shape [2, 2] is too small for input of shape [2, 3]");
  EXPECT_THAT(out.values, ElementsAre(9, 9, 9, 9));
  EXPECT_EQ(rebaseTable(in.view(), 0, out.view()).value_or(""),
            "sides is 0, wanted at least 1");
}

TEST(RebaseSlots, BlocksMoveAndNegativeSlotsStay) {
  Tensor<int32_t, 1> slots{{6}, {0, 3, 4, 9, -1, -7}};
  const auto &in = slots;
  ASSERT_EQ(rebaseSlots(in.view(), 4, 2, slots.view()), std::nullopt);
  EXPECT_THAT(slots.values, ElementsAre(0, 3, 8, 17, -1, -7));
  Tensor<int32_t, 1> out{{2}, int32_t(5)};
  EXPECT_EQ(rebaseSlots(in.view(), 4, 2, out.view()).value_or(""),
            "output of shape [2] is too small for input of shape [6]");
  EXPECT_EQ(rebaseSlots(in.view(), 0, 2, slots.view()).value_or(""),
            "block_size is 0, wanted at least 1");
  EXPECT_THAT(out.values, ElementsAre(5, 5));
}

TEST(InsertKeys, ConvertsIntoItsSlotAndSkipsNegativeOnes) {
  const std::vector<float> keys{1.0f, -500.0f, 3.0f, 4.0f, 0.3f, kNaN};
  std::vector<uint8_t> cache(2 * 2 * 2, 0xee);
  const Tensor<int32_t, 1> slots{{3}, {3, -1, 0}};
  NumberStore store{cache.data(), NumberFormat::F8E4M3FN, {2, 2, 2}, {4, 2, 1}};
  const NumberView view(keys.data(), NumberFormat::F32, {1, 3, 2});
  ASSERT_EQ(insertKeys(view, slots.view(), store), std::nullopt);
  // 0.3 is between 0.28125 (0x29) and 0.3125 (0x2a), nearer to the second.
  EXPECT_THAT(cache,
              ElementsAre(0x2a, 0x7f, 0xee, 0xee, 0xee, 0xee, 0x38, 0xfe));
}

TEST(InsertKeys, Problems) {
  const std::vector<float> keys(6);
  std::vector<uint8_t> cache(8, 0xee);
  NumberStore store{cache.data(), NumberFormat::F8E4M3FN, {2, 2, 2}, {4, 2, 1}};
  const NumberView view(keys.data(), NumberFormat::F32, {1, 3, 2});
  const Tensor<int32_t, 1> past{{3}, {0, 1, 4}}, few{{2}, {0, 1}};
  EXPECT_EQ(insertKeys(view, past.view(), store).value_or(""),
            "slots[2] is 4, in page 2; the cache has 2 pages");
  EXPECT_EQ(insertKeys(view, few.view(), store).value_or(""),
            "slots: axis 0 has 2 entries, wanted 3");
  store.extents[2] = 1;
  EXPECT_EQ(insertKeys(view, past.view(), store).value_or(""),
            "cache: axis 2 has 1 entries, wanted 2");
  store.extents[2] = 2;
  store.format = NumberFormat::F32;
  EXPECT_EQ(insertKeys(view, few.view(), store).has_value(), true);
  EXPECT_THAT(cache, testing::Each(0xee));
}

/// The nearest of all finite codes, the even one of two; by search.
template <typename Decode>
uint32_t nearest(double value, uint32_t codes, uint32_t infinity,
                 Decode decode) {
  uint32_t best = 0;
  for (uint32_t code = 1; code < codes; ++code) {
    const double here = std::fabs(decode(code) - value);
    const double there = std::fabs(decode(best) - value);
    if (here < there || (here == there && code % 2 == 0))
      best = code;
  }
  // What is half a step or more past the largest would be the next code.
  const double largest = decode(codes - 1);
  const double step = largest - decode(codes - 2);
  return infinity && value >= largest + step / 2 ? infinity : best;
}

TEST(Conversions, F16AndBF16RoundToNearestEven) {
  uint32_t state = 1;
  for (int i = 0; i < 400; ++i) {
    state = state * 1664525 + 1013904223;
    // Exponents around f16's whole range, ties planted every fourth time.
    uint32_t bits = (state & 0x007fffff) | (100 + state % 46) << 23;
    if (i % 4 == 0)
      bits = (bits & ~0x1fffu) | 0x1000;
    const float value = std::bit_cast<float>(bits);
    EXPECT_EQ(encodeF16(value),
              nearest(value, 0x7c00, 0x7c00,
                      [](uint32_t code) { return decodeF16(code); }))
        << value;
    const uint16_t wide = encodeBF16(value);
    const double step =
        std::fabs(double(decodeBF16(wide + 1)) - double(decodeBF16(wide)));
    EXPECT_LE(std::fabs(double(decodeBF16(wide)) - value), step / 2) << value;
  }
  EXPECT_EQ(encodeF16(65519.0f), 0x7bff);
  EXPECT_EQ(encodeF16(65520.0f), 0x7c00);
  EXPECT_EQ(encodeF16(-kInf), 0xfc00);
  EXPECT_EQ(encodeF16(0x1p-25f), 0x0000); // a tie, to even
  EXPECT_EQ(encodeF16(0x1.8p-24f), 0x0002);
  EXPECT_EQ(encodeF16(-0.0f), 0x8000);
  EXPECT_EQ(encodeF16(kNaN), 0x7e00);
  EXPECT_EQ(encodeBF16(std::bit_cast<float>(0x3f808000u)), 0x3f80);
  EXPECT_EQ(encodeBF16(std::bit_cast<float>(0x3f818000u)), 0x3f82);
  EXPECT_EQ(encodeBF16(std::bit_cast<float>(0x7f7fffffu)), 0x7f80);
  EXPECT_EQ(encodeBF16(std::bit_cast<float>(0x7f800001u)), 0x7fc0);
}

} // namespace
