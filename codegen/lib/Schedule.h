// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the schedulers of the lowerings share: the description that they turn
// into kernels, and the making of a kernel.
#ifndef WINNOW_CODEGEN_LIB_SCHEDULE_H
#define WINNOW_CODEGEN_LIB_SCHEDULE_H

#include "winnow/Codegen/Facts.h"
#include "winnow/Codegen/KernelParameters.h"
#include "winnow/IR/Winnow.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

namespace winnow {

using namespace mlir; // NOLINT: the schedulers' own header

/// The operations of one entry, in the one form that the lowerings take: rows,
/// scores, selection, and what is made of the selection.
struct Description {
  func::FuncOp entry;
  UniformRowsOp rows; // one of the two, the other is null
  RaggedRowsOp raggedRows;
  BlockScoreOp score;
  TopKOp topk;
  StoreSelectionOp store; // null if the entry stores no selection
  RemapPagesOp remap;     // null if the entry emits no page table
  int64_t maxSeqLen = 0;
  int64_t maxQueryLen = 0; // of ragged rows: most of them in a request
  contract::Facts facts;   // what contracts say of it once it is a plan

  StringRef scoreLowering() { return loweringOf(score); }
  StringRef selectLowering() { return loweringOf(topk); }
  bool isRagged() { return static_cast<bool>(raggedRows); }
  Operation *rowsOp() {
    return isRagged() ? raggedRows.getOperation() : rows.getOperation();
  }
  Value lens() { return isRagged() ? raggedRows.getLens() : rows.getLens(); }
  /// Of uniform rows.
  int64_t queryLen() { return rows.getQueryLen(); }
  int64_t heads() { return topk.getScores().getType().getHeads(); }
  int64_t blockSize() { return topk.getScores().getType().getBlockSize(); }
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
/// Score: query, keys, index table, lengths, scores. Select: scores, lengths,
/// then what the description stores to, in the order of EmitPagesOp's operands.
/// Where rows are ragged, their offsets follow the lengths.
KernelOp buildGenericScoreKernel(KernelBuilder &plan, ValueRange memory);
KernelOp buildGenericSelectKernel(KernelBuilder &plan, ValueRange memory,
                                  AffineExpr rowCount);

} // namespace winnow

#endif // WINNOW_CODEGEN_LIB_SCHEDULE_H
