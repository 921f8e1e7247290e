// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes kernel plans as HIP source: each stage becomes one call of one leaf
// function of templates/, each loop a loop, with a comment that names the
// stage.
#include "winnow/Codegen/EmitHip.h"

#include "TemplateLibrary.h"
#include "winnow/Codegen/FactsAttribute.h"
#include "winnow/Codegen/KernelParameters.h"
#include "winnow/Codegen/Lowerings.h"
#include "winnow/Contract/Render.h"
#include "winnow/IR/Winnow.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <fmt/format.h>

using namespace mlir;
using namespace winnow;

namespace {

/// Emits one kernel.
class KernelEmitter {
public:
  KernelEmitter(KernelOp kernel, std::string &text,
                llvm::SetVector<StringRef> &headers)
      : kernel(kernel), shape(kernel.getShapeName().str()), text(text),
        headers(headers) {}

  LogicalResult emit() {
    std::string parameters;
    for (const KernelParameter &parameter : kernelParameters(kernel)) {
      if (parameter.name.empty())
        return kernel.emitOpError("argument ")
               << parameter.argument << " is used by no stage";
      std::string &variable =
          parameter.kind == KernelParameter::Kind::Pointer
              ? pointers[parameter.argument]
          : parameter.kind == KernelParameter::Kind::Extent
              ? extents[{parameter.argument, parameter.axis}]
              : strides[{parameter.argument, parameter.axis}];
      variable = parameter.name;
      bool pointer = StringRef(parameter.cppType).ends_with("*");
      parameters +=
          fmt::format("{}\n    {}{}{}", parameters.empty() ? "" : ",",
                      parameter.cppType, pointer ? "" : " ", parameter.name);
    }
    text += fmt::format("WINNOW_{}KERNEL({})\n{}({}) {{\n",
                        constant("kQueryTiles") ? "SHARING_" : "",
                        kernel.getShapeConstant("kThreads")
                            ? shape + "::kThreads"
                            : "kWaveLanes * " + shape + "::kWaves",
                        kernel.getSymName().str(), parameters);
    if (failed(emitBlock(*kernel.getBody())))
      return failure();
    text += "}\n";
    return success();
  }

private:
  /// One indented line.
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args &&...args) {
    text.append(2 * depth, ' ');
    text += fmt::format(format, std::forward<Args>(args)...);
    text += '\n';
  }

  void comment(StringRef header, StringRef stage, StringRef what) {
    headers.insert(header);
    line("// {}: {}", stage.str(), what.str());
  }

  /// The variable of a memory operand, which is an argument of the kernel.
  const std::string &pointer(Value memory) {
    return pointers[cast<BlockArgument>(memory).getArgNumber()];
  }
  const std::string &stride(Value memory, unsigned axis) {
    return strides[{cast<BlockArgument>(memory).getArgNumber(), axis}];
  }
  const std::string &extent(Value memory, unsigned axis) {
    return extents[{cast<BlockArgument>(memory).getArgNumber(), axis}];
  }
  /// The templates' name of a memory operand's elements.
  static std::string elementOf(Value memory) {
    return elementSpelling(cast<MemRefType>(memory.getType()).getElementType())
        .str();
  }
  /// The variable that a stage defined.
  const std::string &operator[](Value value) { return variables[value]; }

  LogicalResult emitBlock(Block &block) {
    ++depth;
    for (Operation &op : block)
      if (failed(emitStage(&op)))
        return failure();
    --depth;
    return success();
  }

  LogicalResult emitStage(Operation *op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<WalkPagesOp, IfMappedOp, WalkSlicesOp, WalkSharedOp,
              ShareSlicesOp, WalkRowsOp>(
            [&](auto stage) { return emitRegion(stage); })
        .Case<ScoreTaskOp, LoadQueryOp, LoadKeyTilesOp, MultiplyAccumulateOp,
              MaskOp, FoldOp, ReduceOp, ForceOp, StoreScoreOp, StageYieldOp,
              SelectRowOp, LoadScoreRowOp, NarrowOp, RankOp, StoreRankingOp,
              EmitPagesOp, GenericScoreTaskOp, GenericLoadQueriesOp,
              GenericScoreBlocksOp, GenericSelectRowOp, GenericFindCutOp,
              GenericSortKeptOp, GenericStoreSelectionOp, GenericEmitPagesOp,
              RebaseTableStageOp, RebaseSlotsStageOp, InsertKeysStageOp,
              RaggedTaskOp, LoadQueryTilesOp, ScoreSliceOp, ReduceTilesOp,
              SelectRaggedRowOp, GenericRaggedTaskOp, GenericSelectRaggedRowOp,
              StoreCandidatesStageOp, LoadCandidatesOp,
              GenericStoreCandidatesOp, GenericRankCandidatesOp,
              GenericFindMergedCutOp, GenericSortMergedOp, CountArrivalsOp>(
            [&](auto stage) {
              emitCall(stage);
              return success();
            })
        .Default([](Operation *other) {
          return other->emitOpError("is a stage without a leaf function");
        });
  }

