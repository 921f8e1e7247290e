// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device over the simulated HIP library, and over a CUDA library that is
// made of it: what it runs, how it captures, and that every error of every
// function comes out as a text.
#include "../../../runtime/lib/Cuda/CudaAbi.h"
#include "Support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <span>
#include <thread>

using namespace winnow;
using namespace winnow::runtime;
using namespace winnow::test;
using testing::AllOf;
using testing::HasSubstr;

namespace {

struct AddArguments {
  void *data;
  int64_t count, step;
};

/// Whose functions the device calls. Both libraries run code for gfx950.
struct Vendor {
  const char *device;
  std::string library;
  bool isCuda;
};
/// A test's name must not hold addresses.
void PrintTo(const Vendor &vendor, std::ostream *to) { *to << vendor.device; }

class GpuDeviceTest : public testing::TestWithParam<Vendor> {
protected:
  const Hooks &hooks() const { return test::hooks(GetParam().library); }
  Result<std::shared_ptr<Device>> open() const {
    return openDevice(GetParam().device, {kAbsent, kHipSim, kFakeCuda});
  }
  /// HIP's function under the vendor's name.
  std::string named(const std::string &hip) const {
    static const std::map<std::string, std::string> others = {
        {"hipMalloc", "cuMemAlloc"},
        {"hipFree", "cuMemFree"},
        {"hipMemsetAsync", "cuMemsetD8Async"},
        {"hipModuleLaunchKernel", "cuLaunchKernel"},
        {"hipStreamCreateWithFlags", "cuStreamCreate"},
        {"hipEventCreateWithFlags", "cuEventCreate"},
        {"hipGraphInstantiate", "cuGraphInstantiateWithFlags"},
        {"hipGetDeviceCount", "cuDeviceGetCount"}};
    if (!GetParam().isCuda)
      return hip;
    const auto other = others.find(hip);
    return other == others.end() ? "cu" + hip.substr(3) : other->second;
  }
  std::span<const hip::CodeText> codes() const {
    if (GetParam().isCuda)
      return cuda::kCodes;
    return hip::kCodes;
  }
  /// "hipErrorNotFound (500".
  std::string error(int code) const {
    for (const hip::CodeText &text : codes())
      if (text.code == code)
        return std::string(text.name) + " (" + std::to_string(code);
    return "no such code";
  }

  void SetUp() override {
    hooks().reset();
    auto opened = open();
    ASSERT_TRUE(opened) << opened.message();
    hip = *opened;
    auto loaded = hip->loadModule(addKernel());
    ASSERT_TRUE(loaded) << loaded.message();
    module = *loaded;
    add = *module->function("add");
    stream = *hip->createStream();
    memory = *hip->allocate(kCount * 4);
    upload(0);
  }
  void TearDown() override {
    hooks().reset();
    EXPECT_TRUE(hip->free(memory));
    EXPECT_TRUE(hip->destroyStream(stream));
    module = nullptr;
    hooks().reset();
  }

  void upload(int first) {
    std::vector<int> values(kCount);
    std::iota(values.begin(), values.end(), first);
    ASSERT_TRUE(hip->copy(memory, values.data(), kCount * 4,
                          CopyDirection::ToDevice, stream));
  }
  Status launchAdd(int64_t step, void *on) {
    const AddArguments arguments = {memory, kCount, step};
    return hip->launch(add, {2, 1, 1}, {64, 1, 1}, 0, on, &arguments,
                       sizeof arguments);
  }
  /// The first value, all having been raised alike.
  int value() {
    std::vector<int> values(kCount);
    EXPECT_TRUE(hip->copy(values.data(), memory, kCount * 4,
                          CopyDirection::FromDevice, stream));
    for (int64_t i = 1; i < kCount; ++i)
      EXPECT_EQ(values[i], values[0] + i);
    return values[0];
  }

