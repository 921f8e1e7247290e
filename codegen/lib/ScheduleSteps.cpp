// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the operations of a step to one kernel each. They move little memory and
// need nothing of a target, so every lowering has these same kernels.
#include "Schedule.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace winnow;

namespace {

constexpr int64_t kWaves = 4;
constexpr int64_t kThreads = kWaves * kWaveLanes;
// Elements of a key that a lane converts (templates/winnow/insert.h).
constexpr int64_t kRun = 8;

/// One operation's kernel and launch.
class StepBuilder {
public:
  StepBuilder(func::FuncOp entry, StringRef arch)
      : entry(entry), builder(entry.getContext()), arch(arch) {}

  void build(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](RebaseTableOp rebase) {
          MemRefType type = rebase.getInput().getType();
          // Wide tables are cut; a few workgroups more cost nothing.
          int64_t columns =
              type.isDynamicDim(1) ? 8 * kThreads : type.getDimSize(1);
          int64_t chunks = std::clamp<int64_t>(
              llvm::divideCeil(columns, 4 * kThreads), 1, 8);
          build(op, "RebaseTable",
                {{"kChunks", chunks}, {"kSides", rebase.getSides()}},
                {symbol(), builder.getAffineConstantExpr(chunks)},
                [&](Location loc, ValueRange memory) {
                  RebaseTableStageOp::create(builder, loc, memory[0],
                                             memory[1]);
                });
        })
        .Case([&](RebaseSlotsOp rebase) {
          build(op, "RebaseSlots",
                {{"kBlockSize", rebase.getBlockSize()},
                 {"kSides", rebase.getSides()}},
                {symbol().ceilDiv(kThreads), builder.getAffineConstantExpr(1)},
                [&](Location loc, ValueRange memory) {
                  RebaseSlotsStageOp::create(builder, loc, memory[0],
                                             memory[1]);
                });
        })
        .Case([&](InsertKeysOp insert) {
          MemRefType cache = insert.getCache().getType();
          int64_t headDim = cache.getDimSize(2);
          build(op, "InsertKeys",
                {{"kBlockSize", cache.getDimSize(1)}, {"kHeadDim", headDim}},
                {(symbol() * (headDim / kRun)).ceilDiv(kThreads),
                 builder.getAffineConstantExpr(1)},
                [&](Location loc, ValueRange memory) {
                  InsertKeysStageOp::create(builder, loc, memory[0], memory[1],
                                            memory[2]);
                });
        });
  }

private:
  AffineExpr symbol() { return builder.getAffineSymbolExpr(0); }

  void build(Operation *op, StringRef shapeName,
             ArrayRef<std::pair<StringRef, int64_t>> constants,
             std::array<AffineExpr, 2> grid,
             llvm::function_ref<void(Location, ValueRange)> stage) {
    Location loc = op->getLoc();
    // Several of a kind are numbered from the second on.
    unsigned number = ++counts[shapeName];
    std::string suffix = number > 1 ? "_" + std::to_string(number) : "";
    std::string name =
        freeKernelName(entry, (entry.getSymName() + "_" +
                               op->getName().stripDialect() + suffix)
                                  .str());
    SmallVector<NamedAttribute> shape;
    for (auto [constant, value] : constants)
      shape.push_back(
          builder.getNamedAttr(constant, builder.getI64IntegerAttr(value)));
    shape.push_back(
        builder.getNamedAttr("kWaves", builder.getI64IntegerAttr(kWaves)));
    shape.push_back(
        builder.getNamedAttr("kThreads", builder.getI64IntegerAttr(kThreads)));

    builder.setInsertionPoint(entry);
    auto kernel = KernelOp::create(
        builder, loc, name, shapeName.str() + suffix,
        builder.getDictionaryAttr(shape),
        AffineMap::get(0, 1,
                       {grid[0], grid[1], builder.getAffineConstantExpr(1)},
                       builder.getContext()),
        kWaves);
    kernel->setAttr(kArchAttr, builder.getStringAttr(arch));
    kernel->setAttr(kLoweringAttr, op->getAttr(kLoweringAttr));
    Block &body = kernel.getBodyRegion().emplaceBlock();
    for (Value operand : op->getOperands())
      body.addArgument(operand.getType(), operand.getLoc());
    builder.setInsertionPointToStart(&body);
    stage(loc, body.getArguments());

    builder.setInsertionPoint(op);
    Value count =
        ExtentOp::create(builder, loc, builder.getIndexType(),
                         op->getOperand(0), builder.getI64IntegerAttr(0));
    LaunchOp::create(builder, loc, kernel.getSymName(), count,
                     op->getOperands());
    op->erase();
  }

  func::FuncOp entry;
  OpBuilder builder;
  StringRef arch;
  llvm::StringMap<unsigned> counts;
};

} // namespace

std::string winnow::freeKernelName(func::FuncOp entry, StringRef wanted) {
  Operation *module = SymbolTable::getNearestSymbolTable(entry);
  std::string name = wanted.str();
  for (int number = 2; SymbolTable::lookupSymbolIn(module, name); ++number)
    name = (wanted + "_" + Twine(number)).str();
  return name;
}

void winnow::scheduleSteps(func::FuncOp entry, StringRef arch) {
  StepBuilder builder(entry, arch);
  for (Operation &op :
       llvm::make_early_inc_range(entry.getBody().front().without_terminator()))
    if (isStepOp(&op))
      builder.build(&op);
}
