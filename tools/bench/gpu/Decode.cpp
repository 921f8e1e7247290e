// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decode in a graph: all of it in one launch and in two, scoring alone, the
// selection alone, and scoring with more query columns.
#include "Cases.h"

#include <fmt/format.h>

using namespace winnow;
using namespace winnow::bench;

namespace {

using Key = std::pair<int64_t, int64_t>; // tokens, requests
using Table = std::map<Key, double>;

// vLLM's Triton indexer on an H200 in a CUDA graph, us, cold pages.
const Table kScoreBf16 = {
    {{4096, 1}, 3.1},    {{4096, 4}, 4.1},    {{4096, 32}, 13.2},
    {{4096, 128}, 37.8}, {{32768, 1}, 4.9},   {{32768, 4}, 13.3},
    {{32768, 32}, 67.1}, {{32768, 128}, 254}, {{131072, 1}, 11.5},
    {{131072, 4}, 40.1}, {{131072, 32}, 257}, {{131072, 128}, 999}};
const Table kScoreE4m3 = {
    {{4096, 1}, 2.7},    {{4096, 4}, 3.3},    {{4096, 32}, 6.9},
    {{4096, 128}, 19.6}, {{32768, 1}, 3.7},   {{32768, 4}, 6.9},
    {{32768, 32}, 35.6}, {{32768, 128}, 129}, {{131072, 1}, 8.1},
    {{131072, 4}, 19.5}, {{131072, 32}, 129}, {{131072, 128}, 494}};
const Table kTopK = {
    {{4096, 32}, 4.4},  {{32768, 32}, 4.3},  {{131072, 32}, 12},
    {{4096, 128}, 4.2}, {{32768, 128}, 6.9}, {{131072, 128}, 22.8},
    {{4096, 1}, 5.7},   {{32768, 1}, 5.7},   {{131072, 1}, 5.7}};
// Score, top-k and block table, GPU span.
const Table kAllBf16 = {
    {{32768, 1}, 16.3}, {{32768, 4}, 22.3}, {{32768, 32}, 73.3}};
// What they should reach.
const Table kAllBf16Goal = {
    {{32768, 1}, 7.5}, {{32768, 4}, 14}, {{32768, 32}, 67}};
const Table kAllE4m3Goal = {
    {{32768, 1}, 6}, {{32768, 4}, 9}, {{32768, 32}, 37}};

std::optional<double> find(const Table &table, Key key) {
  auto at = table.find(key);
  return at == table.end() ? std::nullopt : std::optional(at->second);
}

std::vector<int64_t> contexts(const Bench &bench) {
  if (bench.options.small)
    return {1024, 4096};
  return {4096, 32768, 131072};
}

/// Rows to check: the reference takes a tenth of a second for a long one.
int64_t rowsToCheck(int64_t tokens) { return tokens > 65536 ? 2 : 4; }

/// The bytes of keys a second, over those of a copy.
void addFraction(Bench &bench, const std::string &group,
                 const std::string &name, const Batch &batch,
                 const Spread &spread, bool hasGoal) {
  auto fraction = [&](double microseconds) {
    return double(batch.keyBytes()) * 1e6 / microseconds /
           bench.copyBytesPerSecond;
  };
  bench.figures.push_back({group,
                           name,
                           fraction(spread.median),
                           {},
                           hasGoal ? std::optional(0.97) : std::nullopt,
                           true,
                           3,
                           fraction(spread.high),
                           fraction(spread.low)});
}

} // namespace

