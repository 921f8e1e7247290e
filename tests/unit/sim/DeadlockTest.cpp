// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waves and workgroups that wait for what will not come are told from those
// that wait for what will, and from loops that merely do not end.
#include "TestKernels.h"

#include <gmock/gmock.h>

namespace winnow::sim::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Launched {
  std::string error;
  std::vector<Finding> findings;
  std::vector<uint32_t> data;
};

/// Launches `k(u32 *data)` over 4096 words, the first of them `first`.
Launched run(const std::string &hip, Dim3 grid, Dim3 block,
             LaunchOptions options = {}, const std::string &flags = "") {
  auto object = load(compileHip(hip, "gfx950", flags));
  Device device;
  std::vector<uint32_t> words(4096);
  uint64_t data = upload(device, words, "flags");
  Arguments arguments;
  arguments.add(data);
  auto stats =
      device.launch(object, "k", grid, block, arguments.bytes, options);
  Launched out;
  if (stats)
    out.findings = stats->findings;
  else
    out.error = stats.message();
  out.data = download<uint32_t>(device, data, 4096);
  return out;
}

const char *kPrelude = R"(
DEVICE inline u32 peek(u32 *p) { return __hip_atomic_load(p, __ATOMIC_ACQUIRE, 4); }
DEVICE inline void poke(u32 *p, u32 v) { __hip_atomic_store(p, v, __ATOMIC_RELEASE, 4); }
DEVICE inline u32 bump(u32 *p) { return __hip_atomic_fetch_add(p, 1u, __ATOMIC_ACQ_REL, 4); }
)";
std::string source(const char *body) { return std::string(kPrelude) + body; }

TEST(Deadlock, WaveSpinsOnAFlagThatNobodySets) {
  Launched got = run(source("KERNEL k(u32 *data) {\n"
                            "  while (peek(data + 5) == 0) {}\n"
                            "  data[TX] = 1;\n"
                            "}\n"),
                     {}, {64, 1, 1}, {}, "-gline-tables-only");
  EXPECT_THAT(
      got.error,
      AllOf(HasSubstr("kernel 'k', workgroup (0, 0, 0), wave 0, at +0x"),
            HasSubstr("`global_load_dword"), HasSubstr("(kernel.hip:"),
            HasSubstr("deadlock: the wave spins on 0x"),
            HasSubstr("in 'flags' (lane 0), which no wave that is left "
                      "will write")));
}

TEST(Deadlock, LockThatIsHeldForEver) {
  // Compare-and-swap stores what is there already: nothing changes.
  Launched got =
      run(source("KERNEL k(u32 *data) {\n"
                 "  if (TX & 63) return;\n"
                 "  u32 free = 0;\n"
                 "  while (!__hip_atomic_compare_exchange_strong(data, "
                 "&free, 1u, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, 4))\n"
                 "    free = 0;\n"
                 "  data[1 + (TX >> 6)] = 1;\n"
                 "}\n"),
          {}, {128, 1, 1});
  EXPECT_THAT(got.error, AllOf(HasSubstr("wave 1, at"), HasSubstr("deadlock"),
                               HasSubstr("cmpswap")));
}

TEST(Deadlock, WavesAtABarrierForOneThatSpins) {
  Launched got =
      run(source("KERNEL k(u32 *data) {\n"
                 "  if (TX >= 64 && TX < 128) while (peek(data) == 0) {}\n"
                 "  sync();\n"
                 "  if (TX == 0) poke(data, 1);\n"
                 "}\n"),
          {}, {256, 1, 1});
  EXPECT_THAT(got.error,
              AllOf(HasSubstr("wave 1, at"),
                    HasSubstr("deadlock: the wave spins"),
                    HasSubstr("waves 0, 2, 3 wait at the barrier at +0x")));
}

TEST(Deadlock, SpinOnLds) {
  Launched got = run(source("KERNEL k(u32 *data) {\n"
                            "  SHARED u32 flag[4];\n"
                            "  if (TX == 0) flag[1] = 0;\n"
                            "  sync();\n"
                            "  while (*(volatile u32 *)(flag + 1) == 0) {}\n"
                            "  data[TX] = 1;\n"
                            "}\n"),
                     {}, {128, 1, 1});
  EXPECT_THAT(
      got.error,
      AllOf(HasSubstr("deadlock: the wave spins on LDS byte 0x4 (lane 0)"),
            HasSubstr("`flat_load_dword"), HasSubstr("waves 1 spin too")));
}

