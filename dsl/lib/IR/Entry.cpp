// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an entry function has to look like (see Entry.h).
#include "winnow/IR/Entry.h"

#include "winnow/IR/Winnow.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace winnow;

bool winnow::isSourceName(StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

bool winnow::isEntry(func::FuncOp func) { return func->hasAttr(kEntryAttr); }

/// An integer of a dictionary that the dialect's attribute verifier accepts.
static int64_t getInteger(DictionaryAttr dictionary, StringRef key) {
  auto value = dictionary.getAs<IntegerAttr>(key);
  return value ? value.getInt() : 0;
}

std::optional<EntryBounds> winnow::getEntryBounds(func::FuncOp func) {
  auto bounds = func->getAttrOfType<DictionaryAttr>(kBoundsAttr);
  if (!bounds)
    return std::nullopt;
  EntryBounds result{getInteger(bounds, "max_seq_len"),
                     getInteger(bounds, "max_requests"), std::nullopt,
                     std::nullopt, std::nullopt};
  auto optional = [&](StringRef name, std::optional<int64_t> &value) {
    if (bounds.contains(name))
      value = getInteger(bounds, name);
  };
  optional("max_pages", result.maxPages);
  optional("max_query_len", result.maxQueryLen);
  optional("max_rows", result.maxRows);
  return result;
}

std::optional<AttentionFacts> winnow::getAttention(func::FuncOp func) {
  auto attention = func->getAttrOfType<DictionaryAttr>(kAttentionAttr);
  if (!attention)
    return std::nullopt;
  AttentionFacts facts{getInteger(attention, "kv_heads"),
                       getInteger(attention, "page_size"), std::nullopt};
  if (attention.contains("block_pages"))
    facts.blockPages = getInteger(attention, "block_pages");
  return facts;
}

std::optional<StringRef> winnow::getContractName(func::FuncOp func) {
  auto name = func->getAttrOfType<StringAttr>(kContractAttr);
  return name ? std::optional(name.getValue()) : std::nullopt;
}

// Files have names of at most 255 bytes, and endings of their own.
static constexpr size_t kMaxEntryName = 100;

/// Callers hand over the address of the first element and steps from 0 up.
static LogicalResult verifyPlace(func::FuncOp func, BlockArgument argument) {
  auto type = cast<MemRefType>(argument.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return success(); // the operations say what they take
  auto problem = [&]() {
    return emitError(argument.getLoc())
           << "argument #" << argument.getArgNumber() << " of entry '"
           << func.getName() << "' has ";
  };
  if (!ShapedType::isDynamic(offset) && offset != 0)
    return problem() << "offset " << offset
                     << ", wanted none or ?: a caller gives the address of the "
                        "first element, found "
                     << type;
  for (auto [axis, stride] : llvm::enumerate(strides))
    if (!ShapedType::isDynamic(stride) && stride < 0)
      return problem() << "stride " << stride << " along axis " << axis
                       << ", wanted one from 0 up or ?, found " << type;
  return success();
}

static LogicalResult verifySignature(func::FuncOp func) {
  if (!isSourceName(func.getName()))
    return func.emitError() << "an entry has to be named by a C identifier, "
                               "which its kernels are named after, found '"
                            << func.getName() << "'";
  if (func.getName().size() > kMaxEntryName)
    return func.emitError() << "an entry's name has at most " << kMaxEntryName
                            << " characters, for files are named after it; "
                               "found "
                            << func.getName().size();
  if (func.isExternal())
    return func.emitError() << "entry '" << func.getName()
                            << "' needs a body, found a declaration";
  for (BlockArgument argument : func.getArguments())
    if (!isa<MemRefType>(argument.getType()))
      return emitError(argument.getLoc())
             << "argument #" << argument.getArgNumber() << " of entry '"
             << func.getName() << "' has to be a memref, found "
             << argument.getType();
  for (BlockArgument argument : func.getArguments())
    if (failed(verifyPlace(func, argument)))
      return failure();
  if (func.getNumResults() != 0)
    return func.emitError()
           << "entry '" << func.getName() << "' has to have no results, found "
           << func.getResultTypes();
  if (!getEntryBounds(func))
    return func.emitError() << "entry '" << func.getName() << "' needs '"
                            << kBoundsAttr << "' = {max_seq_len, max_requests}";
  return success();
}

static LogicalResult verifyBody(func::FuncOp func) {
  if (!func.getBody().hasOneBlock())
    return func.emitError()
           << "the body of entry '" << func.getName()
           << "' has to be one block, found "
           << std::distance(func.getBody().begin(), func.getBody().end());
  for (Operation &op : func.getBody().front()) {
    if (isa<func::ReturnOp>(op) ||
        op.getName().getDialectNamespace() == "winnow")
      continue;
    InFlightDiagnostic diag =
        op.emitError() << "an entry holds operations of the winnow dialect "
                          "only, found '"
                       << op.getName() << "'";
    diag.attachNote(func.getLoc()) << "the entry is here";
    return diag;
  }
  return success();
}

/// What ranks exchange lies between their candidates and the merge, so the two
/// are entries of their own.
static LogicalResult verifyMerge(func::FuncOp func) {
  auto merges = func.getBody().getOps<MergeCandidatesOp>();
  auto scores = func.getBody().getOps<BlockScoreOp>();
  if (merges.empty() || scores.empty())
    return success();
  InFlightDiagnostic diag =
      (*merges.begin()).emitOpError()
      << "is in one entry with a winnow.block_score; the candidates of all "
         "ranks are there after the ranks exchanged them, so the merge needs "
         "an entry of its own";
  diag.attachNote((*scores.begin()).getLoc()) << "the other operation is here";
  return diag;
}

bool winnow::isStepOp(Operation *op) {
  return isa<RebaseTableOp, RebaseSlotsOp, InsertKeysOp>(op);
}

/// The operations of an indexer become few launches that read their inputs
/// before it is certain that they have written any output, so outputs and
/// inputs are kept apart. An operation of a step is a launch of its own: those
/// after it read what it wrote, and it may work in place. Every memref has one
/// writer.
static LogicalResult verifyWrites(func::FuncOp func) {
  llvm::DenseMap<Value, Operation *> writers;
  SmallVector<std::pair<Value, Operation *>> reads;
  bool writes = false;
  for (Operation &op : func.getBody().front()) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects) {
      // Of unknown effects, a kernel for example: it may write anything.
      writes |= !isa<func::ReturnOp>(op);
      continue;
    }
    SmallVector<MemoryEffects::EffectInstance> instances;
    effects.getEffects(instances);
    for (const MemoryEffects::EffectInstance &instance : instances) {
      bool isWrite = isa<MemoryEffects::Write>(instance.getEffect());
      writes |= isWrite;
      Value value = instance.getValue();
      if (!value)
        continue;
      if (!isWrite) {
        reads.emplace_back(value, &op);
        continue;
      }
      auto [known, isFirst] = writers.try_emplace(value, &op);
      if (isFirst)
        continue;
      InFlightDiagnostic diag = op.emitOpError()
                                << "writes a memref of type " << value.getType()
                                << " that is written already";
      diag.attachNote(known->second->getLoc()) << "the other write is here";
      return diag;
    }
  }
  for (auto [value, reader] : reads) {
    Operation *writer = writers.lookup(value);
    bool inPlace =
        writer == reader && isa<RebaseTableOp, RebaseSlotsOp>(reader);
    if (!writer || inPlace ||
        (isStepOp(writer) && writer->isBeforeInBlock(reader)))
      continue;
    InFlightDiagnostic diag = writer->emitOpError()
                              << "writes a memref of type " << value.getType()
                              << " that is read as well";
    diag.attachNote(reader->getLoc()) << "the read is here";
    return diag;
  }
  if (!writes)
    return func.emitError() << "entry '" << func.getName()
                            << "' writes nothing: it needs a "
                               "winnow.store_selection, winnow.remap_pages or "
                               "winnow.store_candidates";
  return success();
}