  static constexpr int64_t kCount = 100;
  std::shared_ptr<Device> hip;
  std::shared_ptr<Module> module;
  void *add = nullptr, *stream = nullptr, *memory = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Vendors, GpuDeviceTest,
                         testing::Values(Vendor{"sim:gfx950", kHipSim, false},
                                         Vendor{"cuda:0", kFakeCuda, true}),
                         [](const auto &info) {
                           return info.param.isCuda ? "Cuda" : "Hip";
                         });

TEST_P(GpuDeviceTest, TellsWhatItIs) {
  const DeviceInfo &info = hip->info();
  EXPECT_EQ(info.name, GetParam().device);
  EXPECT_EQ(info.library, GetParam().library);
  EXPECT_EQ(info.memoryBytes, uint64_t(64) << 30);
  if (GetParam().isCuda) {
    EXPECT_EQ(info.platform, "cuda");
    EXPECT_EQ(info.arch, "sm_90");
    EXPECT_EQ(info.product, "Winnow simulated CUDA device");
    EXPECT_EQ(info.waveSize, 32);
    EXPECT_EQ(info.computeUnits, 132);
    EXPECT_EQ(info.l2Bytes, uint64_t(60) << 20);
    EXPECT_EQ(baseArch(info.arch), "sm_90");
    return;
  }
  EXPECT_EQ(info.platform, "rocm");
  EXPECT_EQ(info.arch, "gfx950:sramecc+:xnack-");
  EXPECT_EQ(info.waveSize, 64);
  EXPECT_EQ(info.computeUnits, 256);
  EXPECT_EQ(baseArch(info.arch), "gfx950");
}

TEST_P(GpuDeviceTest, RunsKernelsInTheOrderOfTheStream) {
  ASSERT_TRUE(launchAdd(5, stream));
  ASSERT_TRUE(launchAdd(-2, stream));
  EXPECT_EQ(value(), 3);
  EXPECT_THAT(hooks().callText(),
              HasSubstr(named("hipModuleLaunchKernel") +
                        " add grid=2,1,1 block=64,1,1 lds=0 bytes=24 "
                        "captured=0 -> 0"));
}

TEST_P(GpuDeviceTest, PutsWorkOffUntilSomebodyWaits) {
  // A test that forgets to wait has to see old values; another stream's copy
  // does not wait for this one.
  void *other = *hip->createStream();
  ASSERT_TRUE(launchAdd(5, stream));
  int first = -1;
  ASSERT_TRUE(hip->copy(&first, memory, 4, CopyDirection::FromDevice, other));
  EXPECT_EQ(first, 0);
  void *event = *hip->createEvent();
  ASSERT_TRUE(hip->record(event, stream));
  ASSERT_TRUE(hip->wait(event, other));
  ASSERT_TRUE(hip->copy(&first, memory, 4, CopyDirection::FromDevice, other));
  EXPECT_EQ(first, 5);
  EXPECT_TRUE(hip->destroyEvent(event));
  EXPECT_TRUE(hip->destroyStream(other));
}

TEST_P(GpuDeviceTest, TimesEvents) {
  void *start = *hip->createEvent(), *end = *hip->createEvent();
  ASSERT_TRUE(hip->record(start, stream));
  ASSERT_TRUE(launchAdd(1, stream));
  ASSERT_TRUE(hip->record(end, stream));
  auto milliseconds = hip->elapsed(start, end);
  ASSERT_TRUE(milliseconds) << milliseconds.message();
  EXPECT_GT(*milliseconds, 0);
  EXPECT_EQ(value(), 1);
  EXPECT_TRUE(hip->destroyEvent(start));
  EXPECT_TRUE(hip->destroyEvent(end));
}

TEST_P(GpuDeviceTest, CapturesAndReplays) {
  ASSERT_TRUE(hip->beginCapture(stream));
  ASSERT_TRUE(launchAdd(7, stream));
  ASSERT_TRUE(launchAdd(3, stream));
  auto graph = hip->endCapture(stream);
  ASSERT_TRUE(graph) << graph.message();
  EXPECT_EQ(value(), 0) << "a captured launch ran";
  upload(100);
  ASSERT_TRUE(hip->launchGraph(*graph, stream));
  EXPECT_EQ(value(), 110);
  ASSERT_TRUE(hip->launchGraph(*graph, stream));
  ASSERT_TRUE(hip->launchGraph(*graph, stream));
  EXPECT_EQ(value(), 130);
  EXPECT_TRUE(hip->destroyGraph(*graph));
  EXPECT_THAT(hooks().callText(), HasSubstr("captured=1 -> 0"));
}

TEST_P(GpuDeviceTest, RefusesDuringCaptureWhatHipDoes) {
  ASSERT_TRUE(hip->beginCapture(stream));
  auto memory = hip->allocate(64);
  ASSERT_FALSE(memory);
  EXPECT_THAT(memory.message(),
              AllOf(HasSubstr(named("hipMalloc")), HasSubstr(error(900)),
                    HasSubstr(std::string("allocating 64 bytes on ") +
                              GetParam().device)));
  // And the capture is spoilt.
  auto graph = hip->endCapture(stream);
  ASSERT_FALSE(graph);
  EXPECT_THAT(graph.message(), HasSubstr(error(901)));
  // The stream is of use again.
  ASSERT_TRUE(launchAdd(4, stream));
  EXPECT_EQ(value(), 4);

  ASSERT_TRUE(hip->beginCapture(stream));
  EXPECT_FALSE(hip->synchronize(stream));
  EXPECT_FALSE(hip->endCapture(stream));
}

TEST_P(GpuDeviceTest, LoadsModulesBesideACapture) {
  ASSERT_TRUE(hip->beginCapture(stream));
  auto another = hip->loadModule(addKernel());
  EXPECT_TRUE(another) << another.message();
  ASSERT_TRUE(launchAdd(1, stream));
  // Work of another thread on another stream is none of the capture's.
  std::thread([&] {
    auto bytes = hip->allocate(64);
    ASSERT_TRUE(bytes) << bytes.message();
    EXPECT_TRUE(hip->free(*bytes));
  }).join();
  auto graph = hip->endCapture(stream);
  ASSERT_TRUE(graph) << graph.message();
  EXPECT_TRUE(hip->destroyGraph(*graph));
}

TEST_P(GpuDeviceTest, JoinsForkedStreamsIntoACapture) {
  void *side = *hip->createStream();
  void *fork = *hip->createEvent(), *join = *hip->createEvent();
  ASSERT_TRUE(hip->beginCapture(stream));
  ASSERT_TRUE(hip->record(fork, stream));
  ASSERT_TRUE(hip->wait(fork, side));
  ASSERT_TRUE(launchAdd(2, side));
  ASSERT_TRUE(hip->record(join, side));
  ASSERT_TRUE(hip->wait(join, stream));
  auto graph = hip->endCapture(stream);
  ASSERT_TRUE(graph) << graph.message();
  ASSERT_TRUE(hip->launchGraph(*graph, stream));
  EXPECT_EQ(value(), 2);
  EXPECT_TRUE(hip->destroyGraph(*graph));

  ASSERT_TRUE(hip->beginCapture(stream));
  ASSERT_TRUE(hip->record(fork, stream));
  ASSERT_TRUE(hip->wait(fork, side));
  ASSERT_TRUE(launchAdd(2, side));
  auto open = hip->endCapture(stream);
  ASSERT_FALSE(open);
  EXPECT_THAT(open.message(), HasSubstr(error(904)));
  EXPECT_TRUE(hip->destroyEvent(fork));
  EXPECT_TRUE(hip->destroyEvent(join));
  EXPECT_TRUE(hip->destroyStream(side));
}

TEST_P(GpuDeviceTest, TellsOfAFaultWhenSomebodyWaits) {
  void *crash = *module->function("crash");
  const AddArguments arguments = {memory, 1, 1};
  ASSERT_TRUE(hip->launch(crash, {1, 1, 1}, {64, 1, 1}, 0, stream, &arguments,
                          sizeof arguments));
  Status status = hip->synchronize(stream);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.message(), HasSubstr(named("hipStreamSynchronize") +
                                          " failed with " + error(719)));
  // The simulated library says more than one of NVIDIA's could.
  if (!GetParam().isCuda)
    EXPECT_THAT(status.message(), HasSubstr("kernel 'crash'"));
  // As on hardware, nothing works on this device any more.
  EXPECT_FALSE(hip->allocate(4));
}

