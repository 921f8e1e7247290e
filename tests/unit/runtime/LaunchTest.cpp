// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Workspace and kernarg bytes of a call, worked by hand.
#include "Sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace winnow;
using namespace winnow::runtime;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

struct Call {
  Entry entry = sampleEntry();
  std::vector<TensorView> arguments = sampleArguments();
  Symbols symbols = {{"requests", 2}, {"rows", 4}};
  std::vector<TensorView> workspace;

  Call() {
    Result<std::vector<TensorView>> sized = workspaceTensors(entry, symbols);
    EXPECT_TRUE(sized);
    workspace = *sized;
    workspace[0].address = 0x7f0000001000;
  }
  Result<std::vector<ResolvedLaunch>> resolve() {
    return resolveLaunches(entry, symbols, arguments, workspace);
  }
};

TEST(Launch, SizesTheWorkspace) {
  Call call;
  ASSERT_EQ(call.workspace.size(), 1u);
  EXPECT_EQ(call.workspace[0].shapeText(), "[1, 4, 8192]");
  EXPECT_EQ(call.workspace[0].stridesText(), "[32768, 8192, 1]");
  EXPECT_EQ(*byteSpan(call.workspace[0]), 131072u);
}

TEST(Launch, WorkspaceErrors) {
  Call call;
  call.entry.workspace[0].shape[2] = mul("rows", INT64_MAX);
  EXPECT_THAT(workspaceTensors(call.entry, call.symbols).message(),
              HasSubstr("workspace 'score': (rows * 9223372036854775807): does "
                        "not fit 64 bits with 4"));
  call.entry.workspace[0].shape[2] = INT64_MAX / 4;
  EXPECT_THAT(workspaceTensors(call.entry, call.symbols).message(),
              HasSubstr("workspace 'score': shape [1, 4, 2305843009213693951] "
                        "does not fit 64 bits"));
  call.entry.workspace[0].shape[2] = -1;
  EXPECT_THAT(workspaceTensors(call.entry, call.symbols).message(),
              HasSubstr("an extent of -1 (-1), wanted at least 0"));
}

TEST(Launch, PacksGeometryAndKernarg) {
  Call call;
  Result<std::vector<ResolvedLaunch>> launches = call.resolve();
  ASSERT_TRUE(launches) << launches.message();
  ASSERT_EQ(launches->size(), 2u);
  const ResolvedLaunch &score = (*launches)[0];
  EXPECT_EQ(score.kernel, "m3_decode_score");
  EXPECT_THAT(score.grid, ElementsAre(8, 2, 1));
  EXPECT_THAT(score.block, ElementsAre(256, 1, 1));
  EXPECT_EQ(score.dynamicLdsBytes, 0u);
  // q, keys, index_table, its row stride, lens, score, its head stride.
  const uint64_t words[] = {0x10000, 0x20000,        0x900000, 9000,
                            0x30004, 0x7f0000001000, 32768};
  ASSERT_EQ(score.kernarg.size(), sizeof words);
  for (size_t i = 0; i < std::size(words); ++i) {
    uint64_t packed = 0;
    for (int byte = 7; byte >= 0; --byte)
      packed =
          packed << 8 | std::to_integer<uint64_t>(score.kernarg[i * 8 + byte]);
    EXPECT_EQ(packed, words[i]) << i;
    EXPECT_EQ(score.arguments[i].value, words[i]) << i;
    EXPECT_EQ(score.arguments[i].offset, i * 8) << i;
  }
  EXPECT_EQ(score.arguments[3].source, stride("index_table", 0));

  const ResolvedLaunch &select = (*launches)[1];
  EXPECT_THAT(select.grid, ElementsAre(4, 1, 1));
  EXPECT_EQ(select.dynamicLdsBytes, 64u);
  EXPECT_EQ(select.arguments[4].value, 1000u);
  EXPECT_EQ(select.arguments[5].value, 48u);
}

TEST(Launch, NothingToDoIsNoLaunch) {
  Call call;
  call.symbols = {{"requests", 0}, {"rows", 0}};
  Result<std::vector<ResolvedLaunch>> launches = call.resolve();
  ASSERT_TRUE(launches) << launches.message();
  EXPECT_TRUE(launches->empty());
}

TEST(Launch, RefusesWhatTheHardwareCannotTake) {
  Call call;
  call.entry.launches[0].grid[0] = mul("rows", 1 << 22);
  EXPECT_EQ(call.resolve().message(),
            "kernel 'm3_decode_score': grid axis 0 is 16777216 workgroups "
            "((rows * 4194304)), wanted 0 to 16777215");
  call.entry.launches[0].grid[0] = -1;
  EXPECT_THAT(call.resolve().message(), HasSubstr("is -1 workgroups"));
  Call unset;
  unset.workspace[0].address = 0;
  EXPECT_EQ(unset.resolve().message(),
            "workspace 'score': address 0, wanted one that is not null and a "
            "multiple of 16");
  Call missing;
  missing.arguments.pop_back();
  EXPECT_EQ(missing.resolve().message(),
            "'m3_decode' got 4 arguments and 1 workspace tensors, wanted 5 "
            "and 1");
}

} // namespace
