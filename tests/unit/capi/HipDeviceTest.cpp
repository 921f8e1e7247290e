// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The hip device against the simulated HIP library: what it runs, how it
// captures, and that every error of every function comes out as a text.
#include "../../../runtime/lib/Hip/HipAbi.h"
#include "Support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

using namespace winnow;
using namespace winnow::runtime;
using namespace winnow::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

struct AddArguments {
  void *data;
  int64_t count, step;
};

class HipDeviceTest : public HipSimTest {
protected:
  void SetUp() override {
    HipSimTest::SetUp();
    hip = device();
    ASSERT_TRUE(hip);
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
    HipSimTest::TearDown();
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

TEST_F(HipDeviceTest, TellsWhatItIs) {
  const DeviceInfo &info = hip->info();
  EXPECT_EQ(info.name, "sim:gfx950");
  EXPECT_EQ(info.platform, "rocm");
  EXPECT_EQ(info.arch, "gfx950:sramecc+:xnack-");
  EXPECT_EQ(info.waveSize, 64);
  EXPECT_EQ(info.computeUnits, 256);
  EXPECT_EQ(info.library, kHipSim);
  EXPECT_EQ(baseArch(info.arch), "gfx950");
}

TEST_F(HipDeviceTest, RunsKernelsInTheOrderOfTheStream) {
  ASSERT_TRUE(launchAdd(5, stream));
  ASSERT_TRUE(launchAdd(-2, stream));
  EXPECT_EQ(value(), 3);
  EXPECT_THAT(hooks().callText(),
              HasSubstr("hipModuleLaunchKernel add grid=2,1,1 block=64,1,1 "
                        "lds=0 bytes=24 captured=0 -> 0"));
}

TEST_F(HipDeviceTest, PutsWorkOffUntilSomebodyWaits) {
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

TEST_F(HipDeviceTest, TimesEvents) {
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

TEST_F(HipDeviceTest, CapturesAndReplays) {
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

TEST_F(HipDeviceTest, RefusesDuringCaptureWhatHipDoes) {
  ASSERT_TRUE(hip->beginCapture(stream));
  auto memory = hip->allocate(64);
  ASSERT_FALSE(memory);
  EXPECT_THAT(memory.message(),
              AllOf(HasSubstr("hipMalloc"),
                    HasSubstr("hipErrorStreamCaptureUnsupported (900"),
                    HasSubstr("allocating 64 bytes on sim:gfx950")));
  // And the capture is spoilt.
  auto graph = hip->endCapture(stream);
  ASSERT_FALSE(graph);
  EXPECT_THAT(graph.message(), HasSubstr("hipErrorStreamCaptureInvalidated"));
  // The stream is of use again.
  ASSERT_TRUE(launchAdd(4, stream));
  EXPECT_EQ(value(), 4);

  ASSERT_TRUE(hip->beginCapture(stream));
  EXPECT_FALSE(hip->synchronize(stream));
  EXPECT_FALSE(hip->endCapture(stream));
}

TEST_F(HipDeviceTest, LoadsModulesBesideACapture) {
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

TEST_F(HipDeviceTest, JoinsForkedStreamsIntoACapture) {
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
  EXPECT_THAT(open.message(), HasSubstr("hipErrorStreamCaptureUnjoined"));
  EXPECT_TRUE(hip->destroyEvent(fork));
  EXPECT_TRUE(hip->destroyEvent(join));
  EXPECT_TRUE(hip->destroyStream(side));
}

TEST_F(HipDeviceTest, TellsOfAFaultWhenSomebodyWaits) {
  void *crash = *module->function("crash");
  const AddArguments arguments = {memory, 1, 1};
  ASSERT_TRUE(hip->launch(crash, {1, 1, 1}, {64, 1, 1}, 0, stream, &arguments,
                          sizeof arguments));
  Status status = hip->synchronize(stream);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("hipStreamSynchronize failed with "
                              "hipErrorLaunchFailure (719"),
                    HasSubstr("kernel 'crash'")));
  // As on hardware, nothing works on this device any more.
  EXPECT_FALSE(hip->allocate(4));
}

TEST_F(HipDeviceTest, NamesAKernelThatIsNotThere) {
  auto found = module->function("subtract");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.message(), AllOf(HasSubstr("hipModuleGetFunction"),
                                     HasSubstr("hipErrorNotFound (500"),
                                     HasSubstr("kernel 'subtract'")));
}

TEST_F(HipDeviceTest, RefusesCodeThatIsNone) {
  const std::vector<std::byte> zeros(4096);
  auto loaded = hip->loadModule(zeros);
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.message(), AllOf(HasSubstr("hipErrorInvalidImage"),
                                      HasSubstr("of 4096 bytes")));
}

TEST_F(HipDeviceTest, EveryErrorOfEveryFunctionIsAText) {
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
      {"hipGetDeviceCount",
       [&] { return text(openHipDevice({kHipSim}, 0, "hip:0")); }},
      {"hipGetDevicePropertiesR0600",
       [&] { return text(openHipDevice({kHipSim}, 0, "hip:0")); }},
  };
  for (const Case &each : cases)
    for (const hip::CodeText &code : hip::kCodes) {
      if (code.code == 0)
        continue;
      hooks().fail(each.function, 1, code.code);
      const std::string said = each.run();
      ASSERT_THAT(said, AllOf(HasSubstr(each.function), HasSubstr(code.name),
                              HasSubstr(std::to_string(code.code)),
                              HasSubstr(" when ")));
    }
  // Instantiation follows the end of a capture.
  ASSERT_TRUE(hip->beginCapture(stream));
  hooks().fail("hipGraphInstantiate", 1, hip::OutOfMemory);
  EXPECT_THAT(text(hip->endCapture(stream)), HasSubstr("hipGraphInstantiate"));
  // All of that left everything in working order.
  ASSERT_TRUE(launchAdd(1, stream));
  EXPECT_EQ(value(), 1);
  EXPECT_TRUE(hip->destroyGraph(graph));
  EXPECT_TRUE(hip->destroyEvent(event));
  EXPECT_TRUE(hip->destroyEvent(end));
}

TEST_F(HipDeviceTest, FailsTheCallThatWasAskedFor) {
  hooks().fail("hipMalloc", 2, hip::OutOfMemory);
  auto first = hip->allocate(4);
  ASSERT_TRUE(first);
  EXPECT_FALSE(hip->allocate(4));
  auto third = hip->allocate(4);
  ASSERT_TRUE(third);
  EXPECT_TRUE(hip->free(*first));
  EXPECT_TRUE(hip->free(*third));
}

class OpenDeviceTest : public HipSimTest {};

TEST_F(OpenDeviceTest, SaysWhatItLookedForWhereThereIsNoHip) {
  const std::vector<std::string> absent = {"libamdhip64-absent.so.7",
                                           "/nowhere/libamdhip64.so.6"};
  auto opened = openHipDevice(absent, 0, "hip:0");
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.message(),
              AllOf(HasSubstr("device 'hip:0': no HIP library can be loaded; "
                              "looked for libamdhip64-absent.so.7 ("),
                    HasSubstr("/nowhere/libamdhip64.so.6 ("),
                    HasSubstr("cannot open shared object file")));
}

