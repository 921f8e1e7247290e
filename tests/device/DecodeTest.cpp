// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decode from end to end on the simulated device: lengths, shapes, block tables
// and key values that went wrong somewhere once.
#include "RunDescription.h"

#include <algorithm>

using namespace winnow;
using namespace winnow::test;

namespace {

Shape m3() { return Shape(); }

/// The bytes of the request's page for a block.
std::byte *pageOf(tool::Call &call, int64_t request, int64_t block) {
  const tool::Indexer &indexer = *call.indexer;
  int32_t page =
      call.arguments[indexer.indexTable].as<int32_t, 2>()(request, block);
  tool::HostTensor &keys = call.arguments[indexer.keys];
  return keys.bytes.data() + int64_t(page) * keys.view.strides[0];
}

int64_t pageBytes(const tool::Call &call) {
  return call.arguments[call.indexer->keys].view.strides[0];
}

} // namespace

TEST(Decode, ContextLengthsAroundBlocksAndSlots) {
  expectRight(m3(), {0, 1, 127, 128, 129, 2047, 2048, 2049});
}

TEST(Decode, OneLongContext) {
  Shape shape = m3();
  shape.maxSeqLen = 1048576;
  shape.maxRequests = 256;
  expectRight(shape, {131072});
}

TEST(Decode, OneToSeventeenBlocksWithSixteenKept) {
  std::vector<int32_t> lengths;
  for (int32_t blocks = 1; blocks <= 17; ++blocks)
    lengths.push_back(blocks * 128 - (blocks * 37) % 128);
  expectRight(m3(), lengths);
}

TEST(Decode, PaddingRowsBetweenRealOnes) {
  expectRight(m3(), {0, 300, 0, 0, 5000, -1, 128, -2147483647, 1, 0});
}

TEST(Decode, EveryRequestIsPadding) {
  expectRight(m3(), {0, 0, -5, 0});
  Shape speculative = m3();
  speculative.queryLen = 4;
  expectRight(speculative, {0, 0, 0});
}

TEST(Decode, SixteenColumnsInEverySplit) {
  const std::pair<int, int> splits[] = {{16, 1}, {8, 2}, {4, 4}, {2, 8},
                                        {1, 16}, {5, 3}, {3, 5}, {2, 3}};
  for (auto [heads, queryLen] : splits) {
    Shape shape = m3();
    shape.heads = heads;
    shape.kvHeads = heads;
    shape.queryLen = queryLen;
    // Lengths below the query length leave some rows with nothing to see; those
    // around a block's edge give the rows of one request different reaches.
    expectRight(shape, {1, queryLen, 127 + queryLen, 130, 2049, 0, 700});
  }
}

TEST(Decode, SeventeenColumnsAreScoredByTheGenericLowering) {
  for (auto [heads, queryLen] : {std::pair(17, 1), std::pair(1, 17)}) {
    Shape shape = m3();
    shape.heads = heads;
    shape.kvHeads = heads;
    shape.queryLen = queryLen;
    std::shared_ptr<const Kernels> kernels = compile(shape);
    ASSERT_TRUE(kernels);
    EXPECT_EQ(kernels->bundle.entries.front().lowering, "generic-mfma");
    expectRight(shape, {300, 17, 0});
  }
}

TEST(Decode, BlockSizes) {
  for (int64_t blockSize : {32, 64, 128, 256}) {
    Shape shape = m3();
    shape.blockSize = blockSize;
    shape.pagesPerBlock = blockSize / 16;
    shape.heads = 2;
    shape.kvHeads = 2;
    expectRight(shape, {1, 31, 32, 33, 255, 256, 257, 4000});
  }
}

TEST(Decode, KvHeads) {
  for (auto [heads, kvHeads] :
       {std::pair(1, 1), std::pair(1, 2), std::pair(1, 4), std::pair(2, 4),
        std::pair(4, 4)}) {
    Shape shape = m3();
    shape.heads = heads;
    shape.kvHeads = kvHeads;
    expectRight(shape, {700, 5000, 0, 128});
  }
}

TEST(Decode, InitAndLocalBlocksOverlap) {
  for (auto [init, local] : {std::pair(0, 0), std::pair(1, 2), std::pair(3, 3),
                             std::pair(20, 20), std::pair(1000000, 0)}) {
    Shape shape = m3();
    shape.initBlocks = init;
    shape.localBlocks = local;
    shape.keep = 8;
    expectRight(shape, {1, 128, 300, 512, 640, 769, 4000, 16384});
  }
}

