// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans for an NVIDIA GPU through the C interface: which lowering, whose
// compiler, from where; and what a launch calls. The driver is the tests' own,
// which takes launches of cubins down, the compiler the one of RtcTests, which
// makes a header of a cubin.
#include "ApiFixture.h"

#include "winnow/Runtime/Bundle.h"

#include <gmock/gmock.h>

using namespace winnow;
using namespace winnow::runtime;
using namespace winnow::test;
using testing::AllOf;
using testing::HasSubstr;

namespace {

constexpr char kContract[] =
    R"({"contract": "fast", "title": "Fast", "about": "For tests.", "limits": [
      {"id": "platform", "fact": "platform", "relation": "equals",
       "value": "rocm", "reason": "it is for AMD's GPUs"}]})";

Entry raise(const std::string &lowering, uint32_t source) {
  Entry entry = raiseEntry(lowering, source);
  entry.launches.front().dynamicLdsBytes = 64 * 1024;
  return entry;
}

std::vector<std::byte> cubin(int processor) {
  std::vector<std::byte> elf(64);
  std::memcpy(elf.data(), "\177ELF\2\1\1\0\10", 9);
  elf[18] = std::byte(190);
  elf[49] = std::byte(processor);
  return elf;
}

class CudaPlanTest : public testing::Test {
protected:
  void SetUp() override {
    hooks(kFakeCuda).reset();
    hooks(kFakeCuda).setDevices(1, "sm_90");
    folder =
        std::make_unique<TemporaryFolder>(std::move(*TemporaryFolder::make()));
    cache = folder->path() + "/cache";
    options.cache_folder = cache.c_str();
    options.cuda_library = kFakeCuda.c_str();
    options.nvrtc_library = WINNOW_FAKE_NVRTC;
    options.worker = WINNOW_WORKER;
    options.log = Lines::log;
    options.log_user = &lines;
    contents.generator = "winnow test";
    contents.entries = {raise("fast", 0), raise("generic", 1)};
    contents.entries[0].loweringContract = kContract;
    contents.sources = {
        {"fast.hip", "fast", {"gfx950", "sm_90"}, "// f\n"},
        {"generic.hip", "generic", {"gfx950", "sm_90"}, "// \n"}};
  }
  void TearDown() override {
    close();
    hooks(kFakeCuda).reset();
  }
  void close() {
    EXPECT_EQ(winnow_runtime_release(runtime), WINNOW_OK);
    EXPECT_EQ(winnow_device_release(device), WINNOW_OK);
    EXPECT_EQ(winnow_bundle_release(bundle), WINNOW_OK);
    runtime = nullptr;
    device = nullptr;
    bundle = nullptr;
  }
  winnow_status plan() {
    close();
    auto bytes = writeBundle(contents);
    EXPECT_TRUE(bytes) << bytes.message();
    EXPECT_EQ(winnow_runtime_create(&options, &runtime), WINNOW_OK);
    EXPECT_EQ(winnow_device_open(runtime, "cuda:0", &device), WINNOW_OK)
        << winnow_last_error();
    EXPECT_EQ(winnow_bundle_open_memory(bytes->data(), bytes->size(), &bundle),
              WINNOW_OK)
        << winnow_last_error();
    return winnow_plan_get(runtime, bundle, device, nullptr, &found);
  }
  std::string explanation() const {
    char text[4096] = "";
    EXPECT_EQ(
        winnow_plan_explain(found, WINNOW_TEXT, text, sizeof text, nullptr),
        WINNOW_OK);
    return text;
  }

  std::unique_ptr<TemporaryFolder> folder;
  std::string cache;
  Lines lines;
  Bundle contents;
  winnow_runtime_options options = WINNOW_RUNTIME_OPTIONS_INIT;
  winnow_runtime *runtime = nullptr;
  winnow_device *device = nullptr;
  winnow_bundle *bundle = nullptr;
  const winnow_plan *found = nullptr;
};

