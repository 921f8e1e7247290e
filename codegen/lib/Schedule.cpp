// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// winnow-schedule: from an entry whose operations have a lowering to kernels
// made of stages, and their launches. Every size of the plan is decided here,
// from the bounds and the static facts, never from live lengths.
#include "Schedule.h"
#include "winnow/Codegen/Facts.h"
#include "winnow/Codegen/FactsAttribute.h"
#include "winnow/Codegen/Lowerings.h"
#include "winnow/Codegen/Passes.h"
#include "winnow/IR/Winnow.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace winnow {
#define GEN_PASS_DEF_SCHEDULE
#include "winnow/Codegen/Passes.h.inc"
} // namespace winnow

using namespace mlir;
using namespace winnow;

namespace {

/// Sets `slot` to `op`; an error if there was one already.
template <typename Op> LogicalResult claim(Op &slot, Op op) {
  if (slot)
    return (op.emitOpError("is the second of its kind; an entry takes one")
                .attachNote(slot.getLoc())
            << "the first is here"),
           failure();
  slot = op;
  return success();
}

FailureOr<Description> matchDescription(func::FuncOp entry, StringRef arch) {
  Description description;
  description.entry = entry;
  description.arch = arch.str();
  bool hasSteps = false;
  for (Operation &op : entry.getBody().front().without_terminator()) {
    auto lowering = op.getAttrOfType<StringAttr>(kLoweringAttr);
    if (!lowering)
      return op.emitOpError("has no 'winnow.lowering'; run "
                            "winnow-select-lowering first");
    if (!findLowering(lowering.getValue()))
      return op.emitOpError("has the lowering ")
             << lowering << ", which this scheduler does not know; known: "
             << loweringNames();
    if (isStepOp(&op)) { // of no indexer: a kernel of its own
      hasSteps = true;
      continue;
    }
    LogicalResult claimed =
        llvm::TypeSwitch<Operation *, LogicalResult>(&op)
            .Case([&](UniformRowsOp o) { return claim(description.rows, o); })
            .Case([&](RaggedRowsOp o) {
              return claim(description.raggedRows, o);
            })
            .Case([&](BlockScoreOp o) { return claim(description.score, o); })
            .Case([&](TopKOp o) { return claim(description.topk, o); })
            .Case(
                [&](StoreSelectionOp o) { return claim(description.store, o); })
            .Case([&](RemapPagesOp o) { return claim(description.remap, o); })
            .Case([&](StoreCandidatesOp o) {
              return claim(description.candidates, o);
            })
            .Case([&](MergeCandidatesOp o) {
              return claim(description.merge, o);
            })
            .Default([](Operation *other) {
              return other->emitOpError(
                  "is no operation that can be scheduled");
            });
    if (failed(claimed))
      return failure();
  }
  bool hasIndexer = description.rowsOp() || description.score ||
                    description.topk || description.merge ||
                    description.store || description.remap ||
                    description.candidates;
  bool selects = description.merge ? !description.score && !description.topk
                                   : description.score && description.topk;
  if (!(hasSteps && !hasIndexer) &&
      (!description.rowsOp() || !selects ||
       (!description.store && !description.remap && !description.candidates)))
    return entry.emitOpError(
        "has no complete indexer; needed: uniform_rows or ragged_rows, "
        "block_score and topk or else merge_candidates, and store_selection, "
        "remap_pages or, of a topk, store_candidates");
  for (Operation *op :
       {description.store.getOperation(), description.remap.getOperation(),
        description.candidates.getOperation()})
    if (op && Description::loweringOf(op) != description.selectLowering())
      return (op->emitOpError("has the lowering '")
              << Description::loweringOf(op)
              << "', but shares a kernel with an operation that has '"
              << description.selectLowering() << "'")
                 .attachNote(description.selectOp()->getLoc())
             << "that operation";
  if (MergeCandidatesOp merge = description.merge)
    if (description.selectLowering() != "generic" &&
        merge.getIds().getType().isDynamicDim(0))
      return merge.emitOpError("has the lowering '")
             << description.selectLowering()
             << "', which needs a static axis 0 of ids (ranks), found "
             << merge.getIds().getType();
  std::optional<EntryBounds> bounds = getEntryBounds(entry);
  if (!bounds)
    return entry.emitOpError("needs '") << kBoundsAttr << "'";
  description.maxSeqLen = bounds->maxSeqLen;
  if (description.isRagged())
    description.maxQueryLen = bounds->maxQueryLen.value_or(1);
  description.facts = collectFacts(entry, arch).front().facts;
  return description;
}

/// Builds the kernels and launches of one entry.
class PlanBuilder : public KernelBuilder {
public:
  using KernelBuilder::KernelBuilder;

