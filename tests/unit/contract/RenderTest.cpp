// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Static assertions and documentation as text; AgreementTest.cpp compiles them.
#include "Assignments.h"

#include "winnow/Contract/Evaluate.h"
#include "winnow/Contract/Render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace winnow;
using namespace winnow::contract;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

std::string conditionOf(const char *what, const char *relation,
                        const char *value, const char *in) {
  Result<Contract> contract = Contract::parse(
      std::string(R"({"contract": "c", "title": "C", "about": "A",
                      "limits": [{"id": "a", )") +
          what + R"(, "relation": ")" + relation + R"(", "value": )" + value +
          R"(, "reason": "r"}]})",
      "c.json");
  if (!contract)
    return contract.message();
  return condition((*contract).limits()[0], in).value_or("none");
}

TEST(StaticAssertions, Conditions) {
  EXPECT_THAT(deviceStructs(), ElementsAre("Score", "Select", "Merge"));
  const char *k = R"("fact": "k")";
  EXPECT_EQ(conditionOf(k, "equals", "16", "Select"), "Select::kTopK == 16");
  EXPECT_EQ(conditionOf(k, "equals", "16", "Merge"), "Merge::kTopK == 16");
  EXPECT_EQ(conditionOf(k, "equals", "16", "Score"), "none");
  EXPECT_EQ(conditionOf(k, "at_most", "16", "Select"), "Select::kTopK <= 16");
  EXPECT_EQ(conditionOf(k, "at_least", "16", "Select"), "Select::kTopK >= 16");
  EXPECT_EQ(conditionOf(k, "between", "[1, 64]", "Select"),
            "Select::kTopK >= 1 && Select::kTopK <= 64");
  EXPECT_EQ(conditionOf(k, "one_of", "[1, 2]", "Select"),
            "Select::kTopK == 1 || Select::kTopK == 2");
  EXPECT_EQ(conditionOf(k, "multiple_of", "4", "Select"),
            "Select::kTopK > 0 && Select::kTopK % 4 == 0");
  EXPECT_EQ(conditionOf(k, "equals", R"({"fact": "block_size"})", "Select"),
            "Select::kTopK == Select::kBlockSize");
  EXPECT_EQ(conditionOf(k, "equals", R"({"fact": "head_dim"})", "Select"),
            "none");
  EXPECT_EQ(conditionOf(R"("product": ["index_heads", "query_len"])", "at_most",
                        "16", "Score"),
            "Score::kHeads * Score::kQueryLen <= 16");
  EXPECT_EQ(conditionOf(R"("product": ["index_heads", "query_len"])",
                        "multiple_of", "4", "Score"),
            "Score::kHeads * Score::kQueryLen > 0 && (Score::kHeads * "
            "Score::kQueryLen) % 4 == 0");
  EXPECT_EQ(conditionOf(R"("fact": "page_tokens")", "equals", "16", "Select"),
            "Select::kBlockSize / Select::kPagesPerBlock == 16");
  EXPECT_EQ(
      conditionOf(R"("product": ["k", "page_tokens"])", "at_most", "16",
                  "Select"),
      "Select::kTopK * (Select::kBlockSize / Select::kPagesPerBlock) <= 16");
  EXPECT_EQ(conditionOf(R"("fact": "block_size")", "multiple_of",
                        R"({"fact": "page_tokens"})", "Select"),
            "Select::kBlockSize > 0 && Select::kBlockSize / "
            "Select::kPagesPerBlock > 0 && Select::kBlockSize % "
            "(Select::kBlockSize / Select::kPagesPerBlock) == 0");
  EXPECT_EQ(conditionOf(R"("fact": "arch")", "equals", R"("gfx950")", "Score"),
            "none");
}

TEST(StaticAssertions, TextsAndOrder) {
  const Contract &contract = *find("aiter_msa");
  Facts facts = {{"k", 16},
                 {"index_heads", 3},
                 {"query_len", 6},
                 {"ragged", false},
                 {"arch", "gfx942"}};
  EXPECT_THAT(
      staticAssertions(contract, facts, {"Score", "Select"}),
      ElementsAre(R"x(static_assert(Select::kTopK == 16,
              "contract 'aiter_msa', limit 'k': top-k, needed 16 blocks "
              "(AITER's top-k is compiled for one number of blocks)");)x",
                  R"x(static_assert(Score::kHeads <= 16 && Select::kHeads <= 16,
              "contract 'aiter_msa', limit 'index_heads': index heads, "
              "needed at most 16 (the MFMA has 16 columns)");)x",
                  R"x(static_assert(Score::kHeads * Score::kQueryLen <= 16 &&
                  Select::kHeads * Select::kQueryLen <= 16,
              "contract 'aiter_msa', limit 'columns': index heads x query "
              "length is 3 x 6 = 18, needed at most 16 (the MFMA has 16 "
              "columns, one for each pair of token and head)");)x"));
  EXPECT_THAT(
      staticAssertions(contract, facts, {"Score"}),
      ElementsAre(HasSubstr("static_assert(Score::kHeads <= 16,\n"),
                  HasSubstr("static_assert(Score::kHeads * Score::kQueryLen "
                            "<= 16,\n")));
  EXPECT_THAT(staticAssertions(*find("winnow_mfma"), {{"block_size", 64}}),
              Contains(HasSubstr("(Score::kBlockSize == 32 || ")));
  EXPECT_THAT(staticAssertions(contract, facts, {}), IsEmpty());
  EXPECT_THAT(staticAssertions(contract, {}), IsEmpty());
}

