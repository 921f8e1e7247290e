// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shuffled launches: every workgroup runs, in other orders, taking turns with
// others; the same seed gives the same order.
#include "TestKernels.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <numeric>
#include <set>

namespace winnow::sim::test {
namespace {

/// Tickets are drawn at the beginning and at the end of each workgroup.
const char *const kTickets =
    "KERNEL k(u32 *counter, u32 *first, u32 *last, u32 *work) {\n"
    "  if (TX == 0)\n"
    "    first[BX] = __hip_atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED, "
    "4);\n"
    "  u32 x = TX;\n"
    "  for (int i = 0; i < 1000; ++i)\n"
    "    x = x * 1664525u + 1013904223u;\n"
    "  work[BX * 64 + TX] = x;\n"
    "  if (TX == 0)\n"
    "    last[BX] = __hip_atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED, 4);\n"
    "}\n";

struct Tickets {
  std::vector<uint32_t> first, last, work;
};
Tickets run(uint32_t groups, uint64_t shuffle, unsigned threads = 1) {
  auto object = load(compileHip(kTickets));
  Device device;
  auto words = [&](uint32_t count, const char *label) {
    return upload(device, std::vector<uint32_t>(count), label);
  };
  uint64_t counter = words(1, "counter"), first = words(groups, "first"),
           last = words(groups, "last"), work = words(groups * 64, "work");
  Arguments arguments;
  arguments.add(counter).add(first).add(last).add(work);
  LaunchOptions options;
  options.shuffle = shuffle;
  options.threads = threads;
  auto stats =
      device.launch(object, "k", {groups}, {64}, arguments.bytes, options);
  EXPECT_TRUE(stats) << stats.message();
  if (stats) {
    EXPECT_EQ(stats->workgroups, groups);
  }
  return {download<uint32_t>(device, first, groups),
          download<uint32_t>(device, last, groups),
          download<uint32_t>(device, work, groups * 64)};
}

/// Workgroups between whose begin and end another one began or ended.
size_t overlaps(const Tickets &tickets) {
  size_t count = 0;
  for (size_t i = 0; i < tickets.first.size(); ++i)
    count += tickets.last[i] != tickets.first[i] + 1;
  return count;
}

TEST(Shuffle, RunsEveryWorkgroupOnce) {
  for (uint32_t groups : {1u, 2u, 3u, 7u, 64u, 1000u})
    for (unsigned threads : {1u, 3u}) {
      const Tickets tickets = run(groups, 5 + groups, threads);
      std::set<uint32_t> all(tickets.first.begin(), tickets.first.end());
      all.insert(tickets.last.begin(), tickets.last.end());
      EXPECT_EQ(all.size(), 2 * groups);
      EXPECT_EQ(*all.rbegin(), 2 * groups - 1);
      EXPECT_EQ(tickets.work, run(groups, 0).work);
    }
}

TEST(Shuffle, ChangesOrderAndInterleaves) {
  const Tickets inOrder = run(200, 0);
  EXPECT_TRUE(std::is_sorted(inOrder.first.begin(), inOrder.first.end()));
  EXPECT_EQ(overlaps(inOrder), 0u);
  const Tickets one = run(200, 1), again = run(200, 1), two = run(200, 2);
  EXPECT_EQ(one.first, again.first);
  EXPECT_EQ(one.last, again.last);
  EXPECT_NE(one.first, two.first);
  for (const Tickets &tickets : {one, two}) {
    EXPECT_GT(overlaps(tickets), 150u);
    // Descents of a random order of 200 are about 100.
    size_t descents = 0;
    for (size_t i = 1; i < tickets.first.size(); ++i)
      descents += tickets.first[i] < tickets.first[i - 1];
    EXPECT_THAT(descents,
                ::testing::AllOf(::testing::Gt(70u), ::testing::Lt(130u)));
  }
}

TEST(Shuffle, FindsDeadlocksAndFaults) {
  auto error = [](const std::string &kernel) {
    auto object = load(compileHip(kernel));
    Device device;
    Arguments arguments;
    arguments.add(upload(device, std::vector<uint32_t>(64), "data"));
    LaunchOptions options;
    options.shuffle = 11;
    auto stats =
        device.launch(object, "k", {8}, {128}, arguments.bytes, options);
    return stats ? std::string() : stats.message();
  };
  EXPECT_THAT(error("KERNEL k(u32 *data) {\n"
                    "  while (__hip_atomic_load(data, __ATOMIC_RELAXED, 4) < 9)"
                    " {}\n"
                    "}\n"),
              ::testing::HasSubstr("deadlock"));
  // Workgroups that wait for each other get on.
  EXPECT_EQ(error("KERNEL k(u32 *data) {\n"
                  "  sync();\n"
                  "  if (TX == 0)\n"
                  "    __hip_atomic_fetch_add(data, 1u, __ATOMIC_RELAXED, 4);\n"
                  "  while (__hip_atomic_load(data, __ATOMIC_RELAXED, 4) < 8) "
                  "{}\n"
                  "}\n"),
            "");
  EXPECT_THAT(
      error("KERNEL k(u32 *data) { data[BX == 5 ? 1 << 20 : TX & 63] = 1; "
            "}\n"),
      ::testing::HasSubstr("workgroup (5, 0, 0)"));
}

} // namespace
} // namespace winnow::sim::test
