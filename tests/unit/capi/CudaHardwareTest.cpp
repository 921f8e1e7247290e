// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cuda device on a real GPU, where there is one, with kernels that NVRTC
// compiles: what the library made of simulated parts cannot show.
#include "Support.h"

#include "winnow/Runtime/KernelCompiler.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <numeric>
#include <thread>

using namespace winnow;
using namespace winnow::runtime;
using namespace winnow::test;
using testing::AllOf;
using testing::HasSubstr;

namespace {

constexpr char kSource[] = R"cuda(
extern "C" __global__ void add(int *data, long long count, long long step) {
  long long i = blockIdx.x * 64ll + threadIdx.x;
  if (i < count)
    data[i] += (int)step;
}
/// The first and the last word of what shared memory the launch asked for.
extern "C" __global__ void shared(int *data, long long words, long long step) {
  extern __shared__ int kept[];
  if (threadIdx.x == 0)
    kept[words - 1] = (int)step;
  __syncthreads();
  if (threadIdx.x == 1)
    data[0] = kept[words - 1];
}
extern "C" __global__ void crash(int *data, long long count, long long step) {
  *(int *)8 = 1;
}
)cuda";

struct Arguments {
  void *data;
  int64_t count, step;
};

class CudaHardware : public testing::Test {
protected:
  void SetUp() override {
    auto opened = openDevice("cuda:0");
    if (!opened)
      GTEST_SKIP() << opened.message();
    cuda = *opened;
    // The driver has one context for a process, and one module is enough.
    static Result<CompiledKernel> code = compile(cuda->info().arch);
    if (!code)
      GTEST_SKIP() << code.message();
    auto loaded = cuda->loadModule(code->code);
    ASSERT_TRUE(loaded) << loaded.message();
    module = *loaded;
    auto found = module->function("add");
    ASSERT_TRUE(found) << found.message();
    add = *found;
    stream = *cuda->createStream();
    memory = *cuda->allocate(kCount * 4);
    std::vector<int> values(kCount);
    std::iota(values.begin(), values.end(), 0);
    ASSERT_TRUE(cuda->copy(memory, values.data(), kCount * 4,
                           CopyDirection::ToDevice, stream));
  }
  void TearDown() override {
    if (!memory)
      return;
    EXPECT_TRUE(cuda->free(memory));
    EXPECT_TRUE(cuda->destroyStream(stream));
  }

  static Result<CompiledKernel> compile(const std::string &arch) {
    WorkerOptions options;
    if (!std::getenv("WINNOW_RTC_WORKER"))
      options.worker = WINNOW_WORKER;
    const Source source{"add.hip", "generic", {arch}, kSource};
    return makeNvrtcCompiler(options)->compile({&source, arch});
  }
  Status launchAdd(int64_t step, void *on) {
    const Arguments arguments = {memory, kCount, step};
    return cuda->launch(add, {2, 1, 1}, {64, 1, 1}, 0, on, &arguments,
                        sizeof arguments);
  }
  int value() {
    std::vector<int> values(kCount);
    EXPECT_TRUE(cuda->copy(values.data(), memory, kCount * 4,
                           CopyDirection::FromDevice, stream));
    for (int64_t i = 1; i < kCount; ++i)
      EXPECT_EQ(values[i], values[0] + i);
    return values[0];
  }

  static constexpr int64_t kCount = 100;
  std::shared_ptr<Device> cuda;
  std::shared_ptr<Module> module;
  void *add = nullptr, *stream = nullptr, *memory = nullptr;
};

TEST_F(CudaHardware, TellsWhatItIs) {
  const DeviceInfo &info = cuda->info();
  EXPECT_EQ(info.platform, "cuda");
  EXPECT_THAT(info.arch, HasSubstr("sm_"));
  EXPECT_EQ(info.waveSize, 32);
  EXPECT_GT(info.computeUnits, 0);
  EXPECT_GT(info.memoryBytes, uint64_t(1) << 30);
  EXPECT_GT(info.l2Bytes, 0u);
  EXPECT_NE(info.product, "");
}