TEST_F(OpenDeviceTest, RefusesALibraryThatIsNotHip) {
  auto opened = openHipDevice({"libm.so.6"}, 0, "hip:0");
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.message(), HasSubstr("it has no hipGetDeviceCount"));
}

TEST_F(OpenDeviceTest, ReadsThePropertiesOfRocm5) {
  // Which has no hipGetDevicePropertiesR0600, and another layout.
  auto opened = openHipDevice({WINNOW_HIP_SIM_ROCM5}, 0, "hip:0");
  ASSERT_TRUE(opened) << opened.message();
  const DeviceInfo &info = (*opened)->info();
  EXPECT_EQ(info.arch, "gfx950:sramecc+:xnack-");
  EXPECT_EQ(info.waveSize, 64);
  EXPECT_EQ(info.computeUnits, 256);
  EXPECT_EQ(info.memoryBytes, uint64_t(64) << 30);
}

TEST_F(OpenDeviceTest, AutoFallsToWhatIsThereWithTheReason) {
  auto opened = openDevice("auto", {"/nowhere/libamdhip64.so", kHipSim});
  ASSERT_TRUE(opened) << opened.message();
  EXPECT_EQ((*opened)->info().name, "sim:gfx950");
  ASSERT_EQ((*opened)->info().passedOver.size(), 1u);
  EXPECT_THAT((*opened)->info().passedOver[0],
              HasSubstr("/nowhere/libamdhip64.so"));

  opened = openDevice("auto", {kHipSim, kHipSim});
  ASSERT_TRUE(opened);
  EXPECT_EQ((*opened)->info().name, "hip:0");

  opened = openDevice("auto", {"/nowhere/libamdhip64.so", "/nowhere/sim.so"});
  ASSERT_TRUE(opened);
  EXPECT_EQ((*opened)->info().name, "host");
  EXPECT_EQ((*opened)->info().passedOver.size(), 2u);
}