  //===--- Loops and conditions -----------------------------------------===//

  /// A constant of the kernel, or 0 if it has no such.
  int64_t constant(StringRef name) {
    return kernel.getShapeConstant(name).value_or(0);
  }
  /// Whether keys are copied to local memory ahead of the walk.
  bool isStream() { return constant("kStages") != 0; }
  /// Whether several waves share a block.
  bool shares() { return constant("kSplit") > 1; }
  /// Whether the keys of several pages are asked for at once.
  bool hasPagesAhead() { return constant("kPages") > 1; }

  LogicalResult emitRegion(WalkPagesOp op) {
    std::string walk = variables[op.getBodyRegion().getArgument(0)] = "at";
    if (isStream()) {
      comment("winnow/score_stream.h", "walk_pages",
              "the wave's blocks, their keys copied ahead of it.");
      Value keys;
      op.walk([&](LoadKeyTilesOp load) { keys = load.getKeys(); });
      element = elementOf(keys);
      line("WINNOW_SHARED StreamStorage<{}, {}> stream;", shape, element);
      line("for (StreamWalk<{}, {}> {}({}, {}, {},", shape, element, walk,
           (*this)[op.getTask()], pointer(op.getTable()),
           stride(op.getTable(), 0));
      line("{:{}}{}, stream);", "", 21 + shape.size() + element.size(),
           pointer(keys));
      line("     {}.more(); {}.next()) {{", walk, walk);
      if (failed(emitBlock(*op.getBody())))
        return failure();
      line("}}");
      return success();
    }
    comment("winnow/score_walk.h", "walk_pages",
            "the wave's blocks, and where the table says they lie.");
    if (shares()) {
      headers.insert("winnow/score_join.h");
      line("WINNOW_SHARED JoinStorage<{}> joined;", shape);
      line("i32 joined_set = 0;");
    }
    line("for (PageWalk<{}> {}({}, {}, {}); {}.more();{}) {{", shape, walk,
         (*this)[op.getTask()], pointer(op.getTable()),
         stride(op.getTable(), 0), walk,
         hasPagesAhead() ? "" : fmt::format(" {}.next()", walk));
    if (hasPagesAhead())
      openPages(op, walk);
    if (failed(emitBlock(*op.getBody())))
      return failure();
    if (hasPagesAhead()) {
      line("}}");
      --depth;
    }
    line("}}");
    return success();
  }

  /// Asks for the keys of several pages, and begins the loop over them.
  void openPages(WalkPagesOp op, const std::string &walk) {
    Value keys;
    op.walk([&](LoadKeyTilesOp load) { keys = load.getKeys(); });
    element = elementOf(keys);
    ++depth;
    comment("winnow/score_pages.h", "load_key_tiles",
            "the keys of some pages, all in flight at once.");
    line("const PagesAhead<{}, {}> ahead =", shape, element);
    line("    load_pages_ahead<{}>({}, {});", shape, pointer(keys), walk);
    text += "#pragma unroll\n";
    line("for (i32 i = 0; i < {}::kPages; ++i, {}.next()) {{", shape, walk);
  }

  LogicalResult emitRegion(IfMappedOp op) {
    variables[op.getScore()] = "block_score";
    line("float block_score = kNoScore;");
    line("if ({}.mapped()) {{", (*this)[op.getPage()]);
    if (failed(emitBlock(*op.getBody())))
      return failure();
    line("}}");
    return success();
  }

  LogicalResult emitRegion(WalkSlicesOp op) {
    comment("winnow/score_tiles.h", "walk_slices",
            "the tokens whose keys are in flight at once.");
    variables[op.getBodyRegion().getArgument(0)] = "slice";
    variables[op.getBodyRegion().getArgument(1)] = "best";
    variables[op.getBest()] = "best";
    page = (*this)[op.getPage()];
    line("Best<{0}> best = no_score<{0}>();", shape);
    if (isStream() || shares()) {
      line("for (i32 slice = {}.first_slice(); slice < {};", page,
           op.getSlices());
      line("     slice += {}::kSplit) {{", shape);
    } else if (op.getSlices() == 1) {
      // A loop that ends at once would cost a compiler as much as another.
      variables[op.getBodyRegion().getArgument(0)] = "0";
      --depth;
      LogicalResult emitted = emitBlock(*op.getBody());
      ++depth;
      return emitted;
    } else {
      line("for (i32 slice = 0; slice < {}; ++slice) {{", op.getSlices());
    }
    if (failed(emitBlock(*op.getBody())))
      return failure();
    line("}}");
    return success();
  }

