// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The merge kernels alone, on candidates of a test's choice, in either
// lowering.
#include "SelectScores.h"

#include <random>

using namespace winnow;
using namespace winnow::test;

namespace {

class Merge : public testing::TestWithParam<const char *> {
protected:
  Shape shape(int64_t ranks) const {
    Shape shape;
    shape.prefer = GetParam();
    shape.blockSize = 32;
    shape.pagesPerBlock = 2;
    shape.maxSeqLen = 32 * 211;
    shape.merges = ranks;
    return shape;
  }
};

/// Overwrites places at random: no numbers, numbers past every reach, scores
/// that are NaN, infinite or zeros of both signs.
void plantSpecials(tool::Call &call) {
  std::mt19937 random(4);
  auto ids = call.arguments[call.indexer->rankIds].as<int32_t, 4>();
  auto best = call.arguments[call.indexer->rankScores].as<float, 4>();
  const int32_t none[] = {-1, -2147483647 - 1, 211, 2147483647};
  for (int64_t rank = 0; rank < ids.extents[0]; ++rank)
    for (int64_t head = 0; head < ids.extents[1]; ++head)
      for (int64_t row = 0; row < ids.extents[2]; ++row)
        for (int64_t place = 0; place < ids.extents[3]; ++place) {
          if (random() % 4 == 0)
            ids(rank, head, row, place) = none[random() % 4];
          if (random() % 3 != 0)
            best(rank, head, row, place) =
                kSpecialScores[random() % std::size(kSpecialScores)];
        }
}

} // namespace

TEST_P(Merge, RanksAndPlaces) {
  const std::vector<int32_t> lengths{32 * 211, 0, 1, 33, 500, 3000, -4};
  for (int64_t ranks : {1, 2, 8}) {
    expectRight(shape(ranks), lengths);
    expectRight(shape(ranks), lengths, 2, plantSpecials);
  }
}

TEST_P(Merge, ManyRanksThatHandOnMoreThanIsKept) {
  // 16384 places, the most that the matrix lowering's merge holds.
  Shape many = shape(256);
  many.keep = 64;
  many.rankKeep = 64;
  many.maxSeqLen = 32 * 5000;
  expectRight(many, {32 * 5000, 32 * 600, 70});
  Shape few = shape(5);
  few.keep = 3;
  few.rankKeep = 40;
  expectRight(few, {32 * 211, 32 * 2}, 2, plantSpecials);
}

TEST_P(Merge, OrdersTiesAndLayouts) {
  Shape other = shape(3);
  other.keep = 40;
  other.tieLowest = true;
  other.ascending = true;
  other.tokenMajor = true;
  other.selectionPad = 0;
  other.heads = 2;
  other.kvHeads = 4;
  other.queryLen = 3;
  expectRight(other, {32 * 211, 5, 0, 900}, 3, plantSpecials);
  other.ascending = false;
  other.remaps = false;
  expectRight(other, {32 * 211, 5, 0, 900}, 4, plantSpecials);
  other.tieLowest = false;
  other.ascending = true;
  other.remaps = true;
  other.stores = false;
  expectRight(other, {32 * 211, 5, 0, 900}, 5, plantSpecials);
}

TEST_P(Merge, RaggedRows) {
  Shape ragged = shape(4);
  ragged.queryLen = 0;
  ragged.heads = 2;
  ragged.kvHeads = 2;
  const tool::Lengths lengths({700, 1, 33, 4000, 5}, {300, 1, 0, 17, 9});
  expectRight(ragged, lengths);
  expectRight(ragged, lengths, 2, plantSpecials);
}

TEST_P(Merge, EqualScoresGoByTheNumber) {
  for (bool lowest : {false, true}) {
    Shape ties = shape(8);
    ties.tieLowest = lowest;
    expectRight(ties, {32 * 211, 3000, 20}, 1, [](tool::Call &call) {
      auto best = call.arguments[call.indexer->rankScores].as<float, 4>();
      for (int64_t rank = 0; rank < best.extents[0]; ++rank)
        for (int64_t row = 0; row < best.extents[2]; ++row)
          for (int64_t place = 0; place < best.extents[3]; ++place)
            best(rank, 0, row, place) = row == 1 ? -kInfinity : 2.5f;
    });
  }
}

TEST_P(Merge, BlocksThatComeTwiceDoNoHarm) {
  // Which of them are kept is nobody's promise; that the kernel ends, and what
  // it writes, is.
  std::shared_ptr<const Kernels> kernels = compile(shape(8));
  ASSERT_TRUE(kernels);
  auto call = tool::randomCall(kernels->indexer, {32 * 211, 3000}, 1);
  ASSERT_TRUE(call) << call.message();
  auto ids = call->arguments[call->indexer->rankIds].as<int32_t, 4>();
  auto best = call->arguments[call->indexer->rankScores].as<float, 4>();
  for (int64_t rank = 0; rank < 8; ++rank)
    for (int64_t row = 0; row < 2; ++row)
      for (int64_t place = 0; place < 16; ++place) {
        ids(rank, 0, row, place) = 7;
        best(rank, 0, row, place) = 1.0f;
      }
  const tool::Call before = *call;
  tool::SimRun run;
  run.checks = sim::Checks::all(sim::CheckAction::Stop);
  auto records = tool::runOnSim(*call, kernels->codes, run);
  ASSERT_TRUE(records) << records.message();
  auto verdict = tool::verify(before, *call);
  ASSERT_TRUE(verdict) << verdict.message();
  EXPECT_TRUE(verdict->untouched.ok()) << verdict->untouched.text();
  const auto selection = call->selection();
  for (int64_t row = 0; row < 2; ++row)
    for (int64_t place = 0; place < 16; ++place)
      EXPECT_TRUE(selection(0, row, place) == 7 ||
                  selection(0, row, place) == -1)
          << selection(0, row, place);
}

INSTANTIATE_TEST_SUITE_P(Lowerings, Merge, testing::Values("mfma", "generic"),
                         [](const auto &lowering) {
                           return std::string(lowering.param);
                         });

TEST(GenericMerge, AnyNumberOfRanks) {
  Shape any;
  any.merges = -1; // what the matrix lowering refuses
  any.keep = 200;
  any.rankKeep = 300;
  any.blockSize = 32;
  any.pagesPerBlock = 2;
  any.maxSeqLen = 32 * 1500;
  expectRight(any, {32 * 1500, 4000, 40});
  expectRight(any, {32 * 1500, 4000, 40}, 2, plantSpecials);
}
