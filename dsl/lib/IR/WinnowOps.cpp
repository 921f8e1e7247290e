// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Result types and verifiers of the operations of a description. A fact that a
// result type carries is checked where that type is inferred, which the parser
// and the verifier both do; everything else is checked in verify().
#include "winnow/IR/Winnow.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace winnow;

#define GET_OP_CLASSES
#include "winnow/IR/WinnowOps.cpp.inc"

void WinnowDialect::registerOperations() {
  addOperations<
#define GET_OP_LIST
#include "winnow/IR/WinnowOps.cpp.inc"
      >();
}

/// Head dims are loaded in whole vectors of 8 elements, in every lowering.
static constexpr int64_t kHeadDimStep = 8;
static constexpr int64_t kMaxHeadDim = 4096;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

/// An error of `OpT` while its result type is inferred, when the operation need
/// not exist yet.
template <typename OpT>
static InFlightDiagnostic emitInferenceError(MLIRContext *context,
                                             std::optional<Location> location) {
  return emitError(location.value_or(UnknownLoc::get(context)))
         << "'" << OpT::getOperationName() << "' op ";
}

/// Checks that axis `axis` of an operand is static and in the range of `spec`.
template <typename OpT>
static LogicalResult
inferExtent(MLIRContext *context, std::optional<Location> location,
            StringRef operand, MemRefType type, unsigned axis,
            const OptionSpec &spec, StringRef what) {
  int64_t extent = type.getDimSize(axis);
  if (!ShapedType::isDynamic(extent) && extent >= spec.min &&
      extent <= spec.max)
    return success();
  return emitInferenceError<OpT>(context, location)
         << "axis " << axis << " of " << operand << " (" << what
         << ") has to be " << spec.describe() << ", found "
         << extentText(extent) << " in " << type;
}

/// The rows behind a value, as far as they are in sight.
struct BatchRows {
  Operation *op = nullptr;      ///< uniform_rows or ragged_rows
  TypedValue<MemRefType> lens;  ///< one for each request
  TypedValue<MemRefType> query; ///< one for each row; null if out of sight
  int64_t queryLen = 0;         ///< rows of each request; 0 if ragged
  explicit operator bool() const { return op; }
};

static BatchRows findRows(Value value) {
  BatchRows rows;
  if (auto topk = value.getDefiningOp<TopKOp>())
    value = topk.getScores();
  if (auto merge = value.getDefiningOp<MergeCandidatesOp>())
    value = merge.getRows();
  if (auto score = value.getDefiningOp<BlockScoreOp>()) {
    rows.query = score.getQuery();
    value = score.getRows();
  }
  if (auto uniform = value.getDefiningOp<UniformRowsOp>()) {
    rows.op = uniform;
    rows.lens = uniform.getLens();
    rows.queryLen = uniform.getQueryLen();
  } else if (auto ragged = value.getDefiningOp<RaggedRowsOp>()) {
    rows.op = ragged;
    rows.lens = ragged.getLens();
  }
  return rows;
}

/// Checks axis `axis` of an operand against `perRow` entries for each row, when
/// both it and the number of rows are static. `perRowText` says what they are.
static LogicalResult verifyRowCount(Operation *op, StringRef operand,
                                    MemRefType type, unsigned axis,
                                    const BatchRows &rows, int64_t perRow = 1,
                                    StringRef perRowText = "") {
  if (!rows || type.isDynamicDim(axis))
    return success();
  int64_t found = type.getDimSize(axis);
  if (rows.queryLen == 0) { // ragged: as many as queries
    // An extent of more than 2^31 is the entry's to refuse.
    if (!rows.query || rows.query.getType().isDynamicDim(0) ||
        rows.query.getType().getDimSize(0) >
            std::numeric_limits<int32_t>::max())
      return success();
    int64_t count = rows.query.getType().getDimSize(0);
    if (found == count * perRow)
      return success();
    InFlightDiagnostic diag = op->emitOpError()
                              << "axis " << axis << " of " << operand
                              << " has to be " << count * perRow << " ("
                              << count << " rows" << perRowText << "), found "
                              << found << " in " << type;
    diag.attachNote(rows.query.getLoc()) << "the rows are counted here";
    return diag;
  }
  if (rows.lens.getType().isDynamicDim(0))
    return success();
  // Both factors are at most 2^32, and extents fit 63 bits: no overflow below
  // 2^31 requests, which is more than an entry may have.
  int64_t perRequest = rows.queryLen * perRow;
  int64_t requests = rows.lens.getType().getDimSize(0);
  if (requests > std::numeric_limits<int32_t>::max() ||
      found == requests * perRequest)
    return success();
  InFlightDiagnostic diag =
      op->emitOpError() << "axis " << axis << " of " << operand << " has to be "
                        << requests * perRequest << " (" << requests
                        << " requests of query_len rows" << perRowText
                        << "), found " << found << " in " << type;
  diag.attachNote(rows.op->getLoc()) << "the requests are counted here";
  return diag;
}

