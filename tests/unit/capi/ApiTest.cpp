// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C interface from bundle to result, and its manners: handles, versions,
// null pointers, what a launch does behind the caller's back.
#include "ApiFixture.h"
#include "Count.h"

#include "winnow/Runtime/Bundle.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <thread>

using namespace winnow;
using namespace winnow::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

TEST_F(ApiTest, RunsDecode) {
  DecodeCall call(device, stream, 3);
  ASSERT_EQ(call.launch(plan()), WINNOW_OK) << winnow_last_error();
  ASSERT_EQ(winnow_stream_synchronize(device, stream), WINNOW_OK)
      << winnow_last_error();
  call.expectRight();
}

TEST_F(ApiTest, TakesTensorsByPlaceAndInAnyOrderByName) {
  DecodeCall call(device, stream, 2);
  std::reverse(call.tensors.begin(), call.tensors.end());
  ASSERT_EQ(call.launch(plan()), WINNOW_OK) << winnow_last_error();
  call.expectRight();

  DecodeCall placed(device, stream, 2);
  std::vector<winnow_tensor> named = placed.tensors;
  for (winnow_tensor &tensor : placed.tensors)
    tensor.name = nullptr;
  ASSERT_EQ(placed.launch(plan()), WINNOW_OK) << winnow_last_error();
  placed.tensors = named;
  placed.expectRight();
}

TEST_F(ApiTest, TellsOfPlanAndArguments) {
  const winnow_plan *found = plan(4);
  winnow_plan_info info = WINNOW_PLAN_INFO_INIT;
  ASSERT_EQ(winnow_plan_get_info(found, &info), WINNOW_OK);
  EXPECT_STREQ(info.entry, "m3_decode");
  EXPECT_STREQ(info.lowering, "mfma");
  EXPECT_STREQ(info.from, "bundle");
  EXPECT_EQ(info.max_seq_len, 1048576);
  EXPECT_EQ(info.max_requests, 4);
  EXPECT_EQ(info.argument_count, 8u);
  EXPECT_GT(info.workspace_bytes, 0u);

  winnow_argument_info argument = WINNOW_ARGUMENT_INFO_INIT;
  ASSERT_EQ(winnow_plan_argument(found, 0, &argument), WINNOW_OK);
  EXPECT_STREQ(argument.name, "query");
  EXPECT_EQ(argument.dtype, WINNOW_F8E4M3FN);
  EXPECT_EQ(argument.access, WINNOW_READ);
  EXPECT_EQ(argument.rank, 3);
  EXPECT_TRUE(argument.is_contiguous);
  EXPECT_EQ(argument.alignment, 16u);
  EXPECT_STREQ(argument.shape, "[rows, 1, 128]");
  EXPECT_EQ(argument.extents[0], -1);
  EXPECT_EQ(argument.extents[2], 128);
  EXPECT_EQ(argument.strides[0], 0);
  ASSERT_EQ(winnow_plan_argument(found, 2, &argument), WINNOW_OK);
  EXPECT_STREQ(argument.name, "index_table");
  EXPECT_FALSE(argument.is_contiguous);
  EXPECT_EQ(argument.strides[0], -1);
  EXPECT_EQ(argument.strides[1], 1);
  // A caller of before there were strides.
  argument = WINNOW_ARGUMENT_INFO_INIT;
  argument.size = offsetof(winnow_argument_info, strides);
  argument.strides[0] = 77;
  ASSERT_EQ(winnow_plan_argument(found, 2, &argument), WINNOW_OK);
  EXPECT_STREQ(argument.name, "index_table");
  EXPECT_EQ(argument.strides[0], 77);
  EXPECT_EQ(winnow_plan_argument(found, 8, &argument), WINNOW_ERROR_ARGUMENT);
  EXPECT_STREQ(winnow_last_error(), "argument 8 of 'm3_decode', which has 8");
}

