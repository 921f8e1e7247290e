// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ragged rows: whose row is which, what it sees, and offsets that are refused.
#include "Support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace winnow::reference;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

struct Batch {
  std::vector<int32_t> lengths, offsets;
  int64_t blockSize = 4;

  Rows rows() const {
    auto view = [](const std::vector<int32_t> &values) {
      return View<const int32_t, 1>(values.data(),
                                    {static_cast<int64_t>(values.size())});
    };
    return {view(lengths), 0, blockSize, view(offsets)};
  }
};

template <typename Fn> std::vector<int64_t> each(int64_t count, Fn fn) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(fn(i));
  return values;
}

TEST(RaggedRows, RequestAndCausalLengthOfEveryRow) {
  // A whole prompt of 3, two requests without rows, one that decodes at 9, and
  // a chunk of 2 at the end of 6.
  Batch batch{{3, 7, 0, 9, 6}, {0, 3, 3, 3, 4, 6}};
  Rows rows = batch.rows();
  ASSERT_EQ(rows.verify(), std::nullopt);
  EXPECT_EQ(rows.rows(), 6);
  EXPECT_THAT(each(6, [&](int64_t n) { return rows.request(n); }),
              ElementsAre(0, 0, 0, 3, 4, 4));
  EXPECT_THAT(each(6, [&](int64_t n) { return rows.causalLength(n); }),
              ElementsAre(1, 2, 3, 9, 5, 6));
  EXPECT_THAT(each(6, [&](int64_t n) { return rows.visibleBlocks(n); }),
              ElementsAre(1, 1, 1, 3, 2, 2));
  EXPECT_THAT(each(5, [&](int64_t r) { return rows.blocksSeen(r); }),
              ElementsAre(1, 0, 0, 3, 2));
  EXPECT_EQ(rows.mostVisibleBlocks(), 3);
}

TEST(RaggedRows, PaddingRows) {
  // More rows than tokens, no tokens, and a negative length.
  Batch batch{{2, 0, -5}, {0, 4, 6, 7}};
  Rows rows = batch.rows();
  ASSERT_EQ(rows.verify(), std::nullopt);
  EXPECT_THAT(each(7, [&](int64_t n) { return rows.causalLength(n); }),
              ElementsAre(0, 0, 1, 2, 0, 0, 0));
}

TEST(RaggedRows, EmptyRequestsAtBothEnds) {
  Batch batch{{8, 8, 8}, {0, 0, 2, 2}};
  Rows rows = batch.rows();
  EXPECT_THAT(each(2, [&](int64_t n) { return rows.request(n); }),
              ElementsAre(1, 1));
  EXPECT_EQ(Batch({}, {0}).rows().rows(), 0);
  EXPECT_EQ(Batch({}, {0}).rows().verify(), std::nullopt);
}

TEST(RaggedRows, MalformedOffsetsAreProblems) {
  auto problem = [](std::vector<int32_t> offsets) {
    return Batch{{4, 4}, std::move(offsets)}.rows().verify().value_or("fine");
  };
  EXPECT_EQ(problem({0, 2, 4}), "fine");
  EXPECT_EQ(problem({1, 2, 4}), "cu_seqlens[0] is 1, wanted 0");
  EXPECT_EQ(problem({0, 3, 2}),
            "cu_seqlens[2] is 2, wanted at least 3, that before it");
  EXPECT_EQ(problem({0, -1, 2}),
            "cu_seqlens[1] is -1, wanted at least 0, that before it");
  EXPECT_EQ(problem({0, 2}), "cu_seqlens: axis 0 has 2 entries, wanted 3");
  EXPECT_EQ(problem({0, 1, 2, 3}),
            "cu_seqlens: axis 0 has 4 entries, wanted 3");
}

TEST(RaggedRows, ScoresSelectionAndPagesOfAMixedBatch) {
  // One-element keys: a block's score is its largest visible key.
  Batch batch{{6, 5}, {0, 2, 3}};
  const std::vector<float> q{1, 1, -1},
      k{1, 2, 3, 9, 4, 8, 7, 7, 5, 6, 0, 2, 3, 9, 9, 9};
  Tensor<int32_t, 2> table{{2, 2}, {0, 1, 2, 3}};
  ExactScores scores;
  const auto &constTable = table;
  auto number = [](const std::vector<float> &values,
                   std::array<int64_t, 3> extents) {
    return NumberView(values.data(), NumberFormat::F32, extents);
  };
  ASSERT_EQ(blockScore(batch.rows(), number(q, {3, 1, 1}), number(k, {4, 4, 1}),
                       constTable.view(), {}, scores),
            std::nullopt);
  EXPECT_EQ(scores.value(0, 0, 0), 9);
  EXPECT_EQ(scores.value(0, 0, 1), 4); // row 0 sees 5 tokens
  EXPECT_EQ(scores.value(0, 1, 1), 8); // row 1 sees 6
  EXPECT_EQ(scores.value(0, 2, 0), 0);
  EXPECT_EQ(scores.value(0, 2, 1), -3); // one token of the second request

  std::vector<float> rounded(scores.values.begin(), scores.values.end());
  std::vector<int32_t> kept(3 * 2);
  View<int32_t, 3> selection(kept.data(), {1, 3, 2});
  ASSERT_EQ(topk(batch.rows(), {rounded.data(), {1, 3, scores.blocks}}, {},
                 selection),
            std::nullopt);
  EXPECT_THAT(kept, ElementsAre(0, 1, 0, 1, 0, 1));

  std::vector<int32_t> pages(3 * 2), contexts(3);
  ASSERT_EQ(remapPages(batch.rows(), selection, constTable.view(), {},
                       {pages.data(), {3, 2}}, {contexts.data(), {3}}),
            std::nullopt);
  EXPECT_THAT(pages, ElementsAre(0, 1, 0, 1, 2, 3));
  EXPECT_THAT(contexts, ElementsAre(5, 6, 5));

  // A query of another number of rows than the offsets say.
  EXPECT_EQ(blockScore(batch.rows(), number(q, {2, 1, 1}), number(k, {4, 4, 1}),
                       constTable.view(), {}, scores)
                .value_or(""),
            "cu_seqlens[2] is 3, wanted 2, the rows in axis 0 of query");
}

} // namespace
