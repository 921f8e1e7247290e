// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The verdicts of the two contracts, limit by limit, and their exact words.
#include "Assignments.h"

#include "winnow/Contract/Evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

using namespace winnow;
using namespace winnow::contract;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

/// MiniMax-M3 decode on one rank of eight.
Facts m3() {
  return {{"platform", "rocm"},
          {"arch", "gfx950"},
          {"query_dtype", "f8E4M3FN"},
          {"key_dtype", "f8E4M3FN"},
          {"score_reduction", "max"},
          {"k", 16},
          {"block_size", 128},
          {"head_dim", 128},
          {"index_heads", 1},
          {"query_len", 1},
          {"ragged", false},
          {"shard_world", 1},
          {"merge_world", 8},
          {"merge_world_known", true},
          {"rank_candidates", 16},
          {"max_seq_len", 1048576},
          {"max_requests", 256},
          {"max_pages", 4096},
          {"init_blocks", 0},
          {"local_blocks", 1},
          {"ties", "highest_block"},
          {"order", "score_descending"},
          {"emits_page_table", true},
          {"kv_heads", 1},
          {"pages_per_block", 8},
          {"attention_page_tokens", 16},
          {"attention_kv_heads", 1},
          {"query_layout", "contiguous"},
          {"key_layout", "contiguous"},
          {"score_layout", "contiguous"},
          {"table_dtype", "i32"},
          {"attention_table_dtype", "i32"},
          {"query_rows", 4},
          {"seq_lens_rows", 4},
          {"index_table_rows", 4},
          {"attention_table_rows", 4}};
}

Facts with(Facts facts, const Facts &changes) {
  for (const auto &[name, value] : changes)
    facts[name] = value;
  return facts;
}

std::vector<std::string> messages(std::string_view contract,
                                  const Facts &facts) {
  std::vector<std::string> result;
  for (const Violation &violation : evaluate(*find(contract), facts).violations)
    result.push_back(violation.message());
  return result;
}

TEST(Evaluate, MiniMaxM3MeetsEveryContract) {
  for (const std::string &name : names()) {
    Facts facts = m3();
    if (name == "winnow_mma") {
      facts["platform"] = "cuda";
      facts["arch"] = "sm_90";
    }
    Report report = evaluate(*find(name), facts);
    EXPECT_THAT(messages(name, facts), IsEmpty());
    EXPECT_TRUE(report.deferred.empty());
    EXPECT_TRUE(report.met());
  }
}