TEST_F(ApiTest, RunsTheOtherLoweringOfTheSameBundle) {
  winnow_plan_options wanted = WINNOW_PLAN_OPTIONS_INIT;
  wanted.prefer = "generic";
  wanted.flags = WINNOW_PLAN_PREFERRED_ONLY;
  const winnow_plan *portable = nullptr;
  ASSERT_EQ(winnow_plan_get(runtime, bundle, device, &wanted, &portable),
            WINNOW_OK)
      << winnow_last_error();
  winnow_plan_info info = WINNOW_PLAN_INFO_INIT;
  ASSERT_EQ(winnow_plan_get_info(portable, &info), WINNOW_OK);
  EXPECT_STREQ(info.lowering, "generic");
  EXPECT_STREQ(info.from, "bundle");
  DecodeCall call(device, stream, 2);
  ASSERT_EQ(call.launch(portable), WINNOW_OK) << winnow_last_error();
  call.expectRight();
}

TEST_F(ApiTest, RunsTheReferenceOnTheHost) {
  winnow_device *host = nullptr;
  ASSERT_EQ(winnow_device_open(runtime, "host", &host), WINNOW_OK);
  winnow_plan_options wanted = WINNOW_PLAN_OPTIONS_INIT;
  wanted.max_requests = 3;
  const winnow_plan *reference = nullptr;
  ASSERT_EQ(winnow_plan_get(runtime, bundle, host, &wanted, &reference),
            WINNOW_OK)
      << winnow_last_error();
  winnow_plan_info info = WINNOW_PLAN_INFO_INIT;
  ASSERT_EQ(winnow_plan_get_info(reference, &info), WINNOW_OK);
  EXPECT_STREQ(info.lowering, "reference");
  EXPECT_EQ(info.workspace_bytes, 0u);
  {
    DecodeCall call(host, nullptr, 2);
    ASSERT_EQ(call.launch(reference), WINNOW_OK) << winnow_last_error();
    call.expectRight();
  }
  {
    DecodeCall many(host, nullptr, 4);
    EXPECT_EQ(many.launch(reference), WINNOW_ERROR_ARGUMENT);
    EXPECT_THAT(winnow_last_error(), HasSubstr("got 4 requests"));
    many.expectUntouched();
  }
  {
    // What a kernel would read out of bounds the reference refuses by name.
    DecodeCall wild(host, nullptr, 1);
    static_cast<int32_t *>(wild["index_table"].data)[1] = 4711;
    EXPECT_EQ(wild.launch(reference), WINNOW_ERROR_ARGUMENT);
    EXPECT_THAT(winnow_last_error(), HasSubstr("4711"));
    wild.expectUntouched();
  }
  EXPECT_EQ(winnow_capture_begin(host, nullptr), WINNOW_ERROR_DEVICE);
  EXPECT_STREQ(winnow_last_error(), "the device 'host' captures no launches");
  EXPECT_EQ(winnow_device_release(host), WINNOW_OK);
}

TEST_F(ApiTest, ExplainsInTextAndJson) {
  const winnow_plan *found = plan();
  size_t needed = 0;
  ASSERT_EQ(winnow_plan_explain(found, WINNOW_JSON, nullptr, 0, &needed),
            WINNOW_OK);
  std::string text(needed, '\0');
  ASSERT_EQ(
      winnow_plan_explain(found, WINNOW_JSON, text.data(), needed, nullptr),
      WINNOW_OK);
  text.resize(needed - 1);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["lowering"], "mfma");
  EXPECT_EQ(json["arch"], "gfx950:sramecc+:xnack-");
  EXPECT_EQ(json["bounds"]["max_requests"], 4);

  char few[12];
  ASSERT_EQ(winnow_plan_explain(found, WINNOW_TEXT, few, sizeof few, &needed),
            WINNOW_OK);
  EXPECT_STREQ(few, "m3_decode o");
  EXPECT_GT(needed, sizeof few);
  EXPECT_THAT(lines.text(),
              AllOf(HasSubstr("plan 'm3_decode' on sim:gfx950 "
                              "(gfx950:sramecc+:xnack-): lowering mfma, from "
                              "bundle, "),
                    HasSubstr(" ms, key ")));
}

TEST_F(ApiTest, GivesTheSamePlanForTheSameQuestion) {
  const winnow_plan *first = plan(4);
  EXPECT_EQ(plan(4), first);
  EXPECT_NE(plan(5), first);
  EXPECT_EQ(lines.all.size(), 2u) << lines.text();
}