  LogicalResult emitRegion(WalkSharedOp op) {
    comment("winnow/ragged_walk.h", "walk_shared",
            "the chunk's blocks, their keys read once for all waves.");
    std::string walk = variables[op.getBodyRegion().getArgument(0)] = "at";
    element = elementOf(op.getKeys());
    line("WINNOW_SHARED SharedKeys<{}, {}> shared;", shape, element);
    line("for (SharedWalk<{}, {}> {}({}, {}, {},", shape, element, walk,
         (*this)[op.getTask()], pointer(op.getTable()),
         stride(op.getTable(), 0));
    line("{:{}}{}, shared);", "", 21 + shape.size() + element.size(),
         pointer(op.getKeys()));
    line("     {}.more(); {}.next()) {{", walk, walk);
    if (failed(emitBlock(*op.getBody())))
      return failure();
    line("}}");
    return success();
  }

  LogicalResult emitRegion(ShareSlicesOp op) {
    comment("winnow/ragged_walk.h", "share_slices",
            "a slice in one buffer while the next fills the other.");
    variables[op.getBodyRegion().getArgument(0)] = "slice";
    variables[op.getBodyRegion().getArgument(1)] = "best";
    variables[op.getBest()] = "best";
    page = (*this)[op.getPage()];
    line("TileBest<{0}> best = no_tile_score<{0}>();", shape);
    line("for (i32 slice = 0; slice < {}; ++slice) {{", op.getSlices());
    line("  const i32 buffer = {}.share(slice);", page);
    if (failed(emitBlock(*op.getBody())))
      return failure();
    line("}}");
    return success();
  }

  LogicalResult emitRegion(WalkRowsOp op) {
    BlockArgument row = op.getBodyRegion().getArgument(0);
    const bool isGeneric = isa<GenericRowType>(row.getType());
    StringRef space = isGeneric ? "generic::" : "";
    StringRef header =
        isGeneric ? "winnow/generic/select_row.h" : "winnow/select_row.h";
    variables[row] = "row";
    // The tiled kernels still know the length; to load it once more would be
    // the first thing that a request's last workgroup waits for.
    const std::string length = isGeneric ? pointer(op.getSeqLens())
                                         : (*this)[op.getTask()] + ".length";
    // The only row needs no loop to leave early.
    if (kernel.getShapeConstant("kHeads") == 1 &&
        kernel.getShapeConstant("kQueryLen") == 1 && !op->getNextNode()) {
      comment(header, "walk_rows", "the request's only row, and what it sees.");
      line("const {0}SelectRow row =", space.str());
      line("    {}select_row<{}>({}, {}.request, 0);", space.str(), shape,
           length, (*this)[op.getTask()]);
      --depth;
      LogicalResult emitted = emitBlock(*op.getBody());
      ++depth;
      return emitted;
    }
    comment("winnow/row_walk.h", "walk_rows",
            "the request's rows and heads, and what each row sees.");
    headers.insert(header);
    line("for (RowWalk<{}> rows({}.request); rows.more(); rows.next()) {{",
         shape, (*this)[op.getTask()]);
    line("  const {0}SelectRow row =", space.str());
    line("      {}select_row<{}>({}, rows.row, rows.head);", space.str(), shape,
         length);
    done = "continue";
    if (failed(emitBlock(*op.getBody())))
      return failure();
    line("}}");
    return success();
  }

  void emitCall(CountArrivalsOp op) {
    comment("winnow/arrivals.h", "count_arrivals",
            "only the request's last workgroup goes on.");
    line("WINNOW_SHARED ArrivalStorage arrival;");
    line("if (!is_last_arrival<{}>({}, {}.request, arrival))", shape,
         pointer(op.getArrivals()), (*this)[op.getTask()]);
    line("  return;");
    selecting = "select_storage";
  }

  /// What a region yields is in the region's variable already.
  void emitCall(StageYieldOp) {}

  //===--- Scoring ------------------------------------------------------===//

  void emitCall(ScoreTaskOp op) {
    comment("winnow/score_walk.h", "score_task",
            "the request and blocks of this wave, what each row sees.");
    variables[op.getTask()] = "task";
    line("const ScoreTask<{0}> task = score_task<{0}>({1});", shape,
         pointer(op.getSeqLens()));
  }

  void emitCall(LoadQueryOp op) {
    comment("winnow/score_tiles.h", "load_query",
            "the request's queries, held for the whole walk.");
    variables[op.getFragment()] = "query";
    element = elementOf(op.getQuery());
    line("const Queries<{0}, {1}> query = load_query<{0}>({2}, {3});", shape,
         element, pointer(op.getQuery()), (*this)[op.getTask()]);
  }

