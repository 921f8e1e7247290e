// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A runtime, the decode bundle and the simulated device, through the C
// interface.
#ifndef WINNOW_TESTS_UNIT_CAPI_APIFIXTURE_H
#define WINNOW_TESTS_UNIT_CAPI_APIFIXTURE_H

#include "Decode.h"
#include "Support.h"

#include "winnow/Runtime/Files.h"

#include <mutex>

namespace winnow::test {

/// What a runtime logged.
struct Lines {
  std::mutex lock;
  std::vector<std::string> all;

  static void log(void *user, winnow_log_level, const char *line) {
    auto *to = static_cast<Lines *>(user);
    std::lock_guard<std::mutex> guard(to->lock);
    to->all.push_back(line);
  }
  std::string text() {
    std::lock_guard<std::mutex> guard(lock);
    std::string joined;
    for (const std::string &line : all)
      joined += line + "\n";
    return joined;
  }
};

class ApiTest : public HipSimTest {
protected:
  void SetUp() override {
    HipSimTest::SetUp();
    folder = std::make_unique<runtime::TemporaryFolder>(
        std::move(*runtime::TemporaryFolder::make()));
    cache = folder->path() + "/cache";
    options.cache_folder = cache.c_str();
    options.sim_library = kHipSim.c_str();
    options.hip_library = kHipSim.c_str();
    options.worker = WINNOW_WORKER;
    options.log = Lines::log;
    options.log_user = &lines;
    ASSERT_EQ(winnow_runtime_create(&options, &runtime), WINNOW_OK)
        << winnow_last_error();
    ASSERT_EQ(winnow_bundle_open_file(WINNOW_DECODE_BUNDLE, &bundle), WINNOW_OK)
        << winnow_last_error();
    ASSERT_EQ(winnow_device_open(runtime, "sim:gfx950", &device), WINNOW_OK)
        << winnow_last_error();
    ASSERT_EQ(winnow_stream_create(device, &stream), WINNOW_OK);
  }
  void TearDown() override {
    hooks().reset();
    EXPECT_EQ(winnow_stream_release(device, stream), WINNOW_OK);
    EXPECT_EQ(winnow_runtime_release(runtime), WINNOW_OK);
    EXPECT_EQ(winnow_device_release(device), WINNOW_OK);
    EXPECT_EQ(winnow_bundle_release(bundle), WINNOW_OK);
    HipSimTest::TearDown();
  }

  const winnow_plan *plan(int64_t maxRequests = 4) {
    winnow_plan_options wanted = WINNOW_PLAN_OPTIONS_INIT;
    wanted.max_requests = maxRequests;
    const winnow_plan *found = nullptr;
    EXPECT_EQ(winnow_plan_get(runtime, bundle, device, &wanted, &found),
              WINNOW_OK)
        << winnow_last_error();
    return found;
  }

  std::unique_ptr<runtime::TemporaryFolder> folder;
  std::string cache;
  Lines lines;
  winnow_runtime_options options = WINNOW_RUNTIME_OPTIONS_INIT;
  winnow_runtime *runtime = nullptr;
  winnow_bundle *bundle = nullptr;
  winnow_device *device = nullptr;
  void *stream = nullptr;
};

} // namespace winnow::test

#endif // WINNOW_TESTS_UNIT_CAPI_APIFIXTURE_H
