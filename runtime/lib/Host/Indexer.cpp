// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An entry's facts as options of the reference, and its tensors.
#include "winnow/Host/Indexer.h"

#include <utility>

using namespace winnow;
using namespace winnow::host;
using runtime::Role;

namespace {

/// Reads facts and keeps the first that is missing or has an unknown value.
class FactReader {
public:
  explicit FactReader(const runtime::Entry &entry) : entry(entry) {}

  int64_t number(const char *fact, int64_t least) {
    const int64_t *value = entry.integer(fact);
    if (!value)
      note(std::string("has no number for the fact '") + fact + "'");
    else if (*value < least)
      note(std::string("has ") + fact + " = " + std::to_string(*value) +
           ", wanted at least " + std::to_string(least));
    return value && *value >= least ? *value : least;
  }
  int64_t numberOr(const char *fact, int64_t absent) {
    const int64_t *value = entry.integer(fact);
    return value ? *value : absent;
  }
  /// True for `yes`, false for `no` or an absent fact.
  bool choice(const char *fact, const char *yes, const char *no) {
    const std::string *value = entry.string(fact);
    if (!value || *value == no)
      return false;
    if (*value != yes)
      note(std::string("has ") + fact + " = '" + *value + "', wanted '" + yes +
           "' or '" + no + "'");
    return *value == yes;
  }
  void dtype(int argument, bool good, const char *wanted) {
    const runtime::TensorArgument &found = entry.arguments[argument];
    if (!good)
      note("has an argument '" + found.name + "' of " +
           std::string(runtime::dtypeName(found.dtype)) + ", wanted " + wanted);
  }
  void note(const std::string &what) {
    if (problem.message.empty())
      problem.message = "entry '" + entry.name + "' " + what;
  }

  const runtime::Entry &entry;
  Error problem;
};

constexpr int64_t kMaxTotal = int64_t(1) << 40;

} // namespace

