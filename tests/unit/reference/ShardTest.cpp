// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shards: each rank scores its own blocks, and merging what the ranks kept
// gives the bits of the unsharded selection, whatever the ties and specials.
#include "Support.h"
#include "winnow/Reference/Compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

using namespace winnow::reference;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// A batch of two requests with three rows each, two heads, and scores by
/// global block.
struct Batch {
  static constexpr int64_t kHeads = 2, kRows = 6, kBlocks = 23, kKeep = 5;
  Lengths lengths{{23 * 4 - 1, 3 * 4 + 2}};
  Tensor<float, 3> scores{{kHeads, kRows, kBlocks}, 0.0f};

  explicit Batch(uint32_t seed) {
    // Few values, so ties are everywhere.
    const float special[] = {kNaN,  -kInf, kInf,  0.0f,
                             -0.0f, 1.0f,  1e29f, -3.0f};
    std::mt19937 random(seed);
    for (float &score : scores.values)
      score = special[random() % std::size(special)];
  }

  Rows rows(int64_t rank, int64_t world) const {
    Rows rows = lengths.rows(3, 4);
    rows.rank = rank;
    rows.world = world;
    return rows;
  }
};

TEST(Shards, MergingGivesTheUnshardedBits) {
  for (uint32_t seed = 0; seed < 20; ++seed)
    for (Ties ties : {Ties::HighestBlock, Ties::LowestBlock})
      for (Order order : {Order::ScoreDescending, Order::Ascending}) {
        const Batch batch(seed);
        const TopKOptions options{ties, order};
        Tensor<int32_t, 3> whole{{2, 6, Batch::kKeep}, int32_t(-9)};
        ASSERT_EQ(
            topk(batch.rows(0, 1), batch.scores.view(), options, whole.view()),
            std::nullopt);
        for (int64_t world = 1; world <= 8; ++world) {
          Tensor<int32_t, 4> ids{{world, 2, 6, Batch::kKeep}, int32_t(-9)};
          Tensor<float, 4> best{{world, 2, 6, Batch::kKeep}, kNaN};
          for (int64_t rank = 0; rank < world; ++rank) {
            const Rows rows = batch.rows(rank, world);
            // The rank's own score buffer, by local block.
            Tensor<float, 3> own{{2, 6, Batch::kBlocks}, kInf};
            for (int64_t head = 0; head < 2; ++head)
              for (int64_t row = 0; row < 6; ++row)
                for (int64_t local = 0; local < rows.localBlocks(row); ++local)
                  own.view()(head, row, local) =
                      batch.scores.view()(head, row, rows.globalBlock(local));
            Tensor<int32_t, 3> kept{{2, 6, Batch::kKeep}, int32_t(-9)};
            const auto &constOwn = own;
            const auto &constKept = kept;
            ASSERT_EQ(topk(rows, constOwn.view(), options, kept.view()),
                      std::nullopt);
            const int64_t part = 2 * 6 * Batch::kKeep * rank;
            ASSERT_EQ(storeCandidates(
                          rows, constOwn.view(), constKept.view(),
                          {ids.values.data() + part, {2, 6, Batch::kKeep}},
                          {best.values.data() + part, {2, 6, Batch::kKeep}}),
                      std::nullopt);
          }
          Tensor<int32_t, 3> merged{{2, 6, Batch::kKeep}, int32_t(-9)};
          const auto &constIds = ids;
          const auto &constBest = best;
          ASSERT_EQ(mergeCandidates(batch.rows(0, 1), constIds.view(),
                                    constBest.view(), options, merged.view()),
                    std::nullopt);
          EXPECT_EQ(merged.values, whole.values)
              << "world " << world << ", seed " << seed;
        }
      }
}