TEST_F(ApiTest, LaunchesAndLooksUpWithoutAllocationOrLock) {
  DecodeCall call(device, stream, 2);
  const winnow_plan *found = plan();
  ASSERT_EQ(call.launch(found), WINNOW_OK);
  winnow_plan_options wanted = WINNOW_PLAN_OPTIONS_INIT;
  wanted.max_requests = 4;
  wanted.entry = "m3_decode";
  const winnow_plan *again = nullptr;
  ASSERT_EQ(winnow_plan_get(runtime, bundle, device, &wanted, &again),
            WINNOW_OK);
  hooks().dropLaunches(1); // the driver's own work is not counted
  const uint64_t allocations = allocationsOfThisThread();
  const uint64_t locks = locksOfThisThread();
  int good = 0;
  for (int i = 0; i < 100; ++i) {
    good +=
        winnow_plan_get(runtime, bundle, device, &wanted, &again) == WINNOW_OK;
    good += winnow_launch(again, &call.options) == WINNOW_OK;
  }
  EXPECT_EQ(allocationsOfThisThread(), allocations);
  EXPECT_EQ(locksOfThisThread(), locks);
  EXPECT_EQ(good, 200);
}

TEST_F(ApiTest, CapturesAndReplays) {
  DecodeCall call(device, stream, 2);
  const winnow_plan *found = plan();
  ASSERT_EQ(call.launch(found), WINNOW_OK); // makes the workspace
  ASSERT_EQ(winnow_stream_synchronize(device, stream), WINNOW_OK);
  DecodeCall captured(device, stream, 2);
  captured.workspace = call.workspace;
  captured.workspaceBytes = call.workspaceBytes;

  hooks().reset();
  ASSERT_EQ(winnow_capture_begin(device, stream), WINNOW_OK);
  const uint64_t before = hooks().count(nullptr);
  ASSERT_EQ(captured.launch(found), WINNOW_OK) << winnow_last_error();
  // Launches are all that a capturing stream is asked for.
  EXPECT_EQ(hooks().count(nullptr) - before,
            hooks().count("hipModuleLaunchKernel"));
  EXPECT_THAT(hooks().callText(), Not(HasSubstr("captured=0")));
  void *graph = nullptr;
  ASSERT_EQ(winnow_capture_end(device, stream, &graph), WINNOW_OK)
      << winnow_last_error();
  captured.expectUntouched();
  ASSERT_EQ(winnow_graph_launch(device, graph, stream), WINNOW_OK);
  captured.expectRight();
  // Other code may use the workspace between replays.
  for (unsigned char byte : {0x00, 0xff, 0x3f}) {
    const std::vector<unsigned char> other(call.workspaceBytes, byte);
    ASSERT_EQ(winnow_memory_copy(device, call.workspace, other.data(),
                                 other.size(), WINNOW_TO_DEVICE, stream),
              WINNOW_OK);
    for (const char *name : {"selection", "pages", "ctx"}) {
      const std::vector<int32_t> gone(name[0] == 'c' ? 2 : 32, -7);
      ASSERT_EQ(winnow_memory_copy(device, captured[name].data, gone.data(),
                                   gone.size() * 4, WINNOW_TO_DEVICE, stream),
                WINNOW_OK);
    }
    for (int replay = 0; replay < 2; ++replay) {
      ASSERT_EQ(winnow_graph_launch(device, graph, stream), WINNOW_OK);
      captured.expectRight();
    }
  }
  EXPECT_EQ(winnow_graph_release(device, graph), WINNOW_OK);
}

TEST_F(ApiTest, KeepsPlansWhenBundleAndDeviceAreReleased) {
  const winnow_plan *found = plan();
  DecodeCall call(device, stream, 2);
  EXPECT_EQ(winnow_bundle_release(bundle), WINNOW_OK);
  bundle = nullptr;
  ASSERT_EQ(call.launch(found), WINNOW_OK) << winnow_last_error();
  call.expectRight();
}

