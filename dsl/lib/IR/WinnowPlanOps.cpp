// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parsing, printing and verification of kernel plans: kernels, their launches
// and the stages that have regions.
#include "winnow/IR/Winnow.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace winnow;

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

std::optional<int64_t> KernelOp::getShapeConstant(StringRef name) {
  if (auto value = getShape().getAs<IntegerAttr>(name))
    return value.getInt();
  return std::nullopt;
}

static StringRef roleOfUse(OpOperand &use) {
  Value value = use.get();
  return TypeSwitch<Operation *, StringRef>(use.getOwner())
      .Case<ScoreTaskOp, SelectRowOp, GenericScoreTaskOp, GenericSelectRowOp>(
          [](auto) { return "seq_lens"; })
      .Case<SelectRaggedRowOp, GenericSelectRaggedRowOp>([&](auto op) {
        return value == op.getSeqLens() ? "seq_lens" : "cu_seqlens";
      })
      .Case<RaggedTaskOp, GenericRaggedTaskOp>([&](auto op) {
        if (value == op.getQuery())
          return "query";
        return value == op.getSeqLens() ? "seq_lens" : "cu_seqlens";
      })
      .Case<LoadQueryOp, LoadQueryTilesOp, GenericLoadQueriesOp>(
          [](auto) { return "query"; })
      .Case([](CountArrivalsOp) { return "arrivals"; })
      .Case([](WalkRowsOp) { return "seq_lens"; })
      .Case([](LoadKeyTilesOp) { return "keys"; })
      .Case([](WalkPagesOp) { return "index_table"; })
      .Case([&](WalkSharedOp op) {
        return value == op.getKeys() ? "keys" : "index_table";
      })
      .Case<StoreScoreOp, LoadScoreRowOp, GenericFindCutOp, GenericSortKeptOp>(
          [](auto) { return "score"; })
      .Case([&](GenericScoreBlocksOp op) {
        if (value == op.getKeys())
          return "keys";
        return value == op.getTable() ? "index_table" : "score";
      })
      .Case<StoreRankingOp, GenericStoreSelectionOp>(
          [](auto) { return "selection"; })
      .Case<EmitPagesOp, GenericEmitPagesOp>([&](auto op) {
        if (value == op.getTable())
          return "attn_table";
        return value == op.getPages() ? "pages" : "ctx";
      })
      .Case<StoreCandidatesStageOp, GenericStoreCandidatesOp>([&](auto op) {
        if (value == op.getScores())
          return "score";
        return value == op.getIds() ? "candidate_ids" : "candidate_scores";
      })
      .Case<LoadCandidatesOp, GenericRankCandidatesOp>([&](auto op) {
        return value == op.getIds() ? "rank_ids" : "rank_scores";
      })
      .Case([&](RebaseTableStageOp op) {
        return value == op.getInput() ? "table" : "rebased_table";
      })
      .Case([&](RebaseSlotsStageOp op) {
        return value == op.getInput() ? "slots" : "rebased_slots";
      })
      .Case([&](InsertKeysStageOp op) {
        if (value == op.getKeys())
          return "new_keys";
        return value == op.getSlots() ? "new_slots" : "cache";
      })
      .Default([](Operation *) { return ""; });
}

StringRef KernelOp::getArgumentRole(unsigned index) {
  BlockArgument argument = getBodyRegion().getArgument(index);
  return argument.use_empty() ? "" : roleOfUse(*argument.use_begin());
}

void KernelOp::getAsmBlockArgumentNames(Region &region,
                                        OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments())
    setName(argument, getArgumentRole(argument.getArgNumber()));
}

void WalkPagesOp::getAsmBlockArgumentNames(Region &region,
                                           OpAsmSetValueNameFn setName) {
  setName(region.getArgument(0), "page");
}

void WalkSharedOp::getAsmBlockArgumentNames(Region &region,
                                            OpAsmSetValueNameFn setName) {
  setName(region.getArgument(0), "page");
}

void WalkRowsOp::getAsmBlockArgumentNames(Region &region,
                                          OpAsmSetValueNameFn setName) {
  setName(region.getArgument(0), "row");
}

void ShareSlicesOp::getAsmBlockArgumentNames(Region &region,
                                             OpAsmSetValueNameFn setName) {
  setName(region.getArgument(0), "slice");
  setName(region.getArgument(1), "running");
}