/// A table has at least one row for each request.
static LogicalResult verifyTableRows(Operation *op, StringRef operand,
                                     MemRefType type, const BatchRows &rows) {
  if (!rows || rows.lens.getType().isDynamicDim(0) || type.isDynamicDim(0) ||
      type.getDimSize(0) >= rows.lens.getType().getDimSize(0))
    return success();
  InFlightDiagnostic diag = op->emitOpError()
                            << "axis 0 of " << operand
                            << " has to be at least the number of requests, "
                            << rows.lens.getType().getDimSize(0) << ", found "
                            << type.getDimSize(0) << " in " << type;
  diag.attachNote(rows.op->getLoc()) << "the requests are counted here";
  return diag;
}

/// Head dims are static multiples of the vectors that lanes load.
static LogicalResult verifyHeadDim(Operation *op, StringRef operand,
                                   MemRefType type, unsigned axis) {
  int64_t headDim = type.getDimSize(axis);
  if (!ShapedType::isDynamic(headDim) && headDim >= kHeadDimStep &&
      headDim <= kMaxHeadDim && headDim % kHeadDimStep == 0)
    return success();
  return op->emitOpError() << "axis " << axis << " of " << operand
                           << " (head dim) has to be a multiple of "
                           << kHeadDimStep << " from " << kHeadDimStep << " to "
                           << kMaxHeadDim << ", found " << extentText(headDim)
                           << " in " << type;
}

/// What is copied entry by entry has to find room; the error names both shapes.
static LogicalResult verifyHolds(Operation *op, MemRefType input,
                                 MemRefType output) {
  for (auto [axis, wanted] : llvm::enumerate(input.getShape()))
    if (!input.isDynamicDim(axis) && !output.isDynamicDim(axis) &&
        output.getDimSize(axis) < wanted)
      return op->emitOpError()
             << "axis " << axis << " of output has to be at least " << wanted
             << ", that of input, found " << output.getDimSize(axis) << " in "
             << output << " for " << input;
  return success();
}

/// A written memref whose rows overlap would be written twice.
static LogicalResult verifyDisjointRows(Operation *op, StringRef operand,
                                        MemRefType type) {
  std::optional<OverlappingAxis> overlap = findOverlappingAxis(type);
  if (!overlap)
    return success();
  return op->emitOpError() << "the rows of " << operand << " overlap: axis "
                           << overlap->axis << " has stride " << overlap->stride
                           << " and a row " << overlap->rowExtent
                           << " entries, in " << type;
}

//===----------------------------------------------------------------------===//
// uniform_rows
//===----------------------------------------------------------------------===//

void UniformRowsOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getRows(), "rows");
}

LogicalResult UniformRowsOp::inferReturnTypes(MLIRContext *context,
                                              std::optional<Location> location,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  types.push_back(RowsType::getChecked(
      [&] { return emitInferenceError<UniformRowsOp>(context, location); },
      context, adaptor.getQueryLen()));
  return success(types.back() != nullptr);
}

LogicalResult UniformRowsOp::verify() {
  return verifyOptions(*this, getOptionSpecs());
}

//===----------------------------------------------------------------------===//
// ragged_rows
//===----------------------------------------------------------------------===//

void RaggedRowsOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getRows(), "rows");
}

LogicalResult RaggedRowsOp::inferReturnTypes(MLIRContext *context,
                                             std::optional<Location>, Adaptor,
                                             SmallVectorImpl<Type> &types) {
  types.push_back(RowsType::get(context, /*query_len=*/0));
  return success();
}

LogicalResult RaggedRowsOp::verify() {
  if (failed(verifyOptions(*this, {})))
    return failure();
  MemRefType lens = getLens().getType(), offsets = getCuSeqlens().getType();
  if (lens.isDynamicDim(0) || offsets.isDynamicDim(0) ||
      offsets.getDimSize(0) - 1 == lens.getDimSize(0))
    return success();
  return emitOpError() << "axis 0 of cu_seqlens has to be one more than that "
                          "of lens (requests), found "
                       << offsets.getDimSize(0) << " in " << offsets << " and "
                       << lens.getDimSize(0) << " in " << lens;
}