TEST(Shards, ScoresAreDecidedOnTheGlobalNumber) {
  // Blocks of one token; seven tokens of value 10, 11, ...; local and initial
  // blocks are forced by their global numbers.
  const std::vector<float> q{1}, k{10, 11, 12, 13, 14, 15, 16};
  const Tensor<int32_t, 2> table{{1, 7}, {0, 1, -1, 3, 4, 5, 6}};
  const Lengths lengths{{7}};
  Rows rows = lengths.rows(1, 1);
  rows.world = 3;
  const BlockScoreOptions options{.initBlocks = 1, .localBlocks = 2};
  auto score = [&](int64_t rank) {
    rows.rank = rank;
    ExactScores scores;
    EXPECT_EQ(blockScore(rows, {q.data(), NumberFormat::F32, {1, 1, 1}},
                         {k.data(), NumberFormat::F32, {7, 1, 1}}, table.view(),
                         options, scores),
              std::nullopt);
    return scores.values;
  };
  EXPECT_THAT(score(0), ElementsAre(kInitBlockScore, 13, kLocalBlockScore));
  EXPECT_THAT(score(1), ElementsAre(11, 14));
  EXPECT_THAT(score(2), ElementsAre(-kInf, kLocalBlockScore));
  EXPECT_EQ(rows.localCount(2), 0); // rank 2 has none of two blocks
}

TEST(Shards, SelectionsAreHeldAgainstTheRanksOwnBlocks) {
  const std::vector<float> q{1}, k{10, 11, 12, 13, 14, 15, 16};
  const Tensor<int32_t, 2> table{{1, 7}, {0, 1, 2, 3, 4, 5, 6}};
  const Lengths lengths{{7}};
  Rows rows = lengths.rows(1, 1);
  rows.rank = 1;
  rows.world = 3; // blocks 1 and 4
  ExactScores scores;
  ASSERT_EQ(blockScore(rows, {q.data(), NumberFormat::F32, {1, 1, 1}},
                       {k.data(), NumberFormat::F32, {7, 1, 1}}, table.view(),
                       {}, scores),
            std::nullopt);
  auto fine = [&](std::vector<int32_t> kept) {
    const View<const int32_t, 3> view(kept.data(), {1, 1, 3});
    return compareSelection(rows, scores, {}, view, nullptr).ok();
  };
  EXPECT_TRUE(fine({4, 1, -1}));
  EXPECT_FALSE(fine({5, 1, -1})); // of another rank
  EXPECT_FALSE(fine({4, 4, -1}));
  EXPECT_FALSE(fine({4, -1, -1}));
  EXPECT_FALSE(fine({4, 1, 7})); // past the row's reach
}

TEST(Shards, NumbersPastTheReachAreNoCandidates) {
  // Rows that see three blocks and none; numbers of other rows are left over.
  const Lengths lengths{{3, 0}};
  const Tensor<int32_t, 4> ids{{2, 1, 2, 2}, {3, 0, 1, 0, 2, -1, 5, -7}};
  const Tensor<float, 4> best{{2, 1, 2, 2}, {9, 1, 1, 1, 2, 8, 1, 1}};
  Tensor<int32_t, 3> out{{1, 2, 2}, int32_t(7)};
  ASSERT_EQ(mergeCandidates(lengths.rows(1, 1), ids.view(), best.view(), {},
                            out.view()),
            std::nullopt);
  EXPECT_THAT(out.values, ElementsAre(2, 0, -1, -1));
}

TEST(Shards, Problems) {
  Rows rows = Lengths{{7}}.rows(1, 1);
  rows.rank = 3;
  rows.world = 3;
  EXPECT_THAT(rows.verify().value_or(""),
              HasSubstr("rank is 3 of world 3, wanted 0 to world - 1"));
  const Tensor<int32_t, 4> ids{{2, 1, 1, 3}, int32_t(0)};
  const Tensor<float, 4> best{{2, 1, 1, 3}, 0.0f}, few{{2, 1, 1, 2}, 0.0f};
  Tensor<int32_t, 3> out{{1, 1, 4}, int32_t(7)};
  rows.rank = 0;
  const Rows one = rows;
  EXPECT_EQ(
      mergeCandidates(one, ids.view(), few.view(), {}, out.view()).value_or(""),
      "scores of candidates: axis 3 has 2 entries, wanted 3");
  EXPECT_EQ(mergeCandidates(one, ids.view(), best.view(), {}, out.view())
                .value_or(""),
            "candidates: axis 3 has 3 entries, wanted at least 4");
  EXPECT_THAT(out.values, testing::Each(7));
}

} // namespace