  void build() {
    OpBuilder::InsertionGuard guard(builder);
    Block &body = description.entry.getBody().front();
    Operation *terminator = body.getTerminator();
    builder.setInsertionPoint(terminator);
    Location loc = description.selectOp()->getLoc();

    Value requests = RequestsOp::create(builder, loc, builder.getIndexType(),
                                        description.lens());
    SmallVector<Value> sizes{requests};
    if (description.isRagged()) {
      auto [memory, axis] = description.counted();
      sizes.push_back(ExtentOp::create(builder, loc, builder.getIndexType(),
                                       memory,
                                       builder.getI64IntegerAttr(axis)));
    }

    // What is selected from.
    SmallVector<Value> selectArguments;
    if (MergeCandidatesOp merge = description.merge)
      selectArguments.append({merge.getIds(), merge.getScores()});
    else
      selectArguments.push_back(buildScores(sizes));
    appendRows(selectArguments);
    if (description.store)
      selectArguments.push_back(description.store.getIndices());
    if (description.remap)
      llvm::append_values(
          selectArguments, description.remap.getAttentionTable(),
          description.remap.getPages(), description.remap.getContextLens());
    if (description.candidates)
      llvm::append_values(selectArguments, description.candidates.getIds(),
                          description.candidates.getScores());
    KernelOp selectKernel =
        description.selectLowering() == "generic"
            ? buildGenericSelectKernel(*this, selectArguments, rowCount())
            : buildSelectKernel(selectArguments);
    const EntrySchedule &schedule = description.schedule;
    attachSchedule(selectKernel, schedule.selectProblem, schedule.select,
                   schedule.request);
    auto launch = LaunchOp::create(builder, loc, selectKernel.getSymName(),
                                   sizes, selectArguments);
    if (schedule.launches == 1)
      launch->setAttr(kJoinAttr, builder.getUnitAttr());

    description.entry->setAttr(
        kFactsAttr, factsToAttribute(builder.getContext(), description.facts));
    for (Operation *op :
         {description.candidates.getOperation(),
          description.remap.getOperation(), description.store.getOperation(),
          description.merge.getOperation(), description.topk.getOperation(),
          description.score.getOperation(), description.rowsOp()})
      if (op)
        op->erase();
  }

private:
  /// The launch of the score kernel; the workspace that it fills.
  Value buildScores(ValueRange sizes) {
    Location loc = description.score.getLoc();
    Value score =
        WorkspaceOp::create(builder, loc, scoreType(), sizes,
                            map({constant(description.heads()), rowCount(),
                                 constant(description.scoreStride())}));
    SmallVector<Value> arguments{description.score.getQuery(),
                                 description.score.getKeys(),
                                 description.score.getIndexTable()};
    appendRows(arguments);
    arguments.push_back(score);
    KernelOp kernel = description.scoreLowering() == "generic"
                          ? buildGenericScoreKernel(*this, arguments)
                      : description.isRagged()
                          ? buildRaggedScoreKernel(arguments)
                          : buildScoreKernel(arguments);
    const EntrySchedule &schedule = description.schedule;
    attachSchedule(kernel, schedule.scoreProblem, schedule.score,
                   schedule.request);
    LaunchOp::create(builder, loc, kernel.getSymName(), sizes, arguments);
    return score;
  }