TEST(Evaluate, AiterWords) {
  struct Case {
    Facts changes;
    std::string message; // after "contract 'aiter_msa', limit "
  } cases[] = {
      {{{"platform", "cuda"}},
       "'platform': platform is cuda, needed rocm (AITER's kernels are built "
       "for AMD GPUs alone)"},
      {{{"arch", "gfx942"}},
       "'arch': architecture is gfx942, needed gfx950 (the score kernels read "
       "OCP fp8 with gfx950's matrix instructions)"},
      {{{"query_dtype", "bf16"}},
       "'query_dtype': query element type is bf16, needed f8E4M3FN (query and "
       "index cache are multiplied as fp8 e4m3)"},
      {{{"key_dtype", "f8E5M2"}},
       "'key_dtype': index cache element type is f8E5M2, needed f8E4M3FN "
       "(query and index cache are multiplied as fp8 e4m3)"},
      {{{"score_reduction", "sum"}},
       "'score_reduction': score reduction over tokens is sum, needed max (a "
       "block's score is the largest of its tokens' scores)"},
      {{{"k", 8}},
       "'k': top-k is 8 blocks, needed 16 blocks (AITER's top-k is compiled "
       "for one number of blocks)"},
      {{{"k", 1}},
       "'k': top-k is 1 block, needed 16 blocks (AITER's top-k is compiled for "
       "one number of blocks)"},
      {{{"block_size", 64}, {"pages_per_block", 4}, {"max_seq_len", 4096}},
       "'block_size': sparse block size is 64 tokens, needed 128 tokens "
       "(AITER's kernels are compiled for one block size)"},
      {{{"head_dim", 64}},
       "'head_dim': index head dim is 64, needed 128 (one MFMA covers the head "
       "dim)"},
      {{{"index_heads", 3},
        {"query_len", 6},
        {"ragged", false},
        {"kv_heads", 3},
        {"attention_kv_heads", 3},
        {"query_rows", 24}},
       "'columns': index heads x query length is 3 x 6 = 18, needed at most 16 "
       "(the MFMA has 16 columns, one for each pair of token and head)"},
      {{{"max_seq_len", 1048577}},
       "'max_blocks': blocks per row is 8193 (longest sequence 1048577 tokens, "
       "sparse block size 128 tokens), needed at most 8192 (the top-k keeps a "
       "row in 128 slots x 64 lanes)"},
      {{{"index_heads", 4}, {"kv_heads", 6}, {"attention_kv_heads", 6}},
       "'kv_heads': kv heads is 6, needed a positive multiple of index heads = "
       "4 (each index head's page table serves the same number of kv heads)"},
      {{{"kv_heads", 0}, {"attention_kv_heads", 0}},
       "'kv_heads': kv heads is 0, needed a positive multiple of index heads = "
       "1 (each index head's page table serves the same number of kv heads)"},
      {{{"emits_page_table", false}, {"kv_heads", 4}},
       "'kv_heads_without_table': kv heads is 4, needed 1 (without an emitted "
       "page table one kv head reads the selection)"},
      {{{"pages_per_block", 2}},
       "'page_numbering': emitted page size is 64 tokens (sparse block size "
       "128 tokens, pages per block 2), needed 16 tokens (the paired attention "
       "reads pages of 16 tokens)"},
      {{{"attention_page_tokens", 64}},
       "'attention_pairing': page size that the attention reads is 64 tokens, "
       "needed 16 tokens (the attention must read the page-16 numbering of the "
       "emitted table)"},
      {{{"query_layout", "strided"}},
       "'query_layout': query layout is strided, needed contiguous (the score "
       "kernels take no query strides)"},
      {{{"key_layout", "strided"}},
       "'key_layout': index cache layout is strided, needed contiguous (the "
       "score kernels take no index cache strides)"},
      {{{"score_layout", "strided"}},
       "'score_layout': score layout along blocks is strided, needed "
       "contiguous (the top-k reads a row's scores as neighbours in memory)"},
      {{{"table_dtype", "i64"}},
       "'table_dtype': index table element type is i64, needed i32 (block "
       "tables hold 32-bit page numbers)"},
      {{{"attention_kv_heads", 4}},
       "'attention_kv_heads': kv heads that the attention reads is 4, needed "
       "equal to kv heads = 1 (the attention must read one table row for each "
       "kv head that the indexer emits)"},
      {{{"attention_table_dtype", "i64"}},
       "'attention_table_dtype': attention table element type is i64, needed "
       "i32 (block tables hold 32-bit page numbers)"},
      {{{"seq_lens_rows", 5}},
       "'seq_lens_rows': sequence lengths is 5, needed equal to requests = 4 "
       "(each request has one sequence length)"},
      {{{"index_table_rows", 3}},
       "'index_table_rows': index table rows is 3, needed equal to requests = "
       "4 (each request has one index table row)"},
      {{{"attention_table_rows", 8}},
       "'attention_table_rows': attention table rows is 8, needed equal to "
       "requests = 4 (each request has one attention table row)"},
  };
  for (const Case &each : cases)
    EXPECT_THAT(messages("aiter_msa", with(m3(), each.changes)),
                ElementsAre("contract 'aiter_msa', limit " + each.message));
  // Past sixteen heads both the heads and their product are too many.
  EXPECT_THAT(
      messages("aiter_msa", with(m3(), {{"index_heads", 17},
                                        {"kv_heads", 17},
                                        {"attention_kv_heads", 17}})),
      ElementsAre("contract 'aiter_msa', limit 'index_heads': index heads is "
                  "17, needed at most 16 (the MFMA has 16 columns)",
                  "contract 'aiter_msa', limit 'columns': index heads x query "
                  "length is 17 x 1 = 17, needed at most 16 (the MFMA has 16 "
                  "columns, one for each pair of token and head)"));
}