TEST_F(ApiTest, RefusesBadHandles) {
  const winnow_plan *found = plan();
  // NOLINTBEGIN(performance-no-int-to-ptr): that is the point
  void *garbage[] = {nullptr,
                     reinterpret_cast<void *>(1),
                     &options,
                     runtime,
                     const_cast<winnow_plan *>(found),
                     reinterpret_cast<void *>(~uint64_t(0)),
                     reinterpret_cast<void *>(uint64_t(3) << 56 | 77)};
  // NOLINTEND(performance-no-int-to-ptr)
  uint64_t bytes = 0;
  for (void *handle : garbage) {
    if (handle != found)
      EXPECT_EQ(winnow_plan_workspace_bytes(
                    static_cast<const winnow_plan *>(handle), &bytes),
                WINNOW_ERROR_HANDLE)
          << handle;
    EXPECT_EQ(
        winnow_bundle_entry_count(static_cast<winnow_bundle *>(handle), &bytes),
        WINNOW_ERROR_HANDLE)
        << handle;
    const winnow_plan *made = found;
    EXPECT_EQ(winnow_plan_get(runtime, bundle,
                              static_cast<winnow_device *>(handle), nullptr,
                              &made),
              WINNOW_ERROR_HANDLE);
    EXPECT_EQ(made, nullptr);
    void *memory = &bytes;
    EXPECT_EQ(winnow_memory_allocate(static_cast<winnow_device *>(handle), 4,
                                     &memory),
              WINNOW_ERROR_HANDLE);
    EXPECT_EQ(memory, nullptr);
    if (handle)
      EXPECT_EQ(winnow_device_release(static_cast<winnow_device *>(handle)),
                WINNOW_ERROR_HANDLE);
  }
  EXPECT_THAT(winnow_last_error(), HasSubstr("the device is no live handle"));

  winnow_bundle *closed = nullptr;
  ASSERT_EQ(winnow_bundle_open_file(WINNOW_DECODE_BUNDLE, &closed), WINNOW_OK);
  ASSERT_EQ(winnow_bundle_release(closed), WINNOW_OK);
  EXPECT_EQ(winnow_bundle_release(closed), WINNOW_ERROR_HANDLE);
  // Its place may be taken again; its handle does not come back.
  winnow_bundle *next = nullptr;
  ASSERT_EQ(winnow_bundle_open_file(WINNOW_DECODE_BUNDLE, &next), WINNOW_OK);
  EXPECT_NE(next, closed);
  size_t count = 0;
  EXPECT_EQ(winnow_bundle_entry_count(closed, &count), WINNOW_ERROR_HANDLE);
  EXPECT_EQ(winnow_bundle_entry_count(next, &count), WINNOW_OK);
  EXPECT_EQ(winnow_bundle_release(next), WINNOW_OK);
}

TEST_F(ApiTest, PlansEndWithTheirRuntime) {
  winnow_runtime *other = nullptr;
  ASSERT_EQ(winnow_runtime_create(&options, &other), WINNOW_OK);
  const winnow_plan *found = nullptr;
  ASSERT_EQ(winnow_plan_get(other, bundle, device, nullptr, &found), WINNOW_OK)
      << winnow_last_error();
  ASSERT_EQ(winnow_runtime_release(other), WINNOW_OK);
  uint64_t bytes = 0;
  EXPECT_EQ(winnow_plan_workspace_bytes(found, &bytes), WINNOW_ERROR_HANDLE);
}