  /// What tells a kernel of the rows.
  void appendRows(SmallVector<Value> &arguments) {
    arguments.push_back(description.lens());
    if (description.isRagged())
      arguments.push_back(description.raggedRows.getCuSeqlens());
  }

  using ShapeConstants = SmallVector<std::pair<StringRef, Attribute>>;

  /// What uniform and ragged scoring state alike.
  ShapeConstants scoreShape() {
    BlockScoreOp op = description.score;
    auto queryType = cast<MemRefType>(op.getQuery().getType());
    return {
        {"kHeads", number(description.heads())},
        {"kHeadDim", number(queryType.getDimSize(2))},
        {"kBlockSize", number(description.blockSize())},
        {"kMaxBlocks", number(description.maxBlocks())},
        {"kScoreStride", number(description.scoreStride())},
        {"kInitBlocks", number(op.getInitBlocks())},
        {"kLocalBlocks", number(op.getLocalBlocks())},
        {"kShardRank", number(op.getRank())},
        {"kShardWorld", number(op.getWorld())},
        {"kWaves", number(description.schedule.score.waves)},
        {"kSliceTiles", number(sliceTiles(description.schedule.scoreProblem,
                                          description.schedule.score))},
        {"kNonTemporal", flag(description.schedule.score.nonTemporal != 0)}};
  }

  /// The slices of a block.
  int64_t sliceCount() {
    const EntrySchedule &schedule = description.schedule;
    return blockTiles(schedule.scoreProblem) /
           sliceTiles(schedule.scoreProblem, schedule.score);
  }

  KernelOp buildScoreKernel(ValueRange memory) {
    OpBuilder::InsertionGuard guard(builder);
    BlockScoreOp op = description.score;
    Location loc = op.getLoc();
    const KernelSchedule &schedule = description.schedule.score;
    ShapeConstants shape = scoreShape();
    shape.append({{"kQueryLen", number(description.queryLen())},
                  {"kChunks", number(schedule.chunks)}});
    const KernelProblem &problem = description.schedule.scoreProblem;
    const int64_t sliced = sliceTiles(problem, schedule);
    shape.append(
        {{"kSplit", number(wavesOfBlock(problem, schedule))},
         {"kTilesAhead", number(std::min(schedule.prefetch, sliced))}});
    if (problem.copyBytes != 0)
      shape.push_back({"kStages", number(schedule.prefetch / sliced)});
    else
      shape.push_back({"kPages", number(schedule.pagesInFlight)});
    KernelOp kernel =
        startKernel(description.scoreLowering(), "_score", "Score", shape,
                    {constant(schedule.chunks), builder.getAffineSymbolExpr(0),
                     constant(1)},
                    schedule.waves, loc, memory);
    Block *body = kernel.getBody();
    Value query = body->getArgument(0), keys = body->getArgument(1),
          table = body->getArgument(2), lens = body->getArgument(3),
          scores = body->getArgument(4);

    Value task = ScoreTaskOp::create(builder, loc, lens);
    Value fragment = LoadQueryOp::create(builder, loc, query, task);
    auto walk = WalkPagesOp::create(builder, loc, task, table);
    Block &walkBody = walk.getBodyRegion().emplaceBlock();
    Value page = walkBody.addArgument(builder.getType<PageType>(), loc);
    builder.setInsertionPointToStart(&walkBody);
    auto best = builder.getType<BestType>();
    auto mapped = IfMappedOp::create(builder, loc,
                                     builder.getType<PageScoreType>(), page);
    StoreScoreOp::create(builder, loc, mapped.getScore(), task, page, scores);

    builder.setInsertionPointToStart(&mapped.getBodyRegion().emplaceBlock());
    auto slicesLoop =
        WalkSlicesOp::create(builder, loc, best, page, sliceCount());
    Value score = ReduceOp::create(builder, loc, slicesLoop.getBest());
    Value forced = ForceOp::create(builder, loc, score, task, page);
    StageYieldOp::create(builder, loc, forced);

    Block &sliceBody = slicesLoop.getBodyRegion().emplaceBlock();
    Value slice = sliceBody.addArgument(builder.getType<SliceType>(), loc);
    Value running = sliceBody.addArgument(best, loc);
    builder.setInsertionPointToStart(&sliceBody);
    Value tiles = LoadKeyTilesOp::create(builder, loc, keys, slice);
    Value products =
        MultiplyAccumulateOp::create(builder, loc, tiles, fragment);
    Value masked = MaskOp::create(builder, loc, products, task, slice);
    Value folded = FoldOp::create(builder, loc, masked, running);
    StageYieldOp::create(builder, loc, folded);
    return kernel;
  }