TEST_F(CudaPlanTest, NvrtcCompilesTheLoweringThatIsMet) {
  ASSERT_EQ(plan(), WINNOW_OK) << winnow_last_error();
  EXPECT_THAT(explanation(),
              AllOf(HasSubstr("raise on cuda:0 (sm_90): generic"),
                    HasSubstr("from compiler"),
                    HasSubstr("not fast: contract 'fast', limit 'platform': "
                              "platform is cuda, needed rocm")));
  EXPECT_THAT(lines.text(), HasSubstr("plan 'raise' on cuda:0 (sm_90): "
                                      "lowering generic, from compiler"));
  ASSERT_EQ(plan(), WINNOW_OK) << winnow_last_error();
  EXPECT_THAT(explanation(), HasSubstr("from disk cache"));
  // The choice between AMD's compilers is none of this.
  options.compiler = WINNOW_COMPILER_HIPRTC;
  ASSERT_EQ(plan(), WINNOW_OK) << winnow_last_error();
  EXPECT_THAT(explanation(), HasSubstr("from disk cache"));

  winnow_device_info info = WINNOW_DEVICE_INFO_INIT;
  ASSERT_EQ(winnow_device_get_info(device, &info), WINNOW_OK);
  EXPECT_STREQ(info.platform, "cuda");
  EXPECT_STREQ(info.arch, "sm_90");
  EXPECT_EQ(info.l2_bytes, uint64_t(60) << 20);
}

TEST_F(CudaPlanTest, TheBundlesCubinNeedsNoCompiler) {
  contents.codeObjects = {{1, "sm_90", cubin(90)}};
  options.compile_mode = WINNOW_COMPILE_NEVER;
  options.nvrtc_library = kAbsent.c_str();
  ASSERT_EQ(plan(), WINNOW_OK) << winnow_last_error();
  EXPECT_THAT(explanation(), HasSubstr("from bundle"));
}

TEST_F(CudaPlanTest, WhatMayNotBeCompiledIsNamed) {
  options.compile_mode = WINNOW_COMPILE_NEVER;
  EXPECT_EQ(plan(), WINNOW_ERROR_MISSING_KERNEL);
  EXPECT_THAT(winnow_last_error(),
              AllOf(HasSubstr("no code for generic.hip on sm_90: key "),
                    HasSubstr("nothing may be compiled")));
}

TEST_F(CudaPlanTest, AnotherProcessorsCubinIsCompiledAnew) {
  contents.codeObjects = {{1, "sm_90", cubin(80)}};
  ASSERT_EQ(plan(), WINNOW_OK) << winnow_last_error();
  EXPECT_THAT(explanation(), HasSubstr("from compiler"));
  EXPECT_THAT(lines.text(),
              HasSubstr("the bundle's code of generic.hip is not used: code "
                        "for sm_80, wanted sm_90"));
}

TEST_F(CudaPlanTest, ACompilerThatIsNotThereIsNamed) {
  options.nvrtc_library = kAbsent.c_str();
  EXPECT_EQ(plan(), WINNOW_ERROR_COMPILE);
  EXPECT_THAT(winnow_last_error(),
              AllOf(HasSubstr("no compiler: compile worker (nvrtc): no NVRTC "
                              "library can be loaded"),
                    HasSubstr(kAbsent)));
}

/// A launch that is captured makes no call but that of the kernel, whose limit
/// of shared memory was raised when the plan was made.
TEST_F(CudaPlanTest, LaunchesAreLaunchesAlone) {
  ASSERT_EQ(plan(), WINNOW_OK) << winnow_last_error();
  EXPECT_EQ(hooks(kFakeCuda).count("cuFuncSetAttribute"), 1u);
  void *stream = nullptr, *graph = nullptr, *memory = nullptr;
  ASSERT_EQ(winnow_stream_create(device, &stream), WINNOW_OK);
  ASSERT_EQ(winnow_memory_allocate(device, 400, &memory), WINNOW_OK);
  const int64_t shape[] = {100};
  const winnow_tensor tensor = {"values", memory, WINNOW_I32,
                                1,        shape,  nullptr};
  winnow_launch_options launch = WINNOW_LAUNCH_OPTIONS_INIT;
  launch.stream = stream;
  launch.tensors = &tensor;
  launch.tensor_count = 1;
  ASSERT_EQ(winnow_capture_begin(device, stream), WINNOW_OK);
  hooks(kFakeCuda).reset();
  hooks(kFakeCuda).setDevices(1, "sm_90");
  ASSERT_EQ(winnow_launch(found, &launch), WINNOW_OK) << winnow_last_error();
  EXPECT_EQ(hooks(kFakeCuda).callText(),
            "cuCtxPushCurrent device=0 -> 0\n"
            "cuLaunchKernel add grid=2,1,1 block=64,1,1 lds=65536 bytes=24 "
            "captured=1 -> 0\n"
            "cuCtxPopCurrent -> 0\n");
  ASSERT_EQ(winnow_capture_end(device, stream, &graph), WINNOW_OK)
      << winnow_last_error();
  EXPECT_EQ(winnow_graph_release(device, graph), WINNOW_OK);
  EXPECT_EQ(winnow_memory_free(device, memory), WINNOW_OK);
  EXPECT_EQ(winnow_stream_release(device, stream), WINNOW_OK);
}

} // namespace