TEST(StaticAssertions, OnlyLimitsThatApply) {
  const Contract &contract = *find("aiter_msa");
  Facts facts = {{"index_heads", 2}, {"kv_heads", 1}};
  auto mentionsKv = Contains(HasSubstr("kKvHeads"));
  // Unknown, then not emitted: nothing about kv heads; emitted: asserted.
  EXPECT_THAT(staticAssertions(contract, facts), testing::Not(mentionsKv));
  facts["emits_page_table"] = false;
  EXPECT_THAT(staticAssertions(contract, facts), testing::Not(mentionsKv));
  facts["emits_page_table"] = true;
  EXPECT_THAT(staticAssertions(contract, facts), mentionsKv);
}

TEST(StaticAssertions, ForeignBytesCannotLeaveTheLiteral) {
  Result<Contract> contract = Contract::parse(
      R"({"contract": "c", "title": "C", "about": "A", "limits": [
          {"id": "a", "fact": "k", "relation": "equals", "value": 1,
           "reason": "say \"one\" \\ no more"}]})",
      "c.json");
  ASSERT_TRUE(contract) << contract.message();
  EXPECT_THAT(staticAssertions(*contract, {{"k", "2\"\n\xff"}}, {"Select"}),
              ElementsAre(R"x(static_assert(Select::kTopK == 1,
              "contract 'c', limit 'a': top-k is 2\"??, needed 1 block (say "
              "\"one\" \\ no more)");)x"));
}

TEST(Markdown, OneRowForEachLimit) {
  for (const std::string &name : names()) {
    std::string table = markdownTable(*find(name));
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'),
              long(find(name)->limits().size()) + 2);
    for (const Limit &limit : find(name)->limits()) {
      EXPECT_THAT(table, HasSubstr("| `" + limit.id + "` |"));
      EXPECT_THAT(table, HasSubstr(neededText(limit)));
      EXPECT_THAT(table, HasSubstr(limit.reason));
    }
  }
  EXPECT_THAT(
      markdownTable(*find("aiter_msa")),
      HasSubstr(
          "| `columns` | all | index heads x query length | at most 16 | "
          "`ragged = "
          "false` | the MFMA has 16 columns, one for each pair of token and "
          "head | "
          "`Score::kHeads * Score::kQueryLen <= 16`<br>"
          "`Select::kHeads * Select::kQueryLen <= 16`<br>"
          "`Merge::kHeads * Merge::kQueryLen <= 16` |\n"));
}

TEST(Markdown, PageHoldsEverything) {
  std::string page = referencePage();
  for (const std::string &name : names())
    EXPECT_THAT(page, HasSubstr(markdownTable(*find(name))));
  for (const FactInfo &fact : vocabulary())
    EXPECT_THAT(page, HasSubstr("| `" + fact.name + "` |"));
  // Every row of every table has the cells that its head has.
  EXPECT_EQ(page.find("| |\n|\n"), std::string::npos);
}

} // namespace
