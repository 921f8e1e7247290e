// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decode in one launch, from end to end on the simulated device: whatever the
// order in which workgroups arrive, and whatever the workspace holds.
#include "RunDescription.h"

#include <algorithm>
#include <random>

using namespace winnow;
using namespace winnow::test;

namespace {

Shape oneLaunch() {
  Shape shape;
  shape.launches = 1;
  return shape;
}

/// One shape in both lowerings.
void expectRightInBoth(Shape shape, const tool::Lengths &lengths,
                       uint64_t seed = 1, const Prepare &prepare = {},
                       uint64_t shuffle = 0) {
  for (const char *lowering : {"mfma", "generic"}) {
    shape.prefer = lowering;
    expectRight(shape, lengths, seed, prepare, shuffle);
  }
}

} // namespace

TEST(OneLaunch, IsOneKernelOfBothLowerings) {
  for (const char *lowering : {"mfma", "generic"}) {
    Shape shape = oneLaunch();
    shape.prefer = lowering;
    std::shared_ptr<const Kernels> kernels = compile(shape);
    ASSERT_TRUE(kernels);
    const runtime::Entry &entry = kernels->bundle.entries.front();
    EXPECT_EQ(entry.lowering, lowering);
    ASSERT_EQ(entry.launches.size(), 1u);
    EXPECT_EQ(entry.launches[0].kernel, "decode_score_select");
    // The counters come first, so that they lie at one place whatever the
    // batch.
    ASSERT_EQ(entry.workspace.size(), 2u);
    EXPECT_EQ(entry.workspace[0].name, "arrivals");
    EXPECT_EQ(entry.workspace[1].name, "score");
  }
}

TEST(OneLaunch, ContextLengthsAroundBlocksAndSlots) {
  expectRightInBoth(oneLaunch(), {0, 1, 127, 128, 129, 2047, 2048, 2049});
}

TEST(OneLaunch, ManyChunks) {
  Shape shape = oneLaunch();
  for (int64_t tokens : {16384, 65536, 1048576}) {
    shape.maxSeqLen = tokens;
    expectRight(shape, {30000 > tokens ? 16000 : 30000, 0, 5000});
  }
  shape.prefer = "generic";
  shape.maxSeqLen = 65536;
  expectRight(shape, {9000, 0, 130});
}

TEST(OneLaunch, PaddingRowsBetweenRealOnes) {
  expectRightInBoth(oneLaunch(),
                    {0, 300, 0, 0, 5000, -1, 128, -2147483647, 1, 0});
  expectRightInBoth(oneLaunch(), {0, 0, -5, 0});
}

TEST(OneLaunch, SeveralRowsAndHeads) {
  for (auto [heads, queryLen] :
       {std::pair(16, 1), std::pair(4, 4), std::pair(1, 16), std::pair(3, 5)}) {
    Shape shape = oneLaunch();
    shape.heads = heads;
    shape.kvHeads = heads;
    shape.queryLen = queryLen;
    // The rows of one request with different reaches, on either side of what
    // one wave holds.
    for (int32_t length : {1000, 9000}) {
      shape.prefer = length == 1000 ? "generic" : "mfma";
      expectRight(shape, {1, queryLen, 127 + queryLen, 690, 0, length}, 1, {},
                  5);
    }
  }
}

TEST(OneLaunch, AnyOrderOfArrival) {
  Shape shape = oneLaunch();
  shape.maxSeqLen = 65536;
  for (uint64_t shuffle = 1; shuffle <= 12; ++shuffle)
    expectRightInBoth(shape, {700, 9000, 0, 128, 2500}, shuffle, {}, shuffle);
}

TEST(OneLaunch, UglyValues) {
  Shape shape = oneLaunch();
  shape.maxSeqLen = 65536;
  shape.initBlocks = 1;
  shape.heads = 2;
  shape.kvHeads = 4;
  expectRightInBoth(
      shape, {1000, 12000, 300}, 3,
      [](tool::Call &call) {
        tool::HostTensor &keys = call.arguments[call.indexer->keys];
        // Some NaN, the rest equal: ties everywhere.
        std::fill(keys.bytes.begin(), keys.bytes.end(), std::byte(0x38));
        for (size_t at = 5; at < keys.bytes.size(); at += 40961)
          keys.bytes[at] = std::byte(0x7f);
        auto table = call.arguments[call.indexer->indexTable].as<int32_t, 2>();
        table(0, 2) = -1;
        table(1, 0) = -2147483647;
      },
      9);
}

TEST(OneLaunch, ShardHandsOnItsCandidates) {
  for (int64_t rank : {0, 2}) {
    Shape shape = oneLaunch();
    shape.world = 3;
    shape.rank = rank;
    shape.remaps = false;
    shape.exchanges = true;
    shape.maxSeqLen = 65536;
    expectRightInBoth(shape, {1000, 128, 0, 9000}, 1, {}, 4);
  }
}