int64_t winnow::getTableSides(RemapPagesOp remap) {
  int64_t sides = remap.getTableSides();
  for (OpOperand &use : remap.getAttentionTable().getUses())
    if (auto rebase = dyn_cast<RebaseTableOp>(use.getOwner()))
      if (use.getOperandNumber() ==
              rebase.getOutputMutable().getOperandNumber() &&
          rebase->getBlock() == remap->getBlock() &&
          rebase->isBeforeInBlock(remap))
        sides *= rebase.getSides();
  return sides;
}

/// What a block spans in the attention's cache, as the attention is said to
/// read it and as remap_pages numbers it through its table.
static LogicalResult verifyBlockPages(func::FuncOp func) {
  std::optional<AttentionFacts> attention = getAttention(func);
  if (!attention || !attention->blockPages)
    return success();
  for (auto remap : func.getBody().getOps<RemapPagesOp>()) {
    int64_t perBlock = remap.getPagesPerBlock(), sides = getTableSides(remap);
    if (perBlock * sides == *attention->blockPages)
      continue;
    InFlightDiagnostic diag =
        remap.emitOpError()
        << "numbers " << perBlock * sides
        << " pages a block (pages_per_block = " << perBlock
        << ", times a table scaled by " << sides
        << "), but the attention's block_pages is " << *attention->blockPages;
    diag.attachNote(func.getLoc()) << "block_pages is given here";
    return diag;
  }
  return success();
}

