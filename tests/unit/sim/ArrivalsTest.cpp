// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// templates/winnow/arrivals.h by itself, in shuffled orders of arrival: exactly
// one workgroup of a request is its last, and it sees what all others stored.
#include "TestKernels.h"

#include <numeric>

namespace winnow::sim::test {
namespace {

constexpr uint64_t kMark = 0xffe171c70a5d0000;

/// Workgroup (x, y) stores 1 for each lane; the last of request y adds them up
/// and says that it was there.
std::string kernelFor(int arrivals, const char *count) {
  return "#include \"winnow/arrivals.h\"\n"
         "struct Shape { static constexpr int kArrivals = " +
         std::to_string(arrivals) +
         "; };\n"
         "KERNEL k(int *arrivals, u32 *parts, u32 *sums, u32 *lasts) {\n"
         "  using namespace winnow;\n"
         "  const int request = workgroup_y();\n"
         "  u32 *own = parts + request * Shape::kArrivals * 128;\n"
         "  own[BX * 128 + TX] = 1;\n"
         "  SHARED ArrivalStorage arrival;\n"
         "  if (!" +
         count +
         ")\n"
         "    return;\n"
         "  u32 sum = 0;\n"
         "  for (int i = 0; i < Shape::kArrivals; ++i)\n"
         "    sum += own[i * 128 + TX];\n"
         "  sums[request * 128 + TX] = sum;\n"
         "  if (TX == 0)\n"
         "    lasts[request] += 1;\n"
         "}\n";
}
const char *const kCounted =
    "is_last_arrival<Shape>(arrivals, request, arrival)";

std::vector<std::byte> compileArrivals(const std::string &kernel) {
  return compileHip(kernel, "gfx950",
                    std::string("-I ") + WINNOW_TEST_TEMPLATES);
}

struct Outcome {
  std::string error;
  std::vector<uint64_t> counters;
  std::vector<uint32_t> sums, lasts;
};

class Requests {
public:
  Requests(const std::vector<std::byte> &code, int arrivals,
           const std::vector<uint64_t> &counters)
      : object(load(code)), arrivals(arrivals), count(counters.size()),
        counterMemory(upload(device, counters, "counters")),
        parts(upload(device, std::vector<uint32_t>(count * arrivals * 128),
                     "parts")),
        sums(upload(device, std::vector<uint32_t>(count * 128), "sums")),
        lasts(upload(device, std::vector<uint32_t>(count), "lasts")) {}