TEST(Deadlock, HandOffBetweenWavesIsNone) {
  // Either wave may have to wait for the other one, many times.
  const char *body = "KERNEL k(u32 *data) {\n"
                     "  u32 me = TX >> 6;\n"
                     "  for (u32 turn = 0; turn < 20; ++turn) {\n"
                     "    while (peek(data) % 2 != ORDER) {}\n"
                     "    if ((TX & 63) == 0) { data[64] += 1; bump(data); }\n"
                     "  }\n"
                     "}\n";
  for (const char *order : {"me", "1 - me"}) {
    Launched got =
        run(std::string("#define ORDER (") + order + ")\n" + source(body), {},
            {128, 1, 1});
    EXPECT_EQ(got.error, "");
    EXPECT_EQ(got.data[64], 40u);
  }
}

// A workgroup waits for one that comes after it: it is set aside meanwhile.
TEST(Deadlock, WorkgroupsWaitForLaterOnes) {
  std::string chain =
      source("KERNEL k(u32 *data) {\n"
             "  if (BX + 1 < 32) while (peek(data + BX + 1) == 0) {}\n"
             "  if (TX == 0) poke(data + BX, 7);\n"
             "}\n");
  for (unsigned threads : {1u, 4u}) {
    LaunchOptions options;
    options.threads = threads;
    Launched got = run(chain, {32, 1, 1}, {64, 1, 1}, options);
    EXPECT_EQ(got.error, "");
    EXPECT_EQ(std::vector<uint32_t>(got.data.begin(), got.data.begin() + 32),
              std::vector<uint32_t>(32, 7));
  }
}

TEST(Deadlock, GridBarriersWork) {
  std::string rounds =
      source("KERNEL k(u32 *data) {\n"
             "  for (u32 round = 1; round <= 3; ++round) {\n"
             "    if (TX == 0) { data[64 * round + BX] = round; bump(data); }\n"
             "    while (peek(data) < 24 * round) {}\n"
             "    if (data[64 * round + 23 - BX] != round) data[1] = 1;\n"
             "  }\n"
             "}\n");
  for (unsigned threads : {1u, 3u}) {
    LaunchOptions options;
    options.threads = threads;
    Launched got = run(rounds, {24, 1, 1}, {64, 1, 1}, options);
    EXPECT_EQ(got.error, "");
    EXPECT_EQ(got.data[0], 72u);
    EXPECT_EQ(got.data[1], 0u);
  }
  // The checks follow the hand-offs, and find nothing wrong.
  LaunchOptions options;
  options.checks = Checks::all(CheckAction::Stop);
  EXPECT_EQ(run(rounds, {24, 1, 1}, {64, 1, 1}, options).error, "");
}

// What is waited for is not dispatched, because the device is full.
TEST(Deadlock, DeviceIsFull) {
  std::string barrier = source("KERNEL k(u32 *data) {\n"
                               "  if (TX == 0) bump(data);\n"
                               "  while (peek(data) < 40) {}\n"
                               "}\n");
  LaunchOptions options;
  // 1024 work items are 16 waves of 32 that a compute unit holds.
  options.computeUnits = 20;
  EXPECT_EQ(run(barrier, {40, 1, 1}, {1024, 1, 1}, options).error, "");
  options.computeUnits = 19;
  for (unsigned threads : {1u, 4u}) {
    options.threads = threads;
    EXPECT_THAT(run(barrier, {40, 1, 1}, {1024, 1, 1}, options).error,
                AllOf(HasSubstr("workgroup (0, 0, 0), wave"),
                      HasSubstr("deadlock: the wave spins on 0x"),
                      HasSubstr("38 workgroups are stuck"),
                      HasSubstr("workgroup number 38 is not dispatched: the 38 "
                                "that are fill the device")));
  }
}

TEST(Deadlock, CyclesOfWorkgroups) {
  Launched got = run(source("KERNEL k(u32 *data) {\n"
                            "  while (peek(data + (BX + 1) % 3) == 0) {}\n"
                            "  poke(data + BX, 1);\n"
                            "}\n"),
                     {3, 1, 1}, {64, 1, 1});
  EXPECT_THAT(got.error, AllOf(HasSubstr("workgroup (0, 0, 0)"),
                               HasSubstr("3 workgroups are stuck"),
                               Not(HasSubstr("is not dispatched"))));
}

