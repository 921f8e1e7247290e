// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a server does with the C interface beside launching: it says where code
// may come from, goes on with what is at hand while the better kernel is
// compiled, times its work, and copies on the device.
#include "ApiFixture.h"

#include "winnow/Runtime/Bundle.h"

#include <gmock/gmock.h>

#include <algorithm>

#include <sys/stat.h>

using namespace winnow;
using namespace winnow::test;
using testing::AllOf;
using testing::HasSubstr;

namespace {

/// The decode bundle without the code of its best lowering.
std::vector<std::byte> withoutBestCode() {
  Result<runtime::Bundle> bundle =
      runtime::readBundleFile(WINNOW_DECODE_BUNDLE);
  EXPECT_TRUE(bundle) << bundle.message();
  std::erase_if(bundle->codeObjects, [&](const runtime::CodeObject &object) {
    return bundle->sources[object.source].lowering == "mfma";
  });
  EXPECT_FALSE(bundle->codeObjects.empty());
  Result<std::vector<std::byte>> bytes = runtime::writeBundle(*bundle);
  EXPECT_TRUE(bytes) << bytes.message();
  return *bytes;
}

TEST_F(ApiTest, ServesWhatIsAtHandUntilTheBetterLoweringIsCompiled) {
  const std::vector<std::byte> bytes = withoutBestCode();
  winnow_bundle *half = nullptr;
  ASSERT_EQ(winnow_bundle_open_memory(bytes.data(), bytes.size(), &half),
            WINNOW_OK)
      << winnow_last_error();
  winnow_runtime_options behind = options;
  behind.compile_mode = WINNOW_COMPILE_BACKGROUND;
  winnow_runtime *server = nullptr;
  ASSERT_EQ(winnow_runtime_create(&behind, &server), WINNOW_OK);
  const winnow_plan *first = nullptr, *second = nullptr;
  winnow_plan_info info = WINNOW_PLAN_INFO_INIT;
  ASSERT_EQ(winnow_plan_get(server, half, device, nullptr, &first), WINNOW_OK)
      << winnow_last_error();
  ASSERT_EQ(winnow_plan_get_info(first, &info), WINNOW_OK);
  EXPECT_STREQ(info.lowering, "generic");
  EXPECT_STREQ(info.from, "bundle");
  EXPECT_EQ(info.compiling_count, 1u);

  ASSERT_EQ(winnow_runtime_wait(server), WINNOW_OK);
  ASSERT_EQ(winnow_plan_get(server, half, device, nullptr, &second), WINNOW_OK);
  ASSERT_NE(second, first) << lines.text();
  ASSERT_EQ(winnow_plan_get_info(second, &info), WINNOW_OK);
  EXPECT_STREQ(info.lowering, "mfma");
  EXPECT_STREQ(info.from, "compiler");
  EXPECT_EQ(info.compiling_count, 0u);
  // Who still holds the first may launch it.
  for (const winnow_plan *each : {first, second}) {
    DecodeCall call(device, stream, 2);
    ASSERT_EQ(call.launch(each), WINNOW_OK) << winnow_last_error();
    call.expectRight();
  }
  EXPECT_EQ(winnow_runtime_release(server), WINNOW_OK);
  EXPECT_EQ(winnow_runtime_wait(server), WINNOW_ERROR_HANDLE);
  EXPECT_EQ(winnow_bundle_release(half), WINNOW_OK);
}

/// A runtime of its own with other options, asked for the lowering that has no
/// code in the bundle.
class OwnOptionsTest : public ApiTest {
protected:
  void SetUp() override {
    ApiTest::SetUp();
    const std::vector<std::byte> bytes = withoutBestCode();
    ASSERT_EQ(winnow_bundle_open_memory(bytes.data(), bytes.size(), &half),
              WINNOW_OK);
    own = options;
  }
  void TearDown() override {
    EXPECT_EQ(winnow_bundle_release(half), WINNOW_OK);
    ApiTest::TearDown();
  }

  /// Where the code came from; "" after an error.
  std::string obtain(winnow_status expected = WINNOW_OK) {
    winnow_runtime *made = nullptr;
    EXPECT_EQ(winnow_runtime_create(&own, &made), WINNOW_OK)
        << winnow_last_error();
    winnow_plan_options wanted = WINNOW_PLAN_OPTIONS_INIT;
    wanted.prefer = "mfma";
    wanted.flags = WINNOW_PLAN_PREFERRED_ONLY;
    const winnow_plan *found = nullptr;
    EXPECT_EQ(winnow_plan_get(made, half, device, &wanted, &found), expected)
        << winnow_last_error();
    winnow_plan_info info = WINNOW_PLAN_INFO_INIT;
    if (found)
      EXPECT_EQ(winnow_plan_get_info(found, &info), WINNOW_OK);
    const std::string from = found ? info.from : "";
    EXPECT_EQ(winnow_runtime_release(made), WINNOW_OK);
    return from;
  }