  Outcome launch(const LaunchOptions &options) {
    Arguments bytes;
    bytes.add(counterMemory).add(parts).add(sums).add(lasts);
    auto stats =
        device.launch(object, "k", {uint32_t(arrivals), uint32_t(count), 1},
                      {128, 1, 1}, bytes.bytes, options);
    return {stats ? "" : stats.message(),
            download<uint64_t>(device, counterMemory, count),
            download<uint32_t>(device, sums, count * 128),
            download<uint32_t>(device, lasts, count)};
  }

private:
  Device device;
  std::shared_ptr<const CodeObject> object;
  int arrivals;
  size_t count;
  uint64_t counterMemory, parts, sums, lasts;
};

/// What a workspace may hold: counters, poison, sums that a few arrivals turn
/// into what looks like a counter, counts that cannot be.
std::vector<uint64_t> anyCounters() {
  return {0,
          ~uint64_t(0),
          kMark,
          kMark - 1,
          kMark - 3,
          kMark + 5,
          kMark + 0xffff,
          0x7fbadbad7fbadbad,
          0x3f8000003f7ffffe,
          kMark,
          kMark ^ uint64_t(1) << 63,
          1};
}

TEST(Arrivals, OneLastWhateverTheOrderAndTheMemory) {
  for (int arrivals : {2, 3, 5}) {
    const auto code = compileArrivals(kernelFor(arrivals, kCounted));
    for (uint64_t shuffle = 0; shuffle < 40; ++shuffle) {
      Requests requests(code, arrivals, anyCounters());
      LaunchOptions options;
      options.shuffle = shuffle;
      options.threads = 1 + shuffle % 3;
      if (shuffle % 4 == 1)
        options.checks = Checks::all(CheckAction::Stop);
      // The second launch starts from what the first one left.
      for (uint32_t launches = 1; launches <= 2; ++launches) {
        const Outcome outcome = requests.launch(options);
        ASSERT_EQ(outcome.error, "") << "shuffle " << shuffle;
        for (size_t r = 0; r < outcome.lasts.size(); ++r) {
          ASSERT_EQ(outcome.lasts[r], launches)
              << "request " << r << ", shuffle " << shuffle;
          ASSERT_EQ(outcome.counters[r], kMark) << "request " << r;
        }
        for (uint32_t sum : outcome.sums)
          ASSERT_EQ(sum, uint32_t(arrivals)) << "shuffle " << shuffle;
      }
    }
  }
}

TEST(Arrivals, OneWorkgroupNeedsNoCounter) {
  Requests requests(compileArrivals(kernelFor(1, kCounted)), 1, {7, kMark});
  LaunchOptions options;
  options.checks = Checks::all(CheckAction::Stop);
  const Outcome outcome = requests.launch(options);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.counters, (std::vector<uint64_t>{7, kMark}));
  EXPECT_EQ(outcome.lasts, (std::vector<uint32_t>{1, 1}));
}

// A counter that is not atomic loses arrivals or is taken for a race.
TEST(Arrivals, APlainCounterIsFound) {
  const std::string plain =
      "([&] { sync(); if (TX == 0) { u32 *c = (u32 *)arrivals + 2 * request; "
      "arrival.is_last = ++*c == Shape::kArrivals; } sync(); "
      "return arrival.is_last != 0; }())";
  Requests requests(compileArrivals(kernelFor(3, plain.c_str())), 3, {0, 0});
  LaunchOptions options;
  options.checks = Checks::all(CheckAction::Stop);
  options.shuffle = 3;
  EXPECT_NE(requests.launch(options).error.find("global-race"),
            std::string::npos);
}

// Scores that are not released before the arrival, or not acquired after it,
// might come out of another die's cache.
TEST(Arrivals, AMissingFenceIsFound) {
  auto error = [](const char *release, const char *acquire) {
    const std::string counted =
        std::string("([&] { ") + release +
        "; workgroup_barrier(); if (TX == 0) { const u64 before = "
        "__hip_atomic_fetch_add((u64 *)arrivals + request, 1ull, "
        "__ATOMIC_RELAXED, 4); arrival.is_last = before + 1 == "
        "Shape::kArrivals; } local_barrier(); if (arrival.is_last) " +
        acquire + "; return arrival.is_last != 0; }())";
    Requests requests(compileArrivals(kernelFor(3, counted.c_str())), 3,
                      {0, 0});
    LaunchOptions options;
    options.checks = Checks::all(CheckAction::Stop);
    options.shuffle = 3;
    return requests.launch(options).error;
  };
  EXPECT_EQ(error("release_to_device()", "acquire_from_device()"), "");
  EXPECT_NE(error("", "acquire_from_device()")
                .find("which did not release it to the device"),
            std::string::npos);
  EXPECT_NE(error("release_to_device()", "workgroup_barrier()")
                .find("has not acquired it from the device"),
            std::string::npos);
}

// The instructions that the order of memory rests on.
TEST(Arrivals, ComesOutAsReleaseAtomicAcquire) {
  auto object = load(compileArrivals(kernelFor(4, kCounted)));
  auto text = object->disassemble("k");
  ASSERT_TRUE(text) << text.message();
  size_t at = 0;
  for (const char *instruction :
       {"global_store_dword ", "buffer_wbl2 sc1", "s_waitcnt vmcnt(0)",
        "s_barrier", "global_atomic_add_x2 ", "s_barrier", "buffer_inv sc1",
        "global_load_dword"}) {
    at = text->find(instruction, at);
    ASSERT_NE(at, std::string::npos) << instruction << " in\n" << *text;
  }
}

} // namespace
} // namespace winnow::sim::test
