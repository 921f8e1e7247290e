// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Descriptions that are built from C++: result types are inferred, options have
// their defaults, and mistakes are found by the verifier.
#include "winnow/IR/Winnow.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <string>
#include <vector>

using namespace mlir;
using namespace winnow;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

constexpr int64_t kDynamic = ShapedType::kDynamic;

class BuildTest : public testing::Test {
protected:
  BuildTest() : builder(&context) {
    context.loadDialect<func::FuncDialect, WinnowDialect>();
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        errors.push_back(diagnostic.str());
      return success();
    });
    loc = builder.getUnknownLoc();
    module = ModuleOp::create(loc);
  }

  MemRefType memref(ArrayRef<int64_t> shape, Type element) {
    return MemRefType::get(shape, element);
  }

  /// A function with a body and these arguments; the builder is left inside.
  func::FuncOp function(ArrayRef<Type> arguments) {
    builder.setInsertionPointToEnd(module->getBody());
    auto func = func::FuncOp::create(builder, loc, "f",
                                     builder.getFunctionType(arguments, {}));
    builder.setInsertionPointToStart(func.addEntryBlock());
    return func;
  }

  MLIRContext context;
  OpBuilder builder;
  Location loc = UnknownLoc::get(&context);
  OwningOpRef<ModuleOp> module;
  std::vector<std::string> errors;
};

TEST_F(BuildTest, InfersTypesAndFillsInDefaults) {
  Type i32 = builder.getI32Type();
  Type fp8 = Float8E4M3FNType::get(&context);
  func::FuncOp func = function(
      {memref({kDynamic, 4, 128}, fp8), memref({kDynamic, 64, 128}, fp8),
       memref({kDynamic, kDynamic}, i32), memref({kDynamic}, i32),
       memref({4, kDynamic, 16}, i32), memref({kDynamic, 64}, i32),
       memref({kDynamic}, i32)});
  Block::BlockArgListType args = func.getArguments();

  auto rows = UniformRowsOp::create(builder, loc, args[3], /*query_len=*/2);
  auto score =
      BlockScoreOp::create(builder, loc, args[0], args[1], args[2], rows);
  auto topk = TopKOp::create(builder, loc, score, /*k=*/16);
  auto store = StoreSelectionOp::create(builder, loc, topk, args[4]);
  auto remap =
      RemapPagesOp::create(builder, loc, topk, args[2], args[5], args[6],
                           /*pages_per_block=*/4, /*kv_heads=*/8);
  func::ReturnOp::create(builder, loc);
  EXPECT_TRUE(succeeded(verify(*module)));
  EXPECT_THAT(errors, IsEmpty());

  EXPECT_EQ(rows.getRows().getType(), RowsType::get(&context, 2));
  EXPECT_EQ(score.getScores().getType(), ScoresType::get(&context, 2, 4, 64));
  EXPECT_EQ(topk.getSelection().getType(),
            SelectionType::get(&context, 2, 4, 64, 16));

  EXPECT_EQ(rows.getQueryLen(), 2);
  EXPECT_EQ(score.getReduce(), TokenReduction::Max);
  EXPECT_EQ(score.getInitBlocks(), 0);
  EXPECT_EQ(score.getLocalBlocks(), 0);
  EXPECT_EQ(topk.getK(), 16);
  EXPECT_EQ(topk.getTies(), TieRule::HighestBlock);
  EXPECT_EQ(topk.getOrder(), SelectionOrder::ScoreDescending);
  EXPECT_EQ(store.getLayout(), SelectionLayout::HeadMajor);
  EXPECT_EQ(store.getPad(), -1);
  EXPECT_EQ(remap.getPagesPerBlock(), 4);
  EXPECT_EQ(remap.getKvHeads(), 8);
  EXPECT_EQ(remap.getPad(), 0);
}

TEST_F(BuildTest, KeepsOptionsThatAreGiven) {
  func::FuncOp func = function({ScoresType::get(&context, 1, 1, 128)});
  auto topk = TopKOp::create(builder, loc, func.getArgument(0), /*k=*/8,
                             TieRule::LowestBlock, SelectionOrder::Ascending);
  func::ReturnOp::create(builder, loc);
  EXPECT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(topk.getTies(), TieRule::LowestBlock);
  EXPECT_EQ(topk.getOrder(), SelectionOrder::Ascending);
  topk.setK(9);
  // The result's type says 8 still.
  EXPECT_TRUE(failed(verify(*module)));
}

TEST_F(BuildTest, FindsOptionsThatWereSetOutOfRange) {
  func::FuncOp func = function({memref({kDynamic}, builder.getI32Type())});
  auto rows =
      UniformRowsOp::create(builder, loc, func.getArgument(0), /*query_len=*/1);
  func::ReturnOp::create(builder, loc);
  rows.setQueryLen(0);
  EXPECT_TRUE(failed(verify(*module)));
  EXPECT_THAT(errors,
              ElementsAre("option 'query_len' of 'winnow.uniform_rows' has to "
                          "be an integer from 1 to 65536, found 0"));
}

TEST_F(BuildTest, ChecksTheFactsOfTypes) {
  auto emit = [&] { return emitError(loc); };
  auto selection = [&](int64_t heads, int64_t k) {
    return SelectionType::getChecked(emit, &context, int64_t(1), heads,
                                     int64_t(65536), k);
  };
  EXPECT_TRUE(selection(128, 2048));
  EXPECT_THAT(errors, IsEmpty());
  EXPECT_FALSE(selection(129, 2048));
  EXPECT_FALSE(RowsType::getChecked(emit, &context, int64_t(-1)));
  EXPECT_THAT(errors,
              ElementsAre("option 'heads' of '!winnow.selection' has to be an "
                          "integer from 1 to 128, found 129",
                          "option 'query_len' of '!winnow.rows' has to be an "
                          "integer from 1 to 65536, or 'ragged' alone, "
                          "found -1"));
}

TEST_F(BuildTest, ListsOptionsInTheOrderOfPrinting) {
  std::vector<std::string> names;
  for (const OptionSpec &spec : TopKOp::getOptionSpecs())
    names.push_back(spec.name.str());
  EXPECT_THAT(names, ElementsAre("k", "ties", "order"));
  const OptionSpec &ties = TopKOp::getOptionSpecs()[1];
  EXPECT_EQ(ties.describe(), "one of highest_block, lowest_block");
  EXPECT_TRUE(ties.accepts(TieRuleAttr::get(&context, TieRule::LowestBlock)));
  EXPECT_FALSE(ties.accepts(builder.getI64IntegerAttr(1)));
  EXPECT_FALSE(ties.accepts(
      SelectionOrderAttr::get(&context, SelectionOrder::Ascending)));
}

} // namespace