TEST_F(OpenDeviceTest, KnowsDevicesByNumber) {
  hooks().setDevices(2, "gfx942:sramecc+:xnack-");
  auto second = openDevice("hip:1", {kHipSim, kHipSim});
  ASSERT_TRUE(second) << second.message();
  EXPECT_EQ((*second)->info().arch, "gfx942:sramecc+:xnack-");
  auto third = openDevice("hip:2", {kHipSim, kHipSim});
  ASSERT_FALSE(third);
  EXPECT_THAT(third.message(), HasSubstr("has 2 devices, numbered from 0"));
  hooks().setDevices(0, nullptr);
  auto none = openDevice("hip:0", {kHipSim, kHipSim});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.message(), HasSubstr("hipErrorNoDevice (100"));
}

TEST_F(OpenDeviceTest, UsesTheDeviceAskedForAndPutsTheThreadsBack) {
  hooks().setDevices(2, nullptr);
  auto second = openDevice("hip:1", {kHipSim, kHipSim});
  ASSERT_TRUE(second);
  auto memory = (*second)->allocate(64);
  ASSERT_TRUE(memory);
  EXPECT_THAT(hooks().callText(),
              HasSubstr("hipSetDevice device=1 -> 0\nhipMalloc bytes=64 -> "
                        "0\nhipSetDevice device=0 -> 0\n"));
  EXPECT_TRUE((*second)->free(*memory));
}

TEST_F(OpenDeviceTest, RefusesOtherNames) {
  for (const char *name : {"", "hip", "hip:", "hip:x", "hip:1x", "hip:-1",
                           "hip:99999999999", "cuda:0", "sim:gfx90a"}) {
    auto opened = openDevice(name, {kHipSim, kHipSim});
    ASSERT_FALSE(opened) << name;
    EXPECT_THAT(opened.message(), HasSubstr("wanted hip:N, sim:gfx950"));
  }
}

TEST(RunsOn, ComparesProcessorsAndFeatures) {
  EXPECT_TRUE(runsOn("gfx950", "gfx950:sramecc+:xnack-"));
  EXPECT_TRUE(runsOn("gfx950:xnack-", "gfx950:sramecc+:xnack-"));
  EXPECT_FALSE(runsOn("gfx950:xnack+", "gfx950:sramecc+:xnack-"));
  EXPECT_FALSE(runsOn("gfx950:sramecc+", "gfx950"));
  EXPECT_FALSE(runsOn("gfx90a", "gfx950:sramecc+:xnack-"));
}

} // namespace
