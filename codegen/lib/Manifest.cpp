// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tells the runtime about a scheduled entry: what a caller passes, how much
// workspace it lends, and how each launch is sized and packed.
#include "Manifest.h"

#include "winnow/Codegen/Facts.h"
#include "winnow/Codegen/FactsAttribute.h"
#include "winnow/Codegen/KernelParameters.h"
#include "winnow/Codegen/Lowerings.h"
#include "winnow/Contract/Contract.h"
#include "winnow/IR/MemRefs.h"
#include "winnow/IR/ScheduleAttribute.h"
#include "winnow/IR/Winnow.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace winnow;
using runtime::Expression;
using runtime::Extent;

/// The formula of a map's result; `s0` is what `symbol` names, `s1` the number
/// of rows.
static Expression toExpression(AffineExpr affine,
                               const std::string &symbol = "requests") {
  if (auto constant = dyn_cast<AffineConstantExpr>(affine))
    return Expression(constant.getValue());
  auto binary = dyn_cast<AffineBinaryOpExpr>(affine);
  if (!binary) // The verifiers allow two symbols and no dimension.
    return Expression(
        cast<AffineSymbolExpr>(affine).getPosition() == 0 ? symbol : "rows");
  Expression::Kind kind;
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    kind = Expression::Kind::Add;
    break;
  case AffineExprKind::Mul:
    kind = Expression::Kind::Mul;
    break;
  case AffineExprKind::FloorDiv:
    kind = Expression::Kind::FloorDiv;
    break;
  case AffineExprKind::CeilDiv:
    kind = Expression::Kind::CeilDiv;
    break;
  default:
    kind = Expression::Kind::Mod;
    break;
  }
  return Expression(kind, toExpression(binary.getLHS(), symbol),
                    toExpression(binary.getRHS(), symbol));
}

static std::optional<runtime::DType> dtypeOf(Type type) {
  std::string spelling;
  llvm::raw_string_ostream(spelling) << type;
  return runtime::parseDType(spelling);
}

static runtime::KernelArgument::Kind argumentKind(KernelParameter::Kind kind) {
  switch (kind) {
  case KernelParameter::Kind::Pointer:
    return runtime::KernelArgument::Kind::Tensor;
  case KernelParameter::Kind::Stride:
    return runtime::KernelArgument::Kind::Stride;
  case KernelParameter::Kind::Extent:
    return runtime::KernelArgument::Kind::Extent;
  }
  llvm_unreachable("all kinds are handled");
}

namespace {

class EntryDescriber {
public:
  EntryDescriber(func::FuncOp entry, uint32_t source)
      : entry(entry), source(source) {}

  FailureOr<runtime::Entry> describe() {
    result.facts = factsOf(entry);
    result.lowering = loweringOf(entry);
    describeHead();
    result.loweringContract = loweringContract(entry).toJson();

    names.resize(entry.getNumArguments());
    for (auto launch : entry.getOps<LaunchOp>())
      if (!isStep(launch) && failed(nameMemory(launch)))
        return failure();
    for (auto launch : entry.getOps<LaunchOp>())
      if (isStep(launch))
        addStep(launch);
    // The lowering's limits are those of indexers.
    if (llvm::all_of(entry.getOps<LaunchOp>(),
                     [&](LaunchOp launch) { return isStep(launch); }))
      result.loweringContract.clear();
    for (BlockArgument argument : entry.getArguments())
      if (failed(describeArgument(argument)))
        return failure();
    describeSymbols();
    for (auto launch : entry.getOps<LaunchOp>())
      describeLaunch(launch);
    for (KernelOp kernel : kernelsOf(entry))
      describeSchedule(kernel);
    return std::move(result);
  }

