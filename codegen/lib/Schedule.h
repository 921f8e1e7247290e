// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the schedulers of the lowerings share: the description that they turn
// into kernels, and the making of a kernel.
#ifndef WINNOW_CODEGEN_LIB_SCHEDULE_H
#define WINNOW_CODEGEN_LIB_SCHEDULE_H

#include "winnow/Codegen/Facts.h"
#include "winnow/Codegen/KernelParameters.h"
#include "winnow/Codegen/ScheduleModel.h"
#include "winnow/IR/ScheduleAttribute.h"
#include "winnow/IR/Winnow.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MathExtras.h"

namespace winnow {

using namespace mlir; // NOLINT: the schedulers' own header

/// What was chosen for the kernels of one entry, and what of it somebody fixed.
struct EntrySchedule {
  ScheduleRequest request;
  KernelProblem scoreProblem, selectProblem; // the first only of a topk
  KernelSchedule score, select;
  int64_t launches = kMaxLaunches; // for all of the entry but its steps
};

/// The operations of one entry, in the two forms that the lowerings take: rows,
/// scores and selection, or rows and a merge of selections; and what is made of
/// the selection.
struct Description {
  func::FuncOp entry;
  UniformRowsOp rows; // one of the two, the other is null
  RaggedRowsOp raggedRows;
  BlockScoreOp score;
  TopKOp topk;
  MergeCandidatesOp merge;      // in place of the two, which are null then
  StoreSelectionOp store;       // null if the entry stores no selection
  RemapPagesOp remap;           // null if the entry emits no page table
  StoreCandidatesOp candidates; // null if the entry is none of several ranks'
  int64_t maxSeqLen = 0;
  int64_t maxQueryLen = 0; // of ragged rows: most of them in a request
  contract::Facts facts;   // what contracts say of it once it is a plan
  std::string arch;        // what the kernels are for
  EntrySchedule schedule;  // once it is resolved

  StringRef scoreLowering() { return loweringOf(score); }
  StringRef selectLowering() { return loweringOf(selectOp()); }
  /// What makes the selection.
  Operation *selectOp() {
    return merge ? merge.getOperation() : topk.getOperation();
  }
  SelectionType selection() {
    return cast<SelectionType>(selectOp()->getResult(0).getType());
  }
  bool isRagged() { return static_cast<bool>(raggedRows); }
  Operation *rowsOp() {
    return isRagged() ? raggedRows.getOperation() : rows.getOperation();
  }
  Value lens() { return isRagged() ? raggedRows.getLens() : rows.getLens(); }
  /// Of uniform rows.
  int64_t queryLen() { return rows.getQueryLen(); }
  /// What counts the rows, and along which axis.
  std::pair<Value, int64_t> counted() {
    return merge ? std::pair<Value, int64_t>(merge.getIds(), 2)
                 : std::pair<Value, int64_t>(score.getQuery(), 0);
  }
  int64_t heads() { return selection().getHeads(); }
  int64_t blockSize() { return selection().getBlockSize(); }
  /// Of a merge: the ranks, where they are fixed, and candidates of a rank.
  int64_t ranks() { return merge.getIds().getType().getDimSize(0); }
  int64_t rankKeep() { return merge.getIds().getType().getDimSize(3); }
  bool isTieHighest() {
    return (merge ? merge.getTies() : topk.getTies()) == TieRule::HighestBlock;
  }
  bool isAscending() {
    return (merge ? merge.getOrder() : topk.getOrder()) ==
           SelectionOrder::Ascending;
  }
  int64_t maxBlocks() { return llvm::divideCeil(maxSeqLen, blockSize()); }
  /// The most of those that one shard has.
  int64_t shardBlocks() {
    return llvm::divideCeil(maxBlocks(), score.getWorld());
  }
  /// The row width of a score buffer: 64 * pow2_ceil(ceil(blocks / 64)).
  int64_t scoreStride() {
    return 64 * llvm::PowerOf2Ceil(llvm::divideCeil(shardBlocks(), 64));
  }

  static StringRef loweringOf(Operation *op) {
    return op->getAttrOfType<StringAttr>(kLoweringAttr).getValue();
  }
};

struct TunableEntry;

/// What there is to tune of a description whose schedule is resolved.
TunableEntry tunableEntry(Description &description);

/// The descriptions of a module whose lowerings are selected, their schedules
/// resolved. Entries of steps alone have none. Nothing is rewritten.
FailureOr<std::vector<Description>>
resolveDescriptions(ModuleOp module, StringRef arch, StringRef schedule,
                    StringRef scheduleFrom, bool ignoreOwnSchedule);

/// Decides the schedule of every kernel of a description: what its
/// `winnow.schedule` and, going before that, `option` fix, and for the rest
/// what the model chooses. An error is one at the entry.
LogicalResult resolveSchedule(Description &description,
                              const ScheduleRequest &option, bool ignoresOwn);

/// What an option fixes of one entry, or of all of those that have it.
struct EntryOption {
  std::string entry; // empty: all
  ScheduleRequest request;
};

/// What tools call the option. Errors of it are at a location of that name.
inline constexpr StringLiteral kScheduleOption = "--schedule";

/// "score.waves=8,chunks=4", or for each of several entries
/// "m3_rank:waves=8;m3_merge:waves=2". An error is one of the option.
FailureOr<std::vector<EntryOption>>
parseEntryOptions(ModuleOp module, StringRef text, StringRef from);

/// An error of the option if it fixes what no kernel has that it is
/// meant for.
LogicalResult checkOptionsApply(ModuleOp module, ArrayRef<EntryOption> options,
                                MutableArrayRef<Description> descriptions);

/// How many waves have to score so that one of their workgroups holds a row to
/// select from, where somebody asks for one launch but not for the waves.
std::optional<int64_t> leastWavesOfOneLaunch(Description &description);

/// Chooses between one launch and two, once the scoring has its schedule and
/// before the selection has. An error if what is fixed cannot be.
LogicalResult decideLaunches(Description &description);

/// Writes on a kernel what it got, and where from if not from the model.
void attachSchedule(KernelOp kernel, const KernelProblem &problem,
                    const KernelSchedule &schedule,
                    const ScheduleRequest &request);

/// Turns the operations of a step (rebase_table, rebase_slots, insert_keys),
/// which have a lowering, into kernels and launches where they stand: before
/// those of the indexer, which read what these write.
void scheduleSteps(func::FuncOp entry, StringRef arch);

/// `wanted`, or with a number behind it where a function or a kernel of the
/// module has that name already.
std::string freeKernelName(func::FuncOp entry, StringRef wanted);

/// Makes kernels of one entry.
struct KernelBuilder {
  KernelBuilder(Description description, StringRef arch)
      : description(description), builder(description.entry.getContext()),
        arch(arch) {}

