// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A run by the reference passes; each way of tampering with it is found.
#include "Verify.h"
#include "Execute.h"
#include "Support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

using namespace winnow;
using namespace winnow::tool;
using testing::HasSubstr;

namespace {

class VerifyRun : public testing::Test {
protected:
  void run(const std::vector<int32_t> &lengths) {
    before = small.call(lengths);
    after = before;
    Status status = runOnHost(after);
    ASSERT_TRUE(status) << status.message();
  }
  Verdict verdict() {
    Result<Verdict> result = verify(before, after);
    EXPECT_TRUE(result) << (result ? "" : result.message());
    return result ? std::move(*result) : Verdict();
  }
  HostTensor &argument(int index) { return after.arguments[index]; }

  Small small;
  Call before, after;
};

TEST_F(VerifyRun, TheReferenceAgreesWithItself) {
  for (const std::vector<int32_t> &lengths :
       std::vector<std::vector<int32_t>>{{32, 0, 1, 5, 17}, {0, 0}, {}, {2}}) {
    run(lengths);
    Verdict result = verdict();
    EXPECT_TRUE(result.ok());
    ASSERT_TRUE(result.scores && result.selection && result.pages);
  }
  run({32});
  // Two rows see 31 and 32 tokens: 8 blocks each, for two heads.
  EXPECT_EQ(verdict().scores->checked, 32);
}

TEST_F(VerifyRun, EveryLayoutAndOptionIsFollowed) {
  small.entry().facts["ties"] = std::string("lowest_block");
  small.entry().facts["order"] = std::string("ascending");
  small.entry().facts["selection_pad"] = int64_t(0);
  small.entry().facts["page_pad"] = int64_t(-1);
  small.entry().facts["init_blocks"] = int64_t(1);
  std::swap(small.entry().arguments[5].shape[0],
            small.entry().arguments[5].shape[1]);
  small.describe();
  EXPECT_TRUE(small.indexer.tokenMajor);
  run({32, 0, 5});
  EXPECT_TRUE(verdict().ok());
  // The padding request's rows are all pad.
  EXPECT_EQ(after.selection()(1, 2, 0), 0);
  EXPECT_EQ((argument(small.indexer.pages).as<int32_t, 2>()(8, 0)), -1);
}

TEST_F(VerifyRun, WrongScoresAreFound) {
  run({32, 9});
  after.workspace[0].as<float, 3>()(1, 0, 4) *= 1.001f;
  Verdict result = verdict();
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.scores->mismatches, 1);
  EXPECT_THAT(result.scores->text(), HasSubstr("score[1, 0, 4]"));
}

TEST_F(VerifyRun, AWrongSelectionIsFound) {
  run({32, 9});
  auto selection = after.selection();
  std::swap(selection(0, 1, 0), selection(0, 1, 1));
  Verdict result = verdict();
  EXPECT_FALSE(result.selection->ok());
  EXPECT_THAT(result.selection->text(), HasSubstr("selection[0, 1, 0]"));
  EXPECT_TRUE(result.scores->ok());
}

TEST_F(VerifyRun, AWrongPageOrContextIsFound) {
  run({32, 9});
  argument(small.indexer.pages).as<int32_t, 2>()(5, 3) += 1;
  argument(small.indexer.contexts).as<int32_t, 1>()(2) -= 1;
  Verdict result = verdict();
  EXPECT_EQ(result.pages->mismatches, 2);
  EXPECT_THAT(result.pages->text(), HasSubstr("pages[5, 3]"));
  EXPECT_THAT(result.pages->text(), HasSubstr("ctx[2]"));
}

TEST_F(VerifyRun, StoresOutsideTheResultsAreFound) {
  run({32, 9});
  // A score past the row's blocks, the gap after a row of the selection, and
  // the gap after a row of the page table.
  after.workspace[0].as<float, 3>()(0, 3, 3) = 0.0f;
  argument(small.indexer.selection).as<int32_t, 1>().data[3] = 0;
  argument(small.indexer.pages).as<int32_t, 1>().data[6] = 0;
  Verdict result = verdict();
  EXPECT_TRUE(result.scores->ok() && result.selection->ok() &&
              result.pages->ok());
  EXPECT_EQ(result.untouched.mismatches, 3);
  EXPECT_FALSE(result.ok());
  EXPECT_THAT(result.untouched.text(), HasSubstr("idx bytes [12, 16)"));
}

TEST_F(VerifyRun, ChangedInputsAreFound) {
  run({32, 9});
  argument(small.indexer.lens).as<int32_t, 1>()(0) = 1 << 30;
  Verdict result = verdict();
  EXPECT_FALSE(result.ok());
  EXPECT_THAT(result.untouched.text(), HasSubstr("input 'lens' byte 0"));
}

TEST_F(VerifyRun, ThePageTableAloneIsCheckedThroughTheScores) {
  small.entry().arguments.erase(small.entry().arguments.begin() + 5);
  small.describe();
  run({32, 9});
  Verdict result = verdict();
  EXPECT_TRUE(result.ok());
  EXPECT_FALSE(result.selection);
  argument(small.indexer.pages).as<int32_t, 2>()(0, 0) += 1;
  EXPECT_FALSE(verdict().ok());
}

TEST_F(VerifyRun, InputsThatTheReferenceRefusesAreErrors) {
  run({32});
  before.arguments[small.indexer.indexTable].as<int32_t, 2>()(0, 0) = 99;
  Result<Verdict> result = verify(before, after);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.message(),
            "the reference refuses the inputs: index_table[0, 0] is page 99, "
            "the cache has 11 pages");
}

TEST(Indexer, MissingAndUnknownFactsAreNamed) {
  runtime::Entry entry = smallEntry();
  entry.facts.erase("k");
  EXPECT_EQ(Indexer::of(entry).message(),
            "entry 'small' has no number for the fact 'k'");
  entry = smallEntry();
  entry.facts["ties"] = std::string("any");
  EXPECT_EQ(Indexer::of(entry).message(),
            "entry 'small' has ties = 'any', wanted 'lowest_block' or "
            "'highest_block'");
  entry = smallEntry();
  entry.facts["block_size"] = int64_t(0);
  EXPECT_EQ(Indexer::of(entry).message(),
            "entry 'small' has block_size = 0, wanted at least 1");
  entry = smallEntry();
  entry.arguments.erase(entry.arguments.begin());
  EXPECT_EQ(Indexer::of(entry).message(),
            "entry 'small' has no argument with the role 'query'");
  entry = smallEntry();
  entry.arguments.pop_back();
  EXPECT_THAT(Indexer::of(entry).message(),
              HasSubstr("some of attn_table, pages and ctx"));
}

} // namespace
