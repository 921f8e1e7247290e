// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contracts of a bundle, answered for a device and a call.
#include "winnow/Runtime/ContractAnswer.h"
#include "Sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace winnow;
using namespace winnow::runtime;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

Entry heldToAiter() {
  Entry entry = sampleEntry();
  entry.contract = contract::find("aiter_msa")->toJson();
  entry.loweringContract = contract::find("winnow_mfma")->toJson();
  entry.facts = {{"platform", std::string("rocm")},
                 {"arch", std::string("gfx950")},
                 {"query_dtype", std::string("f8E4M3FN")},
                 {"key_dtype", std::string("f8E4M3FN")},
                 {"score_reduction", std::string("max")},
                 {"k", int64_t(16)},
                 {"block_size", int64_t(128)},
                 {"head_dim", int64_t(128)},
                 {"index_heads", int64_t(1)},
                 {"query_len", int64_t(2)},
                 {"max_seq_len", int64_t(1048576)},
                 {"emits_page_table", false},
                 {"kv_heads", int64_t(1)}};
  return entry;
}

std::vector<std::string> broken(const contract::Report &report) {
  std::vector<std::string> limits;
  limits.reserve(report.violations.size());
  for (const contract::Violation &violation : report.violations)
    limits.push_back(violation.limit);
  return limits;
}

std::vector<TensorView> tightArguments() {
  std::vector<TensorView> tensors = sampleArguments();
  tensors[2] = TensorView::dense(0x900000, DType::I32, {2, 8192});
  return tensors;
}

TEST(ContractAnswer, BothContractsAnswer) {
  auto answers =
      answerContracts(heldToAiter(), {.arch = "gfx950"}, tightArguments());
  ASSERT_TRUE(answers) << answers.message();
  ASSERT_EQ(answers->size(), 2u);
  EXPECT_EQ((*answers)[0].contract, "aiter_msa");
  EXPECT_EQ((*answers)[1].contract, "winnow_mfma");
  EXPECT_THAT(broken((*answers)[0].report), IsEmpty());
  EXPECT_THAT(broken((*answers)[1].report), IsEmpty());
}

TEST(ContractAnswer, TheDevicesArchitectureReplacesTheBuilds) {
  auto answers = answerContracts(heldToAiter(), {.arch = "gfx942"});
  ASSERT_TRUE(answers) << answers.message();
  ASSERT_THAT(broken((*answers)[0].report), ElementsAre("arch"));
  // The text is the one that the compiler gives.
  contract::Facts facts = heldToAiter().facts;
  facts["arch"] = std::string("gfx942");
  contract::Report compiled =
      contract::evaluate(*contract::find("aiter_msa"), facts);
  EXPECT_EQ((*answers)[0].report.violations[0].message(),
            compiled.violations[0].message());
  EXPECT_THAT(compiled.violations[0].message(), HasSubstr("gfx942"));
}

TEST(ContractAnswer, TensorsStateTheirLayoutAndRows) {
  std::vector<TensorView> tensors = sampleArguments(); // a table of three rows
  tensors[1].strides[0] = 32768;
  auto answers = answerContracts(heldToAiter(), {.arch = "gfx950"}, tensors);
  ASSERT_TRUE(answers) << answers.message();
  EXPECT_THAT(broken((*answers)[0].report),
              ElementsAre("key_layout", "index_table_rows"));
  // Without tensors nothing is known of them.
  answers = answerContracts(heldToAiter(), {.arch = "gfx950"});
  ASSERT_TRUE(answers);
  EXPECT_THAT(broken((*answers)[0].report), IsEmpty());
  EXPECT_FALSE((*answers)[0].report.deferred.empty());
}

TEST(ContractAnswer, ContractsThatCannotBeReadAreErrors) {
  Entry entry = heldToAiter();
  entry.contract = R"({"contract": "mine", "limits": 7})";
  auto answers = answerContracts(entry, {.arch = "gfx950"});
  ASSERT_FALSE(answers);
  EXPECT_THAT(answers.message(), HasSubstr("the bundle's entry m3_decode"));
  entry.contract.clear();
  answers = answerContracts(entry, {.arch = "gfx950"});
  ASSERT_TRUE(answers);
  EXPECT_EQ(answers->size(), 1u);
}

} // namespace
