// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler's passes and the runtime cannot disagree: for every limit of
// every contract, a description is written from facts that meet it, lie on its
// edges or break it; the passes have to report exactly what the evaluator says
// of a manifest that carries the same facts and contract as JSON.
#include "Assignments.h"
#include "Describe.h"

#include "winnow/Codegen/Facts.h"
#include "winnow/Codegen/Lowerings.h"
#include "winnow/Codegen/Passes.h"
#include "winnow/Contract/Evaluate.h"
#include "winnow/IR/Winnow.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace mlir;
using namespace winnow;
using contract::Contract;
using contract::Facts;
using contract::Limit;

namespace {

class PassAgreement : public testing::Test {
protected:
  PassAgreement() {
    context.loadDialect<func::FuncDialect, WinnowDialect>();
    // Errors as texts; the reasons of a refused lowering are its notes.
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      said.push_back(diagnostic.str());
      for (Diagnostic &note : diagnostic.getNotes())
        notes.push_back(note.str());
    });
  }

  OwningOpRef<ModuleOp> parse(const std::string &text) {
    said.clear();
    notes.clear();
    return parseSourceString<ModuleOp>(text, ParserConfig(&context));
  }

  /// Runs one pass and returns whether it failed.
  bool refuses(ModuleOp module, std::unique_ptr<Pass> pass) {
    said.clear();
    notes.clear();
    PassManager manager(&context);
    manager.addPass(std::move(pass));
    return failed(manager.run(module));
  }

  MLIRContext context;
  std::vector<std::string> said, notes;
};

/// What the runtime says: contract and facts read back from a bundle's JSON.
std::vector<std::string> runtimeSays(const Contract &contract,
                                     const Facts &facts) {
  Result<Contract> limits = Contract::parse(contract.toJson(), "the bundle");
  Result<Facts> carried = contract::factsFromJson(contract::factsToJson(facts));
  EXPECT_TRUE(limits) << limits.message();
  EXPECT_TRUE(carried) << carried.message();
  std::vector<std::string> result;
  if (limits && carried)
    for (const contract::Violation &each :
         contract::evaluate(*limits, *carried).violations)
      result.push_back(each.message());
  return result;
}

/// The target is an option of the passes: an architecture of the platform that
/// the facts ask for.
std::string archOf(const Facts &facts) {
  std::string platform = contract::valueText(facts.at("platform"));
  return platform == "cuda" ? "sm_90" : contract::valueText(facts.at("arch"));
}

/// Whether the description said what was asked of it, as far as `limit` reads.
bool expresses(const Facts &collected, const Facts &asked, const Limit &limit) {
  std::vector<std::string> names = limit.facts;
  if (!limit.other.empty())
    names.push_back(limit.other);
  for (const auto &[name, value] : limit.when)
    names.push_back(name);
  return std::all_of(names.begin(), names.end(), [&](const std::string &name) {
    auto a = collected.find(name), b = asked.find(name);
    return a != collected.end() && b != asked.end() && a->second == b->second;
  });
}

/// What the dialect ties together follows the facts that `limit` reads, so that
/// a description can break that limit alone.
Facts tied(Facts facts, const Limit &limit) {
  auto reads = [&](const char *name) {
    return std::find(limit.facts.begin(), limit.facts.end(), name) !=
           limit.facts.end();
  };
  auto number = [&](const char *name) {
    return std::get<int64_t>(facts.at(name));
  };
  if (reads("key_dtype"))
    facts["query_dtype"] = facts["key_dtype"];
  else
    facts["key_dtype"] = facts["query_dtype"];
  if (!reads("head_dim") && number("head_dim") % 8 != 0)
    facts["head_dim"] = int64_t(8);
  if (!reads("kv_heads"))
    facts["kv_heads"] = facts["index_heads"];
  if (!reads("pages_per_block") && limit.blamed != "pages_per_block" &&
      number("block_size") % number("pages_per_block") != 0)
    facts["pages_per_block"] = int64_t(1);
  // The stride of a single row is never used: two of them show it.
  if (reads("query_layout"))
    for (const char *rows :
         {"seq_lens_rows", "index_table_rows", "attention_table_rows"})
      facts[rows] = int64_t(2);
  facts["query_rows"] = number("seq_lens_rows") * number("query_len");
  if (!reads("max_requests"))
    facts["max_requests"] = number("seq_lens_rows");
  facts["max_rows"] = number("query_rows");
  facts["shard_rank"] = int64_t(0);
  return facts;
}