  KernelOp buildRaggedScoreKernel(ValueRange memory) {
    OpBuilder::InsertionGuard guard(builder);
    BlockScoreOp op = description.score;
    Location loc = op.getLoc();
    const KernelSchedule &schedule = description.schedule.score;
    // Rows that a workgroup takes at once.
    int64_t tileRows = schedule.waves * schedule.queryTiles * kTileQueries /
                       description.heads();
    // Every request may leave one tile partly filled, so there are as many
    // tiles as fit the rows and one more a request.
    AffineExpr tiles =
        rowCount().floorDiv(tileRows) + builder.getAffineSymbolExpr(0);
    int64_t chunks =
        llvm::divideCeil(description.shardBlocks(), schedule.chunkBlocks);
    ShapeConstants shape = scoreShape();
    shape.append({{"kQueryTiles", number(schedule.queryTiles)},
                  {"kChunkBlocks", number(schedule.chunkBlocks)}});
    KernelOp kernel = startKernel(
        description.scoreLowering(), "_score", "Score", shape,
        {tiles, constant(chunks), constant(1)}, schedule.waves, loc, memory);
    Block *body = kernel.getBody();
    Value query = body->getArgument(0), keys = body->getArgument(1),
          table = body->getArgument(2), lens = body->getArgument(3),
          offsets = body->getArgument(4), scores = body->getArgument(5);

    Value task = RaggedTaskOp::create(builder, loc, lens, offsets, query);
    Value queries = LoadQueryTilesOp::create(builder, loc, query, task);
    auto walk = WalkSharedOp::create(builder, loc, task, table, keys);
    Block &walkBody = walk.getBodyRegion().emplaceBlock();
    Value page = walkBody.addArgument(builder.getType<PageType>(), loc);
    builder.setInsertionPointToStart(&walkBody);
    auto best = builder.getType<BestType>();
    auto slices = ShareSlicesOp::create(builder, loc, best, page, sliceCount());
    auto mapped = IfMappedOp::create(builder, loc,
                                     builder.getType<PageScoreType>(), page);
    StoreScoreOp::create(builder, loc, mapped.getScore(), task, page, scores);

    builder.setInsertionPointToStart(&mapped.getBodyRegion().emplaceBlock());
    Value score = ReduceTilesOp::create(builder, loc, slices.getBest());
    Value forced = ForceOp::create(builder, loc, score, task, page);
    StageYieldOp::create(builder, loc, forced);

    Block &sliceBody = slices.getBodyRegion().emplaceBlock();
    Value slice = sliceBody.addArgument(builder.getType<SliceType>(), loc);
    Value running = sliceBody.addArgument(best, loc);
    builder.setInsertionPointToStart(&sliceBody);
    Value next =
        ScoreSliceOp::create(builder, loc, slice, queries, task, running);
    StageYieldOp::create(builder, loc, next);
    return kernel;
  }