  void emitCall(LoadKeyTilesOp op) {
    if (isStream()) {
      comment("winnow/score_stream.h", "load_key_tiles",
              "the keys of a slice, the next ones on their way.");
      variables[op.getTiles()] = "tiles";
      line("const auto tiles = {}.take();", page);
      return;
    }
    variables[op.getTiles()] = "tiles";
    element = elementOf(op.getKeys());
    if (hasPagesAhead()) {
      headers.insert("winnow/score_tiles.h");
      line("const KeyTiles<{}, {}> &tiles = ahead.page[i];", shape, element);
      return;
    }
    comment("winnow/score_tiles.h", "load_key_tiles",
            constant("kTilesAhead") < constant("kSliceTiles")
                ? "the first keys of a slice, in flight at once."
                : "the keys of a slice, all in flight at once.");
    line("const KeyTiles<{0}, {1}> tiles =", shape, element);
    line("    load_key_tiles<{}>({}, {}.page, {});", shape,
         pointer(op.getKeys()), page, (*this)[op.getSlice()]);
  }

  void emitCall(MultiplyAccumulateOp op) {
    comment("winnow/score_tiles.h", "multiply_accumulate",
            "the queries times 16 tokens a tile.");
    variables[op.getProducts()] = "products";
    line("Products<{0}> products = multiply_accumulate<{0}>({1}, {2});", shape,
         (*this)[op.getKeys()], (*this)[op.getQuery()]);
  }

  void emitCall(MaskOp op) {
    comment("winnow/score_tiles.h", "mask",
            "only where some row does not see the whole block.");
    std::string products = (*this)[op.getProducts()];
    variables[op.getMasked()] = products;
    line("if ({}.partial())", page);
    line("  mask<{}>({}, {}, {}.block, {});", shape, products,
         (*this)[op.getTask()], page, (*this)[op.getSlice()]);
  }

  void emitCall(FoldOp op) {
    comment("winnow/score_tiles.h", "fold",
            "the maximum over this lane's tokens.");
    std::string best = (*this)[op.getBest()];
    variables[op.getNext()] = best;
    line("fold<{}>({}, {});", shape, (*this)[op.getProducts()], best);
  }

  void emitCall(ReduceOp op) {
    comment("winnow/score_tiles.h", "reduce",
            "the maximum over the lanes of a query.");
    variables[op.getValue()] = "block_score";
    std::string score =
        fmt::format("reduce<{}>({})", shape, (*this)[op.getBest()]);
    if (isStream()) // Several waves may share the block.
      score = fmt::format("{}.join({})", page, score);
    else if (shares())
      score = fmt::format("join_waves({}, joined, joined_set)", score);
    line("block_score = {};", score);
  }

  void emitCall(ForceOp op) {
    comment("winnow/score_force.h", "force", "blocks that are always kept.");
    std::string value = (*this)[op.getValue()];
    variables[op.getForced()] = value;
    line("{0} = force<{1}>({0}, {2}, {3}.block);", value, shape,
         (*this)[op.getTask()], (*this)[op.getPage()]);
  }

  void emitCall(StoreScoreOp op) {
    bool ragged = isa_and_nonnull<RaggedTaskOp>(op.getTask().getDefiningOp());
    StringRef leaf = ragged ? "store_ragged_score" : "store_score";
    comment(ragged ? "winnow/ragged_store.h" : "winnow/score_store.h", leaf,
            "one entry for each row that sees the block.");
    line("{}<{}>({}, {}, {}, {}, {}.block);", leaf.str(), shape,
         pointer(op.getScores()), stride(op.getScores(), 0),
         (*this)[op.getScore()], (*this)[op.getTask()], (*this)[op.getPage()]);
  }

  //===--- Scoring of ragged rows ---------------------------------------===//

  void emitCall(RaggedTaskOp op) {
    comment("winnow/ragged_task.h", "ragged_task",
            "the tile's rows and blocks, what each row sees.");
    variables[op.getTask()] = "task";
    line("const RaggedTask<{0}> task =", shape);
    line("    ragged_task<{}>({}, {}, {}, {});", shape,
         pointer(op.getSeqLens()), pointer(op.getCuSeqlens()),
         extent(op.getSeqLens(), 0), extent(op.getQuery(), 0));
  }

  void emitCall(LoadQueryTilesOp op) {
    comment("winnow/ragged_tiles.h", "load_query_tiles",
            "the wave's queries, held for the whole walk.");
    variables[op.getFragment()] = "queries";
    line(
        "const QueryTiles<{0}, {1}> queries = load_query_tiles<{0}>({2}, {3});",
        shape, elementOf(op.getQuery()), pointer(op.getQuery()),
        (*this)[op.getTask()]);
  }