Result<Indexer> Indexer::of(const runtime::Entry &entry) {
  FactReader facts(entry);
  Indexer indexer;
  indexer.entry = &entry;
  for (const runtime::Step &step : entry.steps) {
    StepCall call;
    call.kind = step.operation == "rebase_table"   ? StepCall::Kind::RebaseTable
                : step.operation == "rebase_slots" ? StepCall::Kind::RebaseSlots
                                                   : StepCall::Kind::InsertKeys;
    call.sides = step.sides;
    call.blockSize = step.blockSize;
    for (const std::string &name : step.operands)
      for (size_t i = 0; i < entry.arguments.size(); ++i)
        if (entry.arguments[i].name == name)
          call.operands.push_back(static_cast<int>(i));
    indexer.steps.push_back(std::move(call));
  }
  if (!indexer.steps.empty() && entry.indexOf(Role::Query) < 0 &&
      entry.indexOf(Role::SeqLens) < 0)
    return indexer;
  indexer.heads = facts.number("index_heads", 1);
  const bool merges = entry.indexOf(Role::RankIds) >= 0;
  if (!merges)
    indexer.headDim = facts.number("head_dim", 1);
  indexer.blockSize = facts.number("block_size", 1);
  indexer.cuSeqlens = entry.indexOf(Role::CuSeqlens);
  if (!indexer.ragged())
    indexer.queryLen = facts.number("query_len", 1);
  indexer.shardRank = facts.numberOr("shard_rank", 0);
  indexer.shardWorld = facts.numberOr("shard_world", 1);
  if (indexer.shardRank < 0 || indexer.shardRank >= indexer.shardWorld) {
    facts.note("has shard_rank = " + std::to_string(indexer.shardRank) +
               " of shard_world = " + std::to_string(indexer.shardWorld) +
               ", wanted 0 to shard_world - 1");
    indexer.shardRank = 0;
    indexer.shardWorld = 1;
  }
  indexer.keep = facts.number("k", 1);
  if (!merges) {
    indexer.score.initBlocks = facts.number("init_blocks", 0);
    indexer.score.localBlocks = facts.number("local_blocks", 0);
  }
  const std::string *reduction = entry.string("score_reduction");
  if (reduction && *reduction == "sum")
    indexer.score.reduction = reference::Reduction::Sum;
  else if (reduction && *reduction == "mean")
    indexer.score.reduction = reference::Reduction::Mean;
  else if (reduction && *reduction != "max")
    facts.note("has score_reduction = '" + *reduction +
               "', wanted 'max', 'sum' or 'mean'");
  indexer.topk.ties = facts.choice("ties", "lowest_block", "highest_block")
                          ? reference::Ties::LowestBlock
                          : reference::Ties::HighestBlock;
  indexer.topk.order = facts.choice("order", "ascending", "score_descending")
                           ? reference::Order::Ascending
                           : reference::Order::ScoreDescending;
  indexer.selectionPad =
      static_cast<int32_t>(facts.numberOr("selection_pad", -1));
  indexer.maxBlocks =
      (entry.maxSeqLen + indexer.blockSize - 1) / indexer.blockSize;

  const std::pair<Role, int *> roles[] = {
      {Role::Query, &indexer.query},
      {Role::Keys, &indexer.keys},
      {Role::IndexTable, &indexer.indexTable},
      {Role::SeqLens, &indexer.lens},
      {Role::RankIds, &indexer.rankIds},
      {Role::RankScores, &indexer.rankScores},
      {Role::CandidateIds, &indexer.candidateIds},
      {Role::CandidateScores, &indexer.candidateScores},
      {Role::Selection, &indexer.selection},
      {Role::AttnTable, &indexer.attnTable},
      {Role::Pages, &indexer.pages},
      {Role::Contexts, &indexer.contexts}};
  for (auto [role, slot] : roles)
    *slot = entry.indexOf(role);
  for (auto [role, slot] :
       merges ? std::span(roles).subspan(3, 3) : std::span(roles).first(4))
    if (*slot < 0)
      facts.note("has no argument with the role '" +
                 std::string(runtime::roleName(role)) + "'");

  const std::pair<int, size_t> ranks[] = {
      {indexer.query, 3},          {indexer.keys, 3},
      {indexer.indexTable, 2},     {indexer.lens, 1},
      {indexer.selection, 3},      {indexer.attnTable, 2},
      {indexer.cuSeqlens, 1},      {indexer.pages, 2},
      {indexer.contexts, 1},       {indexer.rankIds, 4},
      {indexer.rankScores, 4},     {indexer.candidateIds, 3},
      {indexer.candidateScores, 3}};
  for (auto [index, rank] : ranks)
    if (index >= 0 && entry.arguments[index].shape.size() != rank)
      facts.note("has an argument '" + entry.arguments[index].name + "' of " +
                 std::to_string(entry.arguments[index].shape.size()) +
                 " axes, wanted " + std::to_string(rank));
  for (int index :
       {indexer.lens, indexer.indexTable, indexer.attnTable, indexer.selection,
        indexer.pages, indexer.contexts, indexer.rankIds, indexer.candidateIds})
    if (index >= 0)
      facts.dtype(index, entry.arguments[index].dtype == runtime::DType::I32,
                  "i32");
  for (int index : {indexer.rankScores, indexer.candidateScores})
    if (index >= 0)
      facts.dtype(index, entry.arguments[index].dtype == runtime::DType::F32,
                  "f32");
  if ((indexer.candidateIds >= 0) != (indexer.candidateScores >= 0))
    facts.note("has one of candidate_ids and candidate_scores, wanted both or "
               "none");
  if (merges && (indexer.query >= 0 || indexer.candidateIds >= 0))
    facts.note("has rank_ids beside a query or candidates of its own");
  if (merges)
    indexer.rankKeep = facts.number("rank_candidates", indexer.keep);
  for (int index : {indexer.query, indexer.keys})
    if (index >= 0)
      facts.dtype(index,
                  reference::parseNumberFormat(
                      runtime::dtypeName(entry.arguments[index].dtype))
                      .has_value(),
                  "a number format");
  if (indexer.selection >= 0)
    indexer.tokenMajor = entry.arguments[indexer.selection].shape[0] ==
                             runtime::Extent::exactly("rows") &&
                         entry.arguments[indexer.selection].shape[1] !=
                             runtime::Extent::exactly("rows");

  const int remapParts =
      (indexer.attnTable >= 0) + (indexer.pages >= 0) + (indexer.contexts >= 0);
  if (remapParts == 3) {
    reference::RemapOptions remap;
    remap.pagesPerBlock = facts.number("pages_per_block", 1);
    remap.kvHeads = facts.number("kv_heads", 1);
    remap.pad = static_cast<int32_t>(facts.numberOr("page_pad", 0));
    indexer.remap = remap;
  } else if (remapParts != 0) {
    facts.note("has some of attn_table, pages and ctx, wanted all or none");
  }
  for (size_t i = 0; i < entry.workspace.size(); ++i)
    if ((entry.workspace[i].name == "score" ||
         entry.workspace[i].name == "scores") &&
        entry.workspace[i].shape.size() == 3 &&
        entry.workspace[i].dtype == runtime::DType::F32)
      indexer.scores = static_cast<int>(i);
  if (!facts.problem.message.empty())
    return facts.problem;
  return indexer;
}

