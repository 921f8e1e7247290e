// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs: reproducible, of the shapes asked, and such that a kernel that reads
// what it may not cannot give the right answer by luck.
#include "Inputs.h"
#include "Safetensors.h"
#include "Support.h"

#include "winnow/Runtime/Files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

using namespace winnow;
using namespace winnow::tool;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

TEST(Inputs, RaggedLengthsStartWithTheLongest) {
  const std::vector<int32_t> lengths = raggedLengths(50, 1000, 3);
  EXPECT_EQ(lengths[0], 1000);
  EXPECT_EQ(*std::max_element(lengths.begin(), lengths.end()), 1000);
  EXPECT_GE(*std::min_element(lengths.begin(), lengths.end()), 1);
  EXPECT_GT(std::set<int32_t>(lengths.begin(), lengths.end()).size(), 30u);
  EXPECT_EQ(raggedLengths(50, 1000, 3), lengths);
  EXPECT_NE(raggedLengths(50, 1000, 4), lengths);
  EXPECT_THAT(raggedLengths(3, 0, 1), ElementsAre(0, 0, 0));
  EXPECT_TRUE(raggedLengths(0, 7, 1).empty());
}

TEST(Inputs, TheSeedDecidesEverything) {
  Small small;
  Call first = small.call({32, 9}, 7), second = small.call({32, 9}, 7),
       third = small.call({32, 9}, 8);
  for (size_t i = 0; i < first.arguments.size(); ++i)
    EXPECT_EQ(first.arguments[i].bytes, second.arguments[i].bytes) << i;
  EXPECT_NE(first.arguments[small.indexer.query].bytes,
            third.arguments[small.indexer.query].bytes);
  EXPECT_NE(first.arguments[small.indexer.keys].bytes,
            third.arguments[small.indexer.keys].bytes);
}

TEST(Inputs, TablesNameDistinctPagesWithinReachAndPoisonPastIt) {
  Small small;
  Call call = small.call({32, 0, 5});
  const int64_t pages = call.arguments[small.indexer.keys].extent(0);
  EXPECT_EQ(pages, 8 + 0 + 2 + 3);
  const auto index = call.arguments[small.indexer.indexTable].as<int32_t, 2>();
  const auto attention =
      call.arguments[small.indexer.attnTable].as<int32_t, 2>();
  const int64_t reach[] = {8, 0, 2};
  std::set<int32_t> seen, seenAttention;
  for (int64_t request = 0; request < 3; ++request)
    for (int64_t block = 0; block < 8; ++block) {
      if (block >= reach[request]) {
        EXPECT_EQ(index(request, block), 0x7f7f7f7f);
        EXPECT_EQ(attention(request, block), 0x7f7f7f7f);
        continue;
      }
      EXPECT_GE(index(request, block), 0);
      EXPECT_LT(index(request, block), pages);
      EXPECT_TRUE(seen.insert(index(request, block)).second);
      EXPECT_TRUE(seenAttention.insert(attention(request, block)).second);
    }
  EXPECT_NE(seen, seenAttention);
}

TEST(Inputs, UnnamedPagesAreNaNAndTokensPastTheEndWouldWin) {
  Small small;
  Call call = small.call({30});
  const auto index = call.arguments[small.indexer.indexTable].as<int32_t, 2>();
  const reference::NumberView keys =
      call.arguments[small.indexer.keys].asNumbers();
  const reference::NumberView query =
      call.arguments[small.indexer.query].asNumbers();
  std::set<int32_t> named;
  for (int64_t block = 0; block < 8; ++block)
    named.insert(index(0, block));
  for (int64_t page = 0; page < keys.extents[0]; ++page)
    if (!named.contains(static_cast<int32_t>(page))) {
      EXPECT_TRUE(std::isnan(keys(page, 0, 0))) << page;
    }
  auto dot = [&](int32_t page, int64_t token) {
    float sum = 0.0f;
    for (int64_t d = 0; d < 16; ++d)
      sum += query(1, 0, d) * keys(page, token, d);
    return sum;
  };
  // 30 tokens: the last block holds two, the other two are bait.
  float best = -1e9f;
  for (int64_t block = 0; block < 8; ++block)
    for (int64_t token = 0; token < (block == 7 ? 2 : 4); ++token)
      best = std::max(best, dot(index(0, block), token));
  EXPECT_GT(dot(index(0, 7), 2), 10 * best);
  EXPECT_GT(dot(index(0, 7), 3), 10 * best);
}

TEST(Inputs, OutputsArePoisonedAndHaveGaps) {
  Small small;
  Call call = small.call({3});
  EXPECT_THAT(call.arguments[small.indexer.selection].bytes, Each(kPoison));
  EXPECT_THAT(call.workspace[0].bytes, Each(kPoison));
  EXPECT_EQ(call.arguments[small.indexer.selection].view.stridesText(),
            "[22, 11, 1]");
  EXPECT_EQ(call.arguments[small.indexer.pages].view.strides[0], 14);
}