  void emitCall(ScoreSliceOp op) {
    comment("winnow/ragged_tiles.h", "score_slice",
            "products, masked where some row does not see the block.");
    std::string best = (*this)[op.getBest()];
    variables[op.getNext()] = best;
    line("score_slice(shared, buffer, {}, {}, {}, {}, {});",
         (*this)[op.getQueries()], (*this)[op.getTask()], page,
         (*this)[op.getSlice()], best);
  }

  void emitCall(ReduceTilesOp op) {
    comment("winnow/ragged_tiles.h", "reduce_tiles",
            "the maximum over the lanes of a query.");
    variables[op.getValue()] = "block_score";
    line("block_score = reduce_tiles<{}>({});", shape, (*this)[op.getBest()]);
  }

  //===--- Selection ----------------------------------------------------===//

  void emitCall(SelectRowOp op) {
    comment("winnow/select_row.h", "select_row",
            "the row and head of this workgroup, and what the row sees.");
    variables[op.getRow()] = "row";
    line("const SelectRow row =");
    line("    select_row<{}>({}, workgroup_x(), workgroup_y());", shape,
         pointer(op.getSeqLens()));
  }

  void emitCall(SelectRaggedRowOp op) {
    comment("winnow/ragged_select.h", "select_ragged_row",
            "the row and head of this workgroup, and what the row sees.");
    variables[op.getRow()] = "row";
    line("const SelectRow row = select_ragged_row<{}>(", shape);
    line("    {}, {}, {}, workgroup_x(), workgroup_y());",
         pointer(op.getSeqLens()), pointer(op.getCuSeqlens()),
         extent(op.getSeqLens(), 0));
  }

  /// Waves without a share of the row, whose places are of type `keys`, leave.
  void emitWaveExit(StringRef keys, Value row) {
    line("if (!takes_part<{0}, {1}<{0}>>({2}))", shape, keys, (*this)[row]);
    line("  {};", done);
  }

  void emitCall(LoadScoreRowOp op) {
    emitWaveExit("ScoreKeys", op.getRow());
    comment("winnow/select_row.h", "load_score_row",
            "the row's scores as sortable keys in registers.");
    variables[op.getKeys()] = "row_keys";
    line("const ScoreKeys<{0}> row_keys = load_score_row<{0}>({1}, {2}, {3});",
         shape, pointer(op.getScores()), stride(op.getScores(), 0),
         (*this)[op.getRow()]);
  }

  void emitCall(NarrowOp op) {
    comment("winnow/select_narrow.h", "narrow",
            "the few candidates that hold the selection, for the first wave.");
    variables[op.getCandidates()] = "listed";
    line("WINNOW_SHARED NarrowStorage<{}> {};", shape, selecting);
    line("const i32 listed = narrow<{}>({}, {}, {});", shape,
         (*this)[op.getKeys()], (*this)[op.getRow()], selecting);
    line("if (listed < 0)");
    line("  {};", done);
  }

  void emitCall(RankOp op) {
    comment("winnow/select_rank.h", "rank",
            "the candidates in order, best first.");
    variables[op.getRanking()] = "selected";
    line("const Selection<{0}> selected = rank<{0}>({1}, {2}, {3});", shape,
         (*this)[op.getCandidates()], (*this)[op.getRow()], selecting);
  }

  void emitCall(StoreRankingOp op) {
    comment("winnow/selection_store.h", "store_selection",
            "the block ids, in selection order.");
    line("store_selection<{}>({}, {}, {}, {}, {});", shape,
         (*this)[op.getRanking()], (*this)[op.getRow()],
         pointer(op.getIndices()), stride(op.getIndices(), op.getHeadAxis()),
         stride(op.getIndices(), op.getRowAxis()));
  }

  void emitCall(EmitPagesOp op) {
    comment("winnow/page_table.h", "emit_pages",
            "the attention's page table and context length.");
    line("emit_pages<{}>({}, {}, {}, {}, {}, {},", shape,
         (*this)[op.getRanking()], (*this)[op.getRow()], pointer(op.getTable()),
         stride(op.getTable(), 0), pointer(op.getPages()),
         stride(op.getPages(), 0));
    line("{:{}}{});", "", 11 + shape.size() + 2, pointer(op.getContextLens()));
  }

  //===--- Candidates that ranks exchange -------------------------------===//

  /// The pointer of a memory and its strides along the first `axes`.
  std::string strided(Value memory, unsigned axes) {
    std::string text = pointer(memory);
    for (unsigned axis = 0; axis < axes; ++axis)
      text += ", " + stride(memory, axis);
    return text;
  }

