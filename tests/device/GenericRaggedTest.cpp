// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ragged rows on the generic lowering, and on each lowering with the other:
// from end to end on the simulated device.
#include "GenericShapes.h"

#include <algorithm>
#include <random>
#include <utility>

using namespace winnow;
using namespace winnow::test;

namespace {

Shape small() {
  Shape shape = smallGeneric();
  shape.queryLen = 0;
  return shape;
}

/// Tokens and new rows of each request.
tool::Lengths batch(std::vector<int32_t> tokens, std::vector<int32_t> rows) {
  return {std::move(tokens), std::move(rows)};
}

/// A prompt, later parts of prompts, requests that decode, that wait and that
/// are padding; more rows than tokens leave the first rows nothing to see.
tool::Lengths mixed() {
  return batch({0, 1, 47, 48, 49, 700, 96, 300, 0, 3, 130, -5},
               {0, 1, 47, 0, 2, 1, 0, 33, 4, 5, 130, 2});
}

} // namespace

TEST(GenericRagged, FormatsAndReductions) {
  for (const char *dtype : {"f8E4M3FN", "f8E5M2", "bf16", "f16"})
    for (const char *reduce : {"max", "sum", "mean"}) {
      Shape shape = small();
      shape.dtype = dtype;
      shape.reduce = reduce;
      EXPECT_EQ(loweringOf(shape), "generic-mfma");
      expectRight(shape, batch({1, 96, 49, 200, 0, -3}, {1, 5, 49, 1, 0, 2}));
    }
}

TEST(GenericRagged, LengthsAndNewRowsMix) {
  for (int heads : {1, 2, 3, 20}) {
    Shape shape = small();
    shape.prefer = "generic";
    shape.headDim = 16;
    shape.heads = heads;
    shape.kvHeads = heads;
    expectRight(shape, mixed());
  }
}

TEST(GenericRagged, RequestsWithoutRowsAroundOthers) {
  Shape shape = small();
  shape.prefer = "generic";
  expectRight(shape, batch({500, 500, 500, 500, 500}, {0, 0, 77, 0, 0}));
  expectRight(shape, batch({500, 500}, {0, 0}));
  expectRight(shape, batch({0, 0, 0}, {3, 1, 70}));
  expectRight(shape, batch({-5, 700, -2147483647}, {3, 1, 2}));
}

TEST(GenericRagged, DecodingRequestsOnly) {
  Shape shape = small();
  shape.prefer = "generic";
  expectRight(shape, batch({1000, 1, 48, 49, 4096, 0}, {1, 1, 1, 1, 1, 1}));
}

TEST(GenericRagged, ManyRequests) {
  Shape shape = small();
  shape.prefer = "generic";
  shape.headDim = 8;
  shape.maxRequests = 300;
  std::mt19937 random(11);
  std::vector<int32_t> lengths, rows;
  for (int request = 0; request < 257; ++request) {
    rows.push_back(random() % 3 == 0 ? 0 : static_cast<int32_t>(random() % 4));
    lengths.push_back(static_cast<int32_t>(random() % 200));
  }
  expectRight(shape, batch(lengths, rows));
}

TEST(GenericRagged, BlockSizesAndHeadDims) {
  const int64_t headDims[] = {8, 24, 136, 2048};
  int next = 0;
  for (int64_t blockSize : {16, 17, 100, 255, 257, 600}) {
    Shape shape = small();
    shape.blockSize = blockSize;
    shape.pagesPerBlock = 1;
    shape.headDim = headDims[next++ % 4];
    const auto size = static_cast<int32_t>(blockSize);
    expectRight(shape, batch({size, size + 1, 700, 2 * size - 1, 3},
                             {size - 1, 2, 9, 1, 3}));
  }
}

TEST(GenericRagged, MoreThanSixteenHeads) {
  for (auto [heads, kept] : {std::pair(17, 16), std::pair(20, 512)}) {
    Shape shape; // M3's but for these
    shape.queryLen = 0;
    shape.heads = heads;
    shape.kvHeads = heads;
    shape.keep = kept;
    EXPECT_EQ(loweringOf(shape), kept > 64 ? "generic" : "generic-mfma");
    expectRight(shape, batch({300, 129, 0, 40}, {3, 1, 2, 20}));
  }
}

// The smallest groups, of one query, and those that parts of rows share.
TEST(GenericRagged, GroupsFollowTheBounds) {
  for (auto [headDim, heads, most] :
       {std::tuple(4096, 3, 4), std::tuple(8, 20, 1), std::tuple(8, 1, 3),
        std::tuple(16, 3, 5)}) {
    Shape shape = small();
    shape.prefer = "generic";
    shape.headDim = headDim;
    shape.heads = heads;
    shape.kvHeads = heads;
    shape.maxQueryLen = most;
    expectRight(shape, batch({100, 48, 3, 0, 97}, {most, 1, most, 0, most}));
  }
}

TEST(GenericRagged, TwoThousandKeptOfMoreThanEightThousandBlocks) {
  Shape shape = small();
  keepTwoThousand(shape);
  EXPECT_EQ(loweringOf(shape), "generic");
  expectRight(shape,
              batch({16 * 2047, 16 * 9000, 16 * 2049 - 3, 5}, {1, 2, 3, 1}));
}

TEST(GenericRagged, StridedQueriesAndKeys) {
  for (const char *dtype : {"f8E4M3FN", "bf16"}) {
    Shape shape = small();
    shape.strided = true;
    shape.dtype = dtype;
    expectRight(shape, batch({2, 48, 300, 0}, {2, 1, 50, 3}));
  }
}

TEST(GenericRagged, ForcedAndUnmappedBlocks) {
  for (const Forced &forced : kForced) {
    Shape shape = small();
    force(shape, forced);
    expectRight(shape, batch({1000, 3000, 144}, {60, 3, 144}), 1, unmapSome);
  }
}

TEST(GenericRagged, KvHeadsLayoutsAndPads) {
  for (int way = 0; way < 4; ++way) {
    Shape shape = small();
    useLayout(shape, way);
    expectRight(shape, batch({700, 2000, 0, 48, 1}, {11, 1, 2, 48, 1}));
  }
}

// Both lowerings write and read the same score buffer.
TEST(GenericRagged, EachLoweringSelectsWhatTheOtherScored) {
  Shape shape; // scored by MFMA
  shape.queryLen = 0;
  for (int64_t keep : kManyKept) {
    keepMany(shape, keep);
    EXPECT_EQ(loweringOf(shape), "mfma-generic");
    expectRight(shape, batch({32 * 64, 32 * 65, 32 * 100 + 1, 0, 16384, 20},
                             {1, 3, 40, 2, 1, 20}));
  }
  shape = small();
  EXPECT_EQ(loweringOf(shape), "generic-mfma");
  expectRight(shape, mixed());
  shape.keep = 64;
  shape.tieLowest = true;
  shape.ascending = true;
  expectRight(shape, batch({4096, 3000, 48 * 64, 48 * 65}, {1, 20, 1, 2}));
}

TEST(GenericRagged, GeometryNeverReadsLengths) {
  Shape shape = small();
  shape.prefer = "generic";
  shape.maxSeqLen = 1048576;
  // As many requests and rows each time, of other lengths and other shares.
  expectSameGeometry(shape, {batch({300, 100, 0}, {30, 1, 0}),
                             batch({3000, 900, 48}, {1, 29, 1}),
                             batch({0, 0, 0}, {10, 10, 11})});
}
