// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The generic kernels compile for every architecture that they are said to be
// for, with waves of 32 and of 64 lanes, and hold nothing of one target but
// what the portability header has.
#include "RunDescription.h"

#include "winnow/Codegen/Compile.h"
#include "winnow/Runtime/ClangCompiler.h"

using namespace winnow;
using namespace winnow::test;

namespace {

std::vector<Shape> shapes() {
  Shape m3;
  Shape bf16 = m3;
  bf16.dtype = "bf16";
  bf16.reduce = "mean";
  bf16.blockSize = 48;
  bf16.pagesPerBlock = 3;
  bf16.strided = true;
  bf16.ascending = true;
  bf16.world = 3;
  bf16.exchanges = true;
  Shape large = m3; // the most local memory
  large.dtype = "f16";
  large.headDim = 4096;
  large.blockSize = 16;
  large.pagesPerBlock = 1;
  large.keep = 2048;
  large.heads = 128;
  large.kvHeads = 128;
  Shape ragged = m3;
  ragged.queryLen = 0;
  ragged.dtype = "f8E5M2";
  ragged.headDim = 40;
  ragged.keep = 512;
  ragged.heads = 20;
  ragged.kvHeads = 20;
  Shape raggedSum = bf16;
  raggedSum.queryLen = 0;
  raggedSum.reduce = "sum";
  Shape merge = m3;
  merge.merges = -1; // of any number of ranks
  merge.keep = 2048;
  return {m3, bf16, large, ragged, raggedSum, merge};
}

/// The text without the part that stands under the header's name.
std::string without(std::string text, const std::string &header) {
  const std::string mark = "//===--- ";
  const size_t begin = text.find(mark + header);
  EXPECT_NE(begin, std::string::npos) << header;
  if (begin == std::string::npos)
    return text;
  return text.erase(begin, text.find(mark, begin + 1) - begin);
}

} // namespace

TEST(GenericCompile, EveryArchitecture) {
  for (const char *arch : {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"})
    for (const Shape &shape : shapes()) {
      SCOPED_TRACE(std::string(arch) + ": " + shape.text());
      Result<runtime::Bundle> bundle = compileDescription(
          shape.describe(), "test.mlir", CompileOptions{arch, "generic"});
      ASSERT_TRUE(bundle) << bundle.message();
      ASSERT_EQ(bundle->entries.front().lowering, "generic");
      const runtime::Source &source = bundle->sources.front();
      EXPECT_EQ(source.archs.size(), 6u);
      Result<runtime::Compiled> compiled =
          runtime::compileWithClang(source, arch);
      ASSERT_TRUE(compiled) << compiled.message();
      EXPECT_EQ(compiled->log, "");
      // What the emulated device can load tells about registers and memory.
      if (std::string(arch) != "gfx950")
        continue;
      auto object = sim::CodeObject::load(compiled->code);
      ASSERT_TRUE(object) << object.message();
      for (const sim::KernelInfo &kernel : (*object)->kernels())
        EXPECT_LE(kernel.groupSegmentSize, 65536u) << kernel.name;
    }
}

TEST(GenericCompile, TheSameSourceForEveryArchitecture) {
  for (const Shape &shape : shapes()) {
    std::string first;
    for (const char *arch : {"gfx90a", "gfx1201"}) {
      Result<runtime::Bundle> bundle = compileDescription(
          shape.describe(), "test.mlir", CompileOptions{arch, "generic"});
      ASSERT_TRUE(bundle) << bundle.message();
      const std::string &text = bundle->sources.front().text;
      if (first.empty())
        first = text;
      EXPECT_EQ(text, first);
    }
    const std::string rest = without(first, "winnow/arch/portable.h");
    EXPECT_EQ(rest.find("amdgcn"), std::string::npos);
    EXPECT_EQ(rest.find("__hip"), std::string::npos);
    EXPECT_EQ(rest.find("__builtin"), std::string::npos);
    EXPECT_EQ(rest.find("kWaveLanes"), std::string::npos);
    EXPECT_EQ(rest.find("mfma"), std::string::npos);
  }
}

TEST(GenericCompile, OtherArchitecturesAreRefusedByName) {
  for (const char *arch : {"gfx906", "gfx1030", "sm_80"}) {
    Result<runtime::Bundle> bundle = compileDescription(
        Shape().describe(), "test.mlir", CompileOptions{arch, ""});
    ASSERT_FALSE(bundle) << arch;
    EXPECT_NE(bundle.message().find(std::string("architecture is ") + arch +
                                    ", needed one of gfx90a, gfx942, gfx950, "
                                    "gfx1100, gfx1201, sm_90"),
              std::string::npos)
        << bundle.message();
  }
}