  AffineExpr constant(int64_t value) {
    return builder.getAffineConstantExpr(value);
  }
  /// A map of the number of requests, `s0`, and of ragged rows, `s1`.
  AffineMap map(ArrayRef<AffineExpr> results) {
    return AffineMap::get(/*dimCount=*/0,
                          /*symbolCount=*/description.isRagged() ? 2 : 1,
                          results, builder.getContext());
  }
  /// The number of rows as a formula of those.
  AffineExpr rowCount() {
    return description.isRagged()
               ? builder.getAffineSymbolExpr(1)
               : builder.getAffineSymbolExpr(0) * description.queryLen();
  }
  MemRefType scoreType() {
    return MemRefType::get(
        {description.heads(), ShapedType::kDynamic, description.scoreStride()},
        builder.getF32Type());
  }

  /// The constants of a select or merge kernel that both lowerings have.
  SmallVector<std::pair<StringRef, Attribute>> selectShape() {
    SmallVector<std::pair<StringRef, Attribute>> shape{
        {"kHeads", number(description.heads())},
        {"kBlockSize", number(description.blockSize())},
        {"kMaxBlocks", number(description.maxBlocks())},
        {"kTopK", number(description.selection().getK())},
        {"kTieHighest", flag(description.isTieHighest())},
        {"kOrderAscending", flag(description.isAscending())}};
    if (description.merge)
      shape.push_back({"kRankKeep", number(description.rankKeep())});
    else
      shape.append({{"kScoreStride", number(description.scoreStride())},
                    {"kShardRank", number(description.score.getRank())},
                    {"kShardWorld", number(description.score.getWorld())}});
    if (!description.isRagged())
      shape.push_back({"kQueryLen", number(description.queryLen())});
    if (description.store)
      shape.push_back({"kIdPad", number(description.store.getPad())});
    if (RemapPagesOp remap = description.remap)
      shape.append({{"kPagesPerBlock", number(remap.getPagesPerBlock())},
                    {"kKvHeads", number(remap.getKvHeads())},
                    {"kPagePad", number(remap.getPad())}});
    return shape;
  }
  StringRef selectSuffix() { return description.merge ? "_merge" : "_select"; }
  StringRef selectName() { return description.merge ? "Merge" : "Select"; }

  /// Starts a kernel before the entry, with a block argument for each value,
  /// and leaves the builder inside it.
  KernelOp startKernel(StringRef lowering, StringRef suffix,
                       StringRef shapeName,
                       ArrayRef<std::pair<StringRef, Attribute>> shape,
                       ArrayRef<AffineExpr> grid, int64_t waves, Location loc,
                       ValueRange arguments) {
    SmallVector<NamedAttribute> constants;
    for (auto [name, value] : shape)
      constants.push_back(builder.getNamedAttr(name, value));
    builder.setInsertionPoint(description.entry);
    std::string name = freeKernelName(
        description.entry, (description.entry.getSymName() + suffix).str());
    auto kernel = KernelOp::create(builder, loc, name, shapeName,
                                   builder.getDictionaryAttr(constants),
                                   map(grid), waves);
    kernel->setAttr(kArchAttr, builder.getStringAttr(arch));
    kernel->setAttr(kLoweringAttr, builder.getStringAttr(lowering));
    Block &block = kernel.getBodyRegion().emplaceBlock();
    for (Value argument : arguments)
      block.addArgument(argument.getType(), argument.getLoc());
    builder.setInsertionPointToStart(&block);
    return kernel;
  }

  Attribute number(int64_t value) { return builder.getI64IntegerAttr(value); }
  Attribute flag(bool value) { return builder.getBoolAttr(value); }

  Description description;
  OpBuilder builder;
  StringRef arch;
};

/// The kernels of the generic lowering; `memory` becomes their arguments.
/// Score: query, keys, index table, lengths, scores. Select: scores, or ids and
/// scores of a merge, lengths, then what the description stores to, in the
/// order of the stages' operands. Where rows are ragged, their offsets follow
/// the lengths.
KernelOp buildGenericScoreKernel(KernelBuilder &plan, ValueRange memory);
KernelOp buildGenericSelectKernel(KernelBuilder &plan, ValueRange memory,
                                  AffineExpr rowCount);

} // namespace winnow

#endif // WINNOW_CODEGEN_LIB_SCHEDULE_H
