// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the cuda device does that the hip device has no need of: contexts,
// shared memory beyond 48 KiB; and plans from a bundle with a cubin.
#include "Support.h"

#include <gmock/gmock.h>

#include <thread>

using namespace winnow;
using namespace winnow::runtime;
using namespace winnow::test;
using testing::AllOf;
using testing::HasSubstr;

namespace {

class CudaDeviceTest : public testing::Test {
protected:
  void SetUp() override { hooks(kFakeCuda).reset(); }
  void TearDown() override { hooks(kFakeCuda).reset(); }
  static std::shared_ptr<Device> device(const char *name = "cuda:0") {
    auto opened = openDevice(name, {kAbsent, kAbsent, kFakeCuda});
    EXPECT_TRUE(opened) << opened.message();
    return opened ? *opened : nullptr;
  }
  static std::string calls() { return hooks(kFakeCuda).callText(); }
  static uint64_t count(const char *function) {
    return hooks(kFakeCuda).count(function);
  }
};

TEST_F(CudaDeviceTest, AutoTakesItAfterHipAndBeforeTheSimulatedOne) {
  auto opened = openDevice("auto", {kAbsent, kHipSim, kFakeCuda});
  ASSERT_TRUE(opened) << opened.message();
  EXPECT_EQ((*opened)->info().name, "cuda:0");
  ASSERT_EQ((*opened)->info().passedOver.size(), 1u);
  EXPECT_THAT((*opened)->info().passedOver[0], HasSubstr("device 'hip:0'"));
  opened = openDevice("auto", {kHipSim, kHipSim, kFakeCuda});
  ASSERT_TRUE(opened) << opened.message();
  EXPECT_EQ((*opened)->info().name, "hip:0");
}

TEST_F(CudaDeviceTest, SaysWhatIsMissing) {
  auto opened = openDevice("cuda:0", {kAbsent, kAbsent, kAbsent});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.message(),
              AllOf(HasSubstr("device 'cuda:0': no CUDA library can be loaded; "
                              "looked for " +
                              kAbsent),
                    HasSubstr("cannot open shared object file")));
  opened = openDevice("cuda:0", {kAbsent, kAbsent, "libm.so.6"});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.message(),
              HasSubstr("libm.so.6 is no CUDA library that can be used: it has "
                        "no cuInit"));
  hooks(kFakeCuda).setDevices(0, nullptr);
  opened = openDevice("cuda:0", {kAbsent, kAbsent, kFakeCuda});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.message(),
              HasSubstr("cuInit failed with CUDA_ERROR_NO_DEVICE (100: no "
                        "CUDA-capable device is detected) when starting the "
                        "driver"));
  hooks(kFakeCuda).setDevices(2, nullptr);
  opened = openDevice("cuda:2", {kAbsent, kAbsent, kFakeCuda});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.message(), HasSubstr("has 2 devices, numbered from 0"));
  // A code that the driver has no name for is handed on by number.
  hooks(kFakeCuda).fail("cuInit", 1, 4711);
  opened = openDevice("cuda:0", {kAbsent, kAbsent, kFakeCuda});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.message(), HasSubstr("an unnamed error (4711: no text)"));
}

TEST_F(CudaDeviceTest, KeepsThePrimaryContextAsLongAsItIsUsed) {
  auto cuda = device();
  ASSERT_TRUE(cuda);
  auto module = cuda->loadModule(addKernel());
  ASSERT_TRUE(module) << module.message();
  EXPECT_EQ(count("cuDevicePrimaryCtxRetain"), 1u);
  cuda = nullptr;
  EXPECT_EQ(count("cuDevicePrimaryCtxRelease"), 0u) << "a module needs it";
  *module = nullptr;
  EXPECT_EQ(count("cuDevicePrimaryCtxRelease"), 1u);
  EXPECT_EQ(count("cuModuleUnload"), 1u);
}