//===----------------------------------------------------------------------===//
// block_score
//===----------------------------------------------------------------------===//

void BlockScoreOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getScores(), "scores");
}

LogicalResult BlockScoreOp::inferReturnTypes(MLIRContext *context,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  auto query = dyn_cast<MemRefType>(adaptor.getQuery().getType());
  auto keys = dyn_cast<MemRefType>(adaptor.getKeys().getType());
  auto rows = dyn_cast<RowsType>(adaptor.getRows().getType());
  if (!query || query.getRank() != 3)
    return emitInferenceError<BlockScoreOp>(context, location)
           << "query has to be a memref [rows, heads, head_dim], found "
           << adaptor.getQuery().getType();
  if (!keys || keys.getRank() != 3)
    return emitInferenceError<BlockScoreOp>(context, location)
           << "keys have to be a memref [pages, block_size, head_dim], found "
           << adaptor.getKeys().getType();
  // Only without verification can the rows be of another type.
  if (!rows)
    return failure();

  ArrayRef<OptionSpec> facts = ScoresType::getOptionSpecs();
  if (failed(inferExtent<BlockScoreOp>(context, location, "query", query, 1,
                                       facts[1], "index heads")) ||
      failed(inferExtent<BlockScoreOp>(context, location, "keys", keys, 1,
                                       facts[2], "tokens of a block")))
    return failure();
  types.push_back(ScoresType::get(context, rows.getQueryLen(),
                                  query.getDimSize(1), keys.getDimSize(1)));
  return success();
}

LogicalResult BlockScoreOp::verify() {
  if (failed(verifyOptions(*this, getOptionSpecs())))
    return failure();
  if (getRank() >= getWorld())
    return emitOpError() << "rank has to be below world, " << getWorld()
                         << ", found " << getRank();
  MemRefType query = getQuery().getType();
  MemRefType keys = getKeys().getType();

  if (query.getElementType() != keys.getElementType()) {
    InFlightDiagnostic diag = emitOpError()
                              << "query and keys have to be of one number "
                                 "format, found "
                              << query.getElementType() << " and "
                              << keys.getElementType();
    diag.attachNote(getKeys().getLoc()) << "the keys come from here";
    return diag;
  }
  int64_t headDim = query.getDimSize(2);
  if (failed(verifyHeadDim(*this, "query", query, 2)))
    return failure();
  if (keys.getDimSize(2) != headDim) {
    InFlightDiagnostic diag =
        emitOpError() << "axis 2 of keys (head dim) has to be that of the "
                         "query, "
                      << headDim << ", found " << extentText(keys.getDimSize(2))
                      << " in " << keys;
    diag.attachNote(getQuery().getLoc()) << "the query comes from here";
    return diag;
  }

  BatchRows rows = findRows(getRows());
  if (failed(verifyRowCount(*this, "query", query, 0, rows)))
    return failure();
  return verifyTableRows(*this, "index_table", getIndexTable().getType(), rows);
}

//===----------------------------------------------------------------------===//
// topk
//===----------------------------------------------------------------------===//

void TopKOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getSelection(), "selection");
}

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto scores = dyn_cast<ScoresType>(adaptor.getScores().getType());
  // Only without verification can the scores be of another type.
  if (!scores)
    return failure();
  types.push_back(SelectionType::getChecked(
      [&] { return emitInferenceError<TopKOp>(context, location); }, context,
      scores.getQueryLen(), scores.getHeads(), scores.getBlockSize(),
      adaptor.getK()));
  return success(types.back() != nullptr);
}

LogicalResult TopKOp::verify() {
  return verifyOptions(*this, getOptionSpecs());
}

//===----------------------------------------------------------------------===//
// store_candidates, merge_candidates
//===----------------------------------------------------------------------===//

