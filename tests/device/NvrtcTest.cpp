// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Generated kernels through NVRTC for NVIDIA's GPUs, where it is there: what
// the cubins say of arguments and memory. winnow-device-cases runs them.
#include "Shape.h"

#include "CubinInfo.h"
#include "winnow/Codegen/Compile.h"
#include "winnow/Runtime/KernelCompiler.h"

#include "gtest/gtest.h"

using namespace winnow;
using namespace winnow::test;

namespace {

std::vector<Shape> shapes() {
  Shape m3;
  Shape large = m3; // the most local memory
  large.dtype = "f16";
  large.headDim = 4096;
  large.blockSize = 16;
  large.pagesPerBlock = 1;
  large.keep = 2048;
  large.heads = large.kvHeads = 128;
  Shape ragged = m3;
  ragged.queryLen = 0;
  ragged.dtype = "bf16";
  ragged.reduce = "mean";
  ragged.world = 3;
  ragged.exchanges = true;
  Shape merge = m3;
  merge.merges = -1;
  merge.keep = 2048;
  Shape step = m3;
  step.newKeys = "f32";
  step.rebaseTable = 2;
  step.tableSides = 2;
  Shape keeps = m3; // two blocks a lane
  keeps.keep = 64;
  keeps.pagesPerBlock = 4;
  keeps.ascending = true;
  keeps.dtype = "f16";
  Shape ranks = m3;
  ranks.merges = 8;
  return {m3, large, ragged, merge, step, keeps, ranks};
}

TEST(Nvrtc, CubinsTakeArgumentsAsLaunchesPackThem) {
  runtime::WorkerOptions options;
  options.worker = WINNOW_RTC_WORKER;
  auto compiler = runtime::makeNvrtcCompiler(options);
  if (auto identity = compiler->identity(); !identity)
    GTEST_SKIP() << "NVRTC is not there: " << identity.message();
  for (const Shape &shape : shapes()) {
    SCOPED_TRACE(shape.text());
    auto bundle = compileDescription(shape.describe(), "test.mlir",
                                     CompileOptions{"sm_90", ""});
    ASSERT_TRUE(bundle) << bundle.message();
    ASSERT_EQ(bundle->sources.size(), 1u);
    auto code = compiler->compile({&bundle->sources.front(), "sm_90"});
    ASSERT_TRUE(code) << code.message();
    for (const runtime::Launch &launch : bundle->entries.front().launches) {
      SCOPED_TRACE(launch.kernel);
      EXPECT_EQ(code->log, "");
      auto parameters = runtime::readCubinParameters(code->code, launch.kernel);
      ASSERT_TRUE(parameters) << parameters.message();
      // Eight bytes each, one after the other: as on AMD's devices.
      ASSERT_EQ(parameters->size(), launch.arguments.size());
      for (uint32_t i = 0; i < parameters->size(); ++i)
        EXPECT_EQ((*parameters)[i], (runtime::CubinParameter{8 * i, 8}));
      auto info = runtime::readCodeObject(code->code, "sm_90");
      ASSERT_TRUE(info) << info.message();
      for (const runtime::KernelResources &kernel : info->kernels) {
        if (kernel.name != launch.kernel)
          continue;
        EXPECT_EQ(kernel.kernargBytes, 8 * launch.arguments.size());
        EXPECT_EQ(kernel.scratchBytes, 0u);
        // 48 KiB of a launch's own and the kilobyte that is CUDA's.
        EXPECT_LE(kernel.ldsBytes + launch.dynamicLdsBytes,
                  launch.dynamicLdsBytes ? 228u * 1024 : 49u * 1024);
      }
    }
  }
}

} // namespace
