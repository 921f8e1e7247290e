// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The comparisons have to find what is wrong and to allow what is right.
#include "winnow/Reference/Compare.h"
#include "Support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace winnow::reference;
using testing::HasSubstr;

namespace {

/// One row of exact scores with a tolerance each; block size 1.
struct Row {
  Lengths lengths;
  ExactScores exact;

  Row(std::vector<double> values, std::vector<double> tolerances)
      : lengths{{static_cast<int32_t>(values.size())}} {
    exact.heads = exact.rows = 1;
    exact.blocks = static_cast<int64_t>(values.size());
    exact.values = std::move(values);
    exact.tolerances = std::move(tolerances);
  }
  Rows rows() const { return lengths.rows(1, 1); }

  Comparison scores(const std::vector<float> &got) const {
    return compareScores(
        rows(), exact, {got.data(), {1, 1, static_cast<int64_t>(got.size())}});
  }
  Comparison selection(const std::vector<int32_t> &got,
                       TopKOptions options = {},
                       const std::vector<float> *device = nullptr) const {
    View<const float, 3> view;
    if (device)
      view = {device->data(), {1, 1, static_cast<int64_t>(device->size())}};
    return compareSelection(
        rows(), exact, options,
        {got.data(), {1, 1, static_cast<int64_t>(got.size())}},
        device ? &view : nullptr);
  }
};

TEST(CompareScores, WithinAndOutsideTheTolerance) {
  Row row({1.0, -2.0}, {0.25, 0.0});
  EXPECT_TRUE(row.scores({1.25f, -2.0f, kNaN}).ok()); // the tail is not read
  Comparison comparison = row.scores({1.2500001f, -2.0f});
  EXPECT_EQ(comparison.mismatches, 1);
  EXPECT_EQ(comparison.checked, 2);
  EXPECT_EQ(comparison.text(),
            "score[0, 0, 0]: got 1.25000012, wanted 1 +- 0.25\n");
  EXPECT_FALSE(row.scores({1.0f, -2.0000002f}).ok());
}

TEST(CompareScores, AnythingIsRightWithinAnInfiniteTolerance) {
  Row row({1e39, 1e39, 1e39, 1e39, 1.0}, {kInf, kInf, kInf, kInf, 0.0});
  EXPECT_TRUE(row.scores({kInf, -kInf, kNaN, 3e38f, 1.0f}).ok());
  EXPECT_EQ(row.scores({kInf, kInf, kInf, kInf, kInf}).mismatches, 1);
  // Such a block may be kept or left out.
  EXPECT_TRUE(row.selection({0}).ok());
  EXPECT_TRUE(row.selection({4}).ok());
}

TEST(CompareScores, NaNIsNeverRightAndInfinitiesHaveToAgree) {
  Row row({-kInf, kInf, 0.0}, {0.0, 0.0, 0.0});
  EXPECT_TRUE(row.scores({-kInf, kInf, -0.0f}).ok());
  EXPECT_EQ(row.scores({kInf, kInf, 0.0f}).mismatches, 1);
  EXPECT_EQ(row.scores({kNaN, 3e38f, kNaN}).mismatches, 3);
}

TEST(CompareScores, ShapesFirst) {
  Row row({1.0, 2.0}, {0.0, 0.0});
  EXPECT_THAT(row.scores({1.0f}).text(),
              HasSubstr("score: axis 2 has 1 entries, wanted at least 2"));
}

TEST(CompareSelection, NearTiesMayFallEitherWay) {
  Row row({5.0, 4.0, 3.9, 1.0}, {0.06, 0.06, 0.06, 0.06});
  EXPECT_TRUE(row.selection({0, 1}).ok());
  EXPECT_TRUE(row.selection({0, 2}).ok()); // 3.9 + 0.06 >= 4.0 - 0.06
  Comparison wrong = row.selection({0, 3});
  EXPECT_EQ(wrong.mismatches, 1);
  EXPECT_THAT(wrong.text(),
              HasSubstr("selection[0, 0, 1]: got block 3 (exact score 1 +- "
                        "0.06), wanted block 1 (exact score 4 +- 0.06), which "
                        "was left out"));
  // Leaving out a clear winner is wrong though the others are near the K-th.
  EXPECT_FALSE(row.selection({1, 2}).ok());
}

TEST(CompareSelection, CountRangeAndUniqueness) {
  Row row({3.0, 2.0, 1.0}, {0, 0, 0});
  EXPECT_TRUE(row.selection({0, 1, 2, -1}).ok());
  EXPECT_THAT(row.selection({0, 1, 2, 2}).text(),
              HasSubstr("got 2, wanted -1: the row has 3 blocks"));
  EXPECT_THAT(
      row.selection({0, -1, 2, -1}).text(),
      HasSubstr("selection[0, 0, 1]: got -1, wanted a block of [0, 3)"));
  EXPECT_THAT(row.selection({0, 3, 1, -1}).text(), HasSubstr("got 3"));
  EXPECT_THAT(row.selection({0, 0}).text(),
              HasSubstr("wanted each block once"));
}

TEST(CompareSelection, OrderFollowsTheDevicesOwnScores) {
  Row row({1.0, 1.0, 1.0}, {0.1, 0.1, 0.1});
  std::vector<float> device = {1.05f, 0.95f, 1.05f};
  EXPECT_TRUE(row.selection({2, 0, 1}, {}, &device).ok());
  EXPECT_THAT(row.selection({0, 2, 1}, {}, &device).text(),
              HasSubstr("selection[0, 0, 1]: got 2, wanted a place before "
                        "block 0, which scored the same"));
  EXPECT_THAT(row.selection({1, 2, 0}, {}, &device).text(),
              HasSubstr("before block 1, which scored less"));
  EXPECT_TRUE(
      row.selection({0, 2, 1}, {.ties = Ties::LowestBlock}, &device).ok());
  EXPECT_TRUE(
      row.selection({0, 1, 2}, {.order = Order::Ascending}, &device).ok());
  EXPECT_FALSE(
      row.selection({0, 2, 1}, {.order = Order::Ascending}, &device).ok());
}

TEST(CompareSelection, InfinitiesAreScoresToo) {
  Row row({-kInf, kInf, -kInf}, {0, 0, 0});
  EXPECT_TRUE(row.selection({1, 2}).ok());
  EXPECT_TRUE(row.selection({1, 0}).ok()); // equal exact scores
  EXPECT_FALSE(row.selection({2, 0}).ok());
}

TEST(CompareTopK, BitForBit) {
  Lengths lengths{{3}};
  const Tensor<float, 3> scores({1, 1, 3}, {1, 3, 3});
  const Tensor<int32_t, 3> right({1, 1, 2}, {2, 1});
  const Tensor<int32_t, 3> wrong({1, 1, 2}, {1, 2});
  Rows rows = lengths.rows(1, 1);
  EXPECT_TRUE(compareTopK(rows, scores.view(), {}, right.view()).ok());
  Comparison comparison = compareTopK(rows, scores.view(), {}, wrong.view());
  EXPECT_EQ(comparison.mismatches, 2);
  EXPECT_THAT(comparison.text(),
              HasSubstr("selection[0, 0, 0]: got 1, wanted 2"));
  EXPECT_THAT(
      compareTopK(lengths.rows(2, 1), scores.view(), {}, right.view()).text(),
      HasSubstr("scores: axis 1 has 1 entries, wanted 2"));
}

TEST(ComparePages, BitForBit) {
  Lengths lengths{{5}};
  Rows rows = lengths.rows(1, 4);
  const Tensor<int32_t, 3> selection({1, 1, 2}, {1, 0});
  const Tensor<int32_t, 2> table({1, 2}, {10, 11});
  RemapOptions options{.pagesPerBlock = 1, .kvHeads = 1, .pad = 0};
  const Tensor<int32_t, 2> pages({1, 2}, {10, 11});
  const Tensor<int32_t, 1> right({1}, {5}), wrong({1}, {6});
  EXPECT_TRUE(comparePages(rows, selection.view(), table.view(), options,
                           pages.view(), right.view())
                  .ok());
  Comparison comparison = comparePages(rows, selection.view(), table.view(),
                                       options, pages.view(), wrong.view());
  EXPECT_EQ(comparison.text(), "ctx[0]: got 6, wanted 5\n");
}

TEST(CompareUntouched, OneMismatchForEachRun) {
  std::vector<uint8_t> bytes(16, 0xa5);
  bytes[2] = 0;
  bytes[7] = bytes[8] = 1;
  bytes[15] = 3;
  Comparison comparison =
      compareUntouched("score", bytes.data(), 16, 0xa5,
                       [](int64_t offset) { return offset == 2; });
  EXPECT_EQ(comparison.mismatches, 2);
  EXPECT_EQ(comparison.checked, 16);
  EXPECT_THAT(comparison.text(), HasSubstr("score bytes [7, 9): got a store"));
  EXPECT_THAT(comparison.text(), HasSubstr("score bytes [15, 16)"));
}

TEST(Comparison, CountsAllAndShowsTheFirst) {
  Comparison comparison;
  for (int i = 0; i < 20; ++i)
    comparison.add({"x[" + std::to_string(i) + "]", "1", "2"});
  EXPECT_EQ(comparison.mismatches, 20);
  EXPECT_THAT(comparison.text(), HasSubstr("x[7]: got 1, wanted 2\n"));
  EXPECT_THAT(comparison.text(), testing::Not(HasSubstr("x[8]")));
  EXPECT_THAT(comparison.text(), HasSubstr("... and 12 more"));
}

} // namespace
