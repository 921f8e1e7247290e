// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A whole sharded step on the simulated device: every rank scores and selects,
// their candidates are gathered, both lowerings merge them. Scores, selection
// and page table have the bits of one rank with all blocks.
#include "SelectScores.h"

#include <array>
#include <bit>
#include <cstddef>
#include <random>

using namespace winnow;
using namespace winnow::test;

namespace {

/// Runs a call with every check of the simulator, and holds what came of it
/// against the reference.
void runRight(const Kernels &kernels, tool::Call &call) {
  const tool::Call before = call;
  tool::SimRun run;
  run.checks = sim::Checks::all(sim::CheckAction::Stop);
  auto records = tool::runOnSim(call, kernels.codes, run);
  ASSERT_TRUE(records) << records.message();
  auto verdict = tool::verify(before, call);
  ASSERT_TRUE(verdict) << verdict.message();
  for (const auto *part : {&verdict->scores, &verdict->selection,
                           &verdict->candidates, &verdict->pages})
    EXPECT_TRUE(!*part || (*part)->ok()) << (*part)->text();
  EXPECT_TRUE(verdict->untouched.ok()) << verdict->untouched.text();
}

/// The bits of every element that both views hold.
template <typename T, int Rank>
bool sameBits(const reference::View<const T, Rank> &a,
              const reference::View<const T, Rank> &b, int axis = 0,
              int64_t left = 0, int64_t right = 0) {
  if (axis == Rank) {
    using Bytes = std::array<std::byte, sizeof(T)>;
    return std::bit_cast<Bytes>(a.data[left]) ==
           std::bit_cast<Bytes>(b.data[right]);
  }
  for (int64_t i = 0; i < std::min(a.extents[axis], b.extents[axis]); ++i)
    if (!sameBits(a, b, axis + 1, left + i * a.strides[axis],
                  right + i * b.strides[axis]))
      return false;
  return true;
}

void copy(const tool::Call &from, int source, tool::Call &to, int target) {
  ASSERT_EQ(from.arguments[source].bytes.size(),
            to.arguments[target].bytes.size());
  to.arguments[target].bytes = from.arguments[source].bytes;
}

/// The scores of a rank against those of all blocks.
void expectSameScores(const tool::Call &whole, const tool::Call &rank) {
  const auto all = whole.workspace[whole.indexer->scores].as<float, 3>();
  const auto own = rank.workspace[rank.indexer->scores].as<float, 3>();
  const reference::Rows rows = rank.rows();
  for (int64_t head = 0; head < rank.indexer->heads; ++head)
    for (int64_t row = 0; row < rows.rows(); ++row)
      for (int64_t local = 0; local < rows.localBlocks(row); ++local)
        ASSERT_EQ(
            std::bit_cast<uint32_t>(own(head, row, local)),
            std::bit_cast<uint32_t>(all(head, row, rows.globalBlock(local))))
            << "head " << head << ", row " << row << ", block "
            << rows.globalBlock(local);
}

void expectWhole(const Shape &shape, int64_t world,
                 const tool::Lengths &lengths, uint64_t seed,
                 const Prepare &prepare) {
  SCOPED_TRACE(shape.text() + ", world " + std::to_string(world) + ", seed " +
               std::to_string(seed));
  std::shared_ptr<const Kernels> alone = compile(shape);
  ASSERT_TRUE(alone);
  auto whole = tool::randomCall(alone->indexer, lengths, seed);
  ASSERT_TRUE(whole) << whole.message();
  prepare(*whole);
  const tool::Call given = *whole;
  runRight(*alone, *whole);

  // Both merges get what the ranks hand on.
  std::vector<std::shared_ptr<const Kernels>> mergers;
  std::vector<tool::Call> merged;
  for (const char *prefer : {"mfma", "generic"}) {
    Shape merge = shape;
    merge.prefer = prefer;
    merge.merges = world;
    mergers.push_back(compile(merge));
    ASSERT_TRUE(mergers.back());
    auto call = tool::randomCall(mergers.back()->indexer, lengths, seed);
    ASSERT_TRUE(call) << call.message();
    copy(given, given.indexer->attnTable, *call, call->indexer->attnTable);
    merged.push_back(std::move(*call));
  }
  for (int64_t rank = 0; rank < world; ++rank) {
    Shape part = shape;
    part.rank = rank;
    part.world = world;
    part.stores = part.remaps = false;
    part.exchanges = true;
    std::shared_ptr<const Kernels> kernels = compile(part);
    ASSERT_TRUE(kernels);
    auto call = tool::randomCall(kernels->indexer, lengths, seed);
    ASSERT_TRUE(call) << call.message();
    const tool::Indexer &from = *given.indexer, &to = *call->indexer;
    copy(given, from.query, *call, to.query);
    copy(given, from.keys, *call, to.keys);
    copy(given, from.indexTable, *call, to.indexTable);
    runRight(*kernels, *call);
    expectSameScores(*whole, *call);
    const tool::Call &after = *call;
    const auto ids = after.arguments[to.candidateIds].as<int32_t, 3>();
    const auto best = after.arguments[to.candidateScores].as<float, 3>();
    for (tool::Call &merge : merged) {
      auto allIds = merge.arguments[merge.indexer->rankIds].as<int32_t, 4>();
      auto allBest = merge.arguments[merge.indexer->rankScores].as<float, 4>();
      for (int64_t head = 0; head < ids.extents[0]; ++head)
        for (int64_t row = 0; row < ids.extents[1]; ++row)
          for (int64_t k = 0; k < ids.extents[2]; ++k) {
            allIds(rank, head, row, k) = ids(head, row, k);
            allBest(rank, head, row, k) = best(head, row, k);
          }
    }
  }
  const tool::Call &wanted = *whole;
  for (size_t i = 0; i < merged.size(); ++i) {
    runRight(*mergers[i], merged[i]);
    const tool::Call &got = merged[i];
    EXPECT_TRUE(sameBits(got.selection(), wanted.selection()));
    auto table = [](const tool::Call &call) {
      auto view = call.arguments[call.indexer->pages].as<int32_t, 2>();
      view.extents = {call.rows().rows() * call.indexer->remap->kvHeads,
                      call.indexer->keep * call.indexer->remap->pagesPerBlock};
      return view;
    };
    EXPECT_TRUE(sameBits(table(got), table(wanted)));
    EXPECT_TRUE(
        sameBits(got.arguments[got.indexer->contexts].as<int32_t, 1>(),
                 wanted.arguments[wanted.indexer->contexts].as<int32_t, 1>()));
  }
}

/// Pages that repeat, so that scores tie over long plateaus, pages of zeros and
/// of NaN, and blocks that are not in memory.
void plantPlateaus(tool::Call &call, std::mt19937 &random) {
  const tool::Indexer &indexer = *call.indexer;
  auto table = call.arguments[indexer.indexTable].as<int32_t, 2>();
  tool::HostTensor &keys = call.arguments[indexer.keys];
  const int64_t page =
      keys.view.strides[0] * runtime::byteWidth(keys.view.dtype);
  const reference::Rows rows = call.rows();
  for (int64_t request = 0; request < rows.requests(); ++request)
    for (int64_t block = 0; block < rows.blocksSeen(request); ++block) {
      std::byte *own = keys.bytes.data() + table(request, block) * page;
      switch (random() % 8) {
      case 0:
      case 1:
      case 2:
        if (block > 0 && table(request, 0) >= 0)
          std::memcpy(own, keys.bytes.data() + table(request, 0) * page, page);
        break;
      case 3:
        std::memset(own, random() % 2 ? 0 : 0xff, page); // NaN in every format
        break;
      case 4:
        table(request, block) = -1;
        break;
      default:
        break;
      }
    }
}

} // namespace

