// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Races between waves of one workgroup, in global memory and LDS, against the
// same kernels with a barrier or an atomic hand-off; and what faults do when
// they are told to warn.
#include "TestKernels.h"

#include <gmock/gmock.h>

namespace winnow::sim::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Launched {
  std::string error;
  std::vector<Finding> findings;
  std::vector<uint32_t> data;
};
Launched run(const std::string &hip, Dim3 grid, Dim3 block,
             const LaunchOptions &options, const std::string &flags = "") {
  auto object = load(compileHip(hip, "gfx950", flags));
  Device device;
  uint64_t data = upload(device, std::vector<uint32_t>(4096), "data");
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
/// The first report with every check on, "" when there is none.
std::string checked(const std::string &hip, Dim3 block, Dim3 grid = {}) {
  LaunchOptions options;
  options.checks = Checks::all(CheckAction::Stop);
  return run(hip, grid, block, options, "-gline-tables-only").error;
}

TEST(Race, WavesOfAWorkgroupInGlobalMemory) {
  const std::string kernel = "KERNEL k(u32 *data) {\n"
                             "  data[TX] = TX;\n"
                             "  SYNC\n"
                             "  data[1024 + TX] = data[TX ^ 64];\n"
                             "}\n";
  EXPECT_EQ(checked("#define SYNC sync();\n" + kernel, {128, 1, 1}), "");
  EXPECT_THAT(checked("#define SYNC\n" + kernel, {128, 1, 1}),
              AllOf(HasSubstr("kernel 'k', workgroup (0, 0, 0), wave "),
                    HasSubstr("(kernel.hip:"), HasSubstr("global-race: 0x"),
                    HasSubstr("in 'data', which lane 0"),
                    HasSubstr("of its workgroup, with no barrier or atomic")));
  // Each wave on its own part is fine.
  EXPECT_EQ(checked("KERNEL k(u32 *data) { data[TX] = 1; data[TX] += 2; }",
                    {256, 1, 1}),
            "");
}

TEST(Race, ReadBeforeAWriteOfAnotherWave) {
  const std::string kernel = "KERNEL k(u32 *data) {\n"
                             "  u32 v = data[TX & 63];\n"
                             "  SYNC\n"
                             "  data[1024 + TX] = v;\n"
                             "  if (TX >= 192) data[TX & 63] = v + 1;\n"
                             "}\n";
  EXPECT_EQ(checked("#define SYNC sync();\n" + kernel, {256, 1, 1}), "");
  EXPECT_THAT(checked("#define SYNC\n" + kernel, {256, 1, 1}),
              AllOf(HasSubstr("wave 3, at"),
                    HasSubstr("which lane 0 writes, was read by wave 0")));
}

// Wave 0 writes, then sets a flag; wave 1 waits for the flag, then reads. Each
// scope that is wide enough orders them.
TEST(Race, AtomicHandOffBetweenWaves) {
  auto kernel = [](const char *set, const char *get) {
    return std::string("KERNEL k(u32 *data) {\n"
                       "  if (TX < 64) {\n"
                       "    data[64 + TX] = TX;\n    ") +
           set + ";\n  } else {\n    while (" + get +
           " == 0) {}\n"
           "    data[TX + 64] = data[TX] + 1;\n"
           "  }\n"
           "}\n";
  };
  const char *scopes[] = {"3", "4", "5"}; // workgroup, agent, system
  for (std::string scope : scopes) {
    std::string set =
        "__hip_atomic_store(data, 1u, __ATOMIC_RELEASE, " + scope + ")";
    std::string get =
        "__hip_atomic_load(data, __ATOMIC_ACQUIRE, " + scope + ")";
    EXPECT_EQ(checked(kernel(set.c_str(), get.c_str()), {128, 1, 1}), "")
        << scope;
  }
  EXPECT_EQ(checked(kernel("__hip_atomic_fetch_add(data, 1u, "
                           "__ATOMIC_RELEASE, 4)",
                           "__hip_atomic_fetch_or(data, 0u, "
                           "__ATOMIC_ACQUIRE, 4)"),
                    {128, 1, 1}),
            "");
  // A plain flag orders nothing.
  EXPECT_THAT(checked(kernel("*(volatile __attribute__((address_space(1))) u32 "
                             "*)(data + 8) = 1",
                             "1 - (TX >> 6)"),
                      {128, 1, 1}),
              HasSubstr("global-race"));
}

TEST(Race, AtomicHandOffThroughLds) {
  const std::string kernel =
      "KERNEL k(u32 *data) {\n"
      "  SHARED u32 flag, box[64];\n"
      "  if (TX == 0) flag = 0;\n"
      "  sync();\n"
      "  if (TX < 64) {\n"
      "    box[TX] = TX;\n"
      "    data[TX] = TX;\n"
      "    __hip_atomic_fetch_add(&flag, 1u, __ATOMIC_RELEASE, 3);\n"
      "  } else {\n"
      "    while (WAIT) {}\n"
      "    data[TX] = box[TX & 63] + data[TX & 63];\n"
      "  }\n"
      "}\n";
  EXPECT_EQ(checked("#define WAIT (__hip_atomic_fetch_add(&flag, 0x10000u, "
                    "__ATOMIC_ACQUIRE, 3) & 0xffff) < 64\n" +
                        kernel,
                    {128, 1, 1}),
            "");
  EXPECT_THAT(checked("#define WAIT false\n" + kernel, {128, 1, 1}),
              HasSubstr("was written by wave 0"));
}

// The last of the waves to arrive reads what all of them wrote.
TEST(Race, LastToArrive) {
  const std::string kernel =
      "KERNEL k(u32 *data) {\n"
      "  data[64 + TX] = TX;\n"
      "  u32 before = 0;\n"
      "  if ((TX & 63) == 0) before = COUNT;\n"
      "  before = __builtin_amdgcn_readfirstlane(before);\n"
      "  if (before == 3)\n"
      "    for (int i = 0; i < 4; ++i)\n"
      "      data[1024 + i * 64 + (TX & 63)] = data[64 + i * 64 + (TX & 63)];\n"
      "}\n";
  EXPECT_EQ(checked("#define COUNT __hip_atomic_fetch_add(data, 1u, "
                    "__ATOMIC_ACQ_REL, 4)\n" +
                        kernel,
                    {256, 1, 1}),
            "");
  EXPECT_THAT(checked("#define COUNT (TX >> 6)\n" + kernel, {256, 1, 1}),
              HasSubstr("of its workgroup"));
}

// What faults do when they do not stop: the report, poison for loads, nothing
// for stores.
TEST(FaultActions, OutOfBoundsWarns) {
  const char *kernel = "KERNEL k(u32 *data) {\n"
                       "  data[TX] = data[4090 + TX];\n"
                       "  data[4090 + TX] = 3;\n"
                       "}\n";
  LaunchOptions options;
  EXPECT_THAT(run(kernel, {}, {64, 1, 1}, options).error,
              HasSubstr("out-of-bounds: global load"));
  options.checks.set(CheckKind::OutOfBounds, CheckAction::Warn);
  Launched got =
      run(kernel, {2, 1, 1}, {64, 1, 1}, options, "-gline-tables-only");
  EXPECT_EQ(got.error, "");
  ASSERT_EQ(got.findings.size(), 2u);
  EXPECT_EQ(got.findings[0].kind, CheckKind::OutOfBounds);
  EXPECT_EQ(got.findings[0].count, 2u * 58);
  EXPECT_THAT(got.findings[0].message,
              AllOf(HasSubstr("workgroup (0, 0, 0), wave 0, at +0x"),
                    HasSubstr("`global_load_dword"), HasSubstr("(kernel.hip:"),
                    HasSubstr("out-of-bounds: global load of 4 bytes at 0x"),
                    HasSubstr("by lane 6")));
  EXPECT_THAT(got.findings[1].message, HasSubstr("global store"));
  EXPECT_EQ(got.data[5], 3u); // the second workgroup read what the first wrote
  EXPECT_EQ(got.data[6], 0x7FBADBADu);
  EXPECT_EQ(got.data[4095], 3u);
  options.checks.set(CheckKind::OutOfBounds, CheckAction::Off);
  got = run(kernel, {}, {64, 1, 1}, options);
  EXPECT_EQ(got.error, "");
  EXPECT_TRUE(got.findings.empty());
  EXPECT_EQ(got.data[63], 0x7FBADBADu);
}

TEST(FaultActions, UseAfterFreeIsItsOwnKind) {
  auto object = load(compileHip("KERNEL k(u32 *gone, u32 *out) { out[TX] = "
                                "gone[TX] + 1; }"));
  Device device;
  uint64_t gone = upload(device, std::vector<uint32_t>(64, 1), "gone");
  uint64_t out = upload(device, std::vector<uint32_t>(64, 1), "out");
  ASSERT_TRUE(device.free(gone));
  Arguments arguments;
  arguments.add(gone).add(out);
  LaunchOptions options;
  options.checks.set(CheckKind::OutOfBounds, CheckAction::Off);
  auto stats =
      device.launch(object, "k", {}, {64, 1, 1}, arguments.bytes, options);
  ASSERT_FALSE(stats);
  EXPECT_THAT(stats.message(),
              AllOf(HasSubstr("use-after-free: global load of 4 bytes at 0x"),
                    HasSubstr("by lane 0"), HasSubstr("'gone'"),
                    HasSubstr("which is freed")));
  options.checks.set(CheckKind::UseAfterFree, CheckAction::Warn);
  stats = device.launch(object, "k", {}, {64, 1, 1}, arguments.bytes, options);
  ASSERT_TRUE(stats) << stats.message();
  ASSERT_EQ(stats->findings.size(), 1u);
  EXPECT_EQ(stats->findings[0].kind, CheckKind::UseAfterFree);
  EXPECT_EQ(download<uint32_t>(device, out, 1)[0], 0x7FBADBAEu);
}

TEST(FaultActions, LdsScratchAndScalarLoadsGoOnToo) {
  LaunchOptions options;
  options.checks.set(CheckKind::OutOfBounds, CheckAction::Warn);
  EXPECT_EQ(
      runWaveError("  v_mov_b32 v1, 0x1000\n"
                   "  ds_read_b32 v2, v1\n"
                   "  ds_add_u32 v1, v1\n"
                   "  ds_write_b64 v1, v[2:3]\n"
                   "  scratch_load_dword v3, off, off offset:2048\n"
                   "  s_load_dwordx16 s[20:35], s[8:9], 0x1000\n"
                   "  global_atomic_add_x2 v[4:5], v1, v[2:3], s[8:9] sc0\n"
                   "  s_waitcnt vmcnt(0) lgkmcnt(0)\n",
                   {1}, 1, 64, options),
      "");
}

// Findings are those of one thread, whatever the number of threads.
TEST(FaultActions, FindingsDoNotDependOnThreads) {
  const char *kernel = "KERNEL k(u32 *data) {\n"
                       "  if (BX % 3 == 1) data[4090 + TX] = 1;\n"
                       "  if (BX % 5 == 2) data[8 * 4096 + BX] = 2;\n"
                       "  if (BX == 7) while (__hip_atomic_load(data, "
                       "__ATOMIC_RELAXED, 4) == 0) {}\n"
                       "  data[64 + BX] = BX;\n"
                       "}\n";
  LaunchOptions options;
  options.checks.set(CheckKind::OutOfBounds, CheckAction::Warn)
      .set(CheckKind::Deadlock, CheckAction::Warn);
  Launched one = run(kernel, {64, 1, 1}, {64, 1, 1}, options);
  ASSERT_EQ(one.error, "");
  ASSERT_EQ(one.findings.size(), 3u);
  for (unsigned threads : {2u, 5u}) {
    options.threads = threads;
    Launched many = run(kernel, {64, 1, 1}, {64, 1, 1}, options);
    ASSERT_EQ(many.error, "");
    ASSERT_EQ(many.findings.size(), one.findings.size());
    for (size_t i = 0; i < one.findings.size(); ++i) {
      EXPECT_EQ(many.findings[i].message, one.findings[i].message);
      EXPECT_EQ(many.findings[i].count, one.findings[i].count);
    }
    EXPECT_EQ(many.data, one.data);
  }
  // A fault is that of the first workgroup in launch order.
  options.checks = Checks();
  options.threads = 1;
  std::string first = run(kernel, {64, 1, 1}, {64, 1, 1}, options).error;
  EXPECT_THAT(first, HasSubstr("workgroup (1, 0, 0)"));
  options.threads = 4;
  EXPECT_EQ(run(kernel, {64, 1, 1}, {64, 1, 1}, options).error, first);
}

// Counters and results too, with checks and a profile.
TEST(FaultActions, ProfilesDoNotDependOnThreads) {
  auto object = load(compileHip("KERNEL k(u32 *data) {\n"
                                "  SHARED u32 s[256];\n"
                                "  s[TX] = data[BX * 256 + (TX * 5 & 255)];\n"
                                "  sync();\n"
                                "  data[BX * 256 + TX] = s[255 - TX] + BX;\n"
                                "}\n"));
  std::string json, text;
  std::vector<uint32_t> results;
  for (unsigned threads : {1u, 4u}) {
    Device device;
    std::vector<uint32_t> words(4096);
    for (size_t i = 0; i < words.size(); ++i)
      words[i] = uint32_t(i * 7);
    uint64_t data = upload(device, words, "data");
    Arguments arguments;
    arguments.add(data);
    LaunchOptions options;
    options.threads = threads;
    options.profile = true;
    options.checks = Checks::all(CheckAction::Warn);
    auto stats = device.launch(object, "k", {16, 1, 1}, {256, 1, 1},
                               arguments.bytes, options);
    ASSERT_TRUE(stats) << stats.message();
    EXPECT_TRUE(stats->findings.empty());
    auto out = download<uint32_t>(device, data, 4096);
    if (threads == 1) {
      json = profileJson(*stats->profile);
      results = out;
    }
    EXPECT_EQ(profileJson(*stats->profile), json);
    EXPECT_EQ(out, results);
  }
}

} // namespace
} // namespace winnow::sim::test