void WalkSlicesOp::getAsmBlockArgumentNames(Region &region,
                                            OpAsmSetValueNameFn setName) {
  setName(region.getArgument(0), "slice");
  setName(region.getArgument(1), "running");
}

/// Parses `{kName = 1, kFlag = true}`: constants of a shape, integers without
/// their type.
static ParseResult parseShape(OpAsmParser &parser, DictionaryAttr &shape) {
  NamedAttrList constants;
  auto parseConstant = [&]() -> ParseResult {
    std::string name;
    SMLoc location = parser.getCurrentLocation();
    if (parser.parseKeywordOrString(&name) || parser.parseEqual())
      return failure();
    if (constants.get(name))
      return parser.emitError(location)
             << "shape constant '" << name << "' is given twice";
    bool flag;
    if (succeeded(parser.parseOptionalKeyword("true")))
      flag = true;
    else if (succeeded(parser.parseOptionalKeyword("false")))
      flag = false;
    else {
      int64_t value;
      if (parser.parseInteger(value))
        return failure();
      constants.append(name, parser.getBuilder().getI64IntegerAttr(value));
      return success();
    }
    constants.append(name, parser.getBuilder().getBoolAttr(flag));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Braces,
                                     parseConstant))
    return failure();
  shape = constants.getDictionary(parser.getContext());
  return success();
}

