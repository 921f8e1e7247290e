// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Batch.h"

#include "Describe.h"

#include "winnow/Reference/Compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>

using namespace winnow;
using namespace winnow::bench;
using runtime::TensorView;

namespace {

uint64_t aligned(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

template <typename T> std::span<const std::byte> bytesOf(const T &values) {
  return std::as_bytes(std::span(values.data(), values.size()));
}

/// Where queries start in the sequence of numbers: past any cache.
constexpr uint64_t kQueryNumbers = uint64_t(1) << 48;

/// A page number that leads far outside of every cache: what nothing reads.
constexpr int32_t kNoPage = 0x7f7f7f7f;

} // namespace

uint64_t Batch::keyBytes() const {
  return uint64_t(shape.requests * shape.tokens) *
         (pool.pageBytes() / kBlockSize);
}

int64_t Batch::rowsOfRequest() const {
  const host::Indexer &indexer = kernels.indexer();
  return indexer.ragged() ? shape.newTokens : indexer.queryLen;
}

Result<std::unique_ptr<Batch>> Batch::make(Session &session, KeyPool &pool,
                                           const Kernels &kernels,
                                           const BatchShape &shape,
                                           uint64_t coldBytes) {
  std::unique_ptr<Batch> batch(new Batch(session, pool, kernels));
  batch->shape = shape;
  const uint64_t sets = std::clamp<uint64_t>(
      (coldBytes + batch->keyBytes() - 1) / batch->keyBytes(), 4, 1024);
  batch->views.resize(sets);
  if (Status status = batch->place(); !status)
    return status.takeError();
  if (Status status = batch->fillInputs(); !status)
    return status.takeError();
  Result<uint64_t> bytes = kernels.workspaceBytes(batch->views.front());
  if (!bytes)
    return bytes.takeError();
  batch->workspaceBytes = *bytes;
  Result<uint64_t> workspace = session.allocate(*bytes);
  if (!workspace)
    return workspace.takeError();
  batch->workspace = *workspace;
  if (Status status = session.fill(*workspace, 0, *bytes); !status)
    return status.takeError();
  for (const std::vector<TensorView> &arguments : batch->views) {
    Result<Kernels::Bound> bound = kernels.bind(arguments, *workspace, *bytes);
    if (!bound)
      return bound.takeError();
    batch->calls.push_back(std::move(*bound));
  }
  return batch;
}

Batch::~Batch() {
  (void)session.synchronize();
  for (uint64_t address : memory)
    if (address)
      session.release(address);
  if (workspace)
    session.release(workspace);
}

Status Batch::place() {
  const host::Indexer &indexer = kernels.indexer();
  // Its tensors have the shapes that the entry wants; only the cache is ours.
  Result<host::Call> call = host::Call::make(
      indexer, shape.requests, /*pages=*/1, shape.requests * rowsOfRequest());
  if (!call)
    return call.takeError();
  for (size_t i = 0; i < call->arguments.size(); ++i) {
    TensorView view = call->arguments[i].view;
    if (int(i) == indexer.keys) {
      view.address = pool.address();
      view.extents[0] = pool.pages();
      memory.push_back(0);
      for (auto &arguments : views)
        arguments.push_back(view);
      continue;
    }
    const uint64_t bytes = aligned(call->arguments[i].bytes.size());
    Result<uint64_t> block = session.allocate(bytes * views.size());
    if (!block)
      return block.takeError();
    memory.push_back(*block);
    if (Status status = session.fill(*block, 0x7f, bytes * views.size());
        !status)
      return status;
    for (size_t set = 0; set < views.size(); ++set) {
      view.address = *block + set * bytes;
      views[set].push_back(view);
    }
  }
  return {};
}

Status Batch::fillInputs() {
  const host::Indexer &indexer = kernels.indexer();
  const std::vector<TensorView> &front = views.front();
  const int64_t blocks = (shape.tokens + kBlockSize - 1) / kBlockSize;
  // The two tables may have rows of different lengths in memory.
  const int64_t width = blocks;
  const size_t entries = size_t(width * shape.requests);
  tables.assign(entries * views.size(), kNoPage);
  attentionTables = tables;
  std::mt19937_64 random(11);
  for (size_t set = 0; set < views.size(); ++set) {
    for (size_t at = set * entries; at < (set + 1) * entries; ++at) {
      tables[at] = pool.nextPage();
      attentionTables[at] = int32_t(random() % uint64_t(pool.pages()));
    }
    auto put = [&](int argument, std::span<const std::byte> bytes) {
      return session.write(views[set][size_t(argument)].address, bytes);
    };
    auto putTable = [&](int argument, const std::vector<int32_t> &all) {
      const int64_t stride = front[size_t(argument)].strides[0];
      std::vector<int32_t> rows(size_t(stride * (shape.requests - 1) + width),
                                kNoPage);
      for (int64_t request = 0; request < shape.requests; ++request)
        std::copy_n(all.begin() + int64_t(set * entries) + request * width,
                    width, rows.begin() + request * stride);
      return put(argument, bytesOf(rows));
    };
    Result<uint64_t> queryBytes =
        runtime::byteSpan(front[size_t(indexer.query)]);
    if (!queryBytes)
      return queryBytes.takeError();
    std::vector<uint64_t> query(*queryBytes / 8);
    makeNumbers(front[size_t(indexer.query)].dtype,
                kQueryNumbers + set * query.size(), query);
    const std::vector<int32_t> lengths(size_t(shape.requests),
                                       int32_t(shape.tokens));
    Status status = put(indexer.query, bytesOf(query));
    if (status)
      status = put(indexer.lens, bytesOf(lengths));
    if (status)
      status = putTable(indexer.indexTable, tables);
    if (status && indexer.attnTable >= 0)
      status = putTable(indexer.attnTable, attentionTables);
    if (status && indexer.ragged()) {
      std::vector<int32_t> offsets;
      for (int64_t request = 0; request <= shape.requests; ++request)
        offsets.push_back(int32_t(request * shape.newTokens));
      status = put(indexer.cuSeqlens, bytesOf(offsets));
    }
    if (!status)
      return status;
  }
  return session.synchronize();
}

Result<Spread> Batch::time(Part part) {
  return session.time(sets(), [&]() -> Status {
    for (const Kernels::Bound &call : calls)
      if (Status status = kernels.enqueue(session, call, part); !status)
        return status;
    return {};
  });
}

/// Some rows of a set as a batch of requests with one row each: a row sees no
/// more than one that ends there. Their pages are copied together and numbered
/// anew.
struct Batch::Rows {
  std::vector<int64_t> numbers; ///< in the set
  std::vector<int32_t> lengths;
  std::vector<std::byte> query, keys;
  std::vector<int32_t> table, attention;
  int64_t width = 0, pages = 0;
  reference::NumberFormat format = reference::NumberFormat::F8E4M3FN;

