// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decode with index caches of 16 bits an element: the same scores, selections
// and tables as with fp8, and values that fp8 does not have.
#include "RunDescription.h"

#include "winnow/Codegen/Compile.h"

#include <algorithm>
#include <cstring>

using namespace winnow;
using namespace winnow::test;

namespace {

class DType : public testing::TestWithParam<const char *> {
protected:
  Shape m3() {
    Shape shape;
    shape.dtype = GetParam();
    return shape;
  }
  bool isBrain() { return std::string(GetParam()) == "bf16"; }
  uint16_t infinity() { return isBrain() ? 0x7f80 : 0x7c00; }
  uint16_t nan() { return infinity() | 1; } // signalling
  uint16_t largest() { return infinity() - 1; }
  static constexpr uint16_t kSign = 0x8000;
};

/// Sets an element of the request's page for a block.
void setKey(tool::Call &call, int64_t request, int64_t block, int64_t token,
            int64_t dim, uint16_t bits) {
  const tool::Indexer &indexer = *call.indexer;
  int32_t page =
      call.arguments[indexer.indexTable].as<int32_t, 2>()(request, block);
  tool::HostTensor &keys = call.arguments[indexer.keys];
  int64_t element = page * keys.view.strides[0] + token * 128 + dim;
  std::memcpy(keys.bytes.data() + element * 2, &bits, 2);
}

} // namespace

TEST_P(DType, ContextLengthsAroundBlocks) {
  expectRight(m3(), {0, 1, 63, 64, 65, 127, 128, 129, 2047, 2048, 2049});
}

TEST_P(DType, SixteenColumnsInSomeSplits) {
  const std::pair<int, int> splits[] = {{16, 1}, {4, 4}, {1, 16}, {5, 3}};
  for (auto [heads, queryLen] : splits) {
    Shape shape = m3();
    shape.heads = heads;
    shape.kvHeads = heads;
    shape.queryLen = queryLen;
    expectRight(shape, {1, queryLen, 127 + queryLen, 700});
  }
}

TEST_P(DType, BlockSizes) {
  for (int64_t blockSize : {32, 64, 128, 256}) {
    Shape shape = m3();
    shape.blockSize = blockSize;
    shape.pagesPerBlock = blockSize / 16;
    shape.heads = 2;
    shape.kvHeads = 2;
    expectRight(shape, {1, 31, 65, 255, 257, 3000});
  }
}

TEST_P(DType, UnmappedAndForcedBlocks) {
  Shape shape = m3();
  shape.initBlocks = 1;
  expectRight(shape, {1000, 3000}, 1, [](tool::Call &call) {
    auto table = call.arguments[call.indexer->indexTable].as<int32_t, 2>();
    table(0, 2) = -1;
    table(1, 0) = -2147483647;
  });
}

TEST_P(DType, NanKeysNeverWin) {
  expectRight(m3(), {1000, 700}, 3, [&](tool::Call &call) {
    for (int token = 0; token < 128; token += 3)
      setKey(call, 0, 1, token, token, nan());
    for (int token = 0; token < 128; ++token)
      setKey(call, 0, 2, token, 7, nan() | kSign);
  });
}

// An infinite product makes an infinite score; two of opposite signs a NaN,
// which is as if the token were absent.
TEST_P(DType, InfinitiesTakePart) {
  expectRight(m3(), {1000, 700}, 4, [&](tool::Call &call) {
    setKey(call, 0, 1, 5, 17, infinity());
    for (int token = 0; token < 128; ++token)
      setKey(call, 0, 2, token, token % 128, infinity() | kSign);
    setKey(call, 0, 3, 9, 1, infinity());
    setKey(call, 0, 3, 9, 2, infinity() | kSign);
    setKey(call, 1, 0, 127, 127, infinity());
  });
}

TEST_P(DType, LargestAndSmallestValues) {
  expectRight(m3(), {400, 400}, 5, [&](tool::Call &call) {
    for (int dim = 0; dim < 128; ++dim) {
      // f16: the sum of 128 products of the largest numbers is below 2^40.
      if (!isBrain())
        setKey(call, 0, 0, 3, dim, largest());
      setKey(call, 0, 1, 3, dim, 1); // a denormal number
      setKey(call, 1, 1, 3, dim, kSign | 1);
      setKey(call, 1, 2, 100, dim, kSign); // -0
    }
  });
}

TEST_P(DType, MixedTypesAreRefused) {
  Shape shape = m3();
  std::string text = shape.describe();
  // The queries alone become fp8.
  for (size_t at;
       (at = text.find("memref<?x1x128x" + shape.dtype)) != std::string::npos;)
    text.replace(at, 15 + shape.dtype.size(), "memref<?x1x128xf8E4M3FN");
  Result<runtime::Bundle> bundle = compileDescription(text, "test.mlir");
  ASSERT_FALSE(bundle);
  EXPECT_NE(bundle.message().find("f8E4M3FN"), std::string::npos)
      << bundle.message();
}

INSTANTIATE_TEST_SUITE_P(SixteenBits, DType, testing::Values("bf16", "f16"),
                         [](const auto &info) { return info.param; });
