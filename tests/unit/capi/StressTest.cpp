// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Eight threads that plan and launch at once, from a cold start.
#include "ApiFixture.h"

#include <atomic>
#include <thread>

using namespace winnow;
using namespace winnow::test;

namespace {

TEST_F(ApiTest, ServesEightThreadsAtOnce) {
  constexpr int kThreads = 8, kRounds = 50;
  std::atomic<int> waiting = kThreads;
  std::atomic<const winnow_plan *> seen[4] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      void *own = nullptr;
      ASSERT_EQ(winnow_stream_create(device, &own), WINNOW_OK);
      {
        DecodeCall call(device, own, 1);
        for (--waiting; waiting > 0;)
          std::this_thread::yield();
        for (int round = 0; round < kRounds; ++round) {
          winnow_plan_options wanted = WINNOW_PLAN_OPTIONS_INIT;
          const int which = (t + round) % 4;
          wanted.max_requests = 1 + which;
          const winnow_plan *plan = nullptr;
          ASSERT_EQ(winnow_plan_get(runtime, bundle, device, &wanted, &plan),
                    WINNOW_OK)
              << winnow_last_error();
          // One plan for one question, whoever asks.
          const winnow_plan *expected = nullptr;
          if (!seen[which].compare_exchange_strong(expected, plan))
            ASSERT_EQ(expected, plan);
          if (round % 10 != 0)
            continue;
          ASSERT_EQ(call.launch(plan), WINNOW_OK) << winnow_last_error();
          // This thread's error is no other's.
          call.options.tensor_count = t;
          ASSERT_EQ(winnow_launch(plan, &call.options), WINNOW_ERROR_ARGUMENT);
          const std::string text = winnow_last_error();
          ASSERT_EQ(text.find("got no tensor for "), strlen("'m3_decode' "))
              << text;
        }
        ASSERT_EQ(winnow_stream_synchronize(device, own), WINNOW_OK)
            << winnow_last_error();
        call.expectRight();
      }
      EXPECT_EQ(winnow_stream_release(device, own), WINNOW_OK);
    });
  for (std::thread &thread : threads)
    thread.join();
  // Each of the four was resolved once.
  EXPECT_EQ(lines.all.size(), 4u) << lines.text();
}

TEST_F(ApiTest, OpensAndReleasesInManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        winnow_runtime *own = nullptr;
        winnow_device *hip = nullptr;
        winnow_bundle *decode = nullptr;
        const winnow_plan *plan = nullptr;
        ASSERT_EQ(winnow_runtime_create(&options, &own), WINNOW_OK);
        ASSERT_EQ(winnow_device_open(own, "hip:0", &hip), WINNOW_OK);
        ASSERT_EQ(winnow_bundle_open_file(WINNOW_DECODE_BUNDLE, &decode),
                  WINNOW_OK);
        ASSERT_EQ(winnow_plan_get(own, decode, hip, nullptr, &plan), WINNOW_OK)
            << winnow_last_error();
        ASSERT_EQ(winnow_device_release(hip), WINNOW_OK);
        ASSERT_EQ(winnow_bundle_release(decode), WINNOW_OK);
        ASSERT_EQ(winnow_runtime_release(own), WINNOW_OK);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