static void printShape(OpAsmPrinter &printer, DictionaryAttr shape) {
  printer << '{';
  llvm::interleaveComma(shape, printer, [&](NamedAttribute constant) {
    printer << constant.getName().getValue() << " = ";
    if (auto flag = dyn_cast<BoolAttr>(constant.getValue()))
      printer << (flag.getValue() ? "true" : "false");
    else if (auto value = dyn_cast<IntegerAttr>(constant.getValue()))
      printer << value.getInt();
    else
      printer.printAttribute(constant.getValue());
  });
  printer << '}';
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr symbol;
  SmallVector<OpAsmParser::Argument> arguments;
  std::string shapeName;
  DictionaryAttr shape;
  AffineMapAttr grid;
  int64_t waves;
  if (parser.parseSymbolName(symbol) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseKeyword("shape") || parser.parseKeywordOrString(&shapeName) ||
      parseShape(parser, shape) || parser.parseKeyword("grid") ||
      parser.parseAttribute(grid) || parser.parseKeyword("waves") ||
      parser.parseInteger(waves) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();

  Builder &builder = parser.getBuilder();
  Properties &properties = result.getOrAddProperties<Properties>();
  properties.sym_name = symbol;
  properties.shape_name = builder.getStringAttr(shapeName);
  properties.shape = shape;
  properties.grid = grid;
  properties.waves = builder.getI64IntegerAttr(waves);

  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  if (body->empty()) {
    Block &block = body->emplaceBlock();
    for (const OpAsmParser::Argument &argument : arguments)
      block.addArgument(argument.type,
                        parser.getEncodedSourceLoc(argument.ssaName.location));
  }
  return success();
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  llvm::interleaveComma(
      getBodyRegion().getArguments(), printer,
      [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ')';
  auto startLine = [&](StringRef keyword) {
    printer.printNewline();
    printer << "    " << keyword << ' ';
  };
  startLine("shape");
  printer.printKeywordOrString(getShapeName());
  printer << ' ';
  printShape(printer, getShape());
  startLine("grid");
  printer.printAttribute(getGridAttr());
  printer << " waves " << getWaves();
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getDiscardableAttrDictionary().getValue());
  printer << ' ';
  printer.printRegion(getBodyRegion(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/false);
}

LogicalResult KernelOp::verify() {
  if (!isSourceName(getSymName()))
    return emitOpError("is named '")
           << getSymName() << "', needed a C identifier";
  AffineMap grid = getGrid();
  if (grid.getNumResults() != 3 || grid.getNumDims() != 0 ||
      grid.getNumSymbols() < 1 || grid.getNumSymbols() > 2)
    return emitOpError("grid has ")
           << grid.getNumResults() << " results, " << grid.getNumDims()
           << " dimensions and " << grid.getNumSymbols()
           << " symbols, needed 3, 0 and 1 or 2 (workgroups along x, y and z "
              "for "
              "s0 requests and s1 rows)";
  // 1024 work-items are the most that the hardware takes in a workgroup.
  if (getWaves() < 1 || getWaves() > 16)
    return emitOpError("has ") << getWaves() << " waves, needed 1 to 16";
  for (NamedAttribute constant : getShape())
    if (!isa<IntegerAttr>(constant.getValue()))
      return emitOpError("shape constant '")
             << constant.getName().getValue() << "' is " << constant.getValue()
             << ", needed an integer or a boolean";
  for (Type type : getBodyRegion().getArgumentTypes())
    if (!isa<MemRefType>(type))
      return emitOpError("argument is of type ") << type << ", needed a memref";
  for (Operation &stage : *getBody())
    if (!stage.getName().getStringRef().starts_with("winnow.stage."))
      return (emitOpError("holds the operation '")
              << stage.getName() << "', needed stages only")
                 .attachNote(stage.getLoc())
             << "this operation";
  return success();
}

//===----------------------------------------------------------------------===//
// WorkspaceOp, LaunchOp
//===----------------------------------------------------------------------===//

LogicalResult WorkspaceOp::verify() {
  AffineMap extents = getExtents();
  auto type = cast<MemRefType>(getMemory().getType());
  if (extents.getNumSymbols() != getSizes().size() ||
      extents.getNumDims() != 0 || getSizes().empty() || getSizes().size() > 2)
    return emitOpError("extents have ")
           << extents.getNumDims() << " dimensions and "
           << extents.getNumSymbols() << " symbols for " << getSizes().size()
           << " sizes, needed none and 1 (the requests) or 2 (the rows)";
  if (extents.getNumResults() != type.getRank())
    return emitOpError("gives ")
           << extents.getNumResults() << " extents for a memref of rank "
           << type.getRank();
  for (auto [axis, extent] : llvm::enumerate(extents.getResults())) {
    auto constant = dyn_cast<AffineConstantExpr>(extent);
    int64_t found = constant ? constant.getValue() : ShapedType::kDynamic;
    if (found == type.getDimSize(axis))
      continue;
    auto text = [](int64_t value) {
      return ShapedType::isDynamic(value) ? std::string("dynamic")
                                          : std::to_string(value);
    };
    return emitOpError("extent of axis ")
           << axis << " is " << text(found) << ", but the memref's is "
           << text(type.getDimSize(axis));
  }
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel =
      symbols.lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError("launches ")
           << getKernelAttr() << ", which is no winnow.kernel";
  if (getSizes().size() != kernel.getGrid().getNumSymbols())
    return (emitOpError("gives ")
            << getSizes().size() << " sizes, but the grid of "
            << getKernelAttr() << " takes " << kernel.getGrid().getNumSymbols())
               .attachNote(kernel.getLoc())
           << "the kernel";
  TypeRange wanted = kernel.getBodyRegion().getArgumentTypes();
  TypeRange found = getArguments().getTypes();
  if (wanted.size() != found.size())
    return (emitOpError("gives ")
            << found.size() << " arguments, but " << getKernelAttr()
            << " takes " << wanted.size())
               .attachNote(kernel.getLoc())
           << "the kernel";
  for (auto [index, pair] : llvm::enumerate(llvm::zip(wanted, found)))
    if (std::get<0>(pair) != std::get<1>(pair))
      return (emitOpError("argument ")
              << index << " is of type " << std::get<1>(pair) << ", but "
              << getKernelAttr() << " takes " << std::get<0>(pair))
                 .attachNote(kernel.getLoc())
             << "the kernel";
  return success();
}

//===----------------------------------------------------------------------===//
// Stages with regions
//===----------------------------------------------------------------------===//

ParseResult WalkPagesOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument page;
  OpAsmParser::UnresolvedOperand task, table;
  Type tableType;
  MLIRContext *context = parser.getContext();
  page.type = PageType::get(context);
  if (parser.parseArgument(page) || parser.parseKeyword("of") ||
      parser.parseOperand(task) || parser.parseKeyword("via") ||
      parser.parseOperand(table) ||
      parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(tableType) ||
      parser.resolveOperand(task, ScoreTaskType::get(context),
                            result.operands) ||
      parser.resolveOperand(table, tableType, result.operands))
    return failure();
  return parser.parseRegion(*result.addRegion(), page);
}

void WalkPagesOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printRegionArgument(getBodyRegion().getArgument(0), {},
                              /*omitType=*/true);
  printer << " of " << getTask() << " via " << getTable();
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : " << getTable().getType() << ' ';
  printer.printRegion(getBodyRegion(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/false);
}

/// One error for a loop whose body's arguments are not of the types `wanted`.
static LogicalResult verifyBodyArguments(Operation *op, Region &body,
                                         TypeRange wanted) {
  if (!body.empty() && TypeRange(body.getArgumentTypes()) == wanted)
    return success();
  InFlightDiagnostic error = op->emitOpError("body takes (");
  llvm::interleaveComma(body.getArgumentTypes(), error);
  error << "), needed (";
  llvm::interleaveComma(wanted, error);
  return error << ")";
}

/// One error for a region that does not end by yielding its result.
static LogicalResult verifyYield(Operation *op, Block &body) {
  auto yield =
      body.empty() ? StageYieldOp() : dyn_cast<StageYieldOp>(body.back());
  Type wanted = op->getResult(0).getType();
  if (!yield)
    return op->emitOpError("body does not end with winnow.stage.yield");
  if (yield.getValue().getType() != wanted)
    return op->emitOpError("body yields ")
           << yield.getValue().getType() << ", needed " << wanted;
  return success();
}

LogicalResult WalkPagesOp::verifyRegions() {
  Type page = PageType::get(getContext());
  return verifyBodyArguments(*this, getBodyRegion(), page);
}

/// `%slice of %page carry %running slices N {...}`, of both loops over slices.
template <typename Op>
static ParseResult parseSlices(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument slice, running;
  OpAsmParser::UnresolvedOperand page;
  int64_t slices;
  MLIRContext *context = parser.getContext();
  slice.type = SliceType::get(context);
  running.type = BestType::get(context);
  if (parser.parseArgument(slice) || parser.parseKeyword("of") ||
      parser.parseOperand(page) || parser.parseKeyword("carry") ||
      parser.parseArgument(running) || parser.parseKeyword("slices") ||
      parser.parseInteger(slices) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.resolveOperand(page, PageType::get(context), result.operands))
    return failure();
  result.getOrAddProperties<typename Op::Properties>().slices =
      parser.getBuilder().getI64IntegerAttr(slices);
  result.addTypes(running.type);
  return parser.parseRegion(*result.addRegion(), {slice, running});
}

template <typename Op> static void printSlices(Op op, OpAsmPrinter &printer) {
  printer << ' ';
  printer.printRegionArgument(op.getBodyRegion().getArgument(0), {},
                              /*omitType=*/true);
  printer << " of " << op.getPage() << " carry ";
  printer.printRegionArgument(op.getBodyRegion().getArgument(1), {},
                              /*omitType=*/true);
  printer << " slices " << op.getSlices();
  printer.printOptionalAttrDictWithKeyword(
      op->getDiscardableAttrDictionary().getValue());
  printer << ' ';
  printer.printRegion(op.getBodyRegion(), /*printEntryBlockArgs=*/false);
}

template <typename Op> static LogicalResult verifySlices(Op op) {
  if (int64_t slices = op.getSlices(); slices < 1)
    return op.emitOpError("has ") << slices << " slices, needed at least 1";
  MLIRContext *context = op.getContext();
  Type wanted[] = {SliceType::get(context), BestType::get(context)};
  if (failed(verifyBodyArguments(op, op.getBodyRegion(), wanted)))
    return failure();
  return verifyYield(op, *op.getBody());
}

ParseResult WalkSlicesOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseSlices<WalkSlicesOp>(parser, result);
}
void WalkSlicesOp::print(OpAsmPrinter &printer) { printSlices(*this, printer); }
LogicalResult WalkSlicesOp::verifyRegions() { return verifySlices(*this); }

ParseResult ShareSlicesOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseSlices<ShareSlicesOp>(parser, result);
}
void ShareSlicesOp::print(OpAsmPrinter &printer) {
  printSlices(*this, printer);
}
LogicalResult ShareSlicesOp::verifyRegions() { return verifySlices(*this); }