/// Whether only an entry that merges candidates states what `limit` reads.
bool isOfMerges(const Limit &limit) {
  return limit.operations == std::vector<std::string>{"merge_candidates"};
}

TEST_F(PassAgreement, PassAndRuntimeSayTheSame) {
  std::set<std::string> broken, all;
  for (const std::string &name : contract::names()) {
    const Contract &contract = *contract::find(name);
    for (const Limit &limit : contract.limits()) {
      std::string id = name + "." + limit.id;
      all.insert(id);
      auto check = [&](const Facts &assigned, bool breaks) {
        Facts facts = contract::withDerived(tied(assigned, limit));
        std::string text = isOfMerges(limit)
                               ? contract::test::describeMerge(facts, name)
                               : contract::test::describe(facts, name);
        OwningOpRef<ModuleOp> module = parse(text);
        if (!module) // the dialect refuses it before any contract is asked
          return false;
        auto entry = *module->getOps<func::FuncOp>().begin();
        std::string arch = archOf(facts);
        auto located = collectFacts(entry, arch);
        EXPECT_EQ(located.size(), 1u) << text;
        if (!expresses(located[0].facts, facts, limit))
          return false;

        std::vector<std::string> expected =
            runtimeSays(contract, located[0].facts);
        bool reported = std::any_of(
            expected.begin(), expected.end(), [&](const std::string &message) {
              return message.find("limit '" + limit.id + "'") !=
                     std::string::npos;
            });
        EXPECT_EQ(reported, breaks) << id << "\n" << text;
        bool refused =
            refuses(*module, createVerifyContract(VerifyContractOptions{arch}));
        EXPECT_EQ(refused, !expected.empty()) << text;
        EXPECT_EQ(said, expected) << text;
        return true;
      };
      EXPECT_TRUE(check(contract::test::meeting(contract, limit), false) ||
                  limit.id == "score_layout")
          << id << ": no description can meet it: "
          << (said.empty() ? "" : said.front());
      for (const Facts &facts : contract::test::onEdge(contract, limit))
        check(facts, false);
      for (const Facts &facts : contract::test::breaking(contract, limit))
        if (check(facts, true))
          broken.insert(id);
    }
  }
  // The rest is for the runtime alone: the dialect refuses such a description
  // (a table of i64, kv heads that the index heads do not divide, nearly all
  // that the generic lowering refuses), or has no word for it (the plan's own
  // score buffer).
  EXPECT_GE(broken.size() * 2, all.size());
}

/// `'mfma' refuses 'winnow.topk': ` off a note, if it is one of this lowering.
std::optional<std::string> reasonIn(StringRef note, StringRef lowering) {
  if (!note.consume_front(("'" + lowering + "' refuses '").str()))
    return std::nullopt;
  return note.split("': ").second.str();
}

