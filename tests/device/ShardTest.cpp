// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shards of the blocks on the simulated device: every rank scores its own, in
// either lowering.
#include "RunDescription.h"

#include <random>

using namespace winnow;
using namespace winnow::test;

namespace {

/// Of both lowerings.
class Shards : public testing::TestWithParam<const char *> {
protected:
  /// Blocks so small that a short context has many, in numbers that no world
  /// divides.
  Shape shape(int64_t rank, int64_t world) const {
    Shape shape;
    shape.prefer = GetParam();
    shape.blockSize = 32;
    shape.pagesPerBlock = 2;
    shape.maxSeqLen = 32 * 211;
    shape.rank = rank;
    shape.world = world;
    return shape;
  }
};

} // namespace

TEST_P(Shards, EveryRankScoresItsOwnBlocks) {
  for (int64_t world : {3, 8})
    for (int64_t rank = 0; rank < world; ++rank)
      expectRight(shape(rank, world),
                  {32 * 211, 0, 1, 32, 33, 32 * static_cast<int32_t>(world),
                   32 * static_cast<int32_t>(world) + 1, 2000, -7});
}

TEST_P(Shards, RanksWithoutAnyBlock) {
  // Two blocks at most: six of the ranks never have one.
  for (int64_t rank : {0, 1, 2, 7}) {
    Shape few = shape(rank, 8);
    few.maxSeqLen = 64;
    few.initBlocks = 1;
    expectRight(few, {64, 33, 32, 1, 0});
  }
  // A world far larger than the blocks.
  Shape last = shape(1023, 1024);
  expectRight(last, {6000, 0, 32});
}

TEST_P(Shards, ForcedBlocksGoByTheGlobalNumber) {
  for (int64_t rank = 0; rank < 3; ++rank) {
    Shape forced = shape(rank, 3);
    forced.initBlocks = 4;
    forced.localBlocks = 5;
    forced.queryLen = 4;
    forced.heads = 2;
    forced.kvHeads = 2;
    forced.tieLowest = rank == 1;
    expectRight(forced, {32 * 100 + 1, 32 * 6, 31, 4000});
  }
}

TEST_P(Shards, UnmappedBlocks) {
  for (int64_t rank = 0; rank < 2; ++rank)
    expectRight(shape(rank, 2), {3000, 700}, 1, [](tool::Call &call) {
      auto table = call.arguments[call.indexer->indexTable].as<int32_t, 2>();
      for (int block : {0, 3, 4, 92, 93})
        table(0, block) = -1;
    });
}

TEST_P(Shards, RaggedRows) {
  for (int64_t world : {2, 5})
    for (int64_t rank = 0; rank < world; ++rank) {
      Shape ragged = shape(rank, world);
      ragged.queryLen = 0;
      ragged.maxQueryLen = 300;
      ragged.heads = 4;
      ragged.kvHeads = 4;
      ragged.initBlocks = 1;
      expectRight(ragged,
                  {{700, 1, 33, 32 * 211, 5, 64}, {300, 1, 33, 40, 0, 7}});
    }
}

INSTANTIATE_TEST_SUITE_P(Lowerings, Shards, testing::Values("mfma", "generic"),
                         [](const auto &lowering) {
                           return std::string(lowering.param);
                         });