ParseResult WalkSharedOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument page;
  OpAsmParser::UnresolvedOperand task, table, keys;
  Type tableType, keysType;
  MLIRContext *context = parser.getContext();
  page.type = PageType::get(context);
  if (parser.parseArgument(page) || parser.parseKeyword("of") ||
      parser.parseOperand(task) || parser.parseKeyword("via") ||
      parser.parseOperand(table) || parser.parseKeyword("from") ||
      parser.parseOperand(keys) ||
      parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(tableType) || parser.parseComma() ||
      parser.parseType(keysType) ||
      parser.resolveOperand(task, ScoreTaskType::get(context),
                            result.operands) ||
      parser.resolveOperand(table, tableType, result.operands) ||
      parser.resolveOperand(keys, keysType, result.operands))
    return failure();
  return parser.parseRegion(*result.addRegion(), page);
}

void WalkSharedOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printRegionArgument(getBodyRegion().getArgument(0), {},
                              /*omitType=*/true);
  printer << " of " << getTask() << " via " << getTable() << " from "
          << getKeys();
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : " << getTable().getType() << ", " << getKeys().getType()
          << ' ';
  printer.printRegion(getBodyRegion(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/false);
}

LogicalResult WalkSharedOp::verifyRegions() {
  Type page = PageType::get(getContext());
  return verifyBodyArguments(*this, getBodyRegion(), page);
}