TEST_F(ApiTest, RefusesNullPointers) {
  const winnow_plan *found = plan();
  const winnow_status argument = WINNOW_ERROR_ARGUMENT;
  EXPECT_EQ(winnow_runtime_create(nullptr, nullptr), argument);
  EXPECT_STREQ(winnow_last_error(), "winnow_runtime_create: 'runtime' is null");
  EXPECT_EQ(winnow_bundle_open_file(nullptr, &bundle), argument);
  EXPECT_EQ(winnow_bundle_open_file("x", nullptr), argument);
  winnow_bundle *none = nullptr;
  EXPECT_EQ(winnow_bundle_open_memory(nullptr, 4, &none), argument);
  EXPECT_EQ(winnow_device_open(runtime, nullptr, &device), argument);
  EXPECT_EQ(winnow_device_open(runtime, "hip:0", nullptr), argument);
  EXPECT_EQ(winnow_plan_get(runtime, bundle, device, nullptr, nullptr),
            argument);
  EXPECT_EQ(winnow_plan_get_info(found, nullptr), argument);
  EXPECT_EQ(winnow_plan_workspace_bytes(found, nullptr), argument);
  EXPECT_EQ(winnow_plan_argument(found, 0, nullptr), argument);
  EXPECT_EQ(winnow_plan_explain(found, WINNOW_TEXT, nullptr, 4, nullptr),
            argument);
  EXPECT_EQ(winnow_launch(found, nullptr), argument);
  winnow_launch_options launch = WINNOW_LAUNCH_OPTIONS_INIT;
  launch.tensor_count = 8;
  EXPECT_EQ(winnow_launch(found, &launch), argument);
  EXPECT_STREQ(winnow_last_error(), "winnow_launch: 'tensors' is null");
  // SetUp's handles were overwritten by null on the way.
  ASSERT_EQ(winnow_bundle_open_file(WINNOW_DECODE_BUNDLE, &bundle), WINNOW_OK);
  ASSERT_EQ(winnow_device_open(runtime, "sim:gfx950", &device), WINNOW_OK);

  // Events and graphs are pointers, which the host's device would follow.
  winnow_device *host = nullptr;
  ASSERT_EQ(winnow_device_open(runtime, "host", &host), WINNOW_OK);
  for (winnow_device *each : {device, host}) {
    void *event = nullptr;
    float time = 7;
    ASSERT_EQ(winnow_event_create(each, &event), WINNOW_OK);
    EXPECT_EQ(winnow_event_record(each, nullptr, nullptr), argument);
    EXPECT_STREQ(winnow_last_error(), "winnow_event_record: 'event' is null");
    EXPECT_EQ(winnow_event_elapsed(each, event, nullptr, &time), argument);
    EXPECT_STREQ(winnow_last_error(), "winnow_event_elapsed: 'end' is null");
    EXPECT_EQ(winnow_event_elapsed(each, nullptr, event, &time), argument);
    EXPECT_EQ(winnow_graph_launch(each, nullptr, nullptr), argument);
    EXPECT_STREQ(winnow_last_error(), "winnow_graph_launch: 'graph' is null");
    EXPECT_EQ(winnow_event_release(each, event), WINNOW_OK);
    EXPECT_EQ(winnow_memory_free(each, nullptr), WINNOW_OK);
  }
  EXPECT_EQ(winnow_device_release(host), WINNOW_OK);
}

TEST_F(ApiTest, TakesStructuresOfOtherVersions) {
  // From a newer header, with a field that this library does not know.
  struct Newer {
    winnow_plan_options known;
    uint64_t unknown;
  } newer = {WINNOW_PLAN_OPTIONS_INIT, 0};
  newer.known.size = sizeof newer;
  const winnow_plan *found = nullptr;
  EXPECT_EQ(winnow_plan_get(runtime, bundle, device, &newer.known, &found),
            WINNOW_OK)
      << winnow_last_error();
  newer.unknown = 1;
  EXPECT_EQ(winnow_plan_get(runtime, bundle, device, &newer.known, &found),
            WINNOW_ERROR_ARGUMENT);
  EXPECT_THAT(winnow_last_error(),
              HasSubstr("winnow_plan_options sets a field at byte"));
  newer.known.size = 3;
  EXPECT_EQ(winnow_plan_get(runtime, bundle, device, &newer.known, &found),
            WINNOW_ERROR_ARGUMENT);
  EXPECT_THAT(winnow_last_error(),
              HasSubstr("winnow_plan_options.size is 3, wanted sizeof"));

  struct NewerInfo {
    winnow_plan_info known;
    uint64_t unknown;
  } info = {WINNOW_PLAN_INFO_INIT, 7};
  info.known.size = sizeof info;
  ASSERT_EQ(winnow_plan_get_info(plan(), &info.known), WINNOW_OK);
  EXPECT_EQ(info.unknown, 0u);
  EXPECT_STREQ(info.known.lowering, "mfma");
}

