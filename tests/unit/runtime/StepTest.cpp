// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What runs once a step: carried by bundles, its shapes held together, kernels
// told of extents; and the bounds of ragged rows.
#include "Sample.h"

#include "winnow/Runtime/Bundle.h"
#include "winnow/Runtime/Launch.h"

#include <gtest/gtest.h>

using namespace winnow;
using namespace winnow::runtime;

namespace {

Entry stepEntry() {
  Entry entry;
  entry.name = "step";
  entry.lowering = "mfma";
  entry.maxSeqLen = 4096;
  entry.maxRequests = 4;
  auto argument = [](const char *name, DType dtype, Access access, int rank) {
    return TensorArgument{name,
                          dtype,
                          access,
                          Role::Step,
                          std::vector<Extent>(rank, Extent::any()),
                          Layout::Rows};
  };
  entry.arguments = {argument("table", DType::I32, Access::Read, 2),
                     argument("rebased_table", DType::I32, Access::Write, 2),
                     argument("new_keys", DType::BF16, Access::Read, 2),
                     argument("new_slots", DType::I32, Access::Read, 1),
                     argument("cache", DType::F8E4M3FN, Access::Write, 3)};
  entry.symbols = {{"table_0", ArgumentAxis{"table", 0}}};
  entry.launches = {{"step_rebase_table",
                     0,
                     {"table_0", 2, 1},
                     {256, 1, 1},
                     0,
                     {tensor("table"),
                      {KernelArgument::Kind::Extent, "table", 1},
                      tensor("rebased_table")}}};
  entry.steps = {{"rebase_table", {"table", "rebased_table"}, 2, 1},
                 {"insert_keys", {"new_keys", "new_slots", "cache"}, 1, 128}};
  return entry;
}

std::vector<TensorView> stepArguments() {
  return {TensorView::dense(0x1000, DType::I32, {3, 7}),
          TensorView::dense(0x2000, DType::I32, {3, 8}),
          TensorView::dense(0x3000, DType::BF16, {5, 128}),
          TensorView::dense(0x4000, DType::I32, {5}),
          TensorView::dense(0x8000, DType::F8E4M3FN, {2, 128, 128})};
}

Bundle bundleOf(Entry entry) {
  Bundle bundle = sampleBundle();
  bundle.entries = {std::move(entry)};
  return bundle;
}

TEST(Steps, BundlesCarryThem) {
  const Bundle bundle = bundleOf(stepEntry());
  Result<std::vector<std::byte>> bytes = writeBundle(bundle);
  ASSERT_TRUE(bytes) << bytes.message();
  Result<Bundle> read = readBundle(*bytes);
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(*read, bundle);
}

TEST(Steps, KernelsAreToldExtents) {
  const Entry entry = stepEntry();
  const std::vector<TensorView> arguments = stepArguments();
  Result<Symbols> symbols = bindArguments(entry, arguments);
  ASSERT_TRUE(symbols) << symbols.message();
  Result<std::vector<ResolvedLaunch>> launches =
      resolveLaunches(entry, *symbols, arguments, {});
  ASSERT_TRUE(launches) << launches.message();
  ASSERT_EQ(launches->size(), 1u);
  EXPECT_EQ((*launches)[0].grid[0], 3u);
  EXPECT_EQ((*launches)[0].arguments[1].value, 7u);
}

TEST(Steps, WhatDoesNotFitNamesBothShapes) {
  std::vector<TensorView> arguments = stepArguments();
  arguments[1] = TensorView::dense(0x2000, DType::I32, {3, 6});
  EXPECT_EQ(bindArguments(stepEntry(), arguments).message(),
            "rebase_table: 'rebased_table' of shape [3, 6] is too small for "
            "'table' of shape [3, 7]");
  arguments = stepArguments();
  arguments[3] = TensorView::dense(0x4000, DType::I32, {6});
  EXPECT_EQ(bindArguments(stepEntry(), arguments).message(),
            "insert_keys: 'new_keys' of shape [5, 128] holds another number of "
            "tokens than 'new_slots' of shape [6]");
}

TEST(Steps, InvalidOnesAreNamed) {
  auto problem = [](auto change) {
    Entry entry = stepEntry();
    change(entry.steps[0]);
    return validate(bundleOf(std::move(entry))).message();
  };
  EXPECT_EQ(problem([](Step &) {}), "");
  EXPECT_EQ(problem([](Step &step) { step.operation = "rebase"; }),
            "entries[0].steps[0].operation: 'rebase', wanted rebase_table, "
            "rebase_slots or insert_keys");
  EXPECT_EQ(problem([](Step &step) { step.operands.pop_back(); }),
            "entries[0].steps[0].operands: 1, wanted 2");
  EXPECT_EQ(problem([](Step &step) { step.operands[1] = "tables"; }),
            "entries[0].steps[0].operands[1]: unknown argument 'tables'");
  EXPECT_EQ(problem([](Step &step) { step.operands[1] = "cache"; }),
            "entries[0].steps[0].operands[1]: 'cache' has 3 axes, wanted 2");
  EXPECT_EQ(problem([](Step &step) { step.sides = 0; }),
            "entries[0].steps[0].sides: 0 is not in [1, 2147483647]");
  EXPECT_EQ(problem([](Step &step) { step.blockSize = 0; }),
            "entries[0].steps[0].block_size: 0 is not in [1, 2147483647]");
}

TEST(RaggedBounds, RowsOverTheBoundAreRefused) {
  Entry entry = sampleEntry();
  entry.symbols[1] = {"rows", ArgumentAxis{"q", 0}};
  entry.arguments[0].shape[0] = Extent::any();
  entry.maxQueryLen = 4;
  entry.maxRows = 4;
  EXPECT_TRUE(bindArguments(entry, sampleArguments()));
  const Bundle bundle = bundleOf(entry);
  Result<std::vector<std::byte>> bytes = writeBundle(bundle);
  ASSERT_TRUE(bytes) << bytes.message();
  EXPECT_EQ(*readBundle(*bytes), bundle);
  entry.maxRows = 3;
  EXPECT_EQ(bindArguments(entry, sampleArguments()).message(),
            "'m3_decode' got 4 rows, it was built for at most 3 (max_rows)");
  entry.maxRows = -1;
  EXPECT_EQ(validate(bundleOf(entry)).message(),
            "entries[0].bounds.max_rows: -1 is not in [0, 2147483647]");
}

} // namespace