// Stores of what is there already do not make a loop useful.
TEST(Deadlock, StoresThatChangeNothing) {
  Launched got = run(source("KERNEL k(u32 *data) {\n"
                            "  do poke(data + 8, 3); while (peek(data) == 0);\n"
                            "}\n"),
                     {}, {64, 1, 1});
  EXPECT_THAT(got.error, HasSubstr("deadlock: the wave spins"));
}

// A loop that counts, or reads the clock, ends or runs into the limit.
TEST(Deadlock, BoundedWaitsAreNone) {
  LaunchOptions options;
  options.instructionLimit = 300000;
  Launched got =
      run(source("KERNEL k(u32 *data) {\n"
                 "  for (int i = 0; i < 20000 && peek(data) == 0; ++i) {}\n"
                 "  data[1] = 5;\n"
                 "}\n"),
          {}, {64, 1, 1}, options);
  EXPECT_EQ(got.error, "");
  EXPECT_EQ(got.data[1], 5u);
  got = run(source("KERNEL k(u32 *data) {\n"
                   "  u64 begin = __builtin_amdgcn_s_memtime();\n"
                   "  while (__builtin_amdgcn_s_memtime() - begin < 50000) {}\n"
                   "  data[1] = 6;\n"
                   "}\n"),
            {}, {64, 1, 1}, options);
  EXPECT_EQ(got.error, "");
  EXPECT_EQ(got.data[1], 6u);
  got = run(source("KERNEL k(u32 *data) {\n"
                   "  for (u32 i = 0; peek(data) == 0; ++i) data[1] = i;\n"
                   "}\n"),
            {}, {64, 1, 1}, options);
  EXPECT_THAT(got.error, AllOf(HasSubstr("runaway-loop: the workgroup executed "
                                         "300000 wave instructions"),
                               Not(HasSubstr("deadlock"))));
}

TEST(Deadlock, WarnsAndGoesOn) {
  LaunchOptions options;
  options.checks.set(CheckKind::Deadlock, CheckAction::Warn);
  Launched got =
      run(source("KERNEL k(u32 *data) {\n"
                 "  if (BX == 1 || BX == 2) while (peek(data) == 0) {}\n"
                 "  data[BX + 1] = 9;\n"
                 "}\n"),
          {4, 1, 1}, {64, 1, 1}, options);
  EXPECT_EQ(got.error, "");
  ASSERT_EQ(got.findings.size(), 1u);
  EXPECT_EQ(got.findings[0].kind, CheckKind::Deadlock);
  EXPECT_EQ(got.findings[0].count, 2u);
  EXPECT_THAT(got.findings[0].message, HasSubstr("workgroup (1, 0, 0)"));
  EXPECT_EQ(std::vector<uint32_t>(got.data.begin(), got.data.begin() + 5),
            (std::vector<uint32_t>{0, 9, 0, 0, 9}));
  // Off, the limit ends it.
  options.checks.set(CheckKind::Deadlock, CheckAction::Off);
  options.instructionLimit = 100000;
  got = run(source("KERNEL k(u32 *data) { while (peek(data) == 0) {} }"), {},
            {64, 1, 1}, options);
  EXPECT_THAT(got.error, HasSubstr("runaway-loop"));
}

TEST(Deadlock, RunawayLoopsWarnAndGoOn) {
  LaunchOptions options;
  options.checks.set(CheckKind::RunawayLoop, CheckAction::Warn);
  options.instructionLimit = 50000;
  Launched got =
      run(source("KERNEL k(u32 *data) {\n"
                 "  if (BX == 1) for (u32 i = 0; peek(data) == 0; ++i) "
                 "data[100] = i;\n"
                 "  data[BX + 1] = 9;\n"
                 "}\n"),
          {3, 1, 1}, {64, 1, 1}, options);
  EXPECT_EQ(got.error, "");
  ASSERT_EQ(got.findings.size(), 1u);
  EXPECT_EQ(got.findings[0].kind, CheckKind::RunawayLoop);
  EXPECT_EQ(std::vector<uint32_t>(got.data.begin(), got.data.begin() + 4),
            (std::vector<uint32_t>{0, 9, 0, 9}));
}

} // namespace
} // namespace winnow::sim::test