int Indexer::sourceOf(int argument) const {
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    if (step->kind != StepCall::Kind::InsertKeys && step->output() == argument)
      argument = step->operands.front();
  return argument;
}

std::optional<int64_t> Indexer::fixedRequests() const {
  if (!selects())
    return std::nullopt;
  const runtime::Extent &extent = entry->arguments[lens].shape[0];
  if (extent.kind != runtime::Extent::Kind::Exactly ||
      extent.value.kind != runtime::Expression::Kind::Constant)
    return std::nullopt;
  return extent.value.constant;
}

namespace {

/// How large a call is, where its manifest leaves that open.
struct Sizes {
  int64_t requests = 0, pages = 0, rows = 0, ranks = 0;
};

/// An extent that may be anything.
int64_t openExtent(const Indexer &indexer,
                   const runtime::TensorArgument &argument, size_t axis,
                   const Sizes &sizes) {
  if (argument.role == Role::Query)
    return sizes.rows;
  if (argument.role == Role::RankIds)
    return axis == 0 ? sizes.ranks : sizes.rows;
  if (argument.role != Role::Step || argument.shape.size() == 3)
    return sizes.pages;
  const bool isTable =
      argument.shape.size() == 2 && argument.dtype == runtime::DType::I32;
  if (isTable)
    // No multiple of anything, so that a row's end shows.
    return axis == 0           ? sizes.requests
           : indexer.selects() ? indexer.maxBlocks
                               : 1237;
  return 7 * sizes.requests + 1; // new tokens
}

/// Lays the rows of a tensor out as the description fixes it. Gaps between the
/// rows of an output, or of queries and keys that may have them, show a kernel
/// that takes a strided tensor for a dense one, or that stores past a row's
/// end.
Status layRows(const runtime::TensorArgument &argument,
               runtime::TensorView &view) {
  const bool hasGaps =
      argument.access != runtime::Access::Read ||
      argument.role == Role::Query || argument.role == Role::Keys ||
      argument.role == Role::RankIds || argument.role == Role::RankScores;
  if (!hasGaps && argument.strides.empty())
    return {};
  constexpr int64_t gap = 8;
  int64_t step = view.extents[view.rank - 1] + (hasGaps ? gap : 0);
  auto fits = [&](int axis, int64_t stride) {
    int64_t end = 0;
    const bool isTooLarge =
        __builtin_mul_overflow(stride, view.extents[axis], &end);
    step = std::max(step, end);
    view.strides[axis] = stride;
    return !isTooLarge;
  };
  // What is open steps over all that is fixed.
  for (const bool isFixed : {true, false})
    for (int axis = view.rank - 2; axis >= 0; --axis) {
      const int64_t fixed = argument.strides.empty() ? runtime::kAnyStride
                                                     : argument.strides[axis];
      if ((fixed != runtime::kAnyStride) == isFixed &&
          !fits(axis, isFixed ? fixed : step))
        return Error{"argument '" + argument.name + "': shape " +
                     view.shapeText() + " does not fit 64 bits"};
    }
  return {};
}

/// The extents that one argument gets: what the manifest asks for, exactly.
Result<runtime::TensorView> shapeOf(const Indexer &indexer,
                                    const runtime::TensorArgument &argument,
                                    const runtime::Symbols &symbols,
                                    const Sizes &sizes) {
  std::vector<int64_t> extents;
  for (const runtime::Extent &extent : argument.shape) {
    if (extent.kind == runtime::Extent::Kind::Any) {
      extents.push_back(openExtent(indexer, argument, extents.size(), sizes));
      continue;
    }
    Result<int64_t> value = runtime::evaluate(extent.value, symbols);
    if (!value)
      return Error{"argument '" + argument.name + "': " + value.message()};
    if (*value < 0 || *value > kMaxTotal)
      return Error{"argument '" + argument.name + "': an extent of " +
                   std::to_string(*value) + " (" + extent.text() + ")"};
    extents.push_back(*value);
  }
  runtime::TensorView view =
      runtime::TensorView::dense(0, argument.dtype, extents);
  if (argument.layout == runtime::Layout::Rows)
    if (Status status = layRows(argument, view); !status)
      return status.takeError();
  return view;
}

/// Holds the tensors of a call, which have the extents that the manifest asks
/// for, against those that the facts and the number of requests ask for: a
/// manifest may fix an extent, or contradict itself.
class ExtentCheck {
public:
  explicit ExtentCheck(const Call &call) : call(call), indexer(*call.indexer) {}