TEST_F(CudaDeviceTest, UsesItsContextOnAnyThreadAndPutsTheThreadsBack) {
  hooks(kFakeCuda).setDevices(2, nullptr);
  auto first = device(), second = device("cuda:1");
  ASSERT_TRUE(first && second);
  hooks(kFakeCuda).reset();
  hooks(kFakeCuda).setDevices(2, nullptr);
  auto memory = second->allocate(64);
  ASSERT_TRUE(memory) << memory.message();
  EXPECT_EQ(calls(), "cuCtxPushCurrent device=1 -> 0\ncuMemAlloc bytes=64 -> "
                     "0\ncuCtxPopCurrent -> 0\n");
  std::thread([&] {
    EXPECT_TRUE(second->fill(*memory, 1, 64, nullptr));
    EXPECT_TRUE(second->synchronize(nullptr));
  }).join();

  // A thread of an engine has a context; ours goes on top only where it is
  // another.
  auto push = reinterpret_cast<int (*)(void *)>(
      hooks(kFakeCuda).symbol("cuCtxPushCurrent_v2"));
  auto pop = reinterpret_cast<int (*)(void **)>(
      hooks(kFakeCuda).symbol("cuCtxPopCurrent_v2"));
  auto retain = reinterpret_cast<int (*)(void **, int)>(
      hooks(kFakeCuda).symbol("cuDevicePrimaryCtxRetain"));
  void *context = nullptr, *popped = nullptr;
  ASSERT_EQ(retain(&context, 1), 0);
  ASSERT_EQ(push(context), 0);
  hooks(kFakeCuda).reset();
  hooks(kFakeCuda).setDevices(2, nullptr);
  EXPECT_TRUE(second->fill(*memory, 1, 64, nullptr));
  EXPECT_EQ(calls(), "cuMemsetD8Async bytes=64 -> 0\n");
  auto other = first->allocate(16);
  EXPECT_TRUE(other);
  EXPECT_TRUE(first->free(*other));
  EXPECT_EQ(count("cuCtxPushCurrent"), 2u);
  EXPECT_EQ(count("cuCtxPopCurrent"), 2u);
  EXPECT_TRUE(second->free(*memory));
  ASSERT_EQ(pop(&popped), 0);
  EXPECT_EQ(popped, context);
}

TEST_F(CudaDeviceTest, NothingIsNoCall) {
  auto cuda = device();
  ASSERT_TRUE(cuda);
  hooks(kFakeCuda).reset();
  auto memory = cuda->allocate(0);
  ASSERT_TRUE(memory);
  EXPECT_EQ(*memory, nullptr);
  EXPECT_TRUE(cuda->free(nullptr));
  EXPECT_TRUE(
      cuda->copy(nullptr, nullptr, 0, CopyDirection::ToDevice, nullptr));
  EXPECT_TRUE(cuda->fill(nullptr, 0, 0, nullptr));
  EXPECT_EQ(calls(), "");
}

TEST_F(CudaDeviceTest, MakesRoomForMuchSharedMemoryBeforeLaunches) {
  hooks(kFakeCuda).setDevices(1, "sm_90"); // loads anything, runs nothing
  auto cuda = device();
  ASSERT_TRUE(cuda);
  auto module = cuda->loadModule(addKernel());
  ASSERT_TRUE(module) << module.message();
  auto little = (*module)->function("little", 48 * 1024);
  ASSERT_TRUE(little) << little.message();
  EXPECT_EQ(count("cuFuncSetAttribute"), 0u);
  auto much = (*module)->function("much", 100 * 1024);
  ASSERT_TRUE(much) << much.message();
  EXPECT_THAT(calls(), HasSubstr("cuFuncSetAttribute 8=102400 -> 0"));
  // Loaded now, not by a launch in a capture.
  EXPECT_EQ(count("cuFuncLoad"), 2u);
  const int64_t argument = 0;
  for (void *function : {*little, *much}) {
    Status status = cuda->launch(function, {1, 1, 1}, {32, 1, 1},
                                 function == *much ? 100 * 1024 : 48 * 1024,
                                 nullptr, &argument, sizeof argument);
    EXPECT_TRUE(status) << status.message();
  }
  Status tooMuch = cuda->launch(*little, {1, 2, 3}, {32, 1, 1}, 50 * 1024,
                                nullptr, &argument, sizeof argument);
  ASSERT_FALSE(tooMuch);
  EXPECT_THAT(tooMuch.message(),
              HasSubstr("cuLaunchKernel failed with CUDA_ERROR_INVALID_VALUE "
                        "(1: invalid argument) when launching grid (1, 2, 3) "
                        "of block (32, 1, 1) on cuda:0"));
  auto absurd = (*module)->function("absurd", 300 * 1024);
  ASSERT_FALSE(absurd);
  EXPECT_THAT(absurd.message(),
              AllOf(HasSubstr("cuFuncSetAttribute"), HasSubstr("'absurd'"),
                    HasSubstr("307200 bytes of dynamic local memory")));
}

/// A function may be looked up while another stream is captured, also by the
/// thread that captures.
TEST_F(CudaDeviceTest, PreparesFunctionsBesideACapture) {
  auto cuda = device();
  ASSERT_TRUE(cuda);
  void *stream = *cuda->createStream();
  ASSERT_TRUE(cuda->beginCapture(stream));
  auto module = cuda->loadModule(addKernel());
  ASSERT_TRUE(module) << module.message();
  auto add = (*module)->function("add");
  ASSERT_TRUE(add) << add.message();
  const struct {
    void *data;
    int64_t count, step;
  } arguments = {nullptr, 0, 0};
  ASSERT_TRUE(cuda->launch(*add, {1, 1, 1}, {64, 1, 1}, 0, stream, &arguments,
                           sizeof arguments));
  auto graph = cuda->endCapture(stream);
  ASSERT_TRUE(graph) << graph.message();
  EXPECT_TRUE(cuda->destroyGraph(*graph));
  EXPECT_TRUE(cuda->destroyStream(stream));
}

} // namespace