TEST_F(PassAgreement, SelectLoweringRefusesInTheSameWords) {
  for (const Lowering &lowering : lowerings()) {
    // The descriptions here have these operations.
    const Contract contract =
        contract::find(lowering.contract.str())
            ->about({"block_score", "topk", "store_selection", "remap_pages"});
    size_t refusals = 0;
    for (const Limit &limit : contract.limits()) {
      std::vector<Facts> all = contract::test::breaking(contract, limit);
      all.push_back(contract::test::meeting(contract, limit));
      for (const Facts &facts : all) {
        Facts whole = contract::withDerived(tied(facts, limit));
        // What the attention reads is what the entry emits.
        whole["attention_kv_heads"] = whole["kv_heads"];
        whole["attention_page_tokens"] =
            whole["emits_page_table"] == contract::Value(true)
                ? whole["page_tokens"]
                : whole["block_size"];
        std::string text =
            contract::test::describe(whole, lowering.contract.str());
        OwningOpRef<ModuleOp> module = parse(text);
        if (!module)
          continue;
        auto entry = *module->getOps<func::FuncOp>().begin();
        std::string arch = archOf(facts);
        Facts collected = collectFacts(entry, arch)[0].facts;
        std::set<std::string> expected, found;
        for (const std::string &message : runtimeSays(contract, collected))
          expected.insert(message);
        auto isMet = [&](const char *name) {
          return runtimeSays(*contract::find(name), collected).empty();
        };
        // Either may take what the other refuses.
        bool taken = isMet("winnow_program") &&
                     llvm::any_of(lowerings(), [&](const Lowering &each) {
                       return isMet(each.contract.data());
                     });
        bool refused =
            refuses(*module, createSelectLowering(SelectLoweringOptions{
                                 arch, lowering.name.str()}));
        EXPECT_EQ(refused, !taken) << text;
        for (const std::string &note : notes)
          if (auto reason = reasonIn(note, lowering.name))
            found.insert(*reason);
        module->walk([&](Operation *op) {
          bool ours = isa_and_present<WinnowDialect>(op->getDialect());
          // All or nothing: an entry that is refused is left as it was.
          EXPECT_EQ(op->hasAttr(kLoweringAttr), ours && !refused);
          auto lists = op->getAttrOfType<DictionaryAttr>(kRefusalsAttr);
          auto reasons =
              lists ? lists.getAs<ArrayAttr>(lowering.name) : ArrayAttr();
          for (Attribute reason :
               reasons ? reasons.getValue() : ArrayRef<Attribute>())
            if (StringRef said = cast<StringAttr>(reason).getValue();
                !said.starts_with("shares a kernel"))
              found.insert(said.str());
        });
        // An operation that another lowering takes has no notes: its reasons
        // are then on the operation, which a refused entry does not show.
        if (!refused || lowering.name == "generic") {
          EXPECT_EQ(found, expected) << text;
        }
        refusals += !found.empty();
      }
    }
    // The generic lowering takes nearly all that the dialect has words for.
    EXPECT_GT(refusals,
              lowering.name == "generic" ? 3 : contract.limits().size() / 2);
  }
}