TEST(Evaluate, MfmaWords) {
  struct Case {
    Facts changes;
    std::string message; // after "contract 'winnow_mfma', limit "
  } cases[] = {
      {{{"block_size", 48}, {"pages_per_block", 3}},
       "'block_size': sparse block size is 48 tokens, needed one of 32, 64, "
       "128, 256 tokens (a wave scores a block in slices of at most 16 "
       "KiB, each of 16-token tiles)"},
      {{{"k", 65}},
       "'k': top-k is 65 blocks, needed 1 to 64 blocks (one wave of 64 lanes "
       "ranks the kept blocks)"},
      {{{"k", 0}},
       "'k': top-k is 0 blocks, needed 1 to 64 blocks (one wave of 64 lanes "
       "ranks the kept blocks)"},
      {{{"pages_per_block", 7}},
       "'pages_per_block': sparse block size is 128 tokens, needed a positive "
       "multiple of pages per block = 7 (a block is a whole number of pages)"},
      {{{"max_seq_len", 4194305}},
       "'max_blocks': blocks per row of a shard is 32769 (longest sequence "
       "4194305 tokens, sparse block size 128 tokens, shards of the blocks 1), "
       "needed 1 to 32768 (the top-k keeps a row in 16 waves x 64 lanes x 32 "
       "slots)"},
      {{{"max_seq_len", 8388609}, {"shard_world", 2}},
       "'max_blocks': blocks per row of a shard is 32769 (longest sequence "
       "8388609 tokens, sparse block size 128 tokens, shards of the blocks 2), "
       "needed 1 to 32768 (the top-k keeps a row in 16 waves x 64 lanes x 32 "
       "slots)"},
      {{{"max_requests", 65536}},
       "'max_requests': most requests of a launch is 65536, needed at most "
       "65535 (the grid counts requests along y, where HIP allows 65535 "
       "workgroups)"},
      {{{"index_heads", 2}, {"kv_heads", 2}, {"query_len", 9}},
       "'queries': index heads x query length is 2 x 9 = 18, needed 1 to 16 "
       "(the MFMA has 16 rows, one for each pair of token and head)"},
  };
  for (const Case &each : cases)
    EXPECT_THAT(messages("winnow_mfma", with(m3(), each.changes)),
                ElementsAre("contract 'winnow_mfma', limit " + each.message));
}

TEST(Evaluate, BoundsAreIncluded) {
  for (auto [heads, query_len, met] : {std::tuple{16, 1, true},
                                       {1, 16, true},
                                       {4, 4, true},
                                       {2, 8, true},
                                       {17, 1, false},
                                       {1, 17, false},
                                       {4, 5, false}}) {
    Facts facts = with(m3(), {{"index_heads", heads},
                              {"query_len", query_len},
                              {"kv_heads", heads},
                              {"attention_kv_heads", heads},
                              {"query_rows", 4 * query_len}});
    for (const std::string name : {"aiter_msa", "winnow_mfma"})
      EXPECT_EQ(evaluate(*find(name), facts).met(), met)
          << name << ": " << heads << " x " << query_len;
  }
  for (int size : {32, 64, 128, 256})
    EXPECT_THAT(messages("winnow_mfma", with(m3(), {{"block_size", size}})),
                IsEmpty());
  for (int k : {1, 2, 63, 64})
    EXPECT_THAT(messages("winnow_mfma", with(m3(), {{"k", k}})), IsEmpty());
}

