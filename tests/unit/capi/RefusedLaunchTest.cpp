// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that are not what the plan wants: an error with names and values,
// before anything is enqueued, outputs untouched.
#include "ApiFixture.h"

#include <gmock/gmock.h>

#include <functional>

using namespace winnow;
using namespace winnow::test;
using testing::HasSubstr;

namespace {

class RefusedLaunchTest : public ApiTest {
protected:
  /// Spoils a good call of two requests and expects `text`.
  void refuses(const std::function<void(DecodeCall &)> &spoil,
               const std::string &text,
               winnow_status status = WINNOW_ERROR_ARGUMENT) {
    const winnow_plan *found = plan();
    DecodeCall call(device, stream, 2);
    const std::vector<winnow_tensor> good = call.tensors;
    spoil(call);
    hooks().reset();
    EXPECT_EQ(call.launch(found), status);
    EXPECT_THAT(winnow_last_error(), HasSubstr(text));
    EXPECT_EQ(hooks().count("hipModuleLaunchKernel"), 0u) << hooks().callText();
    call.tensors = good;
    call.expectUntouched();
  }
};

TEST_F(RefusedLaunchTest, MoreRequestsThanTheBound) {
  DecodeCall call(device, stream, 5);
  hooks().reset();
  EXPECT_EQ(call.launch(plan(4)), WINNOW_ERROR_ARGUMENT);
  EXPECT_THAT(winnow_last_error(),
              HasSubstr("'m3_decode' got 5 requests, it was built for at most "
                        "4 (max_requests)"));
  EXPECT_EQ(hooks().count("hipModuleLaunchKernel"), 0u);
  call.expectUntouched();
}

TEST_F(RefusedLaunchTest, NoRequests) {
  refuses(
      [](DecodeCall &call) {
        static const int64_t none[3] = {0, 1, 128}, table[2] = {0, 8192},
                             kept[3] = {1, 0, 16}, pages[2] = {0, 128};
        call["query"].shape = none;
        call["index_table"].shape = call["attn_table"].shape = table;
        call["seq_lens"].shape = call["ctx"].shape = none;
        call["selection"].shape = kept;
        call["pages"].shape = pages;
      },
      "'m3_decode' has nothing to do: requests = 0 (argument 'seq_lens', axis "
      "0)");
}

TEST_F(RefusedLaunchTest, WrongType) {
  refuses([](DecodeCall &call) { call["keys"].dtype = WINNOW_BF16; },
          "argument 'keys': dtype bf16, wanted f8E4M3FN");
  refuses(
      [](DecodeCall &call) {
        call["keys"].dtype = static_cast<winnow_dtype>(42);
      },
      "argument 'keys': dtype 42, wanted 1 to 6");
}

TEST_F(RefusedLaunchTest, WrongShape) {
  static const int64_t narrow[2] = {2, 8191}, long3[4] = {2, 1, 128, 1};
  refuses([](DecodeCall &call) { call["index_table"].shape = narrow; },
          "argument 'index_table': axis 1 has 8191 entries, wanted at least "
          "8192");
  refuses([](DecodeCall &call) { call["query"].rank = 2; },
          "argument 'query': 2 axes, wanted 3");
  refuses(
      [](DecodeCall &call) {
        call["query"].rank = 4;
        call["query"].shape = long3;
      },
      "argument 'query': 4 axes, wanted 3");
  refuses([](DecodeCall &call) { call["query"].rank = 5; },
          "argument 'query': 5 axes, wanted at most 4");
  refuses([](DecodeCall &call) { call["query"].rank = -1; },
          "argument 'query': -1 axes, wanted at most 4");
  refuses([](DecodeCall &call) { call["pages"].shape = nullptr; },
          "argument 'pages': its shape is a null pointer");
  static const int64_t negative[1] = {-2};
  refuses([](DecodeCall &call) { call["seq_lens"].shape = negative; },
          "argument 'seq_lens': axis 0 has -2 entries");
}

TEST_F(RefusedLaunchTest, WrongStride) {
  static const int64_t gaps[3] = {256, 128, 1}, columns[2] = {1, 2},
                       overlap[3] = {32, 8, 1};
  refuses([](DecodeCall &call) { call["query"].strides = gaps; },
          "argument 'query': strides [256, 128, 1], wanted a contiguous tensor "
          "of shape [2, 1, 128]");
  refuses([](DecodeCall &call) { call["index_table"].strides = columns; },
          "argument 'index_table': strides [1, 2], wanted the last axis "
          "contiguous");
  refuses([](DecodeCall &call) { call["selection"].strides = overlap; },
          "make entries of an output overlap");
}

TEST_F(RefusedLaunchTest, NullAndMisalignedAddresses) {
  refuses([](DecodeCall &call) { call["seq_lens"].data = nullptr; },
          "argument 'seq_lens': a null address for shape [2]");
  refuses(
      [](DecodeCall &call) {
        call["query"].data = static_cast<char *>(call["query"].data) + 8;
      },
      "argument 'query': the address is 8 bytes past a multiple of 16");
}

TEST_F(RefusedLaunchTest, SmallOrMissingWorkspace) {
  const winnow_plan *found = plan();
  DecodeCall call(device, stream, 2);
  uint64_t all = 0;
  ASSERT_EQ(winnow_plan_workspace_bytes(found, &all), WINNOW_OK);
  void *memory = nullptr;
  ASSERT_EQ(winnow_memory_allocate(device, all, &memory), WINNOW_OK);
  call.workspace = memory;
  call.workspaceBytes = 1000;
  hooks().reset();
  EXPECT_EQ(call.launch(found), WINNOW_ERROR_ARGUMENT);
  EXPECT_THAT(
      winnow_last_error(),
      testing::AllOf(
          HasSubstr("'m3_decode' got a workspace of 1000 bytes, wanted at "
                    "least "),
          HasSubstr("for requests = 2"), HasSubstr(std::to_string(all))));
  call.workspace = static_cast<char *>(memory) + 16;
  call.workspaceBytes = all;
  EXPECT_EQ(call.launch(found), WINNOW_ERROR_ARGUMENT);
  EXPECT_THAT(winnow_last_error(),
              HasSubstr("16 bytes past a multiple of 256"));
  EXPECT_EQ(hooks().count("hipModuleLaunchKernel"), 0u);
  call.expectUntouched();

  call.options.workspace = nullptr;
  call.options.workspace_bytes = all;
  EXPECT_EQ(winnow_launch(found, &call.options), WINNOW_ERROR_ARGUMENT);
  EXPECT_THAT(winnow_last_error(), HasSubstr("wanted one that is not null"));
  EXPECT_EQ(winnow_memory_free(device, memory), WINNOW_OK);
}

TEST_F(RefusedLaunchTest, WrongNamesAndNumbersOfTensors) {
  refuses([](DecodeCall &call) { call["pages"].name = "paged"; },
          "'m3_decode' has no argument 'paged'; it has: query, keys, "
          "index_table, attn_table, seq_lens, selection, pages, ctx");
  refuses([](DecodeCall &call) { call["pages"].name = "ctx"; },
          "argument 'ctx' of 'm3_decode' is given twice");
  refuses([](DecodeCall &call) { call.tensors.pop_back(); },
          "'m3_decode' got no tensor for 'ctx'");
  refuses([](DecodeCall &call) { call.tensors.push_back(call.tensors.back()); },
          "'m3_decode' got 9 tensors, wanted 8: query, keys,");
  refuses(
      [](DecodeCall &call) {
        // The third by its place is the table, which is named later.
        call.tensors[2].name = nullptr;
        call.tensors[3].name = "index_table";
      },
      "argument 'index_table' of 'm3_decode' is given twice");
  refuses([](DecodeCall &call) { call.options.tensor_size = 8; },
          "winnow_launch_options.tensor_size is 8, wanted");
}

TEST_F(RefusedLaunchTest, AFailingDriverIsTold) {
  const winnow_plan *found = plan();
  DecodeCall call(device, stream, 2);
  ASSERT_EQ(call.launch(found), WINNOW_OK);
  hooks().fail("hipModuleLaunchKernel", 1, 701);
  EXPECT_EQ(call.launch(found), WINNOW_ERROR_DEVICE);
  EXPECT_THAT(winnow_last_error(),
              testing::AllOf(HasSubstr("kernel 'm3_decode_"),
                             HasSubstr("launch 1 of"),
                             HasSubstr("hipErrorLaunchOutOfResources (701")));
}

} // namespace