LogicalResult CountArrivalsOp::verify() {
  auto type = cast<MemRefType>(getArrivals().getType());
  if (type.getRank() == 2 && type.getDimSize(1) == 2 &&
      type.getElementType().isInteger(32))
    return success();
  return emitOpError("counts in ")
         << type << ", needed two words a request: memref<?x2xi32>";
}

ParseResult WalkRowsOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument row;
  OpAsmParser::UnresolvedOperand task, lens;
  Type taskType, lensType;
  if (parser.parseArgument(row) || parser.parseKeyword("of") ||
      parser.parseOperand(task) || parser.parseKeyword("via") ||
      parser.parseOperand(lens) ||
      parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(row.type) || parser.parseComma() ||
      parser.parseType(taskType) || parser.parseComma() ||
      parser.parseType(lensType) ||
      parser.resolveOperand(task, taskType, result.operands) ||
      parser.resolveOperand(lens, lensType, result.operands))
    return failure();
  return parser.parseRegion(*result.addRegion(), row);
}

void WalkRowsOp::print(OpAsmPrinter &printer) {
  BlockArgument row = getBodyRegion().getArgument(0);
  printer << ' ';
  printer.printRegionArgument(row, {}, /*omitType=*/true);
  printer << " of " << getTask() << " via " << getSeqLens();
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : " << row.getType() << ", " << getTask().getType() << ", "
          << getSeqLens().getType() << ' ';
  printer.printRegion(getBodyRegion(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/false);
}

LogicalResult WalkRowsOp::verifyRegions() {
  bool isGeneric = isa<GenericTaskType>(getTask().getType());
  Type row = isGeneric ? Type(GenericRowType::get(getContext()))
                       : Type(RowTaskType::get(getContext()));
  TypeRange found = getBodyRegion().getArgumentTypes();
  // Rows of one lowering may be selected by the other.
  if (found.size() == 1 && isa<GenericRowType, RowTaskType>(found.front()))
    return success();
  return verifyBodyArguments(*this, getBodyRegion(), row);
}

LogicalResult IfMappedOp::verifyRegions() {
  return verifyYield(*this, *getBody());
}

/// Head and row axis of a stored selection.
template <typename StoreOp>
static LogicalResult verifySelectionAxes(StoreOp op) {
  auto type = cast<MemRefType>(op.getIndices().getType());
  int64_t head = op.getHeadAxis(), row = op.getRowAxis();
  if (type.getRank() != 3 || head == row || head < 0 || head > 1 || row < 0 ||
      row > 1)
    return op.emitOpError("has head axis ")
           << head << " and row axis " << row << " of a memref of rank "
           << type.getRank() << ", needed 0 and 1, or 1 and 0, of rank 3";
  return success();
}

LogicalResult ExtentOp::verify() {
  auto type = cast<MemRefType>(getMemory().getType());
  int64_t axis = getAxis();
  if (axis < 0 || axis >= type.getRank())
    return emitOpError("asks for axis ")
           << axis << " of a memref of rank " << type.getRank();
  return success();
}

LogicalResult StoreRankingOp::verify() { return verifySelectionAxes(*this); }

LogicalResult GenericStoreSelectionOp::verify() {
  return verifySelectionAxes(*this);
}
