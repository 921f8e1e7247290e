// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A small indexer, made without the compiler: two heads, two rows a request,
// blocks of four tokens, three of eight kept, pages of two tokens, four kv
// heads.
#ifndef WINNOW_TESTS_UNIT_TOOL_SUPPORT_H
#define WINNOW_TESTS_UNIT_TOOL_SUPPORT_H

#include "HostCall.h"
#include "Inputs.h"

#include <gtest/gtest.h>

namespace winnow::tool {

inline runtime::Entry smallEntry() {
  using namespace runtime;
  auto mul = [](Expression a, Expression b) {
    return Expression(Expression::Kind::Mul, std::move(a), std::move(b));
  };
  auto exactly = [](Expression value) {
    return Extent::exactly(std::move(value));
  };
  const Extent requests = Extent::atLeast("requests");
  Entry entry;
  entry.name = "small";
  entry.lowering = "mfma";
  entry.facts = {{"index_heads", int64_t(2)},
                 {"head_dim", int64_t(16)},
                 {"block_size", int64_t(4)},
                 {"query_len", int64_t(2)},
                 {"k", int64_t(3)},
                 {"init_blocks", int64_t(0)},
                 {"local_blocks", int64_t(0)},
                 {"score_reduction", std::string("max")},
                 {"ties", std::string("highest_block")},
                 {"order", std::string("score_descending")},
                 {"pages_per_block", int64_t(2)},
                 {"kv_heads", int64_t(4)}};
  entry.maxSeqLen = 32;
  entry.maxRequests = 5;
  entry.symbols = {{"requests", ArgumentAxis{"lens", 0}},
                   {"rows", mul("requests", 2)}};
  entry.arguments = {{"q",
                      DType::F8E4M3FN,
                      Access::Read,
                      Role::Query,
                      {exactly("rows"), exactly(2), exactly(16)},
                      Layout::Contiguous},
                     {"keys",
                      DType::F8E4M3FN,
                      Access::Read,
                      Role::Keys,
                      {Extent::any(), exactly(4), exactly(16)},
                      Layout::Contiguous},
                     {"index_table",
                      DType::I32,
                      Access::Read,
                      Role::IndexTable,
                      {requests, Extent::atLeast(8)},
                      Layout::Rows},
                     {"attn_table",
                      DType::I32,
                      Access::Read,
                      Role::AttnTable,
                      {requests, Extent::atLeast(8)},
                      Layout::Rows},
                     {"lens",
                      DType::I32,
                      Access::Read,
                      Role::SeqLens,
                      {exactly("requests")},
                      Layout::Contiguous},
                     {"idx",
                      DType::I32,
                      Access::Write,
                      Role::Selection,
                      {exactly(2), exactly("rows"), exactly(3)},
                      Layout::Rows},
                     {"pages",
                      DType::I32,
                      Access::Write,
                      Role::Pages,
                      {Extent::atLeast(mul("rows", 4)), exactly(6)},
                      Layout::Rows},
                     {"ctx",
                      DType::I32,
                      Access::Write,
                      Role::Contexts,
                      {Extent::atLeast(mul("rows", 4))},
                      Layout::Contiguous}};
  entry.workspace = {{"score", DType::F32, {2, "rows", 64}}};
  entry.launches = {{"small_score",
                     0,
                     {1, "requests", 1},
                     {64, 1, 1},
                     0,
                     {{KernelArgument::Kind::Tensor, "q", 0},
                      {KernelArgument::Kind::Stride, "score", 1}}}};
  return entry;
}

inline runtime::Bundle smallBundle() {
  runtime::Bundle bundle;
  bundle.generator = "winnow test";
  bundle.entries = {smallEntry()};
  bundle.sources = {{"small.hip", "mfma", {"gfx950"}, "// nothing\n"}};
  return bundle;
}

/// The entry with its indexer; neither moves once made.
struct Small {
  runtime::Bundle bundle = smallBundle();
  Indexer indexer;

  Small() { describe(); }
  Small(const Small &) = delete;
  runtime::Entry &entry() { return bundle.entries[0]; }
  void describe() {
    Result<Indexer> described = Indexer::of(bundle.entries[0]);
    EXPECT_TRUE(described) << (described ? "" : described.message());
    if (described)
      indexer = *described;
  }
  Call call(const std::vector<int32_t> &lengths, uint64_t seed = 1) {
    Result<Call> made = randomCall(indexer, lengths, seed);
    EXPECT_TRUE(made) << (made ? "" : made.message());
    return made ? std::move(*made) : Call();
  }
};

} // namespace winnow::tool

#endif // WINNOW_TESTS_UNIT_TOOL_SUPPORT_H
