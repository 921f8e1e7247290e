// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// winnow-fuse: the score and the select kernel of an entry as one kernel, whose
// last workgroup of a request selects for it (docs/one-launch.md). Joining two
// kernels is joining their programs of stages.
#include "winnow/Codegen/Lowerings.h"
#include "winnow/Codegen/Passes.h"
#include "winnow/IR/Winnow.h"

#include "Schedule.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

namespace winnow {
#define GEN_PASS_DEF_FUSE
#include "winnow/Codegen/Passes.h.inc"
} // namespace winnow

using namespace mlir;
using namespace winnow;

namespace {

/// Two launches that are to be one.
struct Pair {
  LaunchOp scoreLaunch, selectLaunch;
  KernelOp score, select;
  Operation *task = nullptr; // of the first kernel
  Operation *row = nullptr;  // of the second
  int64_t arrivals = 0;      // workgroups of a request
};

InFlightDiagnostic refuse(const Pair &pair) {
  LaunchOp first = pair.scoreLaunch, second = pair.selectLaunch;
  InFlightDiagnostic diag = second.emitOpError()
                            << "of " << second.getKernelAttr()
                            << " cannot be joined to that of "
                            << first.getKernelAttr() << ": ";
  diag.attachNote(first.getLoc()) << "the launch before";
  return diag;
}

/// The launch before, and what the kernels have to be like.
FailureOr<Pair> match(LaunchOp select) {
  Pair pair;
  pair.selectLaunch = select;
  for (Operation *op = select->getPrevNode(); op && !pair.scoreLaunch;
       op = op->getPrevNode())
    pair.scoreLaunch = dyn_cast<LaunchOp>(op);
  if (!pair.scoreLaunch)
    return select.emitOpError("has '") << kJoinAttr << "', but no launch "
                                       << "before it to be joined to";
  auto kernelOf = [](LaunchOp launch) {
    return SymbolTable::lookupNearestSymbolFrom<KernelOp>(
        launch, launch.getKernelAttr());
  };
  pair.score = kernelOf(pair.scoreLaunch);
  pair.select = kernelOf(pair.selectLaunch);

  for (Operation &stage : *pair.score.getBody())
    if (isa<ScoreTaskOp, GenericScoreTaskOp>(stage))
      pair.task = &stage;
  for (Operation &stage : *pair.select.getBody())
    if (isa<SelectRowOp, GenericSelectRowOp>(stage))
      pair.row = &stage;
  if (!pair.task)
    return refuse(pair) << "the first scores no uniform rows", failure();
  if (!pair.row)
    return refuse(pair) << "the second selects for no uniform rows", failure();

  // One request in y, so that its workgroups are those along x.
  ArrayRef<AffineExpr> grid = pair.score.getGrid().getResults();
  auto arrivals = dyn_cast<AffineConstantExpr>(grid[0]);
  if (!arrivals || !isa<AffineSymbolExpr>(grid[1]))
    return refuse(pair) << "the grid of the first is "
                        << pair.score.getGridAttr()
                        << ", needed a constant and the requests in x and y",
           failure();
  pair.arrivals = arrivals.getValue();
  if (pair.score.getWaves() != pair.select.getWaves())
    return refuse(pair) << "the first has " << pair.score.getWaves()
                        << " waves, the second " << pair.select.getWaves(),
           failure();
  for (StringRef name : {kLoweringAttr, kArchAttr})
    if (pair.score->getAttr(name) != pair.select->getAttr(name))
      return refuse(pair) << "'" << name << "' of the first is "
                          << pair.score->getAttr(name) << ", of the second "
                          << pair.select->getAttr(name),
             failure();
  for (NamedAttribute constant : pair.select.getShape())
    if (Attribute other = pair.score.getShape().get(constant.getName()))
      if (other != constant.getValue())
        return refuse(pair) << "constant '" << constant.getName().getValue()
                            << "' is " << other << " in the first and "
                            << constant.getValue() << " in the second",
               failure();
  return pair;
}

/// An argument of the joined kernel: memory, and what it holds. A block table
/// may be passed as two.
using Argument = std::pair<Value, StringRef>;

SmallVector<Argument> argumentsOf(LaunchOp launch, KernelOp kernel) {
  SmallVector<Argument> arguments;
  for (auto [index, memory] : llvm::enumerate(launch.getArguments()))
    arguments.push_back({memory, kernel.getArgumentRole(index)});
  return arguments;
}

/// What the joined launch passes: each once, the counters before the first
/// workspace, so that they lie at one place whatever the batch.
SmallVector<Argument> joinArguments(const Pair &pair, Value counters) {
  llvm::SetVector<Argument> arguments;
  const Argument counting(counters, "arrivals");
  for (Argument argument : argumentsOf(pair.scoreLaunch, pair.score)) {
    if (argument.first.getDefiningOp<WorkspaceOp>())
      arguments.insert(counting);
    arguments.insert(argument);
  }
  arguments.insert(counting);
  arguments.insert_range(argumentsOf(pair.selectLaunch, pair.select));
  return arguments.takeVector();
}

/// Maps a kernel's arguments to those of the joined one.
void mapArguments(LaunchOp launch, KernelOp from, KernelOp to,
                  ArrayRef<Argument> joined, IRMapping &map) {
  for (auto [own, argument] :
       llvm::zip(argumentsOf(launch, from), from.getBody()->getArguments()))
    map.map(argument, to.getBody()->getArgument(llvm::find(joined, own) -
                                                joined.begin()));
}

/// What two kernels got: where both have a parameter, they have the same.
DictionaryAttr joinDictionaries(KernelOp score, KernelOp select,
                                StringRef name) {
  NamedAttrList both;
  for (KernelOp kernel : {score, select})
    if (auto own = kernel->getAttrOfType<DictionaryAttr>(name))
      for (NamedAttribute value : own)
        both.set(value.getName(), value.getValue());
  return both.empty() ? DictionaryAttr()
                      : both.getDictionary(score.getContext());
}

DictionaryAttr joinShapes(const Pair &pair, OpBuilder &builder) {
  KernelOp score = pair.score, select = pair.select;
  NamedAttrList constants(score.getShape());
  for (NamedAttribute constant : select.getShape())
    constants.set(constant.getName(), constant.getValue());
  constants.set("kArrivals", builder.getI64IntegerAttr(pair.arrivals));
  return constants.getDictionary(builder.getContext());
}

void join(const Pair &pair) {
  LaunchOp scoreLaunch = pair.scoreLaunch, selectLaunch = pair.selectLaunch;
  KernelOp score = pair.score, select = pair.select;
  auto entry = selectLaunch->getParentOfType<func::FuncOp>();
  OpBuilder builder(selectLaunch);
  MLIRContext *context = builder.getContext();
  Location loc = selectLaunch.getLoc();

  Value counters = WorkspaceOp::create(
      builder, loc,
      MemRefType::get({ShapedType::kDynamic, 2}, builder.getI32Type()),
      scoreLaunch.getSizes(),
      AffineMap::get(
          0, 1,
          {builder.getAffineSymbolExpr(0), builder.getAffineConstantExpr(2)},
          context));
  SmallVector<Argument> arguments = joinArguments(pair, counters);

  builder.setInsertionPoint(entry);
  auto kernel = KernelOp::create(
      builder, score.getLoc(),
      freeKernelName(entry, (entry.getSymName() + "_score_select").str()),
      kJoinedShape, joinShapes(pair, builder), score.getGrid(),
      score.getWaves());
  for (StringRef name : {kLoweringAttr, kArchAttr})
    if (Attribute value = score->getAttr(name))
      kernel->setAttr(name, value);
  for (StringRef name : {kScheduleAttr, kScheduleFromAttr})
    if (DictionaryAttr both = joinDictionaries(score, select, name))
      kernel->setAttr(name, both);
  Block &body = kernel.getBodyRegion().emplaceBlock();
  for (const auto &[memory, role] : arguments)
    body.addArgument(memory.getType(), memory.getLoc());

  IRMapping map;
  builder.setInsertionPointToStart(&body);
  mapArguments(scoreLaunch, score, kernel, arguments, map);
  for (Operation &stage : *score.getBody())
    builder.clone(stage, map);
  Value task = map.lookup(pair.task->getResult(0));
  const auto *place = llvm::find_if(arguments, [&](const Argument &argument) {
    return argument.first == counters;
  });
  CountArrivalsOp::create(builder, loc,
                          body.getArgument(place - arguments.begin()), task);

  mapArguments(selectLaunch, select, kernel, arguments, map);
  auto walk = WalkRowsOp::create(builder, loc, task,
                                 map.lookup(pair.row->getOperand(0)));
  Block &rows = walk.getBodyRegion().emplaceBlock();
  map.map(pair.row->getResult(0),
          rows.addArgument(pair.row->getResult(0).getType(), loc));
  builder.setInsertionPointToStart(&rows);
  for (Operation &stage : *select.getBody())
    if (&stage != pair.row)
      builder.clone(stage, map);

  builder.setInsertionPoint(selectLaunch);
  LaunchOp::create(builder, loc, kernel.getSymName(), scoreLaunch.getSizes(),
                   llvm::map_to_vector(arguments, [](const Argument &argument) {
                     return argument.first;
                   }));
  selectLaunch.erase();
  scoreLaunch.erase();
  // An entry that launches one of them alone would keep it.
  for (KernelOp old : {score, select})
    if (SymbolTable::symbolKnownUseEmpty(old, old->getParentOp()))
      old.erase();
}

struct FusePass : winnow::impl::FuseBase<FusePass> {
  using FuseBase::FuseBase;

  void runOnOperation() override {
    // Everything is checked before anything is rewritten.
    SmallVector<Pair> pairs;
    for (auto entry : getOperation().getOps<func::FuncOp>())
      for (auto launch : entry.getOps<LaunchOp>()) {
        if (!launch->hasAttr(kJoinAttr))
          continue;
        FailureOr<Pair> pair = match(launch);
        if (failed(pair))
          return signalPassFailure();
        pairs.push_back(*pair);
      }
    for (const Pair &pair : pairs)
      join(pair);
  }
};

} // namespace