TEST_F(ApiTest, RefusesOptionsOutOfRange) {
  // A thread that was refused no plan has none to explain.
  std::thread([] {
    EXPECT_EQ(winnow_plan_explain_failure(WINNOW_TEXT, nullptr, 0, nullptr),
              WINNOW_ERROR_NOT_FOUND);
  }).join();
  winnow_runtime *other = nullptr;
  winnow_runtime_options bad = options;
  bad.compile_mode = static_cast<winnow_compile_mode>(7);
  EXPECT_EQ(winnow_runtime_create(&bad, &other), WINNOW_ERROR_ARGUMENT);
  EXPECT_THAT(winnow_last_error(), HasSubstr("compile_mode is 7, wanted 0 to"));
  winnow_plan_options wanted = WINNOW_PLAN_OPTIONS_INIT;
  const winnow_plan *found = nullptr;
  wanted.flags = 6;
  EXPECT_EQ(winnow_plan_get(runtime, bundle, device, &wanted, &found),
            WINNOW_ERROR_ARGUMENT);
  wanted.flags = 0;
  wanted.max_rows = -1;
  EXPECT_EQ(winnow_plan_get(runtime, bundle, device, &wanted, &found),
            WINNOW_ERROR_ARGUMENT);
  EXPECT_STREQ(winnow_last_error(), "max_rows of -1, wanted at least 0");
  wanted.max_rows = 0;
  wanted.entry = "m3_encode";
  EXPECT_EQ(winnow_plan_get(runtime, bundle, device, &wanted, &found),
            WINNOW_ERROR_NOT_FOUND);
  EXPECT_THAT(winnow_last_error(), HasSubstr("it has: m3_decode"));
  wanted.entry = nullptr;
  wanted.max_requests = 1000;
  EXPECT_EQ(winnow_plan_get(runtime, bundle, device, &wanted, &found),
            WINNOW_ERROR_CONTRACT);
  EXPECT_THAT(winnow_last_error(),
              HasSubstr("not mfma: max_requests of 1000 asked, it was built "
                        "for at most 256"));
  // The same at length, for programs too.
  const std::string error = winnow_last_error();
  size_t needed = 0;
  ASSERT_EQ(winnow_plan_explain_failure(WINNOW_TEXT, nullptr, 0, &needed),
            WINNOW_OK);
  std::string text(needed, ' ');
  ASSERT_EQ(winnow_plan_explain_failure(WINNOW_TEXT, text.data(), text.size(),
                                        nullptr),
            WINNOW_OK);
  EXPECT_EQ(text, error + "\n" + '\0');
  ASSERT_EQ(winnow_plan_explain_failure(WINNOW_JSON, nullptr, 0, &needed),
            WINNOW_OK);
  text.resize(needed);
  ASSERT_EQ(winnow_plan_explain_failure(WINNOW_JSON, text.data(), text.size(),
                                        nullptr),
            WINNOW_OK);
  text.pop_back();
  const auto why = nlohmann::json::parse(text);
  EXPECT_EQ(why["entry"], "m3_decode");
  EXPECT_EQ(why["lowering"], nullptr);
  EXPECT_EQ(why["bounds"]["max_requests"], 1000);
  EXPECT_EQ(why["error"], error);
  EXPECT_EQ(why["refused"][0]["lowering"], "mfma");
  EXPECT_EQ(why["refused"][0]["reasons"][0],
            "max_requests of 1000 asked, it was built for at most 256");
  // A call that is wrong in itself does not show an earlier one's reasons.
  EXPECT_EQ(winnow_plan_get(runtime, bundle, nullptr, &wanted, &found),
            WINNOW_ERROR_HANDLE);
  char wrong[400];
  ASSERT_EQ(
      winnow_plan_explain_failure(WINNOW_JSON, wrong, sizeof wrong, &needed),
      WINNOW_OK);
  const auto alone = nlohmann::json::parse(wrong);
  EXPECT_EQ(alone["error"], "the device is null");
  EXPECT_TRUE(alone["refused"].empty());
  // Each refusal of a lowering, an entry or a bound was one line of the log.
  EXPECT_THAT(
      lines.all,
      testing::ElementsAre(
          "no plan: max_rows of -1, wanted at least 0",
          "no plan: the bundle has no entry 'm3_encode'; it has: m3_decode",
          HasSubstr("; not mfma: max_requests of 1000 asked")));
  EXPECT_STREQ(winnow_status_name(WINNOW_ERROR_CONTRACT),
               "WINNOW_ERROR_CONTRACT");
  EXPECT_STREQ(winnow_status_name(static_cast<winnow_status>(99)),
               "WINNOW_UNKNOWN_STATUS");
}

