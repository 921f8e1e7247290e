// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the worker has clang leave out is not missed: its kernels are no longer
// than those of the clang driver, and take no more registers.
#include "CodeObjectInfo.h"
#include "RunDescription.h"

#include "winnow/Codegen/Compile.h"
#include "winnow/Runtime/ClangCompiler.h"
#include "winnow/Runtime/KernelCompiler.h"

using namespace winnow;
using namespace winnow::test;

namespace {

std::vector<Shape> shapes() {
  Shape m3;
  Shape large = m3;
  large.maxSeqLen = 1 << 20;
  Shape two = large;
  two.launches = 2;
  Shape speculative = m3;
  speculative.queryLen = 4;
  Shape sharded = m3;
  sharded.dtype = "bf16";
  sharded.world = 4;
  sharded.exchanges = true;
  Shape prefill = m3;
  prefill.queryLen = 0;
  Shape merge = m3;
  merge.merges = 4;
  return {m3, large, two, speculative, sharded, prefill, merge};
}

} // namespace

TEST(WorkerCode, IsNoLongerThanTheDrivers) {
  runtime::WorkerOptions worker;
  worker.worker = WINNOW_RTC_WORKER;
  auto compiler = runtime::makeClangCompiler(worker);
  for (const Shape &shape : shapes()) {
    SCOPED_TRACE(shape.text());
    Result<runtime::Bundle> bundle =
        compileDescription(shape.describe(), "test.mlir");
    ASSERT_TRUE(bundle) << bundle.message();
    EXPECT_EQ(bundle->entries.front().lowering, "mfma");
    const runtime::Source &source = bundle->sources.front();
    Result<runtime::CompiledKernel> code =
        compiler->compile({&source, "gfx950"});
    ASSERT_TRUE(code) << code.message();
    Result<runtime::Compiled> driven =
        runtime::compileWithClang(source, "gfx950");
    ASSERT_TRUE(driven) << driven.message();
    EXPECT_LE(code->code.size(), driven->code.size());
    Result<runtime::CodeObjectInfo> ours =
        runtime::readCodeObject(code->code, "gfx950");
    Result<runtime::CodeObjectInfo> theirs =
        runtime::readCodeObject(driven->code, "gfx950");
    ASSERT_TRUE(ours) << ours.message();
    ASSERT_TRUE(theirs) << theirs.message();
    ASSERT_EQ(ours->kernels.size(), theirs->kernels.size());
    for (size_t i = 0; i < ours->kernels.size(); ++i) {
      EXPECT_LE(ours->kernels[i].vgprs, theirs->kernels[i].vgprs);
      EXPECT_EQ(ours->kernels[i].scratchBytes, 0u);
    }
  }
}
