// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tally.h"

#include <fmt/format.h>
#include <set>

using namespace winnow;
using namespace winnow::test;

void Tally::addDescription(const Shape &shape, const Compiled &compiled) {
  ++descriptions;
  for (const NamedLimit &limit : compiled.refused)
    ++lists["refusals, by limit"][limit.text()];
  refused += !compiled.refused.empty() && !compiled.failure;
}

void Tally::addRun(const Shape &shape, const Inputs &inputs,
                   const Compiled &compiled) {
  ++runCount;
  Counts &operations = lists["runs, by operation"];
  if (shape.rebaseTable)
    ++operations["rebase_table"];
  if (shape.rebaseSlots)
    ++operations["rebase_slots"];
  if (!shape.newKeys.empty())
    ++operations["insert_keys"];
  const std::string kind =
      shape.merges ? (shape.ragged() ? "ragged merge" : "uniform merge")
      : !shape.selects
          ? "steps alone"
          : fmt::format("{} {} {}", shape.ragged() ? "ragged" : "uniform",
                        shape.dtype, shape.reduce);
  ++runsOf[kind][compiled.lowering];
  if (!shape.selects)
    return;
  ++operations[shape.ragged() ? "ragged_rows" : "uniform_rows"];
  if (shape.merges) {
    ++operations["merge_candidates"];
  } else {
    ++operations["block_score"];
    ++operations["topk"];
  }
  if (shape.exchanges)
    ++operations["store_candidates"];
  if (shape.stores)
    ++operations["store_selection"];
  if (shape.remaps)
    ++operations["remap_pages"];
  if (shape.exchanges)
    ++operations["store_candidates"];
  if (!shape.merges) {
    ++lists["runs, by keys"][nameOf(inputs.keys)];
    ++lists["runs, by queries"][nameOf(inputs.queries)];
  }
  ++lists["runs, by scores"][nameOf(inputs.scores)];
  Counts &others = lists["runs, by what is unusual"];
  const auto count = [&](const char *name, bool is) {
    if (is)
      ++others[name];
  };
  count("unmapped blocks", inputs.unmapped != 0);
  count("rows of padding", inputs.paddingRows != 0);
  count("shared pages", inputs.sharedPages);
  count("strided queries and keys", shape.strided);
  count("outputs without gaps", shape.dense);
  count("token-major", shape.tokenMajor);
  count("ties to the lowest", shape.tieLowest);
  count("ascending", shape.ascending);
  count("more than 64 kept", shape.keep > 64);
  count("several rows a request", shape.queryLen > 1);
  count("forced first blocks", shape.initBlocks > 0);
  count("shards", shape.world > 1);
  count("kv heads shared", shape.kvHeads > shape.heads);
  bool past = false, negative = false, none = false;
  for (int32_t length : inputs.lengths.tokens) {
    past |= length > shape.maxSeqLen;
    negative |= length < 0;
    none |= length == 0;
  }
  count("a length past the bound", past);
  count("a negative length", negative);
  count("an empty request", none);
}

void Tally::add(const Tally &other) {
  cases += other.cases;
  descriptions += other.descriptions;
  refused += other.refused;
  runCount += other.runCount;
  for (const auto &[kind, counts] : other.runsOf)
    for (const auto &[name, count] : counts)
      runsOf[kind][name] += count;
  for (const auto &[kind, counts] : other.lists)
    for (const auto &[name, count] : counts)
      lists[kind][name] += count;
}

std::string Tally::text() const {
  std::set<std::string> lowerings;
  size_t widest = 4;
  for (const auto &[kind, counts] : runsOf) {
    widest = std::max(widest, kind.size());
    for (const auto &[name, count] : counts)
      lowerings.insert(name);
  }
  std::string text = fmt::format("{:{}}", "runs", widest + 2);
  for (const std::string &lowering : lowerings)
    text += fmt::format("{:>14}", lowering);
  text += "\n";
  for (const auto &[kind, counts] : runsOf) {
    text += fmt::format("{:{}}", kind, widest + 2);
    for (const std::string &lowering : lowerings) {
      auto count = counts.find(lowering);
      text += fmt::format("{:>14}", count == counts.end() ? 0 : count->second);
    }
    text += "\n";
  }
  for (const auto &[kind, counts] : lists) {
    text += kind + ":";
    const char *separator = " ";
    for (const auto &[name, count] : counts) {
      text += fmt::format("{}{} {}", separator, name, count);
      separator = ", ";
    }
    text += "\n";
  }
  return text;
}