TEST_P(GpuDeviceTest, NamesAKernelThatIsNotThere) {
  auto found = module->function("subtract");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.message(),
              AllOf(HasSubstr(named("hipModuleGetFunction")),
                    HasSubstr(error(500)), HasSubstr("kernel 'subtract'")));
}

TEST_P(GpuDeviceTest, RefusesCodeThatIsNone) {
  const std::vector<std::byte> zeros(4096);
  auto loaded = hip->loadModule(zeros);
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.message(),
              AllOf(HasSubstr(error(200)), HasSubstr("of 4096 bytes")));
}

TEST_P(GpuDeviceTest, EveryErrorOfEveryFunctionIsAText) {
  void *event = *hip->createEvent(), *end = *hip->createEvent();
  ASSERT_TRUE(hip->record(event, stream) && hip->record(end, stream));
  ASSERT_TRUE(hip->beginCapture(stream));
  void *graph = *hip->endCapture(stream);
  int host = 0;
  auto text = [](auto &&result) {
    return result ? std::string() : result.message();
  };
  struct Case {
    const char *function;
    std::function<std::string()> run;
  };
  const Case cases[] = {
      {"hipMalloc", [&] { return text(hip->allocate(4)); }},
      {"hipFree", [&] { return text(hip->free(memory)); }},
      {"hipMemcpyAsync",
       [&] {
         return text(
             hip->copy(memory, &host, 4, CopyDirection::ToDevice, stream));
       }},
      {"hipMemsetAsync", [&] { return text(hip->fill(memory, 0, 4, stream)); }},
      {"hipModuleLoadData", [&] { return text(hip->loadModule(addKernel())); }},
      {"hipModuleGetFunction", [&] { return text(module->function("add")); }},
      {"hipModuleLaunchKernel", [&] { return text(launchAdd(1, stream)); }},
      {"hipStreamCreateWithFlags", [&] { return text(hip->createStream()); }},
      {"hipStreamDestroy", [&] { return text(hip->destroyStream(stream)); }},
      {"hipStreamSynchronize", [&] { return text(hip->synchronize(stream)); }},
      {"hipStreamWaitEvent", [&] { return text(hip->wait(event, stream)); }},
      {"hipStreamBeginCapture",
       [&] { return text(hip->beginCapture(stream)); }},
      {"hipStreamEndCapture", [&] { return text(hip->endCapture(stream)); }},
      {"hipEventCreateWithFlags", [&] { return text(hip->createEvent()); }},
      {"hipEventDestroy", [&] { return text(hip->destroyEvent(event)); }},
      {"hipEventRecord", [&] { return text(hip->record(event, stream)); }},
      {"hipEventSynchronize", [&] { return text(hip->elapsed(event, end)); }},
      {"hipEventElapsedTime", [&] { return text(hip->elapsed(event, end)); }},
      {"hipGraphLaunch", [&] { return text(hip->launchGraph(graph, stream)); }},
      {"hipGraphExecDestroy", [&] { return text(hip->destroyGraph(graph)); }},
      {"hipGetDeviceCount", [&] { return text(open()); }},
      {"hipGetDevicePropertiesR0600", [&] { return text(open()); }},
      {"cuInit", [&] { return text(open()); }},
      {"cuDeviceGet", [&] { return text(open()); }},
      {"cuDeviceGetName", [&] { return text(open()); }},
      {"cuDeviceTotalMem", [&] { return text(open()); }},
      {"cuDeviceGetAttribute", [&] { return text(open()); }},
      {"cuDevicePrimaryCtxRetain", [&] { return text(open()); }},
      {"cuCtxPushCurrent", [&] { return text(hip->allocate(4)); }},
      {"cuFuncLoad", [&] { return text(module->function("add")); }},
      {"cuFuncGetAttribute", [&] { return text(module->function("add")); }},
      {"cuFuncSetAttribute",
       [&] { return text(module->function("add", 64 * 1024)); }},
  };
  for (const Case &each : cases) {
    const bool isHip = std::string_view(each.function).starts_with("hip");
    const bool isHipsOwn =
        std::string_view(each.function) == "hipGetDevicePropertiesR0600";
    if (GetParam().isCuda ? isHipsOwn : !isHip)
      continue;
    const std::string function = isHip ? named(each.function) : each.function;
    for (const hip::CodeText &code : codes()) {
      if (code.code == 0)
        continue;
      hooks().fail(function.c_str(), 1, code.code);
      const std::string said = each.run();
      ASSERT_THAT(said, AllOf(HasSubstr(function), HasSubstr(code.name),
                              HasSubstr(std::to_string(code.code)),
                              HasSubstr(" when ")));
    }
  }
  // Instantiation follows the end of a capture.
  ASSERT_TRUE(hip->beginCapture(stream));
  hooks().fail(named("hipGraphInstantiate").c_str(), 1, hip::OutOfMemory);
  EXPECT_THAT(text(hip->endCapture(stream)),
              HasSubstr(named("hipGraphInstantiate")));
  // All of that left everything in working order.
  ASSERT_TRUE(launchAdd(1, stream));
  EXPECT_EQ(value(), 1);
  EXPECT_TRUE(hip->destroyGraph(graph));
  EXPECT_TRUE(hip->destroyEvent(event));
  EXPECT_TRUE(hip->destroyEvent(end));
}

TEST_P(GpuDeviceTest, FailsTheCallThatWasAskedFor) {
  hooks().fail(named("hipMalloc").c_str(), 2, hip::OutOfMemory);
  auto first = hip->allocate(4);
  ASSERT_TRUE(first);
  EXPECT_FALSE(hip->allocate(4));
  auto third = hip->allocate(4);
  ASSERT_TRUE(third);
  EXPECT_TRUE(hip->free(*first));
  EXPECT_TRUE(hip->free(*third));
}

} // namespace