  int64_t count() const { return int64_t(numbers.size()); }
  reference::Rows rows() const {
    return {{lengths.data(), {count()}}, 1, kBlockSize};
  }
  reference::View<const int32_t, 2>
  tableOf(const std::vector<int32_t> &of) const {
    return {of.data(), {count(), width}};
  }
  Result<reference::ExactScores>
  exact(const reference::BlockScoreOptions &options) const {
    reference::ExactScores scores;
    if (auto problem = reference::blockScore(
            rows(), {query.data(), format, {count(), 1, kHeadDim}},
            {keys.data(), format, {pages, kBlockSize, kHeadDim}},
            tableOf(table), options, scores))
      return Error{*problem};
    return scores;
  }
};

Result<Batch::Rows> Batch::gather(int64_t set, int64_t wanted) const {
  const host::Indexer &indexer = kernels.indexer();
  const int64_t perRequest = rowsOfRequest();
  const int64_t all = perRequest * shape.requests;
  const int64_t blocks = (shape.tokens + kBlockSize - 1) / kBlockSize;
  const TensorView &query = arguments(set)[size_t(indexer.query)];
  Rows rows;
  rows.width = blocks;
  rows.format = query.dtype == runtime::DType::BF16
                    ? reference::NumberFormat::BF16
                    : reference::NumberFormat::F8E4M3FN;
  const int64_t rowBytes = kHeadDim * runtime::byteWidth(query.dtype);
  wanted = std::min(wanted, all);
  for (int64_t i = 0; i < wanted; ++i) {
    // The first, the last, and some between.
    const int64_t row = wanted == 1 ? all - 1 : i * (all - 1) / (wanted - 1);
    const int64_t request = row / perRequest;
    rows.numbers.push_back(row);
    rows.lengths.push_back(
        int32_t(shape.tokens - perRequest + row % perRequest + 1));
    std::vector<uint64_t> numbers(size_t(rowBytes) / 8);
    const uint64_t setWords = uint64_t(all * rowBytes) / 8;
    makeNumbers(query.dtype,
                kQueryNumbers + uint64_t(set) * setWords +
                    uint64_t(row) * numbers.size(),
                numbers);
    const auto bytes = bytesOf(numbers);
    rows.query.insert(rows.query.end(), bytes.begin(), bytes.end());
    for (int64_t block = 0; block < blocks; ++block) {
      const size_t at =
          size_t((set * shape.requests + request) * blocks + block);
      rows.attention.push_back(attentionTables[at]);
      rows.table.push_back(int32_t(rows.pages++));
      rows.keys.resize(rows.keys.size() + pool.pageBytes());
      pool.readPage(tables[at], std::span(rows.keys).last(pool.pageBytes()));
    }
  }
  return rows;
}

Result<std::vector<int32_t>> Batch::readInts(int64_t set, int argument) const {
  const TensorView &view = arguments(set)[size_t(argument)];
  Result<uint64_t> bytes = runtime::byteSpan(view);
  if (!bytes)
    return bytes.takeError();
  std::vector<int32_t> values(*bytes / 4);
  if (Status status =
          session.read(view.address, std::as_writable_bytes(std::span(values)));
      !status)
    return status.takeError();
  return values;
}

Status Batch::check(int64_t wanted, bool onlyFirst) {
  const host::Indexer &indexer = kernels.indexer();
  reference::Comparison comparison;
  for (int64_t set : {int64_t(0), onlyFirst ? 0 : sets() - 1}) {
    Result<Rows> rows = gather(set, std::max<int64_t>(wanted / 2, 1));
    if (!rows)
      return rows.takeError();
    Result<reference::ExactScores> exact = rows->exact(indexer.score);
    Result<std::vector<int32_t>> kept = readInts(set, indexer.selection);
    if (!exact || !kept)
      return exact ? kept.takeError() : exact.takeError();
    const int64_t step = arguments(set)[size_t(indexer.selection)].strides[1];
    std::vector<int32_t> selection;
    for (int64_t row : rows->numbers)
      selection.insert(selection.end(), kept->begin() + row * step,
                       kept->begin() + row * step + kKeep);
    const reference::View<const int32_t, 3> selected(selection.data(),
                                                     {1, rows->count(), kKeep});
    comparison.add(reference::compareSelection(
        rows->rows(), *exact, indexer.topk, selected, nullptr));
    if (!indexer.remap)
      continue;
    Result<std::vector<int32_t>> pages = readInts(set, indexer.pages);
    Result<std::vector<int32_t>> contexts = readInts(set, indexer.contexts);
    if (!pages || !contexts)
      return pages ? contexts.takeError() : pages.takeError();
    const TensorView &view = arguments(set)[size_t(indexer.pages)];
    std::vector<int32_t> table, counts;
    for (int64_t row : rows->numbers) {
      const auto first = pages->begin() + row * view.strides[0];
      table.insert(table.end(), first, first + view.extents[1]);
      counts.push_back((*contexts)[size_t(row)]);
    }
    comparison.add(reference::comparePages(
        rows->rows(), selected, rows->tableOf(rows->attention), *indexer.remap,
        {table.data(), {rows->count(), view.extents[1]}},
        {counts.data(), {rows->count()}}));
  }
  if (!comparison.ok())
    return Error{fmt::format("'{}', {} requests of {} tokens: {}",
                             kernels.entry().name, shape.requests, shape.tokens,
                             comparison.text())};
  return {};
}

Status Batch::checkScores(int64_t wanted) {
  const host::Indexer &indexer = kernels.indexer();
  if (indexer.scores < 0)
    return Error{"'" + kernels.entry().name + "' has no scores in memory"};
  const int64_t set = sets() - 1;
  Result<Rows> rows = gather(set, wanted);
  if (!rows)
    return rows.takeError();
  Result<reference::ExactScores> exact = rows->exact(indexer.score);
  Result<runtime::Symbols> symbols =
      runtime::bindArguments(kernels.entry(), arguments(set));
  if (!exact || !symbols)
    return exact ? symbols.takeError() : exact.takeError();
  Result<std::vector<TensorView>> tensors =
      runtime::workspaceTensors(kernels.entry(), *symbols);
  if (!tensors)
    return tensors.takeError();
  uint64_t at = workspace;
  for (int i = 0; i < indexer.scores; ++i)
    at += aligned(*runtime::byteSpan((*tensors)[size_t(i)]));
  const int64_t stride = (*tensors)[size_t(indexer.scores)].strides[1];
  std::vector<float> scores(size_t(rows->count() * rows->width));
  for (int64_t i = 0; i < rows->count(); ++i)
    if (Status status =
            session.read(at + uint64_t(rows->numbers[size_t(i)] * stride) * 4,
                         std::as_writable_bytes(std::span(scores).subspan(
                             size_t(i * rows->width), size_t(rows->width))));
        !status)
      return status;
  reference::Comparison comparison = reference::compareScores(
      rows->rows(), *exact, {scores.data(), {1, rows->count(), rows->width}});
  if (!comparison.ok())
    return Error{fmt::format("scores of '{}', {} requests of {} tokens: {}",
                             kernels.entry().name, shape.requests, shape.tokens,
                             comparison.text())};
  return {};
}
