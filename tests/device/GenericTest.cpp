// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The generic lowering from end to end on the simulated device: what the MFMA
// lowering refuses.
#include "GenericShapes.h"

#include <algorithm>

using namespace winnow;
using namespace winnow::test;

namespace {

Shape small() { return smallGeneric(); }

/// The bytes of a token's key in the cache.
std::byte *keyOf(tool::Call &call, int64_t request, int64_t block,
                 int64_t token) {
  const tool::Indexer &indexer = *call.indexer;
  tool::HostTensor &keys = call.arguments[indexer.keys];
  const int64_t page =
      call.arguments[indexer.indexTable].as<int32_t, 2>()(request, block);
  return keys.bytes.data() +
         (page * keys.view.strides[0] + token * keys.view.strides[1]) *
             runtime::byteWidth(keys.view.dtype);
}

} // namespace

TEST(Generic, FormatsAndReductions) {
  for (const char *dtype : {"f8E4M3FN", "f8E5M2", "bf16", "f16"})
    for (const char *reduce : {"max", "sum", "mean"}) {
      Shape shape = small();
      shape.dtype = dtype;
      shape.reduce = reduce;
      EXPECT_EQ(loweringOf(shape), "generic-mfma");
      expectRight(shape, {1, 47, 48, 49, 400, 0, -3});
    }
}

TEST(Generic, BlockSizesThatArePowersOfTwoAndNot) {
  for (int64_t blockSize : {16, 17, 31, 100, 255, 256, 257, 600}) {
    Shape shape = small();
    shape.blockSize = blockSize;
    shape.pagesPerBlock = 1;
    shape.headDim = 16;
    expectRight(shape, {1, 15, 16, 17, 256, 257, 700, 1801});
  }
}

TEST(Generic, HeadDims) {
  for (int64_t headDim : {8, 24, 136, 2048}) {
    Shape shape = small();
    shape.headDim = headDim;
    shape.dtype = headDim == 24 ? "bf16" : "f8E4M3FN";
    expectRight(shape, {100, 17, 0});
  }
}

TEST(Generic, ManyHeadsAndLongQueries) {
  for (auto [heads, queryLen] :
       {std::pair(17, 1), std::pair(3, 7), std::pair(1, 33), std::pair(64, 1),
        std::pair(5, 20)}) {
    Shape shape = small();
    shape.heads = heads;
    shape.kvHeads = heads;
    shape.queryLen = queryLen;
    shape.headDim = 16;
    // Lengths below the query length leave some rows with nothing to see.
    expectRight(shape, {1, queryLen, 47 + queryLen, 130, 0});
  }
}

TEST(Generic, MoreThanSixteenHeadsOnM3Shapes) {
  Shape shape;
  shape.heads = 20;
  shape.kvHeads = 20;
  EXPECT_EQ(loweringOf(shape), "generic-mfma");
  expectRight(shape, {300, 129});
}

TEST(Generic, LargeSelections) {
  for (int64_t keep : kManyKept) {
    Shape shape; // scored by MFMA
    keepMany(shape, keep);
    EXPECT_EQ(loweringOf(shape), "mfma-generic");
    expectRight(shape, {32 * 64, 32 * 65, 32 * 100 + 1, 0, 16384});
  }
}

TEST(Generic, TwoThousandKeptOfMoreThanEightThousandBlocks) {
  Shape shape = small();
  keepTwoThousand(shape);
  EXPECT_EQ(loweringOf(shape), "generic");
  expectRight(shape, {16 * 2047, 16 * 9000, 16 * 2049 - 3, 5});
}

TEST(Generic, StridedQueriesAndKeys) {
  for (const char *dtype : {"f8E4M3FN", "bf16"}) {
    Shape shape = small();
    shape.strided = true;
    shape.dtype = dtype;
    shape.queryLen = 2;
    expectRight(shape, {2, 48, 300, 0});
  }
  // Strides alone take MiniMax-M3's shape from the MFMA lowering.
  Shape shape;
  shape.strided = true;
  EXPECT_EQ(loweringOf(shape), "generic-mfma");
  expectRight(shape, {300, 129});
}

TEST(Generic, ForcedAndUnmappedBlocks) {
  for (const Forced &forced : kForced) {
    Shape shape = small();
    force(shape, forced);
    expectRight(shape, {1000, 3000, 144}, 1, unmapSome);
  }
}

TEST(Generic, KvHeadsLayoutsAndPads) {
  for (int way = 0; way < 4; ++way) {
    Shape shape = small();
    useLayout(shape, way);
    shape.queryLen = 1 + way;
    expectRight(shape, {700, 2000, 0, 48, 1});
  }
}

TEST(Generic, NanIsPassedOverByMaxAndMakesSumsNan) {
  for (const char *reduce : {"max", "sum", "mean"}) {
    Shape shape = small();
    shape.reduce = reduce;
    shape.prefer = "generic";
    shape.localBlocks = 0;
    expectRight(shape, {480, 300, 97}, 3, [](tool::Call &call) {
      *keyOf(call, 0, 1, 5) = std::byte(0x7f); // one token of a block
      for (int token = 0; token < 48; ++token)
        *keyOf(call, 0, 2, token) = std::byte(0xff); // all of one
      *keyOf(call, 2, 2, 20) = std::byte(0x7f);      // one that no row sees
    });
  }
}

TEST(Generic, InfinitiesTakePart) {
  for (const char *reduce : {"max", "sum"}) {
    Shape shape = small();
    shape.dtype = "f16";
    shape.reduce = reduce;
    shape.localBlocks = 0;
    expectRight(shape, {480}, 3, [](tool::Call &call) {
      for (int block = 0; block < 3; ++block) {
        std::byte *key = keyOf(call, 0, block, 7);
        key[0] = std::byte(0x00);
        key[1] = std::byte(block == 1 ? 0xfc : 0x7c); // -inf or +inf
      }
    });
  }
}

TEST(Generic, EveryByteOfTheEightBitFormats) {
  for (const char *dtype : {"f8E4M3FN", "f8E5M2"}) {
    Shape shape = small();
    shape.dtype = dtype;
    shape.heads = 1;
    shape.kvHeads = 1;
    shape.headDim = 8;
    shape.blockSize = 16;
    shape.pagesPerBlock = 1;
    shape.localBlocks = 0;
    // A block for each byte; one element of each key has it, the query is 1
    // there and 0 elsewhere: the score is the byte's value.
    expectRight(shape, {4096}, 1, [&](tool::Call &call) {
      const auto one =
          static_cast<std::byte>(std::string(dtype) == "f8E5M2" ? 0x3c : 0x38);
      tool::HostTensor &query = call.arguments[call.indexer->query];
      std::fill(query.bytes.begin(), query.bytes.end(), std::byte(0));
      query.bytes[3] = one;
      for (int block = 0; block < 256; ++block)
        for (int token = 0; token < 16; ++token) {
          std::byte *key = keyOf(call, 0, block, token);
          std::fill_n(key, 8, std::byte(0));
          key[3] = std::byte(block);
        }
    });
  }
}

TEST(Generic, GeometryNeverReadsLengths) {
  Shape shape = small();
  shape.maxSeqLen = 1048576;
  expectSameGeometry(shape, {{1, 30, 0}, {2000, 900, 48}});
}