TEST_F(CudaHardware, RunsCapturesAndReplays) {
  ASSERT_TRUE(launchAdd(5, stream));
  EXPECT_EQ(value(), 5);
  ASSERT_TRUE(cuda->beginCapture(stream));
  ASSERT_TRUE(launchAdd(7, stream));
  // Modules and functions beside the capture, by the thread that captures.
  auto another = cuda->loadModule(compile(cuda->info().arch)->code);
  ASSERT_TRUE(another) << another.message();
  ASSERT_TRUE((*another)->function("shared", 100 * 1024));
  ASSERT_TRUE(launchAdd(3, stream));
  auto graph = cuda->endCapture(stream);
  ASSERT_TRUE(graph) << graph.message();
  EXPECT_EQ(value(), 5) << "a captured launch ran";
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(cuda->launchGraph(*graph, stream));
  EXPECT_EQ(value(), 35);
  EXPECT_TRUE(cuda->destroyGraph(*graph));
}

TEST_F(CudaHardware, AFunctionsFirstLaunchMayBeCaptured) {
  auto fresh = cuda->loadModule(compile(cuda->info().arch)->code);
  ASSERT_TRUE(fresh) << fresh.message();
  auto function = (*fresh)->function("add");
  ASSERT_TRUE(function) << function.message();
  ASSERT_TRUE(cuda->beginCapture(stream));
  const Arguments arguments = {memory, kCount, 11};
  ASSERT_TRUE(cuda->launch(*function, {2, 1, 1}, {64, 1, 1}, 0, stream,
                           &arguments, sizeof arguments));
  auto graph = cuda->endCapture(stream);
  ASSERT_TRUE(graph) << graph.message();
  ASSERT_TRUE(cuda->launchGraph(*graph, stream));
  EXPECT_EQ(value(), 11);
  EXPECT_TRUE(cuda->destroyGraph(*graph));
}

TEST_F(CudaHardware, LaunchesFromAThreadWithoutAContextAndOnTheNullStream) {
  std::thread([&] {
    EXPECT_TRUE(launchAdd(2, nullptr));
    EXPECT_TRUE(cuda->synchronize(nullptr));
  }).join();
  EXPECT_EQ(value(), 2);
}

TEST_F(CudaHardware, GivesMoreThan48KiBOfSharedMemory) {
  for (const uint32_t bytes : {16u * 1024, 48u * 1024, 100u * 1024}) {
    auto function = module->function("shared", bytes);
    ASSERT_TRUE(function) << function.message();
    const Arguments arguments = {memory, bytes / 4, bytes};
    Status launched = cuda->launch(*function, {1, 1, 1}, {64, 1, 1}, bytes,
                                   stream, &arguments, sizeof arguments);
    ASSERT_TRUE(launched) << launched.message();
    int found = 0;
    ASSERT_TRUE(
        cuda->copy(&found, memory, 4, CopyDirection::FromDevice, stream));
    EXPECT_EQ(found, static_cast<int>(bytes));
  }
  auto absurd = module->function("shared", 1 << 30);
  ASSERT_FALSE(absurd);
  EXPECT_THAT(absurd.message(),
              AllOf(HasSubstr("cuFuncSetAttribute failed with "
                              "CUDA_ERROR_INVALID_VALUE (1"),
                    HasSubstr("'shared'")));
}

