// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Facts: the vocabulary, derived facts, spelling, and the JSON of manifests.
#include "winnow/Contract/Facts.h"

#include "Vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

using namespace winnow;
using namespace winnow::contract;
using testing::HasSubstr;

namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(Facts, EmbeddedVocabularyReads) {
  ASSERT_TRUE(embeddedVocabulary()) << embeddedVocabulary().message();
  std::set<std::string> names;
  for (const FactInfo &fact : vocabulary())
    EXPECT_TRUE(names.insert(fact.name).second) << fact.name;
  // The names that the compiler, the manifest and the kernels agreed on.
  for (const char *name : {"platform",
                           "arch",
                           "query_dtype",
                           "key_dtype",
                           "score_reduction",
                           "k",
                           "block_size",
                           "head_dim",
                           "index_heads",
                           "query_len",
                           "max_seq_len",
                           "max_blocks",
                           "max_requests",
                           "init_blocks",
                           "local_blocks",
                           "kv_heads",
                           "pages_per_block",
                           "emits_page_table",
                           "page_tokens",
                           "query_layout",
                           "key_layout",
                           "table_dtype",
                           "ties",
                           "order"})
    EXPECT_TRUE(names.count(name)) << name;
  EXPECT_EQ(findFact("block_size")->subject, "sparse block size");
  EXPECT_EQ(findFact("no_such_fact"), nullptr);
}

TEST(Facts, DerivesWhatFollows) {
  Facts facts = withDerived({{"max_seq_len", 1048577},
                             {"block_size", 128},
                             {"pages_per_block", 8},
                             {"query_rows", 12},
                             {"query_len", 4}});
  EXPECT_EQ(facts["max_blocks"], Value(int64_t(8193)));
  EXPECT_EQ(facts["page_tokens"], Value(int64_t(16)));
  EXPECT_EQ(facts["requests"], Value(int64_t(3)));
}

TEST(Facts, DerivationRoundsUpWithoutOverflow) {
  auto blocks = [](int64_t tokens, int64_t size) {
    return withDerived(
        {{"max_seq_len", tokens}, {"block_size", size}})["max_blocks"];
  };
  EXPECT_EQ(blocks(0, 128), Value(int64_t(0)));
  EXPECT_EQ(blocks(1, 128), Value(int64_t(1)));
  EXPECT_EQ(blocks(128, 128), Value(int64_t(1)));
  EXPECT_EQ(blocks(129, 128), Value(int64_t(2)));
  EXPECT_EQ(blocks(kMax, 2), Value(kMax / 2 + 1));
  EXPECT_EQ(blocks(kMax, 1), Value(kMax));
}

TEST(Facts, DerivesNothingFromNonsense) {
  for (auto [tokens, size] :
       {std::pair<int64_t, int64_t>{128, 0}, {128, -1}, {-1, 128}}) {
    Facts facts = withDerived({{"max_seq_len", tokens}, {"block_size", size}});
    EXPECT_EQ(facts.count("max_blocks"), 0u) << tokens << " / " << size;
  }
  EXPECT_EQ(withDerived({{"max_seq_len", "long"}, {"block_size", 128}}).size(),
            2u);
}

TEST(Facts, GivenWinsOverDerived) {
  Facts facts = withDerived(
      {{"max_seq_len", 256}, {"block_size", 128}, {"max_blocks", 7}});
  EXPECT_EQ(facts["max_blocks"], Value(int64_t(7)));
}

TEST(Facts, Spelling) {
  EXPECT_EQ(valueText(Value(int64_t(-3))), "-3");
  EXPECT_EQ(valueText(Value(false)), "false");
  EXPECT_EQ(valueText(Value("f8E4M3FN")), "f8E4M3FN");
  EXPECT_EQ(valueText(Value("")), "(empty)");
  EXPECT_EQ(valueText(Value(int64_t(1)), "token"), "1 token");
  EXPECT_EQ(valueText(Value(int64_t(0)), "token"), "0 tokens");
  EXPECT_EQ(valueText(Value(int64_t(128)), "token"), "128 tokens");
  EXPECT_EQ(valueText(Value(int64_t(5)), ""), "5");
  EXPECT_EQ(valueText(Value("x"), "token"), "x");
}