TEST(Evaluate, EveryBrokenLimitIsReportedInOrder) {
  Facts facts = {{"platform", "cuda"},        {"arch", "gfx90a"},
                 {"query_dtype", "f16"},      {"key_dtype", "bf16"},
                 {"score_reduction", "mean"}, {"k", 17},
                 {"block_size", 256},         {"head_dim", 64},
                 {"index_heads", 32},         {"query_len", 2},
                 {"ragged", false},           {"max_seq_len", 1 << 24},
                 {"emits_page_table", true},  {"kv_heads", 33},
                 {"pages_per_block", 8},      {"attention_page_tokens", 1},
                 {"attention_kv_heads", 1},   {"query_layout", "strided"},
                 {"key_layout", "strided"},   {"score_layout", "strided"},
                 {"table_dtype", "i64"},      {"attention_table_dtype", "i64"},
                 {"query_rows", 8},           {"seq_lens_rows", 5},
                 {"index_table_rows", 5},     {"attention_table_rows", 5}};
  const Contract &contract = *find("aiter_msa");
  Report report = evaluate(contract, facts);
  EXPECT_THAT(report.deferred, IsEmpty());
  std::vector<std::string> broken, all;
  for (const Violation &violation : report.violations) {
    broken.push_back(violation.limit);
    EXPECT_EQ(violation.contract, "aiter_msa");
    EXPECT_EQ(violation.blamed, contract.find(violation.limit)->blamed);
  }
  for (const Limit &limit : contract.limits())
    if (limit.id != "kv_heads_without_table") // excludes 'kv_heads'
      all.push_back(limit.id);
  EXPECT_EQ(broken, all);
}

TEST(Evaluate, EveryLimitIsMetAndBroken) {
  for (const std::string &name : names()) {
    const Contract &contract = *find(name);
    for (const Limit &limit : contract.limits()) {
      Facts good = test::meeting(contract, limit);
      EXPECT_THAT(messages(name, good), IsEmpty()) << name << " " << limit.id;
      EXPECT_THAT(evaluate(contract, good).deferred, IsEmpty());
      std::vector<Facts> bad = test::breaking(contract, limit);
      EXPECT_FALSE(bad.empty()) << name << " " << limit.id;
      for (const Facts &facts : bad) {
        std::vector<std::string> broken;
        for (const Violation &each : evaluate(contract, facts).violations)
          broken.push_back(each.limit);
        EXPECT_THAT(broken, testing::Contains(limit.id))
            << name << " " << factsToJson(facts);
      }
    }
  }
}

TEST(Evaluate, MissingFactsDefer) {
  const Contract &contract = *find("aiter_msa");
  Report nothing = evaluate(contract, {});
  EXPECT_TRUE(nothing.met());
  ASSERT_EQ(nothing.deferred.size(), contract.limits().size());
  for (size_t i = 0; i < contract.limits().size(); ++i)
    EXPECT_EQ(nothing.deferred[i].limit, contract.limits()[i].id);

  // Every fact in turn: exactly the limits that read it wait, none breaks.
  for (const auto &[name, value] : m3()) {
    Facts facts = m3();
    facts.erase(name);
    Report report = evaluate(contract, facts);
    EXPECT_TRUE(report.met()) << name;
    for (const Deferred &deferred : report.deferred)
      EXPECT_FALSE(deferred.missing.empty());
  }
  Facts facts = m3();
  facts.erase("index_heads");
  Report report = evaluate(contract, facts);
  ASSERT_EQ(report.deferred.size(), 3u);
  EXPECT_EQ(report.deferred[0].limit, "index_heads");
  EXPECT_EQ(report.deferred[1].limit, "columns");
  EXPECT_EQ(report.deferred[2].limit, "kv_heads");
  EXPECT_THAT(report.deferred[1].missing, ElementsAre("index_heads"));

  // Both factors and the condition are named once each.
  facts.erase("query_len");
  facts.erase("ragged");
  facts.erase("query_rows");
  facts.erase("kv_heads");
  facts.erase("emits_page_table");
  report = evaluate(contract, facts);
  EXPECT_THAT(report.deferred[1].missing,
              ElementsAre("ragged", "index_heads", "query_len"));
  EXPECT_EQ(report.deferred[2].limit, "kv_heads");
  EXPECT_THAT(report.deferred[2].missing,
              ElementsAre("emits_page_table", "kv_heads", "index_heads"));
}

