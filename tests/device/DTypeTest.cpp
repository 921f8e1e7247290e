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

// bf16 has the range of fp32, so that sums of its products leave it: to an
// infinity whatever the order of the additions, or to one, a NaN or a number as
// it depends. Either way the rest of the row has to come out as ever.
TEST_P(DType, SumsPastTheRange) {
  if (!isBrain())
    GTEST_SKIP() << "no sum of f16 products leaves the range of fp32";
  for (const char *prefer : {"", "generic"})
    for (const char *reduce : {"max", "sum", "mean"})
      for (bool ragged : {false, true}) {
        Shape shape = m3();
        shape.prefer = prefer;
        shape.reduce = reduce;
        shape.localBlocks = 0;
        shape.keep = 4; // of the eight
        shape.queryLen = ragged ? 0 : 1;
        tool::Lengths lengths{{1000, 900}, {}};
        if (ragged)
          lengths.newTokens = {3, 1};
        expectRight(shape, lengths, 6, [&](tool::Call &call) {
          // The queries are 2^64 in their first half and 1 in the other.
          tool::HostTensor &query = call.arguments[call.indexer->query];
          for (size_t i = 0; i < query.bytes.size(); i += 2) {
            const uint16_t bits = i / 2 % 128 < 64 ? 0x5f80 : 0x3f80;
            std::memcpy(&query.bytes[i], &bits, 2);
          }
          constexpr uint16_t huge = 0x5f80, large = 0x7f00; // 2^64, 2^127
          setKey(call, 0, 0, 5, 1, huge); // a product of 2^128
          setKey(call, 0, 1, 5, 1, huge | kSign);
          for (int dim = 100; dim < 103; ++dim) { // three of 2^127
            setKey(call, 0, 2, 5, dim, large);
            setKey(call, 0, 3, 5, dim, large | kSign);
          }
          for (int dim = 0; dim < 64; ++dim) // of both signs
            setKey(call, 0, 4, 7, dim, huge | (dim % 2 ? kSign : 0));
          for (int token = 100; token < 103; ++token) // that fit by themselves
            setKey(call, 0, 5, token, 64, large);
          for (int token = 0; token < 128; ++token) // nothing else to see
            for (int dim = 0; dim < 128; ++dim)
              setKey(call, 1, 0, token, dim, huge | kSign);
          setKey(call, 1, 2, 3, 9, 0x0001); // and products that vanish
        });
      }
}

TEST_P(DType, ProductsBelowTheRange) {
  for (const char *prefer : {"", "generic"}) {
    Shape shape = m3();
    shape.prefer = prefer;
    shape.localBlocks = 0;
    expectRight(shape, {500}, 7, [&](tool::Call &call) {
      tool::HostTensor &query = call.arguments[call.indexer->query];
      const uint16_t least = 0x0001;
      for (size_t i = 0; i < query.bytes.size(); i += 2)
        std::memcpy(&query.bytes[i], &least, 2);
      for (int dim = 0; dim < 128; ++dim) {
        setKey(call, 0, 0, 3, dim, least);
        setKey(call, 0, 1, 3, dim, kSign | least);
        setKey(call, 0, 2, 3, dim, infinity());
        setKey(call, 0, 3, 3, dim, 0);
      }
    });
  }
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