  void emitCall(StoreCandidatesStageOp op) {
    comment("winnow/store_candidates.h", "store_candidates",
            "what the other ranks get: block ids and their scores.");
    line("store_candidates<{}>({}, {}, {},", shape, (*this)[op.getRanking()],
         (*this)[op.getRow()], strided(op.getScores(), 1));
    line("    {},", strided(op.getIds(), 2));
    line("    {});", strided(op.getBest(), 2));
  }

  void emitCall(LoadCandidatesOp op) {
    emitWaveExit("CandidateKeys", op.getRow());
    comment("winnow/load_candidates.h", "load_candidates",
            "what all ranks selected, as sortable keys in registers.");
    variables[op.getKeys()] = "row_keys";
    line("const CandidateKeys<{0}> row_keys = load_candidates<{0}>(", shape);
    line("    {},", strided(op.getIds(), 3));
    line("    {}, {});", strided(op.getBest(), 3), (*this)[op.getRow()]);
  }

  void emitCall(GenericStoreCandidatesOp op) {
    comment("winnow/generic/store_candidates.h", "generic_store_candidates",
            "what the other ranks get: block ids and their scores.");
    line("generic::store_candidates<{}>({}, {}, {},", shape,
         (*this)[op.getRow()], (*this)[op.getRanking()],
         strided(op.getScores(), 1));
    line("    {},", strided(op.getIds(), 2));
    line("    {});", strided(op.getBest(), 2));
  }

  void emitCall(GenericRankCandidatesOp op) {
    comment("winnow/generic/rank_candidates.h", "generic_rank_candidates",
            "where what all ranks selected for this row lies.");
    variables[op.getCandidates()] = "candidates";
    line("const generic::RankCandidates<{0}> candidates =", shape);
    line("    generic::rank_candidates<{}>(", shape);
    line("        {},", strided(op.getIds(), 3));
    line("        {},", strided(op.getBest(), 3));
    line("        {}, {});", extent(op.getIds(), 0), (*this)[op.getRow()]);
  }

  void emitCall(GenericFindMergedCutOp op) {
    comment("winnow/generic/find_cut.h", "generic_find_merged_cut",
            "the least that is kept, by radix select.");
    variables[op.getCut()] = "cut";
    line("WINNOW_SHARED generic::SelectStorage<{}> storage;", shape);
    line("const u64 cut = generic::find_cut<{}>({}, storage);", shape,
         (*this)[op.getCandidates()]);
  }

  void emitCall(GenericSortMergedOp op) {
    comment("winnow/generic/sort_kept.h", "generic_sort_merged",
            "the kept blocks in their final order.");
    variables[op.getRanking()] = "storage";
    line("generic::sort_kept<{}>({}, {}, storage);", shape,
         (*this)[op.getCandidates()], (*this)[op.getCut()]);
  }

  //===--- Once a step --------------------------------------------------===//

  void emitCall(RebaseTableStageOp op) {
    comment("winnow/rebase.h", "rebase_table",
            "the entries of a row, scaled for all sides of a block.");
    line("rebase_table<{}>({}, {}, {}, {}, {});", shape, pointer(op.getInput()),
         stride(op.getInput(), 0), extent(op.getInput(), 1),
         pointer(op.getOutput()), stride(op.getOutput(), 0));
  }

  void emitCall(RebaseSlotsStageOp op) {
    comment("winnow/rebase.h", "rebase_slots",
            "each slot to the first side of its block.");
    line("rebase_slots<{}>({}, {}, {});", shape, pointer(op.getInput()),
         extent(op.getInput(), 0), pointer(op.getOutput()));
  }

  void emitCall(InsertKeysStageOp op) {
    comment("winnow/insert.h", "insert_keys",
            "new keys, converted, to where their slots say.");
    line("insert_keys<{}>({}, {}, {}, {}, {}, {},", shape,
         pointer(op.getKeys()), stride(op.getKeys(), 0),
         extent(op.getKeys(), 0), pointer(op.getSlots()),
         pointer(op.getCache()), stride(op.getCache(), 0));
    line("{:{}}{});", "", 12 + shape.size() + 2, stride(op.getCache(), 1));
  }

  //===--- Generic ------------------------------------------------------===//

  /// The strides of the first two axes of a memory, as arguments of a call.
  std::string outerStrides(Value memory) {
    return stride(memory, 0) + ", " + stride(memory, 1);
  }

  void emitCall(GenericScoreTaskOp op) {
    comment("winnow/generic/score_task.h", "generic_score_task",
            "the request, blocks and queries of this workgroup.");
    variables[op.getTask()] = "task";
    line("const generic::ScoreTask<{0}> task = generic::score_task<{0}>({1});",
         shape, pointer(op.getSeqLens()));
  }

