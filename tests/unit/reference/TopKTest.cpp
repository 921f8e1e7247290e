// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// topk and store_selection on rows whose answer can be read off.
#include "Support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace winnow::reference;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// One row of `scores`, block size 1, so that its length is its block count.
std::vector<int32_t> select(std::vector<float> scores, int64_t keep,
                            TopKOptions options = {}, int64_t width = 0) {
  Lengths lengths{{static_cast<int32_t>(scores.size())}};
  // Past the candidates: values that would win if they were looked at.
  scores.resize(std::max<size_t>(width, scores.size()), kInf);
  const Tensor<float, 3> tensor({1, 1, static_cast<int64_t>(scores.size())},
                                scores);
  Tensor<int32_t, 3> selection({1, 1, keep}, -9);
  EXPECT_EQ(topk(lengths.rows(1, 1), tensor.view(), options, selection.view()),
            std::nullopt);
  return selection.values;
}

TEST(TopK, KeepsTheBestInDescendingOrder) {
  EXPECT_THAT(select({0.5f, 3, -1, 2, 8, 1}, 3), ElementsAre(4, 1, 3));
}

TEST(TopK, TiesGoToTheHighestBlockOrTheLowest) {
  EXPECT_THAT(select({1, 1, 1, 1, 1}, 3), ElementsAre(4, 3, 2));
  EXPECT_THAT(select({1, 1, 1, 1, 1}, 3, {.ties = Ties::LowestBlock}),
              ElementsAre(0, 1, 2));
  EXPECT_THAT(select({2, 7, 2, 7, 2}, 4), ElementsAre(3, 1, 4, 2));
  EXPECT_THAT(select({2, 7, 2, 7, 2}, 4, {.ties = Ties::LowestBlock}),
              ElementsAre(1, 3, 0, 2));
}

TEST(TopK, AscendingOrderKeepsTheSameBlocks) {
  EXPECT_THAT(select({0.5f, 3, -1, 2, 8, 1}, 3, {.order = Order::Ascending}),
              ElementsAre(1, 3, 4));
  EXPECT_THAT(select({5, 9}, 4, {.order = Order::Ascending}),
              ElementsAre(0, 1, -1, -1));
}

TEST(TopK, NaNCountsAsMinusInfinityAndBothAreCandidates) {
  EXPECT_THAT(select({kNaN, -kInf, -1e38f, kNaN}, 4), ElementsAre(2, 3, 1, 0));
  EXPECT_THAT(select({-kNaN, 1, -kInf}, 2), ElementsAre(1, 2));
  EXPECT_THAT(select({-kInf, -kInf, -kInf}, 5), ElementsAre(2, 1, 0, -1, -1));
}

TEST(TopK, InfinityIsAValue) {
  EXPECT_THAT(select({1e30f, kInf, 1e29f, kInf}, 3), ElementsAre(3, 1, 0));
}

TEST(TopK, PlusZeroRanksAboveMinusZero) {
  EXPECT_THAT(select({0.0f, -0.0f, 0.0f, -0.0f}, 4), ElementsAre(2, 0, 3, 1));
  EXPECT_THAT(select({-0.0f, -1e-45f, 1e-45f, 0.0f}, 4),
              ElementsAre(2, 3, 0, 1));
}

TEST(TopK, FewerCandidatesThanKPadsAndIgnoresTheTail) {
  EXPECT_THAT(select({4, 5, 6}, 5, {}, 64), ElementsAre(2, 1, 0, -1, -1));
  EXPECT_THAT(select({4, 5, 6}, 2, {}, 64), ElementsAre(2, 1));
  EXPECT_THAT(select({}, 2, {}, 64), ElementsAre(-1, -1));
}

TEST(TopK, EveryRowByItsOwnReach) {
  // Q = 2, B = 2. Lengths 3, 0, 5: rows see 2, 3 | 0, 0 | 4, 5 tokens.
  Lengths lengths{{3, 0, 5}};
  const Tensor<float, 3> scores({1, 6, 3}, {9, 9, 9, 1, 2, 9, //
                                            9, 9, 9, 9, 9, 9, //
                                            3, 4, 9, 7, 6, 5});
  Tensor<int32_t, 3> selection({1, 6, 2}, -9);
  ASSERT_EQ(topk(lengths.rows(2, 2), scores.view(), {}, selection.view()),
            std::nullopt);
  EXPECT_THAT(selection.values,
              ElementsAre(0, -1, 1, 0, -1, -1, -1, -1, 1, 0, 0, 1));
}

TEST(TopK, HeadsAreIndependentAndSlicesKeepTheirGaps) {
  Lengths lengths{{2}};
  const Tensor<float, 3> scores({2, 1, 2}, {1, 2, 4, 3});
  // Token-major [N, H, K] inside rows of 3, seen head-major.
  Tensor<int32_t, 1> buffer({6}, -9);
  View<int32_t, 3> slice(buffer.values.data(), {2, 1, 2}, {3, 6, 1});
  ASSERT_EQ(topk(lengths.rows(1, 1), scores.view(), {}, slice), std::nullopt);
  EXPECT_THAT(buffer.values, ElementsAre(1, 0, -9, 0, 1, -9));
}

TEST(TopK, RefusesShapesThatDisagree) {
  Lengths lengths{{4}};
  const Tensor<float, 3> scores({1, 1, 3}, 0.0f);
  Tensor<int32_t, 3> selection({1, 1, 2}, -9);
  EXPECT_THAT(topk(lengths.rows(1, 1), scores.view(), {}, selection.view())
                  .value_or(""),
              HasSubstr("scores: axis 2 has 3 entries, wanted at least 4"));
  EXPECT_THAT(selection.values, ElementsAre(-9, -9));
}

TEST(TopK, ScoreOrderIsTheDocumentedOne) {
  const std::vector<float> ascending = {-kInf, -3e38f, -1, -1e-45f, -0.0f,
                                        0.0f,  1e-45f, 1,  3e38f,   kInf};
  for (size_t i = 1; i < ascending.size(); ++i)
    EXPECT_LT(scoreOrder(ascending[i - 1]), scoreOrder(ascending[i])) << i;
  EXPECT_EQ(scoreOrder(kNaN), scoreOrder(-kInf));
  EXPECT_EQ(scoreOrder(-kNaN), scoreOrder(-kInf));
}

TEST(StoreSelection, WritesThePadInPlaceOfMinusOne) {
  const Tensor<int32_t, 3> selection({1, 1, 3}, {4, 0, -1});
  Tensor<int32_t, 3> out({1, 1, 3}, 9);
  ASSERT_EQ(storeSelection(selection.view(), 7, out.view()), std::nullopt);
  EXPECT_THAT(out.values, ElementsAre(4, 0, 7));
  Tensor<int32_t, 3> narrow({1, 1, 2}, 9);
  EXPECT_THAT(storeSelection(selection.view(), -1, narrow.view()).value_or(""),
              HasSubstr("destination: axis 2 has 2 entries, wanted 3"));
}

} // namespace