  winnow_bundle *half = nullptr;
  winnow_runtime_options own = WINNOW_RUNTIME_OPTIONS_INIT;
};

TEST_F(OwnOptionsTest, AShippedFolderServesWhoMayNotCompile) {
  EXPECT_EQ(obtain(), "compiler");
  const std::string other = folder->path() + "/other";
  own.cache_folder = other.c_str();
  own.compile_mode = WINNOW_COMPILE_NEVER;
  EXPECT_EQ(obtain(WINNOW_ERROR_MISSING_KERNEL), "");
  EXPECT_THAT(winnow_last_error(),
              AllOf(HasSubstr("not mfma: no code for "), HasSubstr(": key "),
                    HasSubstr("not in '" + other + "'"),
                    HasSubstr("nothing may be compiled")));
  // What the first runtime's cache has is shipped: no compiler is needed.
  own.shipped_folder = cache.c_str();
  own.worker = "/no/such/worker";
  EXPECT_EQ(obtain(), "shipped folder");
}

TEST_F(OwnOptionsTest, ACompileIsStoppedWhenItsTimeIsOver) {
  own.compile_timeout_ms = 1;
  EXPECT_EQ(obtain(WINNOW_ERROR_COMPILE), "");
  EXPECT_THAT(winnow_last_error(), HasSubstr("was stopped after 1 ms"));
}

TEST_F(OwnOptionsTest, WhatTheCacheHasNoRoomForIsCompiledAndNotKept) {
  own.max_cache_bytes = 1;
  EXPECT_EQ(obtain(), "compiler");
  EXPECT_THAT(lines.text(), HasSubstr("is not kept: the cache may have 1"));
  EXPECT_EQ(obtain(), "compiler");
}

TEST_F(OwnOptionsTest, HiprtcIsTheLibraryThatIsNamed) {
  own.compiler = WINNOW_COMPILER_HIPRTC;
  own.hiprtc_library = "/no/such/libhiprtc.so";
  EXPECT_EQ(obtain(WINNOW_ERROR_COMPILE), "");
  EXPECT_THAT(winnow_last_error(),
              AllOf(HasSubstr("no hipRTC library can be loaded"),
                    HasSubstr("/no/such/libhiprtc.so")));
}

TEST_F(OwnOptionsTest, WithoutClangItIsHiprtc) {
  // A worker that has no clang, and a hipRTC whose code no device takes: that
  // the device is asked at all says who compiled.
  const std::string worker = folder->path() + "/worker";
  ASSERT_TRUE(runtime::writeFileAtomically(
      worker, "#!/bin/sh\ncase \"$*\" in *--backend=clang*) exit 9;; esac\n"
              "exec '" WINNOW_WORKER "' \"$@\"\n"));
  ASSERT_EQ(::chmod(worker.c_str(), 0755), 0);
  own.worker = worker.c_str();
  own.hiprtc_library = WINNOW_FAKE_NVRTC;
  EXPECT_EQ(obtain(WINNOW_ERROR_DEVICE), "");
  EXPECT_THAT(winnow_last_error(), HasSubstr("hipModuleLoadData failed"));
  // With neither, the error has both reasons.
  own.hiprtc_library = "/no/such/libhiprtc.so";
  const std::string other = folder->path() + "/other";
  own.cache_folder = other.c_str();
  EXPECT_EQ(obtain(WINNOW_ERROR_COMPILE), "");
  EXPECT_THAT(
      winnow_last_error(),
      AllOf(HasSubstr("no compiler: clang: compile worker (clang) ended "
                      "with exit status 9"),
            HasSubstr("; hipRTC: compile worker (hiprtc): no hipRTC "
                      "library can be loaded")));
}

TEST_F(ApiTest, OutputsMayBeSlicesOfOneBuffer) {
  // Each request's selection and pages side by side, and three words that are
  // somebody else's.
  constexpr int64_t kRequests = 3, kRow = 16 + 128 + 3;
  static const int64_t selectionStrides[] = {kRequests * kRow, kRow, 1},
                       pageStrides[] = {kRow, 1};
  winnow_device *host = nullptr;
  ASSERT_EQ(winnow_device_open(runtime, "host", &host), WINNOW_OK);
  for (winnow_device *each : {device, host}) {
    void *const order = each == host ? nullptr : stream;
    const winnow_plan *found = nullptr;
    ASSERT_EQ(winnow_plan_get(runtime, bundle, each, nullptr, &found),
              WINNOW_OK)
        << winnow_last_error();
    DecodeCall apart(each, order, kRequests), call(each, order, kRequests);
    ASSERT_EQ(apart.launch(found), WINNOW_OK) << winnow_last_error();
    const std::vector<int32_t> kept = apart.output("selection", kRequests * 16);
    const std::vector<int32_t> pages = apart.output("pages", kRequests * 128);

    std::vector<int32_t> all(kRequests * kRow, -7);
    void *memory = nullptr;
    ASSERT_EQ(winnow_memory_allocate(each, all.size() * 4, &memory), WINNOW_OK);
    ASSERT_EQ(winnow_memory_copy(each, memory, all.data(), all.size() * 4,
                                 WINNOW_TO_DEVICE, order),
              WINNOW_OK);
    call["selection"].data = memory;
    call["selection"].strides = selectionStrides;
    call["pages"].data = static_cast<int32_t *>(memory) + 16;
    call["pages"].strides = pageStrides;
    ASSERT_EQ(call.launch(found), WINNOW_OK) << winnow_last_error();
    ASSERT_EQ(winnow_memory_copy(each, all.data(), memory, all.size() * 4,
                                 WINNOW_FROM_DEVICE, order),
              WINNOW_OK);
    for (int64_t r = 0; r < kRequests; ++r)
      for (int64_t i = 0; i < kRow; ++i)
        ASSERT_EQ(all[r * kRow + i], i < 16    ? kept[r * 16 + i]
                                     : i < 144 ? pages[r * 128 + i - 16]
                                               : -7)
            << (each == host ? "host" : "sim") << ", request " << r << ", word "
            << i;
    EXPECT_EQ(winnow_memory_free(each, memory), WINNOW_OK);
  }
  EXPECT_EQ(winnow_device_release(host), WINNOW_OK);
}

TEST_F(ApiTest, TimesLaunchesByEvents) {
  void *start = nullptr, *end = nullptr;
  ASSERT_EQ(winnow_event_create(device, &start), WINNOW_OK);
  ASSERT_EQ(winnow_event_create(device, &end), WINNOW_OK);
  DecodeCall call(device, stream, 2);
  float milliseconds = -1;
  ASSERT_EQ(winnow_event_record(device, start, stream), WINNOW_OK);
  ASSERT_EQ(call.launch(plan()), WINNOW_OK) << winnow_last_error();
  ASSERT_EQ(winnow_event_record(device, end, stream), WINNOW_OK);
  ASSERT_EQ(winnow_event_elapsed(device, start, end, &milliseconds), WINNOW_OK)
      << winnow_last_error();
  EXPECT_GT(milliseconds, 0);
  call.expectRight();
  // One that was never recorded has no time.
  void *never = nullptr;
  ASSERT_EQ(winnow_event_create(device, &never), WINNOW_OK);
  EXPECT_EQ(winnow_event_elapsed(device, start, never, &milliseconds),
            WINNOW_ERROR_DEVICE);
  EXPECT_THAT(winnow_last_error(), HasSubstr("hipEventElapsedTime"));
  EXPECT_EQ(milliseconds, 0);
  for (void *each : {start, end, never})
    EXPECT_EQ(winnow_event_release(device, each), WINNOW_OK);
}

TEST_F(ApiTest, CopiesOnTheDevice) {
  const std::vector<int32_t> from = {1, -2, 3, -4};
  std::vector<int32_t> to(from.size());
  const size_t bytes = from.size() * sizeof from[0];
  void *one = nullptr, *other = nullptr;
  ASSERT_EQ(winnow_memory_allocate(device, bytes, &one), WINNOW_OK);
  ASSERT_EQ(winnow_memory_allocate(device, bytes, &other), WINNOW_OK);
  ASSERT_EQ(winnow_memory_copy(device, one, from.data(), bytes,
                               WINNOW_TO_DEVICE, stream),
            WINNOW_OK);
  ASSERT_EQ(
      winnow_memory_copy(device, other, one, bytes, WINNOW_ON_DEVICE, stream),
      WINNOW_OK);
  ASSERT_EQ(winnow_memory_copy(device, to.data(), other, bytes,
                               WINNOW_FROM_DEVICE, stream),
            WINNOW_OK);
  EXPECT_EQ(to, from);
  EXPECT_EQ(winnow_memory_copy(device, to.data(), other, bytes,
                               static_cast<winnow_copy>(3), stream),
            WINNOW_ERROR_ARGUMENT);
  EXPECT_STREQ(winnow_last_error(), "copy direction 3, wanted 0 to 2");
  EXPECT_EQ(winnow_memory_free(device, one), WINNOW_OK);
  EXPECT_EQ(winnow_memory_free(device, other), WINNOW_OK);
}

} // namespace
