// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How keys are asked for, other than by default: tiles ahead, pages at once,
// waves that share blocks, and whether caches keep them. All of it from end to
// end on the simulated device, whose checks find a missing barrier.
#include "RunDescription.h"

#include <algorithm>

using namespace winnow;
using namespace winnow::test;

namespace {

Shape with(const std::string &schedule, const char *dtype = "f8E4M3FN",
           int64_t blockSize = 128) {
  Shape shape;
  shape.schedule = schedule;
  shape.dtype = dtype;
  shape.blockSize = blockSize;
  return shape;
}

/// Some of each request's pages are in no memory: by themselves, several in a
/// row, the first, the last, all of them.
void unmap(tool::Call &call) {
  auto table = call.arguments[call.indexer->indexTable].as<int32_t, 2>();
  const auto blocks = static_cast<int>(table.extents[1]);
  for (int block : {1, 4, 5, 6, 7, 11})
    if (block < blocks)
      table(0, block) = -1;
  table(1, 0) = -2147483647;
  for (int block = 0; block < std::min(blocks, 40); ++block)
    table(2, block) = -1 - block;
}

/// Lengths that end anywhere: in no block, in the first, at and around the ends
/// of blocks and of the groups of blocks that waves walk.
void expectRightEverywhere(const Shape &shape) {
  expectRight(shape, {0, 1, 127, 128, 129, 1000, 3333, 16384, 5001});
  expectRight(shape, {1700, 2999, 901, 77}, 2, unmap);
}

} // namespace

TEST(Schedule, TilesAheadOfTheOneThatIsMultiplied) {
  expectRightEverywhere(with("prefetch = 1"));
  expectRightEverywhere(with("prefetch = 4, chunks = 2"));
  expectRightEverywhere(with("prefetch = 2", "bf16"));
  expectRightEverywhere(with("prefetch = 8, chunks = 3", "f16"));
  expectRightEverywhere(with("prefetch = 4", "f8E4M3FN", 256));
}

TEST(Schedule, PagesInFlight) {
  // Few workgroups, so that waves walk many groups of pages.
  expectRightEverywhere(with("pages_in_flight = 2, chunks = 2"));
  expectRightEverywhere(
      with("pages_in_flight = 8, chunks = 1", "f8E4M3FN", 32));
  expectRightEverywhere(with("pages_in_flight = 4, chunks = 3", "bf16", 32));
  // One wave holds 64 table entries; here it has more blocks than that.
  Shape shape =
      with("pages_in_flight = 4, chunks = 1, waves = 1", "f8E4M3FN", 64);
  shape.maxSeqLen = 32768;
  expectRight(shape, {16000, 8191, 8192, 8193, 4096, 4097, 12345}, 3);
  expectRight(shape, {16000, 9000, 9000, 4097}, 4, unmap);
}

TEST(Schedule, WavesThatShareABlock) {
  for (const char *tiles : {"1", "2", "4"})
    expectRightEverywhere(
        with(std::string("chunks = 3, key_tiles = ") + tiles));
  expectRightEverywhere(with("key_tiles = 1", "f8E4M3FN", 256));
  expectRightEverywhere(with("key_tiles = 4, pages_in_flight = 2", "bf16"));
  expectRightEverywhere(with("key_tiles = 4, prefetch = 2, chunks = 1", "f16"));
}

TEST(Schedule, ManyQueriesShardsAndForcedBlocks) {
  for (const char *schedule :
       {"key_tiles = 2", "prefetch = 2", "pages_in_flight = 2"})
    for (auto [heads, queryLen] : {std::pair(4, 4), std::pair(3, 2)}) {
      Shape shape = with(schedule);
      shape.heads = shape.kvHeads = heads;
      shape.queryLen = queryLen;
      shape.initBlocks = 1;
      shape.localBlocks = 2;
      expectRight(shape, {0, 3, 129, 1000, 5001});
      shape.world = 3;
      shape.rank = 1;
      expectRight(shape, {0, 3, 129, 1000, 5001}, 2, unmap);
    }
}

TEST(Schedule, TwoLaunchesAndArrivalsInAnyOrder) {
  for (const char *schedule :
       {"key_tiles = 2", "prefetch = 2, non_temporal = 0"}) {
    Shape shape = with(schedule);
    shape.launches = 2;
    expectRight(shape, {0, 300, 5001});
    shape.launches = 1;
    for (uint64_t shuffle : {1, 2})
      expectRight(shape, {0, 300, 5001}, 1, {}, shuffle);
  }
}

TEST(Schedule, TilesOfPrompts) {
  for (const char *schedule : {"prefetch = 1", "prefetch = 2, query_tiles = 1",
                               "prefetch = 4, non_temporal = 1"}) {
    Shape shape = with(schedule);
    shape.queryLen = 0;
    expectRight(shape, {{0, 1, 129, 700, 2049}, {0, 1, 2, 700, 90}});
    shape.dtype = "bf16";
    expectRight(shape, {{300, 1000, 500, 77}, {300, 5, 0, 77}}, 2, unmap);
  }
}

TEST(Schedule, OfGfx942) {
  for (const char *schedule :
       {"key_tiles = 4", "prefetch = 2", "pages_in_flight = 2"}) {
    Shape shape = with(schedule);
    shape.arch = "gfx942";
    expectRight(shape, {0, 1, 129, 1000, 5001}, 2, unmap);
  }
}

TEST(Schedule, OneLaunchOfLongRowsGetsWavesThatHoldOne) {
  // 16384 blocks: eight waves of 64 lanes with 32 scores each.
  Shape shape;
  shape.maxSeqLen = 2097152;
  shape.launches = 1;
  expectRight(shape, {0, 9000, 130});
}