LogicalResult StoreCandidatesOp::verify() {
  if (failed(verifyOptions(*this, {})))
    return failure();
  // Only a topk has scores to hand on.
  if (!getSelection().getDefiningOp<TopKOp>()) {
    InFlightDiagnostic diag =
        emitOpError() << "takes the selection of a winnow.topk, whose scores "
                         "it hands on";
    diag.attachNote(getSelection().getLoc()) << "the selection comes from here";
    return diag;
  }
  SelectionType selection = getSelection().getType();
  BatchRows rows = findRows(getSelection());
  for (auto [name, type] :
       {std::pair(StringRef("ids"), getIds().getType()),
        std::pair(StringRef("scores"), getScores().getType())}) {
    for (auto [axis, what, wanted] :
         {std::tuple(0u, StringRef("index heads"), selection.getHeads()),
          std::tuple(2u, StringRef("k"), selection.getK())}) {
      if (type.getDimSize(axis) == wanted)
        continue;
      InFlightDiagnostic diag =
          emitOpError() << "axis " << axis << " of " << name << " (" << what
                        << ") has to be that of the selection, " << wanted
                        << ", found " << extentText(type.getDimSize(axis))
                        << " in " << type;
      diag.attachNote(getSelection().getLoc()) << "the selection is made here";
      return diag;
    }
    if (failed(verifyRowCount(*this, name, type, 1, rows)) ||
        failed(verifyDisjointRows(*this, name, type)))
      return failure();
  }
  return success();
}

void MergeCandidatesOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getSelection(), "selection");
}

LogicalResult MergeCandidatesOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto ids = dyn_cast<MemRefType>(adaptor.getIds().getType());
  auto rows = dyn_cast<RowsType>(adaptor.getRows().getType());
  if (!ids || ids.getRank() != 4)
    return emitInferenceError<MergeCandidatesOp>(context, location)
           << "ids have to be a memref [world, heads, rows, k], found "
           << adaptor.getIds().getType();
  // Only without verification can the rows be of another type.
  if (!rows)
    return failure();
  if (failed(inferExtent<MergeCandidatesOp>(context, location, "ids", ids, 1,
                                            ScoresType::getOptionSpecs()[1],
                                            "index heads")))
    return failure();
  types.push_back(SelectionType::getChecked(
      [&] { return emitInferenceError<MergeCandidatesOp>(context, location); },
      context, rows.getQueryLen(), ids.getDimSize(1), adaptor.getBlockSize(),
      adaptor.getK()));
  return success(types.back() != nullptr);
}

LogicalResult MergeCandidatesOp::verify() {
  if (failed(verifyOptions(*this, getOptionSpecs())))
    return failure();
  MemRefType ids = getIds().getType(), scores = getScores().getType();
  for (unsigned axis = 0; axis < 4; ++axis)
    if (ids.getDimSize(axis) != scores.getDimSize(axis))
      return emitOpError() << "axis " << axis
                           << " of scores has to be that of ids, "
                           << extentText(ids.getDimSize(axis)) << " in " << ids
                           << ", found " << extentText(scores.getDimSize(axis))
                           << " in " << scores;
  if (ids.isDynamicDim(3) || ids.getDimSize(3) < static_cast<int64_t>(getK()))
    return emitOpError() << "axis 3 of ids (candidates of a rank) has to be at "
                            "least k, "
                         << getK() << ", found "
                         << extentText(ids.getDimSize(3)) << " in " << ids;
  return verifyRowCount(*this, "ids", ids, 2, findRows(getRows()));
}

//===----------------------------------------------------------------------===//
// store_selection
//===----------------------------------------------------------------------===//

LogicalResult StoreSelectionOp::verify() {
  if (failed(verifyOptions(*this, getOptionSpecs())))
    return failure();
  SelectionType selection = getSelection().getType();
  MemRefType indices = getIndices().getType();
  bool headMajor = getLayout() == SelectionLayout::HeadMajor;

  // Static, both of them: a head-major buffer that is taken for a token-major
  // one would go unnoticed otherwise.
  auto verifyAxis = [&](unsigned axis, StringRef what,
                        int64_t wanted) -> LogicalResult {
    if (indices.getDimSize(axis) == wanted)
      return success();
    InFlightDiagnostic diag =
        emitOpError() << "axis " << axis << " of indices (" << what
                      << ", with layout = "
                      << stringifySelectionLayout(getLayout())
                      << ") has to be that of the selection, " << wanted
                      << ", found " << extentText(indices.getDimSize(axis))
                      << " in " << indices;
    diag.attachNote(getSelection().getLoc()) << "the selection is made here";
    return diag;
  };
  if (failed(
          verifyAxis(headMajor ? 0 : 1, "index heads", selection.getHeads())) ||
      failed(verifyAxis(2, "k", selection.getK())))
    return failure();
  if (failed(verifyRowCount(*this, "indices", indices, headMajor ? 1 : 0,
                            findRows(getSelection()))))
    return failure();
  return verifyDisjointRows(*this, "indices", indices);
}