  KernelOp buildSelectKernel(ValueRange memory) {
    OpBuilder::InsertionGuard guard(builder);
    StoreSelectionOp store = description.store;
    Location loc = description.selectOp()->getLoc();
    const KernelSchedule &schedule = description.schedule.select;
    SmallVector<std::pair<StringRef, Attribute>> shape = selectShape();
    shape.append({{"kWaves", number(schedule.waves)},
                  {"kSlots", number(schedule.slots)}});
    if (description.merge)
      shape.push_back({"kRanks", number(description.ranks())});
    KernelOp kernel = startKernel(
        description.selectLowering(), selectSuffix(), selectName(), shape,
        {rowCount(), constant(description.heads()), constant(1)},
        schedule.waves, loc, memory);
    auto arguments = kernel.getBody()->getArguments().begin();
    Value scores = *arguments++;
    Value rankScores = description.merge ? *arguments++ : Value();
    Value lens = *arguments++;

    Value row;
    if (description.isRagged())
      row = SelectRaggedRowOp::create(builder, loc, lens, *arguments++);
    else
      row = SelectRowOp::create(builder, loc, lens);
    Value keys;
    if (description.merge)
      keys = LoadCandidatesOp::create(builder, loc, scores, rankScores, row);
    else
      keys = LoadScoreRowOp::create(builder, loc, scores, row);
    Value candidates = NarrowOp::create(builder, loc, keys, row);
    Value ranking = RankOp::create(builder, loc, candidates, row);
    if (store) {
      bool headMajor = store.getLayout() == SelectionLayout::HeadMajor;
      StoreRankingOp::create(builder, store.getLoc(), ranking, row,
                             *arguments++, headMajor ? 0 : 1,
                             headMajor ? 1 : 0);
    }
    if (RemapPagesOp remap = description.remap) {
      Value table = *arguments++, pages = *arguments++, ctx = *arguments++;
      EmitPagesOp::create(builder, remap.getLoc(), ranking, row, table, pages,
                          ctx);
    }
    if (StoreCandidatesOp store = description.candidates) {
      Value ids = *arguments++, best = *arguments++;
      StoreCandidatesStageOp::create(builder, store.getLoc(), ranking, row,
                                     scores, ids, best);
    }
    return kernel;
  }
};

struct SchedulePass : winnow::impl::ScheduleBase<SchedulePass> {
  using ScheduleBase::ScheduleBase;

  void runOnOperation() override {
    // Everything is checked before anything is rewritten.
    FailureOr<std::vector<Description>> descriptions = resolveDescriptions(
        getOperation(), arch, schedule, scheduleFrom, ignoreOwnSchedule);
    if (failed(descriptions))
      return signalPassFailure();
    for (Description &description : *descriptions) {
      if (description.rowsOp())
        PlanBuilder(description, arch).build();
      else // steps alone
        description.entry->setAttr(
            kFactsAttr, factsToAttribute(&getContext(), description.facts));
      scheduleSteps(description.entry, arch);
    }
  }
};

} // namespace

FailureOr<std::vector<Description>>
winnow::resolveDescriptions(ModuleOp module, StringRef arch, StringRef schedule,
                            StringRef scheduleFrom, bool ignoreOwnSchedule) {
  FailureOr<std::vector<EntryOption>> options =
      parseEntryOptions(module, schedule, scheduleFrom);
  if (failed(options))
    return failure();
  std::vector<Description> descriptions;
  for (auto entry : module.getOps<func::FuncOp>()) {
    if (!isEntry(entry))
      continue;
    FailureOr<Description> description = matchDescription(entry, arch);
    if (failed(description))
      return failure();
    ScheduleRequest request;
    for (const EntryOption &option : *options)
      if (option.entry.empty() || option.entry == entry.getSymName())
        request.add(option.request);
    if (description->rowsOp() &&
        failed(resolveSchedule(*description, request, ignoreOwnSchedule)))
      return failure();
    descriptions.push_back(std::move(*description));
  }
  if (failed(checkOptionsApply(module, *options, descriptions)))
    return failure();
  return descriptions;
}