TEST_F(PassAgreement, FactsOfEachIndexer) {
  // One page table, one selection without, one score without; and an entry with
  // none of them.
  OwningOpRef<ModuleOp> module = parse(R"(
    func.func @three(%q: memref<8x2x128xf8E4M3FN>, %keys: memref<?x64x128xf8E4M3FN>,
                     %table: memref<?x?xi32>, %attn: memref<?x?xi32>,
                     %lens: memref<?xi32>, %pages: memref<?x?xi32>,
                     %ctx: memref<?xi32>) {
      %rows = winnow.uniform_rows %lens {query_len = 2} : memref<?xi32>
      %a = winnow.block_score %q, %keys[%table] on %rows {local_blocks = 3}
        : memref<8x2x128xf8E4M3FN>, memref<?x64x128xf8E4M3FN>, memref<?x?xi32>,
          !winnow.rows<query_len = 2>
      %b = winnow.block_score %q, %keys[%table] on %rows {reduce = mean}
        : memref<8x2x128xf8E4M3FN>, memref<?x64x128xf8E4M3FN>, memref<?x?xi32>,
          !winnow.rows<query_len = 2>
      %c = winnow.topk %a {k = 5} : !winnow.scores<query_len = 2, heads = 2, block_size = 64>
      %d = winnow.topk %a {k = 6} : !winnow.scores<query_len = 2, heads = 2, block_size = 64>
      winnow.remap_pages %d via %attn into %pages, %ctx {pages_per_block = 4, kv_heads = 4}
        : !winnow.selection<query_len = 2, heads = 2, block_size = 64, k = 6>,
          memref<?x?xi32>, memref<?x?xi32>, memref<?xi32>
      return
    }
    func.func @none(%lens: memref<?xi32>) { return })");
  ASSERT_TRUE(module) << said.front();
  auto functions = module->getOps<func::FuncOp>();
  func::FuncOp three = *functions.begin(), none = *std::next(functions.begin());
  auto all = collectFacts(three, "gfx950");
  ASSERT_EQ(all.size(), 3u);
  Facts score = all[0].facts, kept = all[1].facts, table = all[2].facts;
  auto number = [](int64_t value) { return contract::Value(value); };
  EXPECT_EQ(score["score_reduction"], contract::Value("mean"));
  EXPECT_EQ(score.count("k"), 0u);
  EXPECT_EQ(score["emits_page_table"], contract::Value(false));
  EXPECT_EQ(kept["k"], number(5));
  EXPECT_EQ(kept["local_blocks"], number(3));
  EXPECT_EQ(kept.count("kv_heads"), 0u);
  EXPECT_EQ(kept["emits_page_table"], contract::Value(false));
  EXPECT_EQ(table["k"], number(6));
  EXPECT_EQ(table["emits_page_table"], contract::Value(true));
  EXPECT_EQ(table["kv_heads"], number(4));
  EXPECT_EQ(table["page_tokens"], number(16));
  EXPECT_EQ(table["query_rows"], number(8));
  EXPECT_EQ(table["requests"], number(4));
  EXPECT_EQ(table.count("seq_lens_rows"), 0u);
  EXPECT_EQ(table.count("max_blocks"), 0u); // no bounds
  EXPECT_EQ(table["platform"], contract::Value("rocm"));
  EXPECT_EQ(all[2].placeOf("k"), three.getBody()
                                     .front()
                                     .getOperations()
                                     .begin()
                                     ->getNextNode()
                                     ->getNextNode()
                                     ->getNextNode()
                                     ->getNextNode()
                                     ->getLoc());
  EXPECT_EQ(all[2].placeOf("index_heads"), three.getArgument(0).getLoc());
  EXPECT_EQ(all[2].placeOf("max_blocks"), three.getLoc());

  auto empty = collectFacts(none, "");
  ASSERT_EQ(empty.size(), 1u);
  EXPECT_TRUE(empty[0].facts.empty());
  EXPECT_EQ(collectFacts(none, "x86")[0].facts,
            (Facts{{"arch", "x86"}})); // of no platform that is known
}

/// Every fact that the compiler collects is one of facts.json, of its kind.
TEST_F(PassAgreement, CollectedFactsAreInTheVocabulary) {
  const Contract &contract = *contract::find("aiter_msa");
  // Ragged rows have no query length; a rank is below its world.
  Facts asked = contract::test::meeting(contract, contract.limits()[0]);
  asked["ragged"] = false;
  asked["shard_rank"] = int64_t(0);
  asked["rank_candidates"] = asked["k"]; // at least as many
  OwningOpRef<ModuleOp> module =
      parse(contract::test::describe(asked, "aiter_msa"));
  ASSERT_TRUE(module);
  auto entry = *module->getOps<func::FuncOp>().begin();
  Facts facts = collectFacts(entry, "gfx950")[0].facts;
  // What only a merge of candidates has comes from one.
  OwningOpRef<ModuleOp> merge =
      parse(contract::test::describeMerge(asked, "winnow_generic"));
  ASSERT_TRUE(merge);
  facts.merge(
      collectFacts(*merge->getOps<func::FuncOp>().begin(), "gfx950")[0].facts);
  for (const auto &[name, value] : facts) {
    const contract::FactInfo *info = contract::findFact(name);
    ASSERT_NE(info, nullptr) << name;
    EXPECT_EQ(value.index(), size_t(info->kind)) << name;
  }
  for (const contract::FactInfo &info : contract::vocabulary())
    EXPECT_EQ(facts.count(info.name), 1u) << info.name << " is never collected";
}

} // namespace