  void emitCall(GenericRaggedTaskOp op) {
    comment("winnow/generic/ragged_task.h", "generic_ragged_task",
            "the request, blocks and queries of this workgroup.");
    variables[op.getTask()] = "task";
    line(
        "const generic::ScoreTask<{0}> task = generic::ragged_score_task<{0}>(",
        shape);
    line("    {}, {}, {}, {});", pointer(op.getSeqLens()),
         pointer(op.getCuSeqlens()), extent(op.getSeqLens(), 0),
         extent(op.getQuery(), 0));
  }

  void emitCall(GenericLoadQueriesOp op) {
    comment("winnow/generic/score_task.h", "generic_load_queries",
            "decoded into local memory, for all lanes.");
    variables[op.getQueries()] = "storage";
    line("WINNOW_SHARED generic::ScoreStorage<{}> storage;", shape);
    line("generic::load_queries<{}>({}, {}, {}, storage);", shape,
         pointer(op.getQuery()), outerStrides(op.getQuery()),
         (*this)[op.getTask()]);
  }

  void emitCall(GenericScoreBlocksOp op) {
    comment("winnow/generic/score_blocks.h", "generic_score_blocks",
            "a token a lane, then over the tokens of each block.");
    line("generic::score_blocks<{}>({}, {},", shape, pointer(op.getKeys()),
         outerStrides(op.getKeys()));
    line("    {}, {}, {}, {},", pointer(op.getTable()),
         stride(op.getTable(), 0), pointer(op.getScores()),
         stride(op.getScores(), 0));
    line("    {}, {});", (*this)[op.getTask()], (*this)[op.getQueries()]);
  }

  void emitCall(GenericSelectRowOp op) {
    comment("winnow/generic/select_row.h", "generic_select_row",
            "the row and head of this workgroup, and what the row sees.");
    variables[op.getRow()] = "row";
    line("const generic::SelectRow row = generic::select_row<{}>({});", shape,
         pointer(op.getSeqLens()));
  }

  void emitCall(GenericSelectRaggedRowOp op) {
    comment("winnow/generic/ragged_select.h", "generic_select_ragged_row",
            "this workgroup's row and head, and what they see.");
    variables[op.getRow()] = "row";
    line("const generic::SelectRow row =");
    line("    generic::select_ragged_row<{}>({}, {}, {});", shape,
         pointer(op.getSeqLens()), pointer(op.getCuSeqlens()),
         extent(op.getSeqLens(), 0));
  }

  void emitCall(GenericFindCutOp op) {
    comment("winnow/generic/find_cut.h", "generic_find_cut",
            "the least that is kept, by radix select.");
    variables[op.getCut()] = "cut";
    line("WINNOW_SHARED generic::SelectStorage<{}> {};", shape, selecting);
    line("const u64 cut = generic::find_cut<{}>({}, {}, {}, {});", shape,
         pointer(op.getScores()), stride(op.getScores(), 0),
         (*this)[op.getRow()], selecting);
  }

  void emitCall(GenericSortKeptOp op) {
    comment("winnow/generic/sort_kept.h", "generic_sort_kept",
            "the kept blocks in their final order.");
    variables[op.getRanking()] = selecting;
    line("generic::sort_kept<{}>({}, {}, {}, {}, {});", shape,
         pointer(op.getScores()), stride(op.getScores(), 0),
         (*this)[op.getCut()], (*this)[op.getRow()], selecting);
  }

  void emitCall(GenericStoreSelectionOp op) {
    comment("winnow/generic/store_selection.h", "generic_store_selection",
            "the block ids, in selection order.");
    line("generic::store_selection<{}>({}, {}, {}, {}, {});", shape,
         (*this)[op.getRow()], (*this)[op.getRanking()],
         pointer(op.getIndices()), stride(op.getIndices(), op.getHeadAxis()),
         stride(op.getIndices(), op.getRowAxis()));
  }

  void emitCall(GenericEmitPagesOp op) {
    comment("winnow/generic/page_table.h", "generic_emit_pages",
            "the attention's page table and context length.");
    line("generic::emit_pages<{}>({}, {}, {}, {},", shape, (*this)[op.getRow()],
         (*this)[op.getRanking()], pointer(op.getTable()),
         stride(op.getTable(), 0));
    line("    {}, {}, {});", pointer(op.getPages()), stride(op.getPages(), 0),
         pointer(op.getContextLens()));
  }

  KernelOp kernel;
  std::string shape;
  std::string &text;
  llvm::SetVector<StringRef> &headers;
  unsigned depth = 0;
  std::string element; // of the queries and keys
  std::string page;    // the variable of the page walk around the slices
  // How waves without a part in the rest of a selection leave it, and the local
  // memory that it is made in: scoring may have some of that name before it.
  std::string done = "return", selecting = "storage";
  llvm::DenseMap<Value, std::string> variables;
  llvm::DenseMap<unsigned, std::string> pointers;
  llvm::DenseMap<std::pair<unsigned, unsigned>, std::string> strides, extents;
};

