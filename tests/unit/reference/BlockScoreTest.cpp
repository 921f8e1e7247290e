// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// block_score on numbers worked by hand from the formulas.
#include "Support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace winnow::reference;
using testing::HasSubstr;

namespace {

NumberView f32(const Tensor<float, 3> &tensor) {
  return {tensor.values.data(), NumberFormat::F32, tensor.extents};
}

/// One head of dim 1 and query 1.0: the score of a token is its key.
struct Plain {
  Lengths lengths;
  int64_t queryLen, blockSize;
  Tensor<float, 3> query, keys;
  Tensor<int32_t, 2> table;
  ExactScores scores;

  Plain(const std::vector<int32_t> &lens, int64_t queryLen, int64_t blockSize,
        const std::vector<float> &tokens, Tensor<int32_t, 2> table)
      : lengths{lens}, queryLen(queryLen), blockSize(blockSize),
        query({static_cast<int64_t>(lens.size()) * queryLen, 1, 1}, 1.0f),
        keys({static_cast<int64_t>(tokens.size()) / blockSize, blockSize, 1},
             tokens),
        table(std::move(table)) {}

  Problem run(BlockScoreOptions options = {}) {
    return blockScore(lengths.rows(queryLen, blockSize), f32(query), f32(keys),
                      static_cast<const Tensor<int32_t, 2> &>(table).view(),
                      options, scores);
  }
};

TEST(BlockScore, TakesTheBestVisibleTokenThroughTheTable) {
  Lengths lengths{{6}};
  Tensor<float, 3> query({1, 1, 2}, {1, 2});
  Tensor<float, 3> keys({3, 4, 2}, {-2, 1, 1, -3, 100, 100, 100, 100,  // page 0
                                    9,  9, 9, 9,  9,   9,   9,   9,    // page 1
                                    1,  1, 0, 3,  2,   1,   -1,  -1}); // page 2
  const Tensor<int32_t, 2> table({1, 3}, {2, 0, 77});
  ExactScores scores;
  ASSERT_EQ(blockScore(lengths.rows(1, 4), f32(query), f32(keys), table.view(),
                       {}, scores),
            std::nullopt);
  ASSERT_EQ(scores.blocks, 2);
  // Page 2: dots 3, 6, 4, -3. Page 0: dots 0 and -5, the rest is past the end.
  EXPECT_EQ(scores.value(0, 0, 0), 6.0);
  EXPECT_EQ(scores.value(0, 0, 1), 0.0);
  // D = 2, and |1*0| + |2*3| = 6; |1*-2| + |2*1| = 4.
  EXPECT_EQ(scores.tolerance(0, 0, 0), 12 * 0x1p-24);
  EXPECT_EQ(scores.tolerance(0, 0, 1), 8 * 0x1p-24);
}

TEST(BlockScore, EveryHeadHasItsOwnScores) {
  Lengths lengths{{2}};
  Tensor<float, 3> query({1, 2, 2}, {1, 0, 0, -1});
  Tensor<float, 3> keys({1, 2, 2}, {3, 5, 4, 7});
  const Tensor<int32_t, 2> table({1, 1}, {0});
  ExactScores scores;
  ASSERT_EQ(blockScore(lengths.rows(1, 2), f32(query), f32(keys), table.view(),
                       {}, scores),
            std::nullopt);
  EXPECT_EQ(scores.value(0, 0, 0), 4.0);
  EXPECT_EQ(scores.value(1, 0, 0), -5.0);
}

TEST(BlockScore, LaterRowsOfARequestSeeMore) {
  // L = 5, Q = 3: rows see 3, 4 and 5 tokens.
  Plain plain({5}, 3, 2, {1, 2, 3, 9, 4, 99}, {{1, 3}, {0, 1, 2}});
  ASSERT_EQ(plain.run(), std::nullopt);
  ASSERT_EQ(plain.scores.blocks, 3);
  EXPECT_EQ(plain.scores.value(0, 0, 0), 2.0);
  EXPECT_EQ(plain.scores.value(0, 0, 1), 3.0);
  EXPECT_TRUE(std::isnan(plain.scores.value(0, 0, 2)));
  EXPECT_EQ(plain.scores.value(0, 1, 1), 9.0);
  EXPECT_TRUE(std::isnan(plain.scores.value(0, 1, 2)));
  EXPECT_EQ(plain.scores.value(0, 2, 2), 4.0);
}

TEST(BlockScore, PaddingRowsSeeNothing) {
  // Lengths 0 and -3 are padding; with Q = 2 a length of 1 hides its first row.
  // The tables of the padding requests are addresses of nothing.
  Plain plain({0, 1, -3}, 2, 2, {5, 6}, {{3, 1}, {999, 0, -999}});
  ASSERT_EQ(plain.run(), std::nullopt);
  Rows rows = plain.lengths.rows(2, 2);
  std::vector<int64_t> seen;
  seen.reserve(6);
  for (int64_t row = 0; row < rows.rows(); ++row)
    seen.push_back(rows.causalLength(row));
  EXPECT_EQ(seen, (std::vector<int64_t>{0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(plain.scores.blocks, 1);
  EXPECT_EQ(plain.scores.value(0, 3, 0), 5.0);
  for (int64_t row : {0, 1, 2, 4, 5})
    EXPECT_TRUE(std::isnan(plain.scores.value(0, row, 0))) << row;
}

TEST(BlockScore, NaNTokensAreAbsent) {
  Plain plain({6}, 1, 2, {kNaN, -7, kNaN, kNaN, -kInf, kInf},
              {{1, 3}, {0, 1, 2}});
  ASSERT_EQ(plain.run(), std::nullopt);
  EXPECT_EQ(plain.scores.value(0, 0, 0), -7.0);
  EXPECT_EQ(plain.scores.value(0, 0, 1), -kInf);
  EXPECT_EQ(plain.scores.tolerance(0, 0, 1), 0.0);
  EXPECT_EQ(plain.scores.value(0, 0, 2), kInf);
  EXPECT_EQ(plain.scores.tolerance(0, 0, 2), 0.0);
}

/// Two dims, the query 1, 1: a token's score is the sum of its two elements.
ExactScores pairs(const std::vector<float> &tokens, BlockScoreOptions options) {
  const auto count = static_cast<int64_t>(tokens.size()) / 2;
  Lengths lengths{{static_cast<int32_t>(count)}};
  Tensor<float, 3> query({1, 1, 2}, {1, 1});
  Tensor<float, 3> keys({1, count, 2}, tokens);
  const Tensor<int32_t, 2> table({1, 1}, {0});
  ExactScores scores;
  EXPECT_EQ(blockScore(lengths.rows(1, count), f32(query), f32(keys),
                       table.view(), options, scores),
            std::nullopt);
  return scores;
}

constexpr float kLargest = std::numeric_limits<float>::max();

TEST(BlockScore, SumsPastTheRangeOfFloatsAreInfinite) {
  for (auto [tokens, value] :
       std::initializer_list<std::pair<std::vector<float>, double>>{
           {{kLargest, kLargest}, kInf},
           {{-kLargest, -kLargest}, -kInf},
           {{-kLargest, -kLargest, 1, 2}, 3.0},
           {{kLargest, kLargest, kNaN, 1}, kInf},
           {{kLargest, kLargest, kInf, -kInf}, kInf}}) {
    const ExactScores scores = pairs(tokens, {});
    EXPECT_EQ(scores.value(0, 0, 0), value);
    EXPECT_LE(scores.tolerance(0, 0, 0), 6 * 0x1p-24);
  }
  // Each token fits, together they do not; a mean divides what is infinite.
  for (Reduction reduction : {Reduction::Sum, Reduction::Mean}) {
    const ExactScores scores =
        pairs({kLargest, 0, kLargest, 1}, {.reduction = reduction});
    EXPECT_EQ(scores.value(0, 0, 0), kInf);
    EXPECT_EQ(scores.tolerance(0, 0, 0), 0.0);
  }
}

TEST(BlockScore, ToleranceIsInfiniteWhereTheOrderOfAdditionsDecides) {
  // 3e38 + 3e38 - 3e38 - 3e38 is 0 or NaN; with one of the latter it is 3e38
  // or infinite.
  for (const std::vector<float> &tokens :
       {std::vector<float>{3e38f, 3e38f, -3e38f, -3e38f},
        std::vector<float>{3e38f, -3e38f, 3e38f, 0},
        std::vector<float>{-3e38f, -3e38f, 3e38f, 0}})
    for (Reduction reduction : {Reduction::Sum, Reduction::Mean}) {
      const ExactScores scores = pairs(tokens, {.reduction = reduction});
      EXPECT_TRUE(std::isfinite(scores.value(0, 0, 0)));
      EXPECT_EQ(scores.tolerance(0, 0, 0), kInf);
    }
  // So is a sum that is within rounding of the range's end, and +inf beside
  // what may be -inf by itself.
  for (const std::vector<float> &tokens :
       {std::vector<float>{kLargest, 0x1p103f},
        std::vector<float>{0, kLargest, 1, 1}}) {
    EXPECT_TRUE(std::isfinite(pairs(tokens, {}).value(0, 0, 0)));
    EXPECT_EQ(pairs(tokens, {}).tolerance(0, 0, 0), kInf);
  }
  const std::vector<float> both = {kInf, -kLargest, -kLargest, 0};
  EXPECT_EQ(pairs(both, {.reduction = Reduction::Sum}).tolerance(0, 0, 0),
            kInf);
  // A token that is infinite whatever the order decides a maximum.
  EXPECT_EQ(pairs({kLargest, 0, kLargest, kLargest}, {}).tolerance(0, 0, 0),
            0.0);
  // Within the range everything is as ever.
  EXPECT_LT(pairs({1e38f, 1e38f, -3e38f, 2e38f}, {}).tolerance(0, 0, 0), 1e33);
}

TEST(BlockScore, TinyProductsMayVanish) {
  // 2^-150 rounds to 0 as well as to 2^-149.
  const ExactScores scores = pairs({0x1p-149f, 0}, {});
  EXPECT_GE(scores.tolerance(0, 0, 0), 0x1p-149);
  EXPECT_LE(scores.tolerance(0, 0, 0), 0x1p-147);
  EXPECT_EQ(pairs({0, 0}, {}).tolerance(0, 0, 0), 0.0);
}

TEST(BlockScore, ForcedBlocksLocalBeforeInit) {
  Plain plain({8}, 1, 2, {1, 1, 2, 2, 3, 3, 4, 4}, {{1, 4}, {0, 1, 2, 3}});
  ASSERT_EQ(plain.run({.initBlocks = 1, .localBlocks = 1}), std::nullopt);
  EXPECT_EQ(static_cast<float>(plain.scores.value(0, 0, 0)), 1e30f);
  EXPECT_EQ(plain.scores.value(0, 0, 1), 2.0);
  EXPECT_EQ(plain.scores.value(0, 0, 2), 3.0);
  EXPECT_EQ(static_cast<float>(plain.scores.value(0, 0, 3)), 1e29f);
  EXPECT_EQ(plain.scores.tolerance(0, 0, 3), 0.0);

  // They overlap: local takes the blocks that both claim.
  ASSERT_EQ(plain.run({.initBlocks = 3, .localBlocks = 2}), std::nullopt);
  EXPECT_EQ(static_cast<float>(plain.scores.value(0, 0, 1)), 1e30f);
  EXPECT_EQ(static_cast<float>(plain.scores.value(0, 0, 2)), 1e29f);
  EXPECT_EQ(static_cast<float>(plain.scores.value(0, 0, 3)), 1e29f);

  // More local blocks than there are blocks.
  ASSERT_EQ(plain.run({.initBlocks = 9, .localBlocks = 9}), std::nullopt);
  EXPECT_EQ(static_cast<float>(plain.scores.value(0, 0, 0)), 1e29f);
}

TEST(BlockScore, ForcedBlocksCountFromEachRowsOwnEnd) {
  // L = 3, Q = 2, B = 2: row 0 sees one block, row 1 two.
  Plain plain({3}, 2, 2, {5, 6, 7, 8}, {{1, 2}, {0, 1}});
  ASSERT_EQ(plain.run({.localBlocks = 1}), std::nullopt);
  EXPECT_EQ(static_cast<float>(plain.scores.value(0, 0, 0)), 1e29f);
  EXPECT_EQ(plain.scores.value(0, 1, 0), 6.0);
  EXPECT_EQ(static_cast<float>(plain.scores.value(0, 1, 1)), 1e29f);
}

TEST(BlockScore, UnmappedBlocksScoreMinusInfinityEvenWhenForced) {
  Plain plain({6}, 1, 2, {1, 2}, {{1, 3}, {-1, 0, -5}});
  ASSERT_EQ(plain.run({.initBlocks = 1, .localBlocks = 1}), std::nullopt);
  EXPECT_EQ(plain.scores.value(0, 0, 0), -kInf);
  EXPECT_EQ(plain.scores.value(0, 0, 1), 2.0);
  EXPECT_EQ(plain.scores.value(0, 0, 2), -kInf);
}

TEST(BlockScore, ReadsFp8AndStridedCaches) {
  Lengths lengths{{1}};
  // 448 * 448 + (-2^-9) * 1 + (-0) * 448, in a cache whose pages are 8 apart.
  const std::vector<uint8_t> query = {0x7e, 0x81, 0x80};
  std::vector<uint8_t> keys(16, 0x7f);
  keys[8] = 0x7e, keys[9] = 0x38, keys[10] = 0x7e;
  const Tensor<int32_t, 2> table({1, 1}, {1});
  ExactScores scores;
  ASSERT_EQ(
      blockScore(lengths.rows(1, 1),
                 {query.data(), NumberFormat::F8E4M3FN, {1, 1, 3}},
                 {keys.data(), NumberFormat::F8E4M3FN, {2, 1, 3}, {8, 3, 1}},
                 table.view(), {}, scores),
      std::nullopt);
  EXPECT_EQ(scores.value(0, 0, 0), 200704.0 - 0.001953125);
  EXPECT_EQ(scores.tolerance(0, 0, 0), 3 * 0x1p-24 * (200704.0 + 0.001953125));
}

TEST(BlockScore, RefusesWhatDoesNotFit) {
  Plain page({4}, 1, 2, {1, 2, 3, 4}, {{1, 2}, {0, 2}});
  EXPECT_THAT(page.run().value_or(""),
              HasSubstr("index_table[0, 1] is page 2, the cache has 2 pages"));
  Plain narrow({4}, 1, 2, {1, 2, 3, 4}, {{1, 1}, {0}});
  EXPECT_THAT(
      narrow.run().value_or(""),
      HasSubstr("index_table: axis 1 has 1 entries, wanted at least 2"));
  Plain query({4}, 1, 2, {1, 2, 3, 4}, {{1, 2}, {0, 1}});
  query.queryLen = 2;
  EXPECT_THAT(query.run().value_or(""),
              HasSubstr("query: axis 0 has 1 entries, wanted 2"));
  query.queryLen = 0;
  EXPECT_THAT(query.run().value_or(""),
              HasSubstr("query_len is 0, wanted at least 1"));
}

} // namespace