//===----------------------------------------------------------------------===//
// remap_pages
//===----------------------------------------------------------------------===//

LogicalResult RemapPagesOp::verify() {
  if (failed(verifyOptions(*this, getOptionSpecs())))
    return failure();
  SelectionType selection = getSelection().getType();
  MemRefType pages = getPages().getType();
  MemRefType contextLens = getContextLens().getType();
  int64_t kvHeads = getKvHeads();
  int64_t pagesPerBlock = getPagesPerBlock();

  if (kvHeads % selection.getHeads() != 0) {
    InFlightDiagnostic diag =
        emitOpError() << "kv_heads has to be a multiple of the selection's "
                         "index heads, "
                      << selection.getHeads() << ", found " << kvHeads;
    diag.attachNote(getSelection().getLoc()) << "the selection is made here";
    return diag;
  }
  if (selection.getBlockSize() % pagesPerBlock != 0) {
    InFlightDiagnostic diag =
        emitOpError() << "pages_per_block has to divide the selection's block "
                         "size, "
                      << selection.getBlockSize() << ", found "
                      << pagesPerBlock;
    diag.attachNote(getSelection().getLoc()) << "the selection is made here";
    return diag;
  }
  int64_t entries = selection.getK() * pagesPerBlock;
  if (!pages.isDynamicDim(1) && pages.getDimSize(1) < entries)
    return emitOpError() << "axis 1 of pages has to be at least k * "
                            "pages_per_block = "
                         << selection.getK() << " * " << pagesPerBlock << " = "
                         << entries << ", found " << pages.getDimSize(1)
                         << " in " << pages;

  BatchRows rows = findRows(getSelection());
  StringRef perRow = " of kv_heads";
  if (failed(verifyRowCount(*this, "pages", pages, 0, rows, kvHeads, perRow)) ||
      failed(verifyRowCount(*this, "context_lens", contextLens, 0, rows,
                            kvHeads, perRow)))
    return failure();
  if (!pages.isDynamicDim(0) && !contextLens.isDynamicDim(0) &&
      pages.getDimSize(0) != contextLens.getDimSize(0))
    return emitOpError() << "pages and context_lens have to have one row for "
                            "each (row, kv head), found "
                         << pages.getDimSize(0) << " in " << pages << " and "
                         << contextLens.getDimSize(0) << " in " << contextLens;
  if (failed(verifyTableRows(*this, "attention_table",
                             getAttentionTable().getType(), rows)))
    return failure();
  return verifyDisjointRows(*this, "pages", pages);
}

//===----------------------------------------------------------------------===//
// rebase_table, rebase_slots, insert_keys
//===----------------------------------------------------------------------===//

LogicalResult RebaseTableOp::verify() {
  if (failed(verifyOptions(*this, getOptionSpecs())) ||
      failed(verifyHolds(*this, getInput().getType(), getOutput().getType())))
    return failure();
  return verifyDisjointRows(*this, "output", getOutput().getType());
}

LogicalResult RebaseSlotsOp::verify() {
  if (failed(verifyOptions(*this, getOptionSpecs())))
    return failure();
  return verifyHolds(*this, getInput().getType(), getOutput().getType());
}

LogicalResult InsertKeysOp::verify() {
  MemRefType keys = getKeys().getType(), slots = getSlots().getType(),
             cache = getCache().getType();
  if (failed(verifyOptions(*this, {})) ||
      failed(verifyHeadDim(*this, "keys", keys, 1)))
    return failure();
  if (cache.getDimSize(2) != keys.getDimSize(1))
    return emitOpError() << "axis 2 of cache (head dim) has to be that of the "
                            "keys, "
                         << keys.getDimSize(1) << " in " << keys << ", found "
                         << extentText(cache.getDimSize(2)) << " in " << cache;
  const OptionSpec &blockSize = ScoresType::getOptionSpecs()[2];
  if (cache.isDynamicDim(1) || !blockSize.accepts(cache.getDimSize(1)))
    return emitOpError() << "axis 1 of cache (tokens of a block) has to be "
                         << blockSize.describe() << ", found "
                         << extentText(cache.getDimSize(1)) << " in " << cache;
  if (!keys.isDynamicDim(0) && !slots.isDynamicDim(0) &&
      keys.getDimSize(0) != slots.getDimSize(0))
    return emitOpError() << "keys and slots have to be as many, found "
                         << keys.getDimSize(0) << " in " << keys << " and "
                         << slots.getDimSize(0) << " in " << slots;
  return verifyDisjointRows(*this, "cache", cache);
}