/// The architecture whose header the matrix kernels among these stand on. The
/// others know none.
StringRef archOf(ArrayRef<KernelOp> kernels) {
  for (KernelOp kernel : kernels)
    if (auto arch = kernel->getAttrOfType<StringAttr>(kArchAttr);
        arch && loweringOf(kernel).usesMatrixUnits())
      return arch.getValue();
  return "gfx950";
}

/// The constants of one kernel as a struct.
std::string emitShape(KernelOp kernel) {
  std::string text =
      fmt::format("/// Constants of {}.\nstruct {} {{\n",
                  kernel.getSymName().str(), kernel.getShapeName().str());
  for (NamedAttribute constant : kernel.getShape()) {
    auto value = cast<IntegerAttr>(constant.getValue());
    bool flag = isa<BoolAttr>(value);
    text +=
        fmt::format("  static constexpr {} {} = {};\n", flag ? "bool" : "int",
                    constant.getName().getValue().str(),
                    flag ? (value.getValue().isZero() ? "false" : "true")
                         : std::to_string(value.getInt()));
  }
  text += "};\n";
  if (isJoined(kernel))
    text += fmt::format("using Score = {0};\nusing Select = {0};\n",
                        kernel.getShapeName().str());
  return text;
}

/// The names that contracts know the constants of a kernel by.
std::vector<std::string> structsOf(KernelOp kernel) {
  if (isJoined(kernel)) // its struct has the names of both, too
    return {"Score", "Select"};
  return {kernel.getShapeName().str()};
}

/// The structs of the entry's kernels that facts have constants in.
std::vector<std::string> deviceStructsOf(func::FuncOp entry) {
  std::vector<std::string> structs;
  for (const std::string &name : contract::deviceStructs())
    if (llvm::any_of(kernelsOf(entry), [&](KernelOp kernel) {
          return llvm::is_contained(structsOf(kernel), name);
        }))
      structs.push_back(name);
  return structs;
}

/// The limits of the entry's contract and of the lowering's own, as far as the
/// constants state them. A limit that both have is asserted once.
std::string emitAssertions(func::FuncOp entry) {
  contract::Facts facts = factsOf(entry);
  std::string text;
  llvm::SetVector<llvm::StringRef> seen;
  std::vector<std::string> kept;
  auto keep = [&](const contract::Contract &limits,
                  const std::vector<std::string> &structs) {
    for (std::string &assertion :
         contract::staticAssertions(limits, facts, structs))
      kept.push_back(std::move(assertion));
  };
  if (auto name = entry->getAttrOfType<StringAttr>(kContractAttr))
    if (const contract::Contract *limits =
            contract::find(name.getValue().str()))
      keep(*limits, deviceStructsOf(entry));
  // A lowering's limits are about its own kernels.
  for (KernelOp kernel : kernelsOf(entry))
    keep(loweringContract(entry).about(operationsOf(kernel)),
         structsOf(kernel));
  for (const std::string &assertion : kept)
    if (seen.insert(StringRef(assertion).split('\n').first))
      text += assertion + "\n";
  return text;
}

} // namespace

FailureOr<std::string> winnow::emitHip(func::FuncOp entry) {
  SmallVector<KernelOp> kernels;
  for (auto launch : entry.getOps<LaunchOp>()) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<KernelOp>(
        launch, launch.getKernelAttr());
    if (!kernel)
      return launch.emitOpError("launches no winnow.kernel"), failure();
    kernels.push_back(kernel);
  }
  if (kernels.empty())
    return entry.emitOpError("launches no kernel; run winnow-schedule first"),
           failure();

  std::string constants, bodies;
  llvm::SetVector<StringRef> headers;
  headers.insert("winnow/arch/portable.h");
  for (KernelOp kernel : kernels) {
    constants += emitShape(kernel) + "\n";
    bodies += "\n";
    if (failed(KernelEmitter(kernel, bodies, headers).emit()))
      return failure();
  }

  return fmt::format(
      "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
      "// Generated by Winnow from the entry '{}', for {}.\n"
      "// Change the description, not this file.\n\n"
      "//===--- Constants ---===//\n\n"
      "{}{}\n"
      "{}"
      "//===--- Kernels ---===//\n\n"
      "using namespace winnow;\n{}",
      entry.getSymName().str(), llvm::join(archsOf(entry), ", "), constants,
      emitAssertions(entry),
      inlineTemplates(headers.getArrayRef(), archOf(kernels)), bodies);
}
