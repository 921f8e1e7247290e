// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of the generic lowering: sizes that hold on every target, which
// has 64 KiB of local memory for a workgroup and waves of 32 or 64 lanes.
#include "Schedule.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>

using namespace mlir;
using namespace winnow;

/// Work-items of a workgroup: enough to hide the latency of a key's loads, and
/// one for each bin of the radix select.
static constexpr int64_t kThreads = 256;

namespace {

struct GenericScoreSchedule {
  int64_t queryGroup;  // queries of a workgroup
  int64_t queryGroups; // groups of a request
  int64_t chunks;      // workgroups that share the blocks of a request
};

} // namespace

/// As many queries as share a key's load with profit, and at most 32 KiB of
/// them as floats; groups are made equal. A workgroup takes the longest
/// sequence in 16 runs or more.
static GenericScoreSchedule scheduleScore(Description &description,
                                          int64_t headDim) {
  constexpr int64_t mostQueries = 8, mostFloats = 8192, runsPerChunk = 16,
                    mostChunks = 64;
  int64_t queries = description.queryLen() * description.heads();
  int64_t group = std::clamp<int64_t>(mostFloats / headDim, 1, mostQueries);
  int64_t groups = llvm::divideCeil(queries, group);
  int64_t run = std::max<int64_t>(kThreads / description.blockSize(), 1);
  int64_t chunks =
      llvm::divideCeil(description.maxBlocks(), run * runsPerChunk);
  return {static_cast<int64_t>(llvm::divideCeil(queries, groups)), groups,
          std::min(chunks, mostChunks)};
}

/// The number under which the device headers know a format.
static int64_t formatNumber(Type element) {
  return llvm::TypeSwitch<Type, int64_t>(element)
      .Case([](Float8E4M3FNType) { return 0; })
      .Case([](Float8E5M2Type) { return 1; })
      .Case([](BFloat16Type) { return 2; })
      .Default([](Type) { return 3; }); // f16, the last that the dialect has
}

KernelOp winnow::buildGenericScoreKernel(KernelBuilder &plan,
                                         ValueRange memory) {
  OpBuilder &builder = plan.builder;
  OpBuilder::InsertionGuard guard(builder);
  Description &description = plan.description;
  BlockScoreOp op = description.score;
  Location loc = op.getLoc();
  auto queryType = cast<MemRefType>(op.getQuery().getType());
  GenericScoreSchedule schedule =
      scheduleScore(description, queryType.getDimSize(2));
  KernelOp kernel = plan.startKernel(
      "generic", "_score", "Score",
      {{"kHeads", plan.number(description.heads())},
       {"kQueryLen", plan.number(description.queryLen())},
       {"kHeadDim", plan.number(queryType.getDimSize(2))},
       {"kFormat", plan.number(formatNumber(queryType.getElementType()))},
       {"kBlockSize", plan.number(description.blockSize())},
       {"kMaxBlocks", plan.number(description.maxBlocks())},
       {"kScoreStride", plan.number(description.scoreStride())},
       {"kReduction", plan.number(static_cast<int64_t>(op.getReduce()))},
       {"kInitBlocks", plan.number(op.getInitBlocks())},
       {"kLocalBlocks", plan.number(op.getLocalBlocks())},
       {"kChunks", plan.number(schedule.chunks)},
       {"kQueryGroup", plan.number(schedule.queryGroup)},
       {"kQueryGroups", plan.number(schedule.queryGroups)},
       {"kThreads", plan.number(kThreads)}},
      {plan.constant(schedule.chunks * schedule.queryGroups),
       builder.getAffineSymbolExpr(0), plan.constant(1)},
      kThreads / kWaveLanes, loc, memory);
  Block *body = kernel.getBody();
  Value query = body->getArgument(0), keys = body->getArgument(1),
        table = body->getArgument(2), lens = body->getArgument(3),
        scores = body->getArgument(4);

  Value task = GenericScoreTaskOp::create(
      builder, loc, builder.getType<GenericTaskType>(), lens);
  Value queries = GenericLoadQueriesOp::create(
      builder, loc, builder.getType<GenericQueriesType>(), query, task);
  GenericScoreBlocksOp::create(builder, loc, queries, keys, table, task,
                               scores);
  return kernel;
}

KernelOp winnow::buildGenericSelectKernel(KernelBuilder &plan,
                                          ValueRange memory,
                                          AffineExpr rowCount) {
  OpBuilder &builder = plan.builder;
  OpBuilder::InsertionGuard guard(builder);
  Description &description = plan.description;
  TopKOp topk = description.topk;
  StoreSelectionOp store = description.store;
  RemapPagesOp remap = description.remap;
  Location loc = topk.getLoc();
  SmallVector<std::pair<StringRef, Attribute>> shape{
      {"kHeads", plan.number(description.heads())},
      {"kQueryLen", plan.number(description.queryLen())},
      {"kBlockSize", plan.number(description.blockSize())},
      {"kMaxBlocks", plan.number(description.maxBlocks())},
      {"kScoreStride", plan.number(description.scoreStride())},
      {"kTopK", plan.number(topk.getK())},
      {"kTieHighest", plan.flag(topk.getTies() == TieRule::HighestBlock)},
      {"kOrderAscending",
       plan.flag(topk.getOrder() == SelectionOrder::Ascending)},
      {"kThreads", plan.number(kThreads)}};
  if (store)
    shape.push_back({"kIdPad", plan.number(store.getPad())});
  if (remap)
    shape.append({{"kPagesPerBlock", plan.number(remap.getPagesPerBlock())},
                  {"kKvHeads", plan.number(remap.getKvHeads())},
                  {"kPagePad", plan.number(remap.getPad())}});
  KernelOp kernel = plan.startKernel(
      "generic", "_select", "Select", shape,
      {rowCount, plan.constant(description.heads()), plan.constant(1)},
      kThreads / kWaveLanes, loc, memory);
  auto arguments = kernel.getBody()->getArguments().begin();
  Value scores = *arguments++, lens = *arguments++;

  Value row = GenericSelectRowOp::create(
      builder, loc, builder.getType<GenericRowType>(), lens);
  Value cut = GenericFindCutOp::create(
      builder, loc, builder.getType<GenericCutType>(), scores, row);
  Value ranking = GenericSortKeptOp::create(
      builder, loc, builder.getType<GenericRankingType>(), scores, cut, row);
  if (store) {
    bool headMajor = store.getLayout() == SelectionLayout::HeadMajor;
    GenericStoreSelectionOp::create(builder, store.getLoc(), ranking, row,
                                    *arguments++, headMajor ? 0 : 1,
                                    headMajor ? 1 : 0);
  }
  if (remap) {
    Value table = *arguments++, pages = *arguments++, ctx = *arguments++;
    GenericEmitPagesOp::create(builder, remap.getLoc(), ranking, row, table,
                               pages, ctx);
  }
  return kernel;
}