  Status run(int64_t requests, int64_t rows, int64_t pages) {
    int64_t kvRows = 0, entries = 0;
    const reference::RemapOptions remap =
        indexer.remap.value_or(reference::RemapOptions());
    if ((!indexer.ragged() &&
         __builtin_mul_overflow(requests, indexer.queryLen, &rows)) ||
        __builtin_mul_overflow(rows, remap.kvHeads, &kvRows) ||
        __builtin_mul_overflow(indexer.keep, remap.pagesPerBlock, &entries))
      return Error{"entry '" + indexer.entry->name +
                   "' has facts whose products do not fit 64 bits"};
    exactly(indexer.lens, 0, requests);
    exactly(indexer.cuSeqlens, 0, requests + 1);
    exactly(indexer.query, 0, rows);
    exactly(indexer.query, 1, indexer.heads);
    exactly(indexer.query, 2, indexer.headDim);
    atLeast(indexer.keys, 0, pages);
    exactly(indexer.keys, 1, indexer.blockSize);
    exactly(indexer.keys, 2, indexer.headDim);
    for (int table : {indexer.indexTable, indexer.attnTable}) {
      atLeast(table, 0, requests);
      atLeast(table, 1, indexer.maxBlocks);
    }
    exactly(indexer.selection, indexer.tokenMajor ? 0 : 1, rows);
    exactly(indexer.selection, indexer.tokenMajor ? 1 : 0, indexer.heads);
    exactly(indexer.selection, 2, indexer.keep);
    for (int candidates : {indexer.candidateIds, indexer.candidateScores}) {
      exactly(candidates, 0, indexer.heads);
      exactly(candidates, 1, rows);
      exactly(candidates, 2, indexer.keep);
    }
    for (int ranks : {indexer.rankIds, indexer.rankScores}) {
      if (ranks >= 0)
        exactly(ranks, 0, call.arguments[indexer.rankIds].extent(0));
      exactly(ranks, 1, indexer.heads);
      exactly(ranks, 2, rows);
      exactly(ranks, 3, indexer.rankKeep);
    }
    atLeast(indexer.pages, 0, kvRows);
    atLeast(indexer.pages, 1, entries);
    atLeast(indexer.contexts, 0, kvRows);
    if (indexer.scores >= 0) {
      const HostTensor &scores = call.workspace[indexer.scores];
      note(scores, 0, scores.extent(0) == indexer.heads, "", indexer.heads);
      note(scores, 1, scores.extent(1) == rows, "", rows);
      // The most blocks that a shard has.
      const int64_t blocks =
          (indexer.maxBlocks + indexer.shardWorld - 1) / indexer.shardWorld;
      note(scores, 2, scores.extent(2) >= blocks, "at least ", blocks);
    }
    return std::move(status);
  }

private:
  void exactly(int index, int axis, int64_t wanted) {
    if (index >= 0)
      note(call.arguments[index], axis,
           call.arguments[index].extent(axis) == wanted, "", wanted);
  }
  void atLeast(int index, int axis, int64_t wanted) {
    if (index >= 0)
      note(call.arguments[index], axis,
           call.arguments[index].extent(axis) >= wanted, "at least ", wanted);
  }
  void note(const HostTensor &tensor, int axis, bool good, const char *relation,
            int64_t wanted) {
    if (!good && status)
      status =
          Error{"entry '" + indexer.entry->name + "' fixes axis " +
                std::to_string(axis) + " of '" + tensor.name + "' at " +
                std::to_string(tensor.extent(axis)) + ", these inputs need " +
                relation + std::to_string(wanted)};
  }