Status bench::timeDecode(Bench &bench, const std::string &dtype) {
  const bool isBf16 = dtype == "bf16";
  const std::string type = dtypeText(dtype);
  const std::string allGroup =
      fmt::format("decode: score + top-k + table, {}, graph, us", type);
  const std::string scoreGroup =
      fmt::format("decode: scoring alone, {}, graph, us", type);
  const std::string fractionGroup =
      fmt::format("decode: scoring alone, {}, of copy bandwidth", type);
  const std::string selectGroup =
      fmt::format("top-k 16 and table alone, scores of {} warm, us", type);
  for (int64_t requests : decodeBatches(bench.options)) {
    const std::string base = fmt::format("decode_{}_b{}", type, requests);
    auto chosen = Kernels::load(bench.session, bench.bundle, base);
    auto two = Kernels::load(bench.session, bench.bundle, base + "_two");
    auto one = Kernels::load(bench.session, bench.bundle, base + "_one");
    if (!chosen || !two || !one)
      return !chosen ? chosen.takeError()
             : !two  ? two.takeError()
                     : one.takeError();
    for (int64_t tokens : contexts(bench)) {
      const Key key{tokens, requests};
      const std::string name = fmt::format("{} tokens x {}", tokens, requests);
      const BatchShape shape{requests, tokens, 0};
      auto whole = [&](const Kernels &kernels, const std::string &suffix,
                       std::optional<double> goal) -> Status {
        auto batch = Batch::make(bench.session, bench.pool, kernels, shape,
                                 bench.coldBytes());
        if (!batch)
          return batch.takeError();
        Result<Spread> all = (*batch)->time(Part::All);
        if (!all)
          return all.takeError();
        bench.add(allGroup, name + suffix, *all,
                  isBf16 ? find(kAllBf16, key) : std::nullopt, goal,
                  suffix.empty() ? fmt::format("{} launches",
                                               kernels.entry().launches.size())
                                 : "");
        bench.judge((*batch)->check(rowsToCheck(tokens)), 1);
        return {};
      };
      Status status =
          whole(**chosen, "", find(isBf16 ? kAllBf16Goal : kAllE4m3Goal, key));
      if (status)
        status = whole(**one, ", one launch", {});
      if (status)
        status = whole(**two, ", two launches", {});
      if (!status)
        return status;
      auto batch = Batch::make(bench.session, bench.pool, **two, shape,
                               bench.coldBytes());
      if (!batch)
        return batch.takeError();
      Result<Spread> score = (*batch)->time(Part::Score);
      if (!score)
        return score.takeError();
      const Status checked = (*batch)->checkScores(rowsToCheck(tokens));
      Result<Spread> select = (*batch)->time(Part::Select);
      if (!select)
        return select.takeError();
      bench.add(scoreGroup, name, *score,
                find(isBf16 ? kScoreBf16 : kScoreE4m3, key));
      addFraction(bench, fractionGroup, name, **batch, *score,
                  tokens == 131072 && requests >= 32);
      bench.judge(checked, 2);
      bench.add(selectGroup, name, *select, find(kTopK, key));
    }
  }
  return {};
}

Status bench::timeColumns(Bench &bench, const std::string &dtype) {
  const std::string type = dtypeText(dtype);
  const std::string group = fmt::format(
      "scoring alone by query columns, {}, of copy bandwidth", type);
  const int64_t tokens = bench.options.small ? 4096 : 131072;
  for (int64_t columns : columnCounts(bench.options)) {
    for (int64_t requests : columnBatches(bench.options)) {
      auto kernels = Kernels::load(
          bench.session, bench.bundle,
          fmt::format("columns_{}_q{}_b{}", type, columns, requests));
      if (!kernels)
        return kernels.takeError();
      auto batch = Batch::make(bench.session, bench.pool, **kernels,
                               {requests, tokens, 0}, bench.coldBytes());
      if (!batch)
        return batch.takeError();
      Result<Spread> score = (*batch)->time(Part::Score);
      if (!score)
        return score.takeError();
      addFraction(
          bench, group,
          fmt::format("{} columns, {} tokens x {}", columns, tokens, requests),
          **batch, *score, true);
      bench.judge((*batch)->checkScores(2), 1);
    }
  }
  return {};
}

Status bench::timePrefill(Bench &bench, const std::string &dtype) {
  const bool isBf16 = dtype == "bf16";
  const std::string type = dtypeText(dtype);
  auto kernels = Kernels::load(bench.session, bench.bundle, "prefill_" + type);
  if (!kernels)
    return kernels.takeError();
  struct Case {
    int64_t newTokens, tokens;
    std::optional<double> bf16, e4m3, bf16Goal, e4m3Goal;
  };
  // The anchor's context of 32768 tokens is what lies before the new ones:
  // timed again in all four cases, its kernels reach the anchor's figures there
  // alone.
  std::vector<Case> cases = {{4096, 32768, {}, {}, {}, {}},
                             {16384, 32768, {}, {}, {}, {}},
                             {4096, 32768 + 4096, 380, 303, {}, {}},
                             {16384, 32768 + 16384, 506, 401, 380, 270}};
  if (bench.options.small)
    cases = {{256, 1024, {}, {}, {}, {}}};
  for (const Case &at : cases) {
    auto batch = Batch::make(bench.session, bench.pool, **kernels,
                             {1, at.tokens, at.newTokens}, bench.coldBytes());
    if (!batch)
      return batch.takeError();
    // Outputs for the check first; scores of the last set are left over.
    Result<Spread> all = (*batch)->time(Part::All);
    if (!all)
      return all.takeError();
    const Status checked = (*batch)->check(4);
    Result<Spread> score = (*batch)->time(Part::Score);
    if (!score)
      return score.takeError();
    const std::string name =
        fmt::format("{} new tokens, {} in all", at.newTokens, at.tokens);
    bench.add(fmt::format("prefill: scoring alone, {}, graph, us", type), name,
              *score, isBf16 ? at.bf16 : at.e4m3,
              isBf16 ? at.bf16Goal : at.e4m3Goal);
    bench.add(
        fmt::format("prefill: score + top-k + table, {}, graph, us", type),
        name, *all);
    bench.judge(checked, 2);
  }
  return {};
}