  /// The same of an entry that is not scheduled: no workspace, no launches.
  FailureOr<runtime::Entry> describeUnscheduled() {
    result.facts = collectFacts(entry, /*arch=*/"").front().facts;
    result.lowering = "reference";
    describeHead();
    names.resize(entry.getNumArguments());
    for (Operation &op : entry.getBody().front())
      nameOperands(&op);
    for (Operation &op : entry.getBody().front())
      if (isStepOp(&op))
        addStep(&op);
    for (BlockArgument argument : entry.getArguments())
      if (failed(describeArgument(argument)))
        return failure();
    describeSymbols();
    return std::move(result);
  }

private:
  /// Name, bounds and contract.
  void describeHead() {
    result.name = entry.getSymName().str();
    if (auto name = entry->getAttrOfType<StringAttr>(kContractAttr))
      if (const contract::Contract *limits =
              contract::find(name.getValue().str()))
        result.contract = limits->toJson();
    if (std::optional<EntryBounds> bounds = getEntryBounds(entry)) {
      result.maxSeqLen = bounds->maxSeqLen;
      result.maxRequests = bounds->maxRequests;
      result.maxQueryLen = bounds->maxQueryLen.value_or(0);
      result.maxRows = bounds->maxRows.value_or(0);
    }
  }

