// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of the generic lowering: sizes that hold on every target, which
// has 64 KiB of local memory for a workgroup and waves of 32 or 64 lanes.
#include "Schedule.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace winnow;

/// Work-items of a workgroup: enough to hide the latency of a key's loads, and
/// one for each bin of the radix select.
static constexpr int64_t kThreads = 256;

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
  const KernelSchedule &schedule = description.schedule.score;
  SmallVector<std::pair<StringRef, Attribute>> shape{
      {"kHeads", plan.number(description.heads())},
      {"kHeadDim", plan.number(queryType.getDimSize(2))},
      {"kFormat", plan.number(formatNumber(queryType.getElementType()))},
      {"kBlockSize", plan.number(description.blockSize())},
      {"kMaxBlocks", plan.number(description.maxBlocks())},
      {"kScoreStride", plan.number(description.scoreStride())},
      {"kReduction", plan.number(static_cast<int64_t>(op.getReduce()))},
      {"kInitBlocks", plan.number(op.getInitBlocks())},
      {"kLocalBlocks", plan.number(op.getLocalBlocks())},
      {"kShardRank", plan.number(op.getRank())},
      {"kShardWorld", plan.number(op.getWorld())},
      {"kChunks", plan.number(schedule.chunks)},
      {"kQueryGroup", plan.number(schedule.queryGroup)},
      {"kThreads", plan.number(kThreads)}};
  AffineExpr requests = builder.getAffineSymbolExpr(0);
  SmallVector<AffineExpr> grid;
  if (description.isRagged()) {
    // Every request may leave one group partly filled, so there are as many
    // groups as fit the queries and one more a request.
    AffineExpr queryCount = plan.rowCount() * description.heads();
    grid = {queryCount.floorDiv(schedule.queryGroup) + requests,
            plan.constant(schedule.chunks), plan.constant(1)};
  } else {
    int64_t groups = llvm::divideCeil(
        description.queryLen() * description.heads(), schedule.queryGroup);
    shape.push_back({"kQueryLen", plan.number(description.queryLen())});
    shape.push_back({"kQueryGroups", plan.number(groups)});
    grid = {plan.constant(schedule.chunks * groups), requests,
            plan.constant(1)};
  }
  KernelOp kernel = plan.startKernel("generic", "_score", "Score", shape, grid,
                                     kThreads / kWaveLanes, loc, memory);
  auto arguments = kernel.getBody()->getArguments().begin();
  Value query = *arguments++, keys = *arguments++, table = *arguments++,
        lens = *arguments++;

  auto taskType = builder.getType<GenericTaskType>();
  Value task;
  if (description.isRagged())
    task = GenericRaggedTaskOp::create(builder, loc, taskType, lens,
                                       *arguments++, query);
  else
    task = GenericScoreTaskOp::create(builder, loc, taskType, lens);
  Value scores = *arguments++;
  Value loaded = GenericLoadQueriesOp::create(
      builder, loc, builder.getType<GenericQueriesType>(), query, task);
  GenericScoreBlocksOp::create(builder, loc, loaded, keys, table, task, scores);
  return kernel;
}

KernelOp winnow::buildGenericSelectKernel(KernelBuilder &plan,
                                          ValueRange memory,
                                          AffineExpr rowCount) {
  OpBuilder &builder = plan.builder;
  OpBuilder::InsertionGuard guard(builder);
  Description &description = plan.description;
  StoreSelectionOp store = description.store;
  Location loc = description.selectOp()->getLoc();
  SmallVector<std::pair<StringRef, Attribute>> shape = plan.selectShape();
  shape.push_back({"kThreads", plan.number(kThreads)});
  KernelOp kernel = plan.startKernel(
      "generic", plan.selectSuffix(), plan.selectName(), shape,
      {rowCount, plan.constant(description.heads()), plan.constant(1)},
      kThreads / kWaveLanes, loc, memory);
  auto arguments = kernel.getBody()->getArguments().begin();
  Value scores = *arguments++;
  Value rankScores = description.merge ? *arguments++ : Value();
  Value lens = *arguments++;

  auto rowType = builder.getType<GenericRowType>();
  Value row;
  if (description.isRagged())
    row = GenericSelectRaggedRowOp::create(builder, loc, rowType, lens,
                                           *arguments++);
  else
    row = GenericSelectRowOp::create(builder, loc, rowType, lens);
  auto cutType = builder.getType<GenericCutType>();
  auto rankingType = builder.getType<GenericRankingType>();
  Value ranking;
  if (description.merge) {
    Value candidates = GenericRankCandidatesOp::create(
        builder, loc, builder.getType<GenericCandidatesType>(), scores,
        rankScores, row);
    Value cut =
        GenericFindMergedCutOp::create(builder, loc, cutType, candidates);
    ranking =
        GenericSortMergedOp::create(builder, loc, rankingType, candidates, cut);
  } else {
    Value cut = GenericFindCutOp::create(builder, loc, cutType, scores, row);
    ranking =
        GenericSortKeptOp::create(builder, loc, rankingType, scores, cut, row);
  }
  if (store) {
    bool headMajor = store.getLayout() == SelectionLayout::HeadMajor;
    GenericStoreSelectionOp::create(builder, store.getLoc(), ranking, row,
                                    *arguments++, headMajor ? 0 : 1,
                                    headMajor ? 1 : 0);
  }
  if (RemapPagesOp remap = description.remap) {
    Value table = *arguments++, pages = *arguments++, ctx = *arguments++;
    GenericEmitPagesOp::create(builder, remap.getLoc(), ranking, row, table,
                               pages, ctx);
  }
  if (StoreCandidatesOp candidates = description.candidates) {
    Value ids = *arguments++, best = *arguments++;
    GenericStoreCandidatesOp::create(builder, candidates.getLoc(), ranking, row,
                                     scores, ids, best);
  }
  return kernel;
}