TEST(ShardedStep, RandomShapesAndWorlds) {
  std::mt19937 random(9);
  auto between = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % (high - low + 1));
  };
  // World 1 and 8, and what lies between; blocks that no world divides.
  for (int64_t world : {1, 2, 3, 5, 8}) {
    Shape shape;
    shape.prefer = world % 2 ? "mfma" : "generic";
    const char *dtypes[] = {"f8E4M3FN", "bf16", "f16"};
    shape.dtype = dtypes[random() % 3];
    shape.blockSize = 32;
    shape.pagesPerBlock = 2;
    shape.queryLen = world == 2 || world == 5 ? 0 : between(1, 4);
    shape.maxQueryLen = 40;
    shape.heads = between(1, 4);
    shape.kvHeads = shape.heads * between(1, 2);
    shape.keep = between(1, 64);
    shape.initBlocks = between(0, 3);
    shape.localBlocks = between(0, 3);
    shape.tieLowest = random() % 2;
    shape.ascending = random() % 2;
    shape.tokenMajor = random() % 2;
    shape.maxSeqLen = 32 * 211;
    std::vector<int32_t> lengths, rows;
    for (int request = 0; request < 4; ++request) {
      lengths.push_back(static_cast<int32_t>(
          request == 0   ? between(32 * 3, 32 * 6) // ranks without a block
          : request == 1 ? between(-2, 33)
                         : between(0, shape.maxSeqLen)));
      rows.push_back(static_cast<int32_t>(between(0, 40)));
    }
    if (!shape.ragged())
      rows.clear();
    expectWhole(shape, world, {lengths, rows}, world,
                [&](tool::Call &call) { plantPlateaus(call, random); });
  }
}