TEST(Evaluate, AConditionThatFailsNeedsNoFacts) {
  Facts facts = m3();
  facts["emits_page_table"] = false;
  for (const char *name :
       {"attention_kv_heads", "pages_per_block", "attention_table_rows",
        "attention_table_dtype", "attention_page_tokens"})
    facts.erase(name);
  Report report = evaluate(*find("aiter_msa"), facts);
  EXPECT_TRUE(report.met());
  for (const Deferred &deferred : report.deferred)
    EXPECT_NE(deferred.limit, "page_numbering");
}

TEST(Evaluate, FactsThatNoLimitReadsAreIgnored) {
  EXPECT_THAT(messages("aiter_msa", with(m3(), {{"colour", "green"}})),
              IsEmpty());
}

TEST(Evaluate, AValueOfTheWrongKindBreaksTheLimit) {
  EXPECT_THAT(messages("aiter_msa", with(m3(), {{"k", "16"}})),
              ElementsAre("contract 'aiter_msa', limit 'k': top-k is 16, "
                          "needed 16 blocks (AITER's top-k is compiled for one "
                          "number of blocks)"));
  EXPECT_EQ(messages("winnow_mfma", with(m3(), {{"k", true}})).size(), 1u);
  // Heads alone, and their product, and the kv heads that they divide.
  EXPECT_EQ(messages("aiter_msa", with(m3(), {{"index_heads", "1"}})).size(),
            3u);
}

std::vector<std::string> product(const char *relation, const char *value,
                                 int64_t a, int64_t b) {
  Result<Contract> contract = Contract::parse(
      std::string(R"({"contract": "c", "title": "C", "about": "A", "limits": [
        {"id": "p", "product": ["index_heads", "query_len"], "relation": ")") +
          relation + R"(", "value": )" + value + R"(, "reason": "r"}]})",
      "c.json");
  if (!contract)
    return {contract.message()};
  std::vector<std::string> result;
  for (const Violation &each :
       evaluate(*contract, {{"index_heads", a}, {"query_len", b}}).violations)
    result.push_back(each.found);
  return result;
}

TEST(Evaluate, ProductsSaturate) {
  EXPECT_THAT(product("at_most", "16", kMax, 2),
              ElementsAre("9223372036854775807 x 2 = more than "
                          "9223372036854775807"));
  EXPECT_THAT(product("at_most", "9223372036854775807", kMax, 2),
              testing::SizeIs(1));
  EXPECT_THAT(product("at_most", "9223372036854775807", kMax, 1), IsEmpty());
  EXPECT_THAT(product("at_least", "9223372036854775807", kMax, 2), IsEmpty());
  EXPECT_THAT(product("at_least", "0", kMax, -2),
              ElementsAre("9223372036854775807 x -2 = less than "
                          "-9223372036854775807"));
  EXPECT_THAT(product("at_most", "0", kMax, -2), IsEmpty());
  EXPECT_THAT(product("at_most", "-9223372036854775807", kMax, -2), IsEmpty());
  EXPECT_THAT(product("equals", "9223372036854775807", kMax, 2),
              testing::SizeIs(1));
  EXPECT_THAT(product("multiple_of", "7", kMax, 7), testing::SizeIs(1));
  EXPECT_THAT(product("between", "[0, 9223372036854775807]", kMax, 3),
              testing::SizeIs(1));
  EXPECT_THAT(product("equals", "0", kMax, 0), IsEmpty());
  EXPECT_THAT(product("equals", "1", -1, -1), IsEmpty());
  EXPECT_THAT(product("multiple_of", "4", 2, 6), IsEmpty());
  EXPECT_THAT(product("multiple_of", "4", 2, 3), ElementsAre("2 x 3 = 6"));
  EXPECT_THAT(product("at_least", "7", 2, 3), ElementsAre("2 x 3 = 6"));
}

TEST(Evaluate, RequirementIsTheMessageWithoutWhatWasFound) {
  const Contract &contract = *find("aiter_msa");
  EXPECT_EQ(requirement(contract, *contract.find("block_size")),
            "contract 'aiter_msa', limit 'block_size': sparse block size, "
            "needed 128 tokens (AITER's kernels are compiled for one block "
            "size)");
  EXPECT_EQ(neededText(*contract.find("kv_heads")),
            "a positive multiple of index heads");
}

} // namespace
