// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random descriptions and inputs from fixed seeds on every lowering; that such
// a test can fail and make its failure small; and what it has found so far.
#include "CheckCase.h"

#include "gtest/gtest.h"

using namespace winnow;
using namespace winnow::test;

namespace {

/// Groups of seeds, so that tests can run at the same time.
constexpr int kGroups = 16, kSeeds = 8;

class Property : public testing::TestWithParam<int> {};

} // namespace

TEST_P(Property, RandomDescriptionsMatchTheReferenceOnEveryLowering) {
  CheckOptions options;
  options.inputs = 3;
  Tally tally;
  for (int i = 0; i < kSeeds; ++i) {
    const auto seed = uint64_t(1000) * GetParam() + i;
    if (auto failure = checkCase(seed, options, tally))
      ADD_FAILURE() << failure->text(options);
  }
  // Most of what is made is run, or the rest of this asserts nothing.
  EXPECT_GT(tally.runs(), kSeeds);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Property, testing::Range(1, kGroups + 1));

namespace {

/// The first failure that a planted fault makes.
CaseFailure found(const std::string &name) {
  CheckOptions options;
  options.inputs = 2;
  options.attempts = 1000;
  for (const Plant &plant : plants())
    if (plant.name == name)
      options.plant = &plant;
  EXPECT_TRUE(options.plant) << name;
  Tally tally;
  for (uint64_t seed = 1; seed <= 30; ++seed)
    if (auto failure = checkCase(seed, options, tally)) {
      EXPECT_TRUE(failure->minimised.finished)
          << failure->minimised.attempts << " attempts";
      const std::string text = failure->text(options);
      EXPECT_NE(text.find("func.func @decode("), std::string::npos) << text;
      EXPECT_NE(text.find("tools/dev fuzz-semantics --seed " +
                          std::to_string(seed) +
                          " --cases 1 --inputs 2"
                          " --plant " +
                          name),
                std::string::npos)
          << text;
      return *failure;
    }
  ADD_FAILURE() << "the planted fault '" << name << "' was not found";
  return {};
}

} // namespace

TEST(PropertyPlanted, AWrongTieRuleIsFoundAndMadeSmall) {
  const CaseFailure failure = found("ties");
  EXPECT_EQ(failure.failure.stage, "selection");
  const Trial &small = failure.minimised.trial;
  // A few blocks of one request, of which two tie.
  EXPECT_EQ(small.inputs.lengths.tokens.size(), 1u);
  EXPECT_LE(small.shape.keep, 4);
  EXPECT_LE(small.shape.heads, 2);
  EXPECT_LE(small.inputs.lengths.tokens[0], 100 * small.shape.blockSize);
  EXPECT_FALSE(small.shape.strided);
}

TEST(PropertyPlanted, AWrongPageNumberIsFoundAndMadeSmall) {
  const CaseFailure failure = found("page");
  EXPECT_EQ(failure.failure.stage, "pages");
  const Trial &small = failure.minimised.trial;
  // The fault needs two table rows and three kept blocks.
  EXPECT_EQ(small.shape.keep, 3);
  EXPECT_FALSE(small.shape.stores);
  EXPECT_EQ(small.shape.initBlocks, 0);
  EXPECT_EQ(small.shape.blockSize, 1);
  EXPECT_EQ(small.inputs.keys, Values::Bell);
}

TEST(PropertyPlanted, AStoreIntoAGapIsFoundAndMadeSmall) {
  const CaseFailure failure = found("gap");
  EXPECT_EQ(failure.failure.stage, "untouched");
  const Trial &small = failure.minimised.trial;
  EXPECT_EQ(small.shape.keep, 1);
  EXPECT_FALSE(small.shape.remaps);
  EXPECT_LE(small.inputs.lengths.tokens.size(), 2u);
}

/// A batch with padding has one row more in the table that a step scales, so
/// that this step's grid differs: no fault, and no word of one.
TEST(PropertyFound, GridsMayFollowFromWhatAStepWorksOn) {
  CheckOptions options;
  options.inputs = 6;
  Tally tally;
  if (auto failure = checkCase(77000409, options, tally))
    ADD_FAILURE() << failure->text(options);
  EXPECT_GT(tally.runs(), 6);
}

TEST(PropertyFound, EarlierFailuresStayMended) {
  struct {
    const char *what;
    Shape shape;
    Inputs inputs;
  } known[8];
  known[0].what = "inserting keys asked for 16-byte alignment of small pages";
  known[0].shape.headDim = 8;
  known[0].shape.blockSize = 1;
  known[0].shape.newKeys = "f32";
  known[0].inputs.lengths = {1, 0};
  known[1].what = "with one block to keep, an unwritten place was read";
  known[1].shape.prefer = "generic";
  known[1].shape.keep = 1;
  known[1].inputs.lengths = {0};
  known[2] = known[1];
  known[2].what = "the same with a block";
  known[2].inputs.lengths = {200};
  known[3].what =
      "lengths past the bound counted as more than the bound's rows";
  known[3].shape.queryLen = 4;
  known[3].shape.maxSeqLen = 1000;
  known[3].inputs.lengths = {1000, 1001, 1024, 1025, 5000, 2147483647};
  known[4] = known[3];
  known[4].shape.queryLen = 0;
  known[4].inputs.lengths.newTokens = {3, 40, 1, 2, 17, 3};
  known[5].what = "with a few blocks of many to keep, so was one past them";
  known[5].shape.keep = 257;
  known[5].inputs.lengths = {0, 500};
  known[6].what = "a merge of five slots a lane kept them in local memory";
  known[6].shape.merges = 121;
  known[6].shape.keep = 34;
  known[6].inputs.lengths = {1, 9000};
  known[7].what = "in a merge of no candidate at all, a place was read that "
                  "nothing had written (found on an H200)";
  known[7].shape.merges = 109;
  known[7].shape.rankKeep = 36;
  known[7].inputs.lengths = {129, 7000};
  known[7].inputs.unmapped = 100;
  for (auto &[what, shape, inputs] : known) {
    SCOPED_TRACE(what);
    mend(shape);
    CaseRunner runner;
    const Compiled &compiled = runner.compile(shape);
    EXPECT_TRUE(compiled.kernels) << shape.describe();
    std::optional<Failure> failure = runner.run(shape, inputs);
    EXPECT_FALSE(failure) << failure->stage << ": " << failure->text;
  }
}