  /// Names the arguments that an operation of a description takes.
  void nameOperands(Operation *op) {
    auto name = [&](Value value, StringRef role, bool isWritten = false) {
      if (auto argument = dyn_cast<BlockArgument>(value))
        names[argument.getArgNumber()] = role.str();
      (isWritten ? written : read)[role] = true;
    };
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](UniformRowsOp rows) { name(rows.getLens(), "seq_lens"); })
        .Case([&](RaggedRowsOp rows) {
          name(rows.getLens(), "seq_lens");
          name(rows.getCuSeqlens(), "cu_seqlens");
        })
        .Case([&](BlockScoreOp score) {
          name(score.getQuery(), "query");
          name(score.getKeys(), "keys");
          name(score.getIndexTable(), "index_table");
        })
        .Case([&](StoreSelectionOp store) {
          name(store.getIndices(), "selection", /*isWritten=*/true);
          rowAxis = store.getLayout() == SelectionLayout::HeadMajor ? 1 : 0;
        })
        .Case([&](RemapPagesOp remap) {
          name(remap.getAttentionTable(), "attn_table");
          name(remap.getPages(), "pages", /*isWritten=*/true);
          name(remap.getContextLens(), "ctx", /*isWritten=*/true);
        })
        .Case([&](StoreCandidatesOp store) {
          name(store.getIds(), "candidate_ids", /*isWritten=*/true);
          name(store.getScores(), "candidate_scores", /*isWritten=*/true);
        })
        .Case([&](MergeCandidatesOp merge) {
          name(merge.getIds(), "rank_ids");
          name(merge.getScores(), "rank_scores");
        });
  }

  bool isStep(LaunchOp launch) {
    return isa<RebaseTableStageOp, RebaseSlotsStageOp, InsertKeysStageOp>(
        kernelOf(launch).getBody()->front());
  }

  /// Notes an operation of a step, the last of whose operands it writes.
  /// What the indexer uses too has its name already; what only steps use is
  /// named by the first of them.
  void addStep(StringRef operation, ValueRange operands,
               ArrayRef<StringRef> roles, int64_t sides, int64_t blockSize) {
    runtime::Step step;
    step.operation = operation.str();
    step.sides = sides;
    step.blockSize = blockSize;
    for (auto [index, operand] : llvm::enumerate(operands)) {
      unsigned number = cast<BlockArgument>(operand).getArgNumber();
      if (names[number].empty()) {
        std::string name = roles[index].str();
        for (unsigned i = 2; llvm::is_contained(names, name); ++i)
          name = (roles[index] + "_" + Twine(i)).str();
        names[number] = name;
        stepArguments.insert(number);
      }
      (index + 1 == operands.size() ? written : read)[names[number]] = true;
      step.operands.push_back(names[number]);
    }
    result.steps.push_back(std::move(step));
  }

  static constexpr StringLiteral kTableRoles[] = {"table", "rebased_table"};
  static constexpr StringLiteral kSlotRoles[] = {"slots", "rebased_slots"};
  static constexpr StringLiteral kInsertRoles[] = {"new_keys", "new_slots",
                                                   "cache"};
  static SmallVector<StringRef> list(ArrayRef<StringLiteral> roles) {
    return SmallVector<StringRef>(roles.begin(), roles.end());
  }

  void addStep(LaunchOp launch) {
    KernelOp kernel = kernelOf(launch);
    int64_t sides = kernel.getShapeConstant("kSides").value_or(1);
    int64_t blockSize = kernel.getShapeConstant("kBlockSize").value_or(1);
    llvm::TypeSwitch<Operation *>(&kernel.getBody()->front())
        .Case([&](RebaseTableStageOp) {
          addStep("rebase_table", launch.getArguments(), list(kTableRoles),
                  sides, blockSize);
        })
        .Case([&](RebaseSlotsStageOp) {
          addStep("rebase_slots", launch.getArguments(), list(kSlotRoles),
                  sides, blockSize);
        })
        .Case([&](InsertKeysStageOp) {
          addStep("insert_keys", launch.getArguments(), list(kInsertRoles),
                  sides, blockSize);
        });
  }

  void addStep(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](RebaseTableOp step) {
          addStep("rebase_table", step->getOperands(), list(kTableRoles),
                  step.getSides(), 1);
        })
        .Case([&](RebaseSlotsOp step) {
          addStep("rebase_slots", step->getOperands(), list(kSlotRoles),
                  step.getSides(), step.getBlockSize());
        })
        .Case([&](InsertKeysOp step) {
          addStep("insert_keys", step->getOperands(), list(kInsertRoles), 1,
                  step.getCache().getType().getDimSize(1));
        });
  }

  /// The symbol that a launch is sized by.
  std::string sizeOf(Value value) {
    auto extent = value.getDefiningOp<ExtentOp>();
    if (!extent)
      return "requests";
    auto argument = cast<BlockArgument>(extent.getMemory());
    const std::string &name = names[argument.getArgNumber()];
    std::string symbol = name + "_" + std::to_string(extent.getAxis());
    auto isSymbol = [&](const runtime::SymbolDefinition &definition) {
      return definition.name == symbol;
    };
    if (llvm::none_of(result.symbols, isSymbol))
      result.symbols.push_back(
          {symbol, runtime::ArgumentAxis{
                       name, static_cast<int64_t>(extent.getAxis())}});
    return symbol;
  }

  KernelOp kernelOf(LaunchOp launch) {
    return SymbolTable::lookupNearestSymbolFrom<KernelOp>(
        launch, launch.getKernelAttr());
  }

  /// Names the entry's arguments, and its workspace, by what the kernels use
  /// them for.
  LogicalResult nameMemory(LaunchOp launch) {
    KernelOp kernel = kernelOf(launch);
    for (auto [index, memory] : llvm::enumerate(launch.getArguments())) {
      std::string role = kernel.getArgumentRole(index).str();
      if (auto argument = dyn_cast<BlockArgument>(memory)) {
        std::string &name = names[argument.getArgNumber()];
        if (!name.empty() && name != role)
          return entry.emitError("argument ")
                 << argument.getArgNumber() << " of the entry is '" << name
                 << "' and '" << role
                 << "' at once; each needs an argument of its own (a caller "
                    "may pass one buffer for two that are only read)";
        name = role;
        (isWritten(kernel, index) ? written : read)[name] = true;
        continue;
      }
      auto workspace = memory.getDefiningOp<WorkspaceOp>();
      if (!workspace)
        return launch.emitOpError("argument ")
               << index << " is neither an argument of the entry nor a "
               << "workspace";
      if (workspaces.try_emplace(workspace, role).second)
        describeWorkspace(workspace, role);
    }
    return success();
  }

  void describeWorkspace(WorkspaceOp workspace, StringRef name) {
    auto type = cast<MemRefType>(workspace.getMemory().getType());
    runtime::WorkspaceTensor tensor;
    tensor.name = name.str();
    tensor.dtype = dtypeOf(type.getElementType()).value_or(runtime::DType::F32);
    for (AffineExpr extent : workspace.getExtents().getResults())
      tensor.shape.push_back(toExpression(extent));
    result.workspace.push_back(std::move(tensor));
  }

  int64_t fact(StringRef name) {
    const int64_t *value = result.integer(name.str());
    return value ? *value : 0;
  }

  /// What a dynamic axis has to measure.
  Extent extentOf(StringRef role, unsigned axis) {
    if (role == "seq_lens")
      return Extent::exactly("requests");
    if (role == "cu_seqlens")
      return Extent::exactly(Expression(Expression::Kind::Add,
                                        Expression("requests"), Expression(1)));
    if (role == "query") // of ragged rows, what tells how many there are
      return isRagged() ? Extent::any() : Extent::exactly("rows");
    if (role == "index_table" || role == "attn_table")
      return axis == 0 ? Extent::atLeast("requests")
                       : Extent::atLeast(fact("max_blocks"));
    if (isCandidates(role)) // heads and candidates of a rank are static
      return axis == 1 ? Extent::exactly("rows") : Extent::any();
    if (isRankCandidates(role)) {
      // What tells how many ranks there are, and how many ragged rows.
      if (role == "rank_ids" && (axis == 0 || isRagged()))
        return Extent::any();
      return axis == 0 ? Extent::exactly("world") : Extent::exactly("rows");
    }
    if (role == "selection") {
      if (axis == 2)
        return Extent::exactly(fact("k"));
      return axis == selectionRowAxis() ? Extent::exactly("rows")
                                        : Extent::exactly(fact("index_heads"));
    }
    if (role == "pages" || role == "ctx")
      return axis == 0 ? Extent::atLeast("kv_rows")
                       : Extent::atLeast(
                             Expression(fact("k") * fact("pages_per_block")));
    return Extent::any(); // the pages of the key cache
  }

  /// Whether an axis grows with the batch. The kernels size it by the number of
  /// requests even where its type is static, so callers are held to that.
  bool followsRequests(StringRef role, unsigned axis) {
    if (role == "selection")
      return axis == selectionRowAxis();
    // Ragged rows are counted by the query or a merge's candidates, whatever
    // the requests.
    if ((role == "query" || role == "rank_ids") && isRagged())
      return false;
    if (isCandidates(role))
      return axis == 1;
    if (isRankCandidates(role))
      return axis == 2;
    return axis == 0 && role != "seq_lens" && role != "keys";
  }

  static bool isCandidates(StringRef role) {
    return role == "candidate_ids" || role == "candidate_scores";
  }
  static bool isRankCandidates(StringRef role) {
    return role == "rank_ids" || role == "rank_scores";
  }

  bool isRagged() {
    const bool *ragged = result.boolean("ragged");
    return ragged && *ragged;
  }

  unsigned selectionRowAxis() {
    unsigned axis = rowAxis;
    for (auto launch : entry.getOps<LaunchOp>())
      kernelOf(launch).walk([&](Operation *stage) {
        llvm::TypeSwitch<Operation *>(stage)
            .Case<StoreRankingOp, GenericStoreSelectionOp>(
                [&](auto store) { axis = store.getRowAxis(); });
      });
    return axis;
  }

  LogicalResult describeArgument(BlockArgument value) {
    const std::string &role = names[value.getArgNumber()];
    static constexpr std::pair<StringLiteral, runtime::Role> roles[] = {
        {"seq_lens", runtime::Role::SeqLens},
        {"cu_seqlens", runtime::Role::CuSeqlens},
        {"query", runtime::Role::Query},
        {"keys", runtime::Role::Keys},
        {"index_table", runtime::Role::IndexTable},
        {"attn_table", runtime::Role::AttnTable},
        {"selection", runtime::Role::Selection},
        {"pages", runtime::Role::Pages},
        {"ctx", runtime::Role::Contexts},
        {"candidate_ids", runtime::Role::CandidateIds},
        {"candidate_scores", runtime::Role::CandidateScores},
        {"rank_ids", runtime::Role::RankIds},
        {"rank_scores", runtime::Role::RankScores}};
    bool isStepArgument = stepArguments.contains(value.getArgNumber());
    const auto *known =
        llvm::find_if(roles, [&](auto &pair) { return pair.first == role; });
    if (known == std::end(roles) && !isStepArgument)
      return entry.emitOpError("argument ")
             << value.getArgNumber() << " is used by no stage of a kernel";

    auto type = cast<MemRefType>(value.getType());
    runtime::TensorArgument argument;
    argument.name = role;
    // One buffer may serve two arguments (a table for both index and
    // attention is passed twice), never the other way round.
    if (result.argument(role))
      return entry.emitOpError("argument ")
             << value.getArgNumber() << " is the second '" << role << "'";
    argument.role = isStepArgument ? runtime::Role::Step : known->second;
    argument.access = !written[role] ? runtime::Access::Read
                      : !read[role]  ? runtime::Access::Write
                                     : runtime::Access::ReadWrite;
    std::optional<runtime::DType> dtype = dtypeOf(type.getElementType());
    if (!dtype)
      return entry.emitOpError("argument ")
             << value.getArgNumber() << " has the element type "
             << type.getElementType() << ", which no bundle can state";
    argument.dtype = *dtype;
    for (auto [axis, size] : llvm::enumerate(type.getShape()))
      argument.shape.push_back(
          isStepArgument ? (ShapedType::isDynamic(size) ? Extent::any()
                                                        : Extent::exactly(size))
          : ShapedType::isDynamic(size) || followsRequests(role, axis)
              ? extentOf(role, axis)
              : Extent::exactly(size));
    bool strided = (isStepArgument && type.getRank() > 1) ||
                   role == "index_table" || role == "attn_table" ||
                   role == "selection" || role == "pages" ||
                   isCandidates(role) || isRankCandidates(role) ||
                   // Contiguous unless the description says otherwise; one
                   // that says it in strides got kernels that rely on it.
                   !(type.getLayout().isIdentity() || isContiguous(type));
    argument.layout =
        strided ? runtime::Layout::Rows : runtime::Layout::Contiguous;
    if (strided)
      argument.strides = fixedStrides(type);
    if ((role == "query" || role == "keys") && !readsVectors())
      argument.alignment = byteWidth(argument.dtype);
    result.arguments.push_back(std::move(argument));
    return success();
  }

  /// The strides that the type of a strided argument fixes; empty for none. An
  /// identity layout fixes none: tables and outputs may have gaps.
  static std::vector<int64_t> fixedStrides(MemRefType type) {
    SmallVector<int64_t> strides;
    int64_t offset;
    if (type.getLayout().isIdentity() ||
        failed(type.getStridesAndOffset(strides, offset)) ||
        llvm::all_of(ArrayRef(strides).drop_back(), ShapedType::isDynamic))
      return {};
    for (int64_t &stride : strides)
      if (ShapedType::isDynamic(stride))
        stride = runtime::kAnyStride;
    return {strides.begin(), strides.end()};
  }

  /// Whether a kernel loads queries and keys 16 bytes at a time. The generic
  /// ones, what inserts keys and the reference take any element as a start.
  bool readsVectors() {
    bool reads = false;
    for (auto launch : entry.getOps<LaunchOp>())
      kernelOf(launch).walk([&](Operation *stage) {
        bool generic = isa<GenericRaggedTaskOp, GenericLoadQueriesOp,
                           GenericScoreBlocksOp, InsertKeysStageOp>(stage);
        for (Value operand : stage->getOperands())
          if (auto memory = dyn_cast<MemRefType>(operand.getType()))
            reads |= !generic && memory.getRank() == 3 &&
                     memory.getElementTypeBitWidth() < 32;
      });
    return reads;
  }

  void describeSymbols() {
    if (!result.argument("seq_lens")) // steps alone
      return;
    result.symbols.push_back(
        {"requests", runtime::ArgumentAxis{"seq_lens", 0}});
    const runtime::TensorArgument *ids = result.argument("rank_ids");
    if (ids && ids->shape[0].kind == Extent::Kind::Any)
      result.symbols.push_back({"world", runtime::ArgumentAxis{"rank_ids", 0}});
    if (isRagged())
      result.symbols.push_back(
          {"rows", ids ? runtime::ArgumentAxis{"rank_ids", 2}
                       : runtime::ArgumentAxis{"query", 0}});
    else
      result.symbols.push_back(
          {"rows",
           Expression(Expression::Kind::Mul, "requests", fact("query_len"))});
    if (result.integer("kv_heads"))
      result.symbols.push_back(
          {"kv_rows",
           Expression(Expression::Kind::Mul, "rows", fact("kv_heads"))});
  }

  void describeSchedule(KernelOp kernel) {
    auto values = kernel->getAttrOfType<DictionaryAttr>(kScheduleAttr);
    if (!values)
      return;
    runtime::Schedule schedule;
    schedule.kernel = kernel.getSymName().str();
    // Of a kernel that does the work of two, each one's own are nested.
    auto describe = [&](auto &&self, DictionaryAttr all,
                        const std::string &prefix) -> void {
      for (NamedAttribute each : all) {
        const std::string name = prefix + each.getName().str();
        if (auto nested = dyn_cast<DictionaryAttr>(each.getValue()))
          self(self, nested, name + ".");
        else if (auto flag = dyn_cast<BoolAttr>(each.getValue()))
          schedule.parameters[name] = flag.getValue();
        else if (auto number = dyn_cast<IntegerAttr>(each.getValue()))
          schedule.parameters[name] = number.getInt();
        else if (auto text = dyn_cast<StringAttr>(each.getValue()))
          schedule.from[name] = text.str();
      }
    };
    describe(describe, values, "");
    if (auto from = kernel->getAttrOfType<DictionaryAttr>(kScheduleFromAttr))
      describe(describe, from, "");
    result.schedules.push_back(std::move(schedule));
  }

  void describeLaunch(LaunchOp op) {
    KernelOp kernel = kernelOf(op);
    runtime::Launch launch;
    launch.kernel = kernel.getSymName().str();
    launch.source = source;
    std::string symbol = sizeOf(op.getSizes().front());
    for (auto [axis, size] : llvm::enumerate(kernel.getGrid().getResults()))
      launch.grid[axis] = toExpression(size, symbol);
    if (std::optional<int64_t> threads = kernel.getShapeConstant("kThreads"))
      launch.block = {*threads, 1, 1};
    else
      launch.block = {static_cast<int64_t>(kernel.getWaves()) *
                          winnow::loweringOf(kernel).waveLanes,
                      1, 1};
    for (const KernelParameter &parameter : kernelParameters(kernel)) {
      Value memory = op.getArguments()[parameter.argument];
      auto argument = dyn_cast<BlockArgument>(memory);
      std::string name = argument
                             ? names[argument.getArgNumber()]
                             : workspaces[memory.getDefiningOp<WorkspaceOp>()];
      launch.arguments.push_back(
          {argumentKind(parameter.kind), name, parameter.axis});
    }
    result.launches.push_back(std::move(launch));
  }

  func::FuncOp entry;
  uint32_t source;
  unsigned rowAxis = 1; // of the stored selection
  runtime::Entry result;
  SmallVector<std::string> names; // of the entry's arguments: their roles
  llvm::StringMap<bool> written, read;
  llvm::SmallDenseSet<unsigned> stepArguments; // that no indexer uses
  llvm::DenseMap<Operation *, std::string> workspaces;
};

} // namespace

FailureOr<runtime::Entry> winnow::describeUnscheduled(func::FuncOp entry) {
  return EntryDescriber(entry, /*source=*/0).describeUnscheduled();
}

FailureOr<runtime::Entry> winnow::describeEntry(func::FuncOp entry,
                                                uint32_t source) {
  return EntryDescriber(entry, source).describe();
}