TEST(Decode, KeepsOrdersLayoutsAndPads) {
  Shape shape = m3();
  shape.heads = 2;
  shape.queryLen = 2;
  shape.kvHeads = 4;
  for (int64_t keep : {1, 7, 33, 64}) {
    shape.keep = keep;
    shape.ascending = keep % 2 == 0;
    shape.tieLowest = keep < 30;
    shape.tokenMajor = keep > 1;
    shape.pagePad = keep == 7 ? -1 : 0;
    shape.selectionPad = keep == 33 ? 0 : -1;
    shape.pagesPerBlock = keep == 7 ? 1 : 8;
    expectRight(shape, {2, 900, 4096, 9000});
  }
}

TEST(Decode, OnlySelectionOrOnlyTable) {
  Shape shape = m3();
  shape.remaps = false;
  expectRight(shape, {100, 0, 5000});
  shape.remaps = true;
  shape.stores = false;
  expectRight(shape, {100, 0, 5000});
}

TEST(Decode, UnmappedBlocksScoreNothingAndAreNotRead) {
  Shape shape = m3();
  shape.initBlocks = 1;
  expectRight(shape, {1000, 3000, 300}, 1, [](tool::Call &call) {
    auto table = call.arguments[call.indexer->indexTable].as<int32_t, 2>();
    table(0, 2) = -1;          // in the middle
    table(1, 0) = -2147483647; // the initial block
    table(1, 23) = -7;         // the local block
    for (int block = 0; block < 3; ++block)
      table(2, block) = -1; // all of a request
  });
}

TEST(Decode, BlocksThatTheAttentionDoesNotMapAreDropped) {
  expectRight(m3(), {1000, 3000, 300}, 1, [](tool::Call &call) {
    auto table = call.arguments[call.indexer->attnTable].as<int32_t, 2>();
    table(0, 7) = -1; // the tail
    for (int block = 0; block < 24; block += 3)
      table(1, block) = -1 - block;
    for (int block = 0; block < 3; ++block)
      table(2, block) = -1;
  });
}

TEST(Decode, NanKeysNeverWin) {
  expectRight(m3(), {1000, 700, 129}, 3, [](tool::Call &call) {
    // One NaN byte in some tokens of block 1, all tokens of block 2 NaN.
    std::byte *some = pageOf(call, 0, 1);
    for (int token = 0; token < 128; token += 3)
      some[token * 128 + token % 128] = std::byte(0x7f);
    std::fill_n(pageOf(call, 0, 2), pageBytes(call), std::byte(0xff));
    // A request that sees nothing but NaN.
    for (int block = 0; block < 6; ++block)
      std::fill_n(pageOf(call, 1, block), pageBytes(call), std::byte(0x7f));
  });
}

TEST(Decode, NanQueriesScoreMinusInfinity) {
  expectRight(m3(), {1000, 700}, 3, [](tool::Call &call) {
    call.arguments[call.indexer->query].bytes[5] = std::byte(0x7f);
  });
}

TEST(Decode, LargestValuesAndNegativeZeros) {
  expectRight(m3(), {400, 400, 400}, 4, [](tool::Call &call) {
    tool::HostTensor &query = call.arguments[call.indexer->query];
    std::fill_n(query.bytes.data(), 128, std::byte(0x7e));       // +448
    std::fill_n(query.bytes.data() + 128, 128, std::byte(0xfe)); // -448
    std::fill_n(query.bytes.data() + 256, 128, std::byte(0x80)); // -0
    for (int request = 0; request < 3; ++request)
      for (int block = 0; block < 3; ++block)
        std::fill_n(pageOf(call, request, block), pageBytes(call),
                    std::byte(block == 0   ? 0x7e
                              : block == 1 ? 0xfe
                                           : 0x01));
  });
}

TEST(Decode, EqualKeysTieByBlockNumber) {
  for (bool tieLowest : {false, true}) {
    Shape shape = m3();
    shape.tieLowest = tieLowest;
    expectRight(shape, {9000, 16384}, 5, [](tool::Call &call) {
      tool::HostTensor &keys = call.arguments[call.indexer->keys];
      std::fill(keys.bytes.begin(), keys.bytes.end(), std::byte(0x38));
    });
  }
}

TEST(Decode, GeometryNeverReadsLengths) {
  Shape shape = m3();
  shape.maxSeqLen = 1048576;
  shape.maxRequests = 256;
  shape.launches = 2;
  expectSameGeometry(shape, {{1, 100, 0}, {65536, 9000, 128}});
}

TEST(Decode, NoRequestsLaunchNothing) {
  std::shared_ptr<const Kernels> kernels = compile(m3());
  ASSERT_TRUE(kernels);
  auto call = tool::randomCall(kernels->indexer, {}, 1);
  ASSERT_TRUE(call) << call.message();
  auto records = tool::runOnSim(*call, kernels->codes, 1);
  ASSERT_TRUE(records) << records.message();
  EXPECT_TRUE(records->empty());
}