TEST_F(CudaHardware, OrdersStreamsByEventsAndTimesThem) {
  void *other = *cuda->createStream();
  void *start = *cuda->createEvent(), *end = *cuda->createEvent();
  ASSERT_TRUE(cuda->record(start, stream));
  ASSERT_TRUE(launchAdd(1, stream));
  ASSERT_TRUE(cuda->record(end, stream));
  ASSERT_TRUE(cuda->wait(end, other));
  ASSERT_TRUE(launchAdd(1, other));
  ASSERT_TRUE(cuda->synchronize(other));
  auto milliseconds = cuda->elapsed(start, end);
  ASSERT_TRUE(milliseconds) << milliseconds.message();
  EXPECT_GT(*milliseconds, 0);
  EXPECT_EQ(value(), 2);
  ASSERT_TRUE(cuda->fill(memory, 0, kCount * 4, other));
  ASSERT_TRUE(cuda->synchronize(other));
  int first = -1;
  ASSERT_TRUE(cuda->copy(&first, memory, 4, CopyDirection::FromDevice, other));
  EXPECT_EQ(first, 0);
  EXPECT_TRUE(cuda->destroyEvent(start));
  EXPECT_TRUE(cuda->destroyEvent(end));
  EXPECT_TRUE(cuda->destroyStream(other));
}

TEST_F(CudaHardware, NamesItsErrors) {
  auto much = cuda->allocate(uint64_t(1) << 50);
  ASSERT_FALSE(much);
  EXPECT_THAT(much.message(),
              HasSubstr("cuMemAlloc failed with CUDA_ERROR_OUT_OF_MEMORY (2: "
                        "out of memory) when allocating 1125899906842624 "
                        "bytes on cuda:0"));
  auto foreign = cuda->loadModule(std::vector<std::byte>(4096));
  ASSERT_FALSE(foreign);
  EXPECT_THAT(foreign.message(), HasSubstr("cuModuleLoadData failed with "
                                           "CUDA_ERROR_INVALID_IMAGE (200"));
  auto missing = module->function("subtract");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.message(), HasSubstr("CUDA_ERROR_NOT_FOUND (500"));
  const Arguments arguments = {memory, kCount, 1};
  Status wide = cuda->launch(add, {1, 1, 1}, {2048, 1, 1}, 0, stream,
                             &arguments, sizeof arguments);
  ASSERT_FALSE(wide);
  EXPECT_THAT(wide.message(), AllOf(HasSubstr("cuLaunchKernel failed with "
                                              "CUDA_ERROR_INVALID_VALUE (1"),
                                    HasSubstr("block (2048, 1, 1) on cuda:0")));
  auto second = openDevice("cuda:4711");
  ASSERT_FALSE(second);
  EXPECT_THAT(second.message(), HasSubstr("devices, numbered from 0"));
  // None of these spoilt anything.
  ASSERT_TRUE(launchAdd(1, stream));
  EXPECT_EQ(value(), 1);
}

TEST_F(CudaHardware, RefusesDuringCaptureWhatCudaDoes) {
  ASSERT_TRUE(cuda->beginCapture(stream));
  Status waited = cuda->synchronize(stream);
  ASSERT_FALSE(waited);
  EXPECT_THAT(waited.message(),
              HasSubstr("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED (900"));
  auto graph = cuda->endCapture(stream);
  ASSERT_FALSE(graph);
  EXPECT_THAT(graph.message(),
              HasSubstr("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED (901"));
  ASSERT_TRUE(launchAdd(4, stream));
  EXPECT_EQ(value(), 4);
}

/// In a process of its own, whose context it costs.
TEST_F(CudaHardware, AFaultIsToldWhenSomebodyWaits) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto fault = [&] {
    const Arguments arguments = {memory, kCount, 1};
    (void)cuda->launch(*module->function("crash"), {1, 1, 1}, {64, 1, 1}, 0,
                       stream, &arguments, sizeof arguments);
    std::fprintf(stderr, "%s\n", cuda->synchronize(stream).message().c_str());
    std::_Exit(3);
  };
  EXPECT_EXIT(
      fault(), testing::ExitedWithCode(3),
      "cuStreamSynchronize failed with CUDA_ERROR_ILLEGAL_ADDRESS .700");
}

} // namespace