TEST(Inputs, BoundsAreKept) {
  Small small;
  EXPECT_EQ(randomCall(small.indexer, {33}, 1).message(),
            "request 0 has 33 tokens, 'small' was built for at most 32 "
            "(max_seq_len)");
  EXPECT_EQ(randomCall(small.indexer, {1, 1, 1, 1, 1, 1}, 1).message(),
            "6 requests, 'small' was built for at most 5 (max_requests)");
}

TEST(Inputs, CallsHoldTheManifestsOwnChecks) {
  Small small;
  Call call = small.call({32, 9, 0});
  Result<runtime::Symbols> symbols =
      runtime::bindArguments(small.entry(), call.hostViews());
  ASSERT_TRUE(symbols) << symbols.message();
  EXPECT_EQ(*symbols, call.symbols);
}

class InputFile : public testing::Test {
protected:
  void SetUp() override {
    Result<TemporaryFolder> made = TemporaryFolder::make();
    ASSERT_TRUE(made);
    folder.emplace(std::move(*made));
    path = folder->path() + "/in.safetensors";
    Call call = small.call({32, 9});
    for (size_t i = 0; i < 5; ++i) {
      const HostTensor &tensor = call.arguments[i];
      tensors.push_back({tensor.name,
                         tensor.view.dtype,
                         {tensor.view.extents.begin(),
                          tensor.view.extents.begin() + tensor.view.rank},
                         tensor.bytes});
    }
  }
  SafeTensor &named(const std::string &name) {
    for (SafeTensor &tensor : tensors)
      if (tensor.name == name)
        return tensor;
    ADD_FAILURE() << name;
    return tensors[0];
  }
  Result<Call> read() {
    EXPECT_TRUE(runtime::writeFileAtomically(path, *writeSafetensors(tensors)));
    return callFromFile(small.indexer, path);
  }
  std::string failure() {
    Result<Call> call = read();
    return call ? "no error" : call.message();
  }

  using TemporaryFolder = runtime::TemporaryFolder;
  Small small;
  std::optional<TemporaryFolder> folder;
  std::string path;
  std::vector<SafeTensor> tensors;
};

TEST_F(InputFile, GivesTheSameCall) {
  Result<Call> call = read();
  ASSERT_TRUE(call) << call.message();
  Call made = small.call({32, 9});
  for (size_t i = 0; i < made.arguments.size(); ++i)
    EXPECT_EQ(call->arguments[i].bytes, made.arguments[i].bytes) << i;
}

TEST_F(InputFile, NarrowTablesAreWidened) {
  // Lengths 5 and 0 reach two blocks.
  SafeTensor &lens = named("lens");
  const int32_t lengths[] = {5, 0};
  std::memcpy(lens.bytes.data(), lengths, sizeof lengths);
  const int32_t pages[] = {4, 2, 1, 0};
  for (const char *table : {"index_table", "attn_table"}) {
    named(table).shape = {2, 2};
    named(table).bytes.resize(sizeof pages);
    std::memcpy(named(table).bytes.data(), pages, sizeof pages);
  }
  Result<Call> call = read();
  ASSERT_TRUE(call) << call.message();
  const auto index = call->arguments[small.indexer.indexTable].as<int32_t, 2>();
  EXPECT_EQ(index.extents[1], 8);
  EXPECT_EQ(index(0, 0), 4);
  EXPECT_EQ(index(0, 1), 2);
  EXPECT_EQ(index(1, 1), 0);
  EXPECT_EQ(index(0, 2), 0x7f7f7f7f);
}

TEST_F(InputFile, WrongTensorsAreNamed) {
  const std::vector<SafeTensor> good = tensors;
  named("q").shape[0] = 3;
  named("q").bytes.resize(3 * 2 * 16);
  EXPECT_EQ(failure(), path + ": tensor 'q' has 3 entries in axis 0, wanted 4");
  tensors = good;
  named("index_table").shape = {2, 7};
  named("index_table").bytes.resize(2 * 7 * 4);
  EXPECT_EQ(failure(), path + ": tensor 'index_table' has 7 entries in axis 1, "
                              "wanted at least 8");
  tensors = good;
  named("q").dtype = runtime::DType::F8E5M2;
  EXPECT_EQ(failure(), path + ": tensor 'q' has dtype f8E5M2, wanted f8E4M3FN");
  tensors = good;
  named("q").shape = {64, 2};
  EXPECT_EQ(failure(), path + ": tensor 'q' has 2 axes, wanted 3");
  tensors = good;
  named("keys").name = "kyes";
  EXPECT_EQ(failure(), path + ": tensor 'kyes' is no input of 'small'; its "
                              "inputs: q, keys, index_table, attn_table, lens");
  tensors = good;
  tensors.pop_back();
  EXPECT_EQ(failure(), path + ": no tensor 'lens'; the inputs are: q, keys, "
                              "index_table, attn_table, lens");
  tensors = good;
  const int32_t lengths[] = {33, 1};
  std::memcpy(named("lens").bytes.data(), lengths, sizeof lengths);
  EXPECT_THAT(failure(), HasSubstr("request 0 has 33 tokens"));
}

} // namespace
