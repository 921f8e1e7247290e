// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every planted fault stops the launch and is named.
#include "TestKernels.h"

#include <gmock/gmock.h>

namespace winnow::sim::test {
namespace {

using ::testing::HasSubstr;

TEST(Fault, LoadPastTheEndNamesEverything) {
  auto object = load(compileHip(R"(
    KERNEL copy(const float *a, float *b, int n) {
      int i = BX * 64 + TX;
      if (i < n) b[i] = a[i];
    })"));
  Device device;
  uint64_t a = upload(device, std::vector<float>(100), "scores");
  uint64_t b = upload(device, std::vector<float>(256), "copy");
  Arguments arguments;
  arguments.add(a).add(b).add(256);
  auto stats =
      device.launch(object, "copy", {4, 1, 1}, {64, 1, 1}, arguments.bytes);
  ASSERT_FALSE(stats);
  EXPECT_THAT(stats.message(), HasSubstr("kernel 'copy'"));
  EXPECT_THAT(stats.message(), HasSubstr("workgroup (1, 0, 0), wave 0"));
  EXPECT_THAT(stats.message(), HasSubstr("`global_load_dword v"));
  EXPECT_THAT(stats.message(), HasSubstr("global load of 4 bytes"));
  EXPECT_THAT(stats.message(), HasSubstr("by lane 36"));
  EXPECT_THAT(stats.message(), HasSubstr("'scores' ["));
}

TEST(Fault, StoreBeforeTheBeginning) {
  auto object = load(compileHip(R"(
    KERNEL store(int *out) { out[(int)TX - 1] = 7; })"));
  Device device;
  uint64_t out = upload(device, std::vector<int>(64), "page table");
  Arguments arguments;
  arguments.add(out);
  auto stats =
      device.launch(object, "store", {1, 1, 1}, {64, 1, 1}, arguments.bytes);
  ASSERT_FALSE(stats);
  EXPECT_THAT(stats.message(), HasSubstr("global store of 4 bytes"));
  EXPECT_THAT(stats.message(), HasSubstr("by lane 0"));
  EXPECT_THAT(stats.message(), HasSubstr("'page table' ["));
  EXPECT_THAT(stats.message(), HasSubstr("begins 4 bytes after"));
}

TEST(Fault, UseAfterFree) {
  auto object = load(compileHip(R"(
    KERNEL store(int *out) { out[TX] = 7; })"));
  Device device;
  uint64_t out = upload(device, std::vector<int>(64), "gone");
  ASSERT_TRUE(device.free(out));
  EXPECT_FALSE(device.free(out));
  Arguments arguments;
  arguments.add(out);
  auto stats =
      device.launch(object, "store", {1, 1, 1}, {64, 1, 1}, arguments.bytes);
  ASSERT_FALSE(stats);
  EXPECT_THAT(stats.message(), HasSubstr("'gone'"));
  EXPECT_THAT(stats.message(), HasSubstr("freed"));
}

TEST(Fault, ScalarLoadOutOfBounds) {
  std::string error =
      runWaveError("  s_load_dword s20, s[8:9], 0x1000\n", {1}, 1);
  EXPECT_THAT(error, HasSubstr("scalar load of 4 bytes"));
  EXPECT_THAT(error, HasSubstr("`s_load_dword s20, s[8:9], 0x1000`"));
  EXPECT_THAT(error, HasSubstr("'in' ["));
}

TEST(Fault, LdsOutOfBounds) {
  std::string error = runWaveError("  v_lshlrev_b32 v1, 5, v0\n"
                                   "  ds_read_b32 v2, v1\n",
                                   {1}, 1);
  EXPECT_THAT(error, HasSubstr("LDS load of 4 bytes at 0x400 by lane 32"));
  EXPECT_THAT(error, HasSubstr("1024 bytes of LDS"));
}

TEST(Fault, ScratchOutOfBounds) {
  std::string error =
      runWaveError("  scratch_load_dword v1, off, off offset:128\n", {1}, 1);
  EXPECT_THAT(error, HasSubstr("scratch load of 4 bytes at offset 0x80"));
}

TEST(Fault, UnknownInstructionIsNamedWhenReached) {
  std::string error = runWaveError("  s_nop 0\n  s_setvskip s2, s3\n", {1}, 1);
  EXPECT_THAT(error, HasSubstr("at +0x18 `s_setvskip s2, s3`"));
  EXPECT_THAT(error, HasSubstr("does not know this instruction"));
  // Jumped over, it does no harm.
  EXPECT_EQ(runWaveError("  s_branch L\n  s_setvskip s2, s3\nL:\n", {1}, 1),
            "");
}

TEST(Fault, InvalidInstructionAndRunningOffTheEnd) {
  EXPECT_THAT(runWaveError("  .long 0xffffffff\n", {1}, 1),
              HasSubstr("is not an instruction of gfx950"));
  std::string error = runWaveError(
      "  s_branch L\n  s_endpgm\n.Lend2:\nL:\n  s_setpc_b64 s[8:9]\n", {1}, 1);
  EXPECT_THAT(error, HasSubstr("which is no instruction of this code object"));
}

TEST(Fault, RegistersBeyondTheKernelsAllocation) {
  EXPECT_THAT(runWaveError("  v_mov_b32 v128, 0\n", {1}, 1),
              HasSubstr("it uses register v128, the kernel has 128"));
  EXPECT_THAT(runWaveError("  v_accvgpr_write_b32 a64, 1\n", {1}, 1),
              HasSubstr("it uses register a64, the kernel has 64"));
}

TEST(Fault, RunawayLoopStops) {
  std::string error =
      runWaveError("L:\n  s_add_u32 s20, s20, 1\n  s_branch L\n", {1}, 1);
  EXPECT_THAT(error, HasSubstr("runaway-loop: the workgroup executed 1000000 "
                               "wave instructions, the limit"));
  EXPECT_THAT(error, HasSubstr("`s_"));
  // One that comes back to where it was needs no limit.
  error = runWaveError("L:\n  s_nop 0\n  s_branch L\n", {1}, 1);
  EXPECT_THAT(error, HasSubstr("runaway-loop: the loop goes round for ever"));
}

TEST(Fault, TrapStops) {
  EXPECT_THAT(runWaveError("  s_trap 2\n", {1}, 1),
              HasSubstr("the kernel trapped with number 2"));
}

TEST(Fault, FreshMemoryIsPoison) {
  Device device;
  auto address = device.alloc(16, "fresh");
  ASSERT_TRUE(address);
  EXPECT_EQ(download<uint32_t>(device, *address, 4),
            std::vector<uint32_t>(4, 0x7FBADBADu));
}

TEST(Fault, LaunchArgumentsAreChecked) {
  auto object = load(assemble(kernelAround("")));
  Device device;
  std::vector<std::byte> kernarg(16);
  auto launch = [&](Dim3 grid, Dim3 block, size_t bytes, uint32_t lds,
                    const char *name = "k") {
    LaunchOptions options;
    options.dynamicLdsBytes = lds;
    auto stats = device.launch(object, name, grid, block,
                               std::span(kernarg).first(bytes), options);
    return stats ? std::string() : stats.message();
  };
  EXPECT_EQ(launch({1, 1, 1}, {1024, 1, 1}, 16, 0), "");
  EXPECT_THAT(launch({1, 1, 1}, {1025, 1, 1}, 16, 0), HasSubstr("1024"));
  EXPECT_THAT(launch({1, 0, 1}, {64, 1, 1}, 16, 0), HasSubstr("(1, 0, 1)"));
  EXPECT_THAT(launch({1, 1, 1}, {64, 1, 1}, 8, 0),
              HasSubstr("takes 16 bytes of arguments, got 8"));
  EXPECT_EQ(launch({1, 1, 1}, {64, 1, 1}, 16, 159 * 1024), "");
  EXPECT_THAT(launch({1, 1, 1}, {64, 1, 1}, 16, 160 * 1024),
              HasSubstr("164864 bytes of LDS asked"));
  EXPECT_THAT(launch({1, 1, 1}, {64, 1, 1}, 16, 0, "other"),
              HasSubstr("no kernel 'other'; it has 'k'"));
}

} // namespace
} // namespace winnow::sim::test