/// Rebased entries and slots of the largest page that the bounds allow have to
/// fit 32 bits.
static LogicalResult verifyRebasedNumbers(func::FuncOp func) {
  constexpr uint64_t numbers = uint64_t(1) << 31;
  std::optional<int64_t> maxPages = getEntryBounds(func)->maxPages;
  if (!maxPages)
    return success();
  for (Operation &op : func.getBody().front()) {
    uint64_t count = *maxPages;
    StringRef what;
    auto scale = [&](std::initializer_list<int64_t> factors) {
      for (int64_t factor : factors)
        count = llvm::SaturatingMultiply(count, static_cast<uint64_t>(factor));
    };
    if (auto rebase = dyn_cast<RebaseTableOp>(op)) {
      scale({rebase.getSides()});
      what = "max_pages * sides";
    } else if (auto rebase = dyn_cast<RebaseSlotsOp>(op)) {
      scale({rebase.getBlockSize(), rebase.getSides()});
      what = "max_pages * block_size * sides";
    } else if (auto remap = dyn_cast<RemapPagesOp>(op)) {
      // Without a scaled table this is a lowering's limit.
      if (getTableSides(remap) == 1)
        continue;
      scale(
          {getTableSides(remap), remap.getPagesPerBlock(), remap.getKvHeads()});
      what = "max_pages * sides * pages_per_block * kv_heads";
    } else {
      continue;
    }
    if (count <= numbers)
      continue;
    InFlightDiagnostic diag = op.emitOpError()
                              << "makes numbers up to " << what << " = "
                              << count << ", more than the " << numbers
                              << " that 32 bits hold";
    diag.attachNote(func.getLoc()) << "max_pages is given here";
    return diag;
  }
  return success();
}

/// Static extents have to hold what the bounds allow.
static LogicalResult verifyAgainstBounds(func::FuncOp func) {
  EntryBounds bounds = *getEntryBounds(func);
  auto verifyTable = [&](Operation *op, StringRef operand, MemRefType type,
                         int64_t blockSize) -> LogicalResult {
    int64_t blocks = (bounds.maxSeqLen + blockSize - 1) / blockSize;
    if (type.isDynamicDim(1) || type.getDimSize(1) >= blocks)
      return success();
    InFlightDiagnostic diag =
        op->emitOpError() << "axis 1 of " << operand << " has to be at least "
                          << blocks << " (" << bounds.maxSeqLen
                          << " tokens in blocks of " << blockSize << "), found "
                          << type.getDimSize(1) << " in " << type;
    diag.attachNote(func.getLoc()) << "max_seq_len is given here";
    return diag;
  };
  auto verifyMost = [&](Operation *op, StringRef what, MemRefType type,
                        StringRef bound, int64_t most,
                        unsigned axis = 0) -> LogicalResult {
    if (type.isDynamicDim(axis) || type.getDimSize(axis) <= most)
      return success();
    InFlightDiagnostic diag = op->emitOpError()
                              << "axis " << axis << " of " << what
                              << " has to be at most " << bound << ", " << most
                              << ", found " << type.getDimSize(axis) << " in "
                              << type;
    diag.attachNote(func.getLoc()) << bound << " is given here";
    return diag;
  };
  for (Operation &op : func.getBody().front()) {
    if (auto rows = dyn_cast<UniformRowsOp>(op))
      if (failed(verifyMost(&op, "lens (requests)", rows.getLens().getType(),
                            "max_requests", bounds.maxRequests)))
        return failure();
    if (auto rows = dyn_cast<RaggedRowsOp>(op)) {
      for (auto [name, value] :
           {std::pair(StringRef("max_query_len"), bounds.maxQueryLen),
            std::pair(StringRef("max_rows"), bounds.maxRows)}) {
        if (value)
          continue;
        InFlightDiagnostic diag = op.emitOpError()
                                  << "needs '" << name << "' in '"
                                  << kBoundsAttr << "'";
        diag.attachNote(func.getLoc()) << "the bounds are given here";
        return diag;
      }
      if (failed(verifyMost(&op, "lens (requests)", rows.getLens().getType(),
                            "max_requests", bounds.maxRequests)))
        return failure();
    }
    if (auto merge = dyn_cast<MergeCandidatesOp>(op))
      if (merge.getRows().getType().isRagged() && bounds.maxRows &&
          failed(verifyMost(&op, "ids (rows)", merge.getIds().getType(),
                            "max_rows", *bounds.maxRows, 2)))
        return failure();
    if (auto score = dyn_cast<BlockScoreOp>(op))
      if (score.getRows().getType().isRagged() && bounds.maxRows &&
          failed(verifyMost(&op, "query (rows)", score.getQuery().getType(),
                            "max_rows", *bounds.maxRows)))
        return failure();
    if (auto score = dyn_cast<BlockScoreOp>(op))
      if (failed(verifyTable(&op, "index_table",
                             score.getIndexTable().getType(),
                             score.getScores().getType().getBlockSize())))
        return failure();
    if (auto remap = dyn_cast<RemapPagesOp>(op))
      if (failed(verifyTable(&op, "attention_table",
                             remap.getAttentionTable().getType(),
                             remap.getSelection().getType().getBlockSize())))
        return failure();
  }
  return success();
}

LogicalResult winnow::verifyEntry(func::FuncOp func) {
  if (failed(verifySignature(func)) || failed(verifyBody(func)))
    return failure();
  return success(succeeded(verifyWrites(func)) &&
                 succeeded(verifyMerge(func)) &&
                 succeeded(verifyAgainstBounds(func)) &&
                 succeeded(verifyRebasedNumbers(func)) &&
                 succeeded(verifyBlockPages(func)));
}