TEST(Facts, JsonRoundTrip) {
  Facts facts = {{"k", 16},
                 {"emits_page_table", true},
                 {"arch", "gfx950"},
                 {"max_seq_len", kMax},
                 {"from_a_newer_writer", 3}};
  Result<Facts> again = factsFromJson(factsToJson(facts));
  ASSERT_TRUE(again) << again.message();
  EXPECT_EQ(*again, facts);
}

TEST(Facts, JsonWithForeignBytesIsStillJson) {
  std::string text = factsToJson({{"arch", std::string("gfx\xff\"\n")}});
  EXPECT_TRUE(factsFromJson(text)) << text;
}

TEST(Facts, JsonRefusals) {
  struct Case {
    const char *json, *error;
  } cases[] = {
      {"", "facts: not JSON"},
      {"[1]", "facts: found a list, needed an object"},
      {"{\"k\": \"16\"}", "facts: 'k' is \"16\", needed an integer"},
      {"{\"k\": 16.0}", "facts: 'k' is 16.0, needed an integer"},
      {"{\"k\": true}", "facts: 'k' is true, needed an integer"},
      {"{\"k\": 9223372036854775808}",
       "facts: 'k' is 9223372036854775808, needed an integer"},
      {"{\"emits_page_table\": 1}",
       "facts: 'emits_page_table' is 1, needed true or false"},
      {"{\"arch\": null}", "facts: 'arch' is null, needed a string"},
      {"{\"new\": [1]}", "facts: 'new' is a list, needed an integer, true or "
                         "false, or a string"},
      {"{\"k\": 16, \"k\": 17}", "facts: field 'k' is there twice"},
  };
  for (const Case &each : cases) {
    Result<Facts> facts = factsFromJson(each.json);
    ASSERT_FALSE(facts) << each.json;
    EXPECT_THAT(facts.message(), HasSubstr(each.error));
  }
}

TEST(Facts, VocabularyRefusals) {
  auto error = [](const std::string &fact) {
    Result<Vocabulary> read = parseVocabulary(
        R"({"format": "winnow-facts", "version": 1, "device_structs": ["Score"],
            "facts": [{"name": "a", "kind": "int", "subject": "a", "found": "x"},
                      )" +
            fact + "]}",
        "facts.json");
    return read ? "accepted" : read.message();
  };
  EXPECT_EQ(
      error(R"({"name": "b", "kind": "int", "subject": "b", "found": "x"})"),
      "accepted");
  struct Case {
    const char *fact, *error;
  } cases[] = {
      {R"(3)", "fact 2: found 3, needed an object"},
      {R"({"kind": "int", "subject": "b", "found": "x"})",
       "facts.json: fact 2: field 'name' is missing"},
      {R"({"name": "a", "kind": "int", "subject": "b", "found": "x"})",
       "facts.json: fact 2 ('a'): field 'name' is there twice"},
      {R"({"name": "B", "kind": "int", "subject": "b", "found": "x"})",
       "field 'name' is \"B\", needed lower case"},
      {R"({"name": "b", "kind": "float", "subject": "b", "found": "x"})",
       "field 'kind' is \"float\", needed int, bool or string"},
      {R"({"name": "b", "kind": "int", "found": "x"})",
       "field 'subject' is missing"},
      {R"({"name": "b", "kind": "int", "subject": "b\n", "found": "x"})",
       "field 'subject' needs one line of printable ASCII"},
      {R"({"name": "b", "kind": "int", "subject": "b", "found": "x", "z": 1})",
       "field 'z' is not known, needed one of name, kind"},
      {R"({"name": "b", "kind": "int", "subject": "b", "found": "x",
           "values": ["q"]})",
       "field 'values' needs a string fact"},
      {R"({"name": "b", "kind": "int", "subject": "b", "found": "x",
           "constants": {"Other": "kB"}})",
       "field 'constants' has 'Other': \"kB\", needed a device struct"},
      {R"({"name": "b", "kind": "bool", "subject": "b", "found": "x",
           "constants": {"Score": "kB"}})",
       "field 'constants' needs an integer fact"},
      {R"({"name": "b", "kind": "int", "subject": "b", "found": "x",
           "derived": {"times": ["a", "a"]}})",
       "field 'derived' needs an integer fact and"},
      {R"({"name": "b", "kind": "int", "subject": "b", "found": "x",
           "derived": {"ceildiv": ["a", "c"]}})",
       "fact 'b': field 'derived' has 'c', needed an integer fact"},
  };
  for (const Case &each : cases)
    EXPECT_THAT(error(each.fact), HasSubstr(each.error)) << each.fact;
}

} // namespace
