// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random facts against the limits written out once more by hand, so that the
// evaluator is held to something that is not the evaluator.
#include "winnow/Contract/Evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

using namespace winnow;
using namespace winnow::contract;

namespace {

struct Shape {
  int64_t k, block, dim, heads, query, tokens, world, kv, pages, attentionPage;
  bool table;
  std::string platform, arch, queryType, keyType, reduce, queryLayout,
      keyLayout, tableType;

  Facts facts() const {
    return {{"k", k},
            {"block_size", block},
            {"head_dim", dim},
            {"index_heads", heads},
            {"query_len", query},
            {"ragged", false},
            {"max_seq_len", tokens},
            {"shard_world", world},
            {"kv_heads", kv},
            {"pages_per_block", pages},
            {"attention_page_tokens", attentionPage},
            {"emits_page_table", table},
            {"platform", platform},
            {"arch", arch},
            {"query_dtype", queryType},
            {"key_dtype", keyType},
            {"score_reduction", reduce},
            {"query_layout", queryLayout},
            {"key_layout", keyLayout},
            {"table_dtype", tableType}};
  }

  int64_t blocks() const { return (tokens + block - 1) / block; }

  std::set<std::string> aiter() const {
    std::set<std::string> broken;
    auto need = [&](bool met, const char *limit) {
      if (!met)
        broken.insert(limit);
    };
    need(platform == "rocm", "platform");
    need(arch == "gfx950", "arch");
    need(queryType == "f8E4M3FN", "query_dtype");
    need(keyType == "f8E4M3FN", "key_dtype");
    need(reduce == "max", "score_reduction");
    need(k == 16, "k");
    need(block == 128, "block_size");
    need(dim == 128, "head_dim");
    need(heads <= 16, "index_heads");
    need(heads * query <= 16, "columns");
    need(blocks() <= 8192, "max_blocks");
    if (table) {
      need(kv % heads == 0, "kv_heads");
      need(block / pages == 16, "page_numbering");
    } else {
      need(kv == 1, "kv_heads_without_table");
    }
    need(attentionPage == 16, "attention_pairing");
    need(queryLayout == "contiguous", "query_layout");
    need(keyLayout == "contiguous", "key_layout");
    need(tableType == "i32", "table_dtype");
    return broken;
  }

  std::set<std::string> mfma() const {
    std::set<std::string> broken = aiter();
    // The MFMA kernels take the other type that is drawn for queries.
    for (const char *other :
         {"query_dtype", "k", "block_size", "max_blocks", "page_numbering",
          "kv_heads_without_table", "attention_pairing"})
      broken.erase(other);
    if (k < 1 || k > 64)
      broken.insert("k");
    if (block != 32 && block != 64 && block != 128 && block != 256)
      broken.insert("block_size");
    broken.erase("arch"); // of either that is drawn there are MFMAs
    if (broken.erase("columns"))
      broken.insert("queries");
    if ((blocks() + world - 1) / world > 32768)
      broken.insert("max_blocks");
    if (table && block % pages != 0)
      broken.insert("pages_per_block");
    return broken;
  }
};

TEST(Random, TheEvaluatorSaysWhatTheLimitsSay) {
  std::mt19937 random(20);
  auto pick = [&](auto... values) {
    std::common_type_t<decltype(values)...> all[] = {values...};
    return all[random() % sizeof...(values)];
  };
  auto mostly = [&](const char *usual, const char *rare) {
    return std::string(random() % 8 ? usual : rare);
  };
  int met = 0, metMfma = 0;
  for (int i = 0; i < 20000; ++i) {
    Shape shape;
    shape.k = pick(1, 8, 16, 16, 16, 17, 64, 65);
    shape.block = pick(16, 32, 64, 128, 128, 128, 256, 512);
    shape.dim = random() % 4 ? 128 : pick(64, 127, 256);
    shape.heads = pick(1, 1, 2, 3, 4, 8, 16, 17);
    shape.query = pick(1, 1, 2, 4, 5, 16, 17);
    shape.tokens = pick(1, 127, 128, 4096, 131072, 1048576, 1048577, 16777217);
    shape.world = pick(1, 1, 2, 16, 17);
    shape.kv = pick(1, 2, 3, 4, 8, 16, 17, 32);
    shape.pages = pick(1, 2, 4, 7, 8, 8, 16);
    shape.attentionPage = pick(16, 16, 16, 1, 64);
    shape.table = random() % 4 != 0;
    shape.platform = mostly("rocm", "cuda");
    shape.arch = mostly("gfx950", "gfx942");
    shape.queryType = mostly("f8E4M3FN", "bf16");
    shape.keyType = mostly("f8E4M3FN", "f8E5M2");
    shape.reduce = mostly("max", "sum");
    shape.queryLayout = mostly("contiguous", "strided");
    shape.keyLayout = mostly("contiguous", "strided");
    shape.tableType = mostly("i32", "i64");

    auto broken = [&](const char *contract) {
      std::set<std::string> result;
      for (const Violation &each :
           evaluate(*find(contract), shape.facts()).violations)
        result.insert(each.limit);
      return result;
    };
    std::set<std::string> aiter = broken("aiter_msa");
    std::set<std::string> mfma = broken("winnow_mfma");
    ASSERT_EQ(aiter, shape.aiter()) << factsToJson(shape.facts());
    ASSERT_EQ(mfma, shape.mfma()) << factsToJson(shape.facts());
    // Where AITER's contract is met the lowering accepts.
    ASSERT_TRUE(!aiter.empty() || mfma.empty()) << factsToJson(shape.facts());
    met += aiter.empty();
    metMfma += mfma.empty();
  }
  // The draw is no use if one side never happens.
  EXPECT_GT(met, 5);
  EXPECT_GT(metMfma, 100);
}

TEST(Random, AnyFactsAtAllGetAnAnswer) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 3000; ++i) {
    Facts facts;
    for (const FactInfo &fact : vocabulary()) {
      switch (random() % 5) {
      case 0:
        break;
      case 1:
        facts[fact.name] = int64_t(random());
        break;
      case 2:
        facts[fact.name] = int64_t(random() % 5) - 2;
        break;
      case 3:
        facts[fact.name] = random() % 2 == 0;
        break;
      default:
        facts[fact.name] = std::string(random() % 4, char(random()));
      }
    }
    for (const std::string &name : names()) {
      Report report = evaluate(*find(name), facts);
      EXPECT_LE(report.violations.size() + report.deferred.size(),
                find(name)->limits().size());
      for (const Violation &each : report.violations)
        EXPECT_NE(each.message().find(each.found), std::string::npos);
    }
  }
}

} // namespace
