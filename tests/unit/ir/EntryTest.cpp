// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tools read from entry functions, and questions about memrefs.
#include "winnow/IR/Winnow.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <string>

using namespace mlir;
using namespace winnow;

namespace {

class EntryTest : public testing::Test {
protected:
  EntryTest() { context.loadDialect<func::FuncDialect, WinnowDialect>(); }

  func::FuncOp parse(StringRef attributes) {
    std::string text =
        ("func.func @f(%lens: memref<?xi32>, %s: memref<1x?x16xi32>,\n"
         "  %q: memref<?x1x64xbf16>, %k: memref<?x128x64xbf16>,\n"
         "  %t: memref<?x?xi32>) attributes {" +
         attributes +
         "} {\n"
         "  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>\n"
         "  %scores = winnow.block_score %q, %k[%t] on %rows\n"
         "    : memref<?x1x64xbf16>, memref<?x128x64xbf16>,\n"
         "      memref<?x?xi32>, !winnow.rows<query_len = 1>\n"
         "  %sel = winnow.topk %scores {k = 16}\n"
         "    : !winnow.scores<query_len = 1, heads = 1, block_size = 128>\n"
         "  winnow.store_selection %sel, %s\n"
         "    : !winnow.selection<query_len = 1, heads = 1, block_size = 128,\n"
         "                        k = 16>, memref<1x?x16xi32>\n"
         "  return\n"
         "}\n")
            .str();
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    return module ? cast<func::FuncOp>(module->getBody()->front())
                  : func::FuncOp();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(EntryTest, ReadsWhatAnEntrySays) {
  func::FuncOp func = parse(
      R"(winnow.entry, winnow.contract = "aiter_msa",
         winnow.bounds = {max_seq_len = 2147483647, max_requests = 3},
         winnow.attention = {kv_heads = 4, page_size = 16})");
  ASSERT_TRUE(func);
  EXPECT_TRUE(isEntry(func));
  std::optional<EntryBounds> bounds = getEntryBounds(func);
  ASSERT_TRUE(bounds);
  EXPECT_EQ(bounds->maxSeqLen, 2147483647);
  EXPECT_EQ(bounds->maxRequests, 3);
  std::optional<AttentionFacts> attention = getAttention(func);
  ASSERT_TRUE(attention);
  EXPECT_EQ(attention->kvHeads, 4);
  EXPECT_EQ(attention->pageSize, 16);
  EXPECT_EQ(getContractName(func), "aiter_msa");
}

TEST_F(EntryTest, KnowsWhatAFunctionDoesNotSay) {
  func::FuncOp func = parse("");
  ASSERT_TRUE(func);
  EXPECT_FALSE(isEntry(func));
  EXPECT_FALSE(getEntryBounds(func));
  EXPECT_FALSE(getAttention(func));
  EXPECT_FALSE(getContractName(func));
}

TEST_F(EntryTest, AsksForNamesThatSourceCanUse) {
  EXPECT_TRUE(isSourceName("m3_decode"));
  EXPECT_TRUE(isSourceName("_0"));
  EXPECT_FALSE(isSourceName(""));
  EXPECT_FALSE(isSourceName("3m"));
  EXPECT_FALSE(isSourceName("m3-decode"));
  EXPECT_FALSE(isSourceName("m3.decode"));
  EXPECT_FALSE(isSourceName("d\xc3\xa9"
                            "code"));
}

TEST_F(EntryTest, KnowsItsContracts) {
  EXPECT_TRUE(isKnownContract("aiter_msa"));
  EXPECT_FALSE(isKnownContract("aiter"));
  EXPECT_FALSE(isKnownContract(""));
}

TEST_F(EntryTest, FindsRowsThatOverlap) {
  auto overlap = [&](StringRef text) -> std::optional<OverlappingAxis> {
    auto type = dyn_cast_if_present<MemRefType>(parseType(text, &context));
    EXPECT_TRUE(type) << text.str();
    return type ? findOverlappingAxis(type) : std::nullopt;
  };
  EXPECT_FALSE(overlap("memref<4x?x16xi32>"));
  EXPECT_FALSE(overlap("memref<4x8x16xi32, strided<[16, 64, 1]>>"));
  EXPECT_FALSE(overlap("memref<4x8x16xi32, strided<[?, ?, 1]>>"));
  EXPECT_FALSE(overlap("memref<4x8x?xi32, strided<[1, 1, 1]>>"));
  // A stride along one single row is never used.
  EXPECT_FALSE(overlap("memref<1x8x16xi32, strided<[0, 16, 1]>>"));
  std::optional<OverlappingAxis> found =
      overlap("memref<4x8x16xi32, strided<[128, 15, 1]>>");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->axis, 1u);
  EXPECT_EQ(found->stride, 15);
  EXPECT_EQ(found->rowExtent, 16);
}

} // namespace