TEST(ShardedStep, CandidatesOfSpecialScores) {
  // The select kernel of a rank alone, on scores that no keys give.
  for (const char *prefer : {"mfma", "generic"}) {
    Shape shape;
    shape.prefer = prefer;
    shape.blockSize = 32;
    shape.maxSeqLen = 32 * 1000;
    shape.heads = 2;
    shape.rank = 1;
    shape.world = 3;
    shape.keep = 20;
    shape.stores = shape.remaps = false;
    shape.exchanges = true;
    SCOPED_TRACE(shape.text());
    std::shared_ptr<const Kernels> kernels = compile(shape);
    ASSERT_TRUE(kernels);
    auto call = tool::randomCall(kernels->indexer, {32 * 1000, 700, 31, 33}, 1);
    ASSERT_TRUE(call) << call.message();
    const tool::Indexer &indexer = kernels->indexer;
    const reference::Rows rows = call->rows();
    auto scores = call->workspace[indexer.scores].as<float, 3>();
    std::mt19937 random(3);
    for (int64_t head = 0; head < 2; ++head)
      for (int64_t row = 0; row < rows.rows(); ++row)
        for (int64_t local = 0; local < rows.localBlocks(row); ++local)
          scores(head, row, local) =
              kSpecialScores[random() % std::size(kSpecialScores)];
    Status status = selectOnSim(*call, *kernels);
    ASSERT_TRUE(status) << status.message();

    const std::array<int64_t, 3> extents{2, rows.rows(), 20};
    std::vector<int32_t> kept(2 * rows.rows() * 20), ids(kept.size());
    std::vector<float> best(kept.size());
    const tool::Call &after = *call;
    const auto seen = after.workspace[indexer.scores].as<float, 3>();
    ASSERT_EQ(reference::topk(rows, seen, indexer.topk, {kept.data(), extents}),
              std::nullopt);
    ASSERT_EQ(reference::storeCandidates(rows, seen, {kept.data(), extents},
                                         {ids.data(), extents},
                                         {best.data(), extents}),
              std::nullopt);
    EXPECT_TRUE(
        sameBits(after.arguments[indexer.candidateIds].as<int32_t, 3>(),
                 reference::View<const int32_t, 3>(ids.data(), extents)));
    EXPECT_TRUE(
        sameBits(after.arguments[indexer.candidateScores].as<float, 3>(),
                 reference::View<const float, 3>(best.data(), extents)));
  }
}