  const Call &call;
  const Indexer &indexer;
  Status status;
};

/// The symbols of a call of that size, without its tensors.
Result<runtime::Symbols> symbolsOf(const Indexer &indexer, const Sizes &sizes) {
  const runtime::Entry &entry = *indexer.entry;
  runtime::Symbols symbols;
  for (const runtime::SymbolDefinition &definition : entry.symbols) {
    if (const auto *axis =
            std::get_if<runtime::ArgumentAxis>(&definition.source)) {
      const runtime::TensorArgument *argument = entry.argument(axis->argument);
      if (argument && argument->role == Role::SeqLens) {
        symbols[definition.name] = sizes.requests;
        continue;
      }
      if (!argument ||
          static_cast<size_t>(axis->axis) >= argument->shape.size())
        return Error{"symbol '" + definition.name + "' comes from '" +
                     axis->argument + "', which has no such axis"};
      const runtime::Extent &extent = argument->shape[axis->axis];
      if (extent.kind == runtime::Extent::Kind::Any) {
        symbols[definition.name] =
            openExtent(indexer, *argument, axis->axis, sizes);
        continue;
      }
      Result<int64_t> value = runtime::evaluate(extent.value, symbols);
      if (!value)
        return Error{"symbol '" + definition.name + "': " + value.message()};
      symbols[definition.name] = *value;
      continue;
    }
    Result<int64_t> value = runtime::evaluate(
        std::get<runtime::Expression>(definition.source), symbols);
    if (!value)
      return Error{"symbol '" + definition.name + "': " + value.message()};
    symbols[definition.name] = *value;
  }
  return symbols;
}

} // namespace

Result<Call> Call::make(const Indexer &indexer, int64_t requests, int64_t pages,
                        int64_t rows, int64_t ranks) {
  const runtime::Entry &entry = *indexer.entry;
  const Sizes sizes{requests, pages, rows, ranks};
  Call call;
  call.indexer = &indexer;
  Result<runtime::Symbols> symbols = symbolsOf(indexer, sizes);
  if (!symbols)
    return symbols.takeError();
  call.symbols = *symbols;
  uint64_t total = 0;
  auto add = [&](std::vector<HostTensor> &list, const std::string &name,
                 const runtime::TensorView &view) -> Status {
    // Before the memory is taken: a system that has none left kills.
    if (Result<uint64_t> bytes = runtime::byteSpan(view)) {
      if (__builtin_add_overflow(total, *bytes, &total) || total > kMaxBytes)
        return Error{"with tensor '" + name + "' of shape " + view.shapeText() +
                     " the call takes more than " + std::to_string(kMaxBytes) +
                     " bytes; fewer requests or shorter ones fit"};
    }
    Result<HostTensor> tensor = HostTensor::make(name, view);
    if (!tensor)
      return tensor.takeError();
    list.push_back(std::move(*tensor));
    return {};
  };
  for (const runtime::TensorArgument &argument : entry.arguments) {
    Result<runtime::TensorView> view =
        shapeOf(indexer, argument, *symbols, sizes);
    if (!view)
      return view.takeError();
    if (Status status = add(call.arguments, argument.name, *view); !status)
      return status.takeError();
  }
  Result<std::vector<runtime::TensorView>> workspace =
      runtime::workspaceTensors(entry, *symbols);
  if (!workspace)
    return workspace.takeError();
  for (size_t i = 0; i < workspace->size(); ++i) {
    if (Status status =
            add(call.workspace, entry.workspace[i].name, (*workspace)[i]);
        !status)
      return status.takeError();
  }
  if (Status status = indexer.selects()
                          ? ExtentCheck(call).run(requests, rows, pages)
                          : Status();
      !status)
    return status.takeError();
  return call;
}

int64_t Call::requests() const {
  return indexer->selects() ? arguments[indexer->lens].extent(0) : 0;
}

reference::Rows Call::rows() const {
  if (!indexer->selects())
    return {};
  reference::Rows rows{arguments[indexer->lens].as<int32_t, 1>(),
                       indexer->queryLen, indexer->blockSize};
  rows.rank = indexer->shardRank;
  rows.world = indexer->shardWorld;
  if (indexer->ragged())
    rows.offsets = arguments[indexer->cuSeqlens].as<int32_t, 1>();
  return rows;
}

reference::View<int32_t, 3> Call::selection() {
  auto view = arguments[indexer->selection].as<int32_t, 3>();
  if (indexer->tokenMajor) {
    std::swap(view.extents[0], view.extents[1]);
    std::swap(view.strides[0], view.strides[1]);
  }
  return view;
}

reference::View<const int32_t, 3> Call::selection() const {
  return const_cast<Call *>(this)->selection();
}

std::vector<runtime::TensorView> Call::hostViews() const {
  std::vector<runtime::TensorView> views;
  for (const HostTensor &tensor : arguments) {
    views.push_back(tensor.view);
    views.back().address = tensor.hostAddress();
  }
  return views;
}