TEST_F(ApiTest, OpensBundlesFromMemoryAndRefusesDamage) {
  auto bytes = runtime::readFile(WINNOW_DECODE_BUNDLE, 1 << 24);
  ASSERT_TRUE(bytes);
  winnow_bundle *opened = nullptr;
  ASSERT_EQ(winnow_bundle_open_memory(bytes->data(), bytes->size(), &opened),
            WINNOW_OK);
  size_t count = 0;
  const char *name = nullptr;
  EXPECT_EQ(winnow_bundle_entry_count(opened, &count), WINNOW_OK);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(winnow_bundle_entry_name(opened, 0, &name), WINNOW_OK);
  EXPECT_STREQ(name, "m3_decode");
  EXPECT_EQ(winnow_bundle_entry_name(opened, 1, &name), WINNOW_ERROR_ARGUMENT);
  EXPECT_EQ(winnow_bundle_release(opened), WINNOW_OK);
  (*bytes)[bytes->size() / 2] ^= std::byte{1};
  EXPECT_EQ(winnow_bundle_open_memory(bytes->data(), bytes->size(), &opened),
            WINNOW_ERROR_BUNDLE);
  EXPECT_THAT(winnow_last_error(), HasSubstr("damaged"));
  EXPECT_EQ(winnow_bundle_open_memory("", 0, &opened), WINNOW_ERROR_BUNDLE);
  EXPECT_EQ(winnow_bundle_open_file("/nowhere/x.winnow", &opened),
            WINNOW_ERROR_BUNDLE);
  EXPECT_THAT(winnow_last_error(), HasSubstr("/nowhere/x.winnow"));
}

TEST_F(ApiTest, OpensDevicesByName) {
  winnow_device *other = nullptr;
  ASSERT_EQ(winnow_device_open(runtime, "hip:0", &other), WINNOW_OK);
  winnow_device_info info = WINNOW_DEVICE_INFO_INIT;
  ASSERT_EQ(winnow_device_get_info(other, &info), WINNOW_OK);
  EXPECT_STREQ(info.name, "hip:0");
  EXPECT_STREQ(info.arch, "gfx950:sramecc+:xnack-");
  EXPECT_EQ(info.wave_size, 64);
  EXPECT_EQ(winnow_device_release(other), WINNOW_OK);
  EXPECT_EQ(winnow_device_open(runtime, "tpu:0", &other), WINNOW_ERROR_DEVICE);
  EXPECT_THAT(winnow_last_error(), HasSubstr("device 'tpu:0' is unknown"));

  winnow_runtime_options without = options;
  without.hip_library = "/nowhere/libamdhip64.so";
  winnow_runtime *poor = nullptr;
  ASSERT_EQ(winnow_runtime_create(&without, &poor), WINNOW_OK);
  EXPECT_EQ(winnow_device_open(poor, "hip:0", &other), WINNOW_ERROR_DEVICE);
  EXPECT_THAT(winnow_last_error(),
              HasSubstr("looked for /nowhere/libamdhip64.so"));
  ASSERT_EQ(winnow_device_open(poor, "auto", &other), WINNOW_OK);
  EXPECT_THAT(lines.text(),
              HasSubstr("device 'auto' is sim:gfx950, because of device "
                        "'hip:0': no HIP library can be loaded"));
  EXPECT_EQ(winnow_device_release(other), WINNOW_OK);
  EXPECT_EQ(winnow_runtime_release(poor), WINNOW_OK);
}

TEST(Api, NullHandlesAreReleasedInPeace) {
  EXPECT_EQ(winnow_runtime_release(nullptr), WINNOW_OK);
  EXPECT_EQ(winnow_bundle_release(nullptr), WINNOW_OK);
  EXPECT_EQ(winnow_device_release(nullptr), WINNOW_OK);
  EXPECT_STREQ(winnow_version(), WINNOW_VERSION);
}

TEST_F(ApiTest, ErrorsGiveATerminalNoOrders) {
  winnow_plan_options wanted = WINNOW_PLAN_OPTIONS_INIT;
  wanted.entry = "\x1b[31mred";
  const winnow_plan *found = nullptr;
  EXPECT_EQ(winnow_plan_get(runtime, bundle, device, &wanted, &found),
            WINNOW_ERROR_NOT_FOUND);
  EXPECT_STREQ(winnow_last_error(), "the bundle has no entry '\\x1b[31mred'; "
                                    "it has: m3_decode");
}

} // namespace