TEST(OneLaunch, AnyWorkspace) {
  const std::vector<uint64_t> contents = {
      0,
      ~uint64_t(0),
      0xffe171c70a5d0000,  // a counter already
      0xffe171c70a5d8000,  // more arrivals than there can be
      0xffe171c70a5cffff,  // one more makes it look like one
      0x3f8000003f7fffff}; // scores
  Shape shape = oneLaunch();
  shape.maxSeqLen = 65536;
  for (size_t i = 0; i < contents.size(); ++i)
    expectRightInBoth(
        shape, {700, 9000, 0}, 2,
        [&](tool::Call &call) {
          tool::HostTensor &counters = call.workspace.front();
          ASSERT_EQ(counters.view.extents[1], 2);
          for (size_t at = 0; at + 8 <= counters.bytes.size(); at += 8)
            std::memcpy(counters.bytes.data() + at, &contents[i], 8);
        },
        i);
}

// What the last workgroup leaves is what the next launch needs, whatever else
// has changed.
TEST(OneLaunch, LaunchesAgainOnTheSameWorkspace) {
  Shape shape = oneLaunch();
  shape.maxSeqLen = 65536;
  std::shared_ptr<const Kernels> kernels = compile(shape);
  ASSERT_TRUE(kernels);
  std::vector<std::byte> left;
  for (uint64_t step = 1; step <= 4; ++step) {
    auto call = tool::randomCall(kernels->indexer,
                                 {500, int32_t(3000 * step), 0}, step);
    ASSERT_TRUE(call) << call.message();
    tool::HostTensor &counters = call->workspace.front();
    if (step > 1)
      counters.bytes = left;
    const tool::Call before = *call;
    tool::SimRun run;
    run.threads = 2;
    run.shuffle = step;
    auto records = tool::runOnSim(*call, kernels->codes, run);
    ASSERT_TRUE(records) << records.message();
    auto verdict = tool::verify(before, *call);
    ASSERT_TRUE(verdict) << verdict.message();
    EXPECT_TRUE(verdict->scores->ok()) << verdict->scores->text();
    EXPECT_TRUE(verdict->selection->ok()) << verdict->selection->text();
    EXPECT_TRUE(verdict->pages->ok()) << verdict->pages->text();
    EXPECT_TRUE(step == 1 || counters.bytes == left);
    left = counters.bytes;
  }
}

TEST(OneLaunch, ManyRequestsOnSeveralThreads) {
  Shape shape = oneLaunch();
  shape.maxSeqLen = 32768;
  std::shared_ptr<const Kernels> kernels = compile(shape);
  ASSERT_TRUE(kernels);
  std::mt19937 dice(7);
  std::vector<int32_t> lengths(64);
  for (int32_t &length : lengths)
    length = int32_t(dice() % 4000);
  for (uint64_t shuffle : {0, 1}) {
    auto call = tool::randomCall(kernels->indexer, lengths, 3);
    ASSERT_TRUE(call) << call.message();
    const tool::Call before = *call;
    tool::SimRun run;
    run.threads = 4;
    run.shuffle = shuffle;
    auto records = tool::runOnSim(*call, kernels->codes, run);
    ASSERT_TRUE(records) << records.message();
    auto verdict = tool::verify(before, *call);
    ASSERT_TRUE(verdict) << verdict.message();
    EXPECT_TRUE(verdict->selection->ok()) << verdict->selection->text();
    EXPECT_TRUE(verdict->pages->ok()) << verdict->pages->text();
  }
}

TEST(OneLaunch, GeometryNeverReadsLengths) {
  Shape shape = oneLaunch();
  shape.maxSeqLen = 1048576;
  shape.maxRequests = 256;
  expectSameGeometry(shape, {{1, 100, 0}, {65536, 9000, 128}});
}

TEST(OneLaunch, IsRefusedWithTheReason) {
  struct Case {
    Shape shape;
    const char *reason;
  };
  Shape wide = oneLaunch(), ragged = oneLaunch(), mixed = oneLaunch(),
        longRow = oneLaunch(), large = oneLaunch();
  wide.heads = wide.kvHeads = 17;
  wide.prefer = "generic";
  ragged.queryLen = 0;
  mixed.keep = 65;
  longRow.maxSeqLen = 2097152;
  longRow.schedule = "waves = 4";
  large.prefer = "generic";
  large.headDim = 1024;
  large.heads = large.kvHeads = 8;
  large.keep = 2048;
  const Case cases[] = {
      {wide, "index heads x query_len is 17, needed at most 16"},
      {ragged, "rows are ragged"},
      {mixed, "scoring has the lowering 'mfma', selecting 'generic'"},
      {longRow, "a row has up to 16384 blocks, but a workgroup of 4 waves "
                "selects from at most 8192"},
      {large, "bytes of local memory together, needed at most 65536"}};
  for (const Case &each : cases) {
    auto bundle = emitKernels(each.shape);
    ASSERT_FALSE(bundle) << each.reason;
    EXPECT_NE(bundle.message().find("cannot have 'launches' = 1, needed 2: "),
              std::string::npos)
        << bundle.message();
    EXPECT_NE(bundle.message().find(each.reason), std::string::npos)
        << bundle.message();
  }
}
