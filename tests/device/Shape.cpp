// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes descriptions for tests.
#include "Shape.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

using namespace winnow::test;

namespace {

/// The parts of a description, in the order in which they are written.
struct Parts {
  std::vector<std::string> arguments; ///< "%q: memref<...>"
  std::string steps, indexer;
};

std::string asked(const std::string &lowering) {
  return lowering.empty() ? ""
                          : fmt::format(", winnow.lowering = \"{}\"", lowering);
}

/// What runs once a step, before the indexer if there is one.
void addSteps(const Shape &shape, const std::string &keys, Parts &parts) {
  const std::string table = "memref<?x?xi32>", slots = "memref<?xi32>";
  if (shape.rebaseTable) {
    const bool inPlace = shape.inPlace;
    if (!inPlace)
      parts.arguments.push_back("%table: " + table);
    if (!shape.selects || !shape.remaps)
      parts.arguments.push_back("%attn_table: " + table);
    parts.steps += fmt::format("  winnow.rebase_table {}, %attn_table "
                               "{{sides = {}}} : {}, {}\n",
                               inPlace ? "%attn_table" : "%table",
                               shape.rebaseTable, table, table);
  }
  if (shape.rebaseSlots) {
    if (!shape.inPlace)
      parts.arguments.push_back("%slots: " + slots);
    parts.steps += fmt::format(
        "  winnow.rebase_slots {}, %new_slots {{block_size = {}, sides = {}}} "
        ": {}, {}\n",
        shape.inPlace ? "%new_slots" : "%slots", shape.blockSize,
        shape.rebaseSlots, slots, slots);
  }
  if (shape.rebaseSlots || !shape.newKeys.empty())
    parts.arguments.push_back("%new_slots: " + slots);
  if (shape.newKeys.empty())
    return;
  const std::string fresh =
      fmt::format("memref<?x{}x{}>", shape.headDim, shape.newKeys);
  parts.arguments.push_back("%new_keys: " + fresh);
  if (!shape.selects)
    parts.arguments.push_back("%keys: " + keys);
  parts.steps +=
      fmt::format("  winnow.insert_keys %new_keys, %new_slots, %keys : {}, {}, "
                  "{}\n",
                  fresh, slots, keys);
}

void addIndexer(const Shape &shape, const std::string &query,
                const std::string &keys, Parts &parts) {
  auto argument = [&](const char *name, const std::string &type) {
    parts.arguments.push_back(fmt::format("%{}: {}", name, type));
  };
  const char *layout = shape.dense ? "" : ", strided<[?, ?, 1]>";
  const std::string ids = shape.tokenMajor
                              ? fmt::format("memref<?x{}x{}xi32{}>",
                                            shape.heads, shape.keep, layout)
                              : fmt::format("memref<{}x?x{}xi32{}>",
                                            shape.heads, shape.keep, layout);
  const std::string rows =
      shape.ragged() ? "ragged" : fmt::format("query_len = {}", shape.queryLen);
  const std::string facts = fmt::format("{}, heads = {}, block_size = {}", rows,
                                        shape.heads, shape.blockSize);
  const std::string selection =
      fmt::format("!winnow.selection<{}, k = {}>", facts, shape.keep);
  const std::string pages =
      shape.dense
          ? fmt::format("memref<?x{}xi32>", shape.keep * shape.pagesPerBlock)
          : "memref<?x?xi32>";
  argument("q", query);
  argument("keys", keys);
  argument("index_table", "memref<?x?xi32>");
  argument("lens", "memref<?xi32>");
  if (shape.ragged())
    argument("cu_seqlens", "memref<?xi32>");
  if (shape.stores)
    argument("idx", ids);
  if (shape.remaps) {
    argument("attn_table", "memref<?x?xi32>");
    argument("pages", pages);
    argument("ctx", "memref<?xi32>");
  }
  auto candidates = [&](const char *element) {
    return fmt::format("memref<{}x?x{}x{}{}>", shape.heads, shape.keep, element,
                       layout);
  };
  if (shape.exchanges) {
    argument("ids", candidates("i32"));
    argument("best", candidates("f32"));
  }

  std::string &text = parts.indexer;
  text += shape.ragged() ? "  %rows = winnow.ragged_rows %lens, %cu_seqlens "
                           ": memref<?xi32>, memref<?xi32>\n"
                         : fmt::format("  %rows = winnow.uniform_rows %lens "
                                       "{{query_len = {}}} : memref<?xi32>\n",
                                       shape.queryLen);
  text += fmt::format(
      "  %scores = winnow.block_score %q, %keys[%index_table] on %rows\n"
      "    {{reduce = {}, init_blocks = {}, local_blocks = {}, rank = {}, "
      "world = {}{}}}\n"
      "    : {}, {}, memref<?x?xi32>, !winnow.rows<{}>\n",
      shape.reduce, shape.initBlocks, shape.localBlocks, shape.rank,
      shape.world, asked(shape.scoreLowering), query, keys, rows);
  text += fmt::format(
      "  %selection = winnow.topk %scores {{k = {}, ties = {}, order = {}{}}}\n"
      "    : !winnow.scores<{}>\n",
      shape.keep, shape.tieLowest ? "lowest_block" : "highest_block",
      shape.ascending ? "ascending" : "score_descending",
      asked(shape.selectLowering), facts);
  if (shape.stores)
    text += fmt::format("  winnow.store_selection %selection, %idx "
                        "{{layout = {}, pad = {}}}\n    : {}, {}\n",
                        shape.tokenMajor ? "token_major" : "head_major",
                        shape.selectionPad, selection, ids);
  if (shape.remaps)
    text += fmt::format(
        "  winnow.remap_pages %selection via %attn_table into %pages, %ctx\n"
        "    {{pages_per_block = {}, kv_heads = {}, pad = {}{}}}\n"
        "    : {}, memref<?x?xi32>, {}, memref<?xi32>\n",
        shape.pagesPerBlock, shape.kvHeads, shape.pagePad,
        shape.tableSides == 1
            ? ""
            : fmt::format(", table_sides = {}", shape.tableSides),
        selection, pages);
  if (shape.exchanges)
    text += fmt::format("  winnow.store_candidates %selection, %ids, %best\n"
                        "    : {}, {}, {}\n",
                        selection, candidates("i32"), candidates("f32"));
}

/// The entry's attributes.
std::string attributes(const Shape &shape) {
  std::string text = fmt::format(
      "winnow.entry, winnow.bounds = {{max_seq_len = {}, max_requests = {}",
      shape.maxSeqLen, shape.maxRequests);
  if (shape.selects && shape.ragged())
    text += fmt::format(", max_query_len = {}, max_rows = {}",
                        shape.maxQueryLen, shape.maxRows);
  if (shape.maxPages)
    text += fmt::format(", max_pages = {}", shape.maxPages);
  text += "}";
  if (!shape.contract.empty())
    text += fmt::format(", winnow.contract = \"{}\"", shape.contract);
  std::vector<std::string> schedule;
  if (shape.launches)
    schedule.push_back(fmt::format("launches = {}", shape.launches));
  if (!shape.schedule.empty())
    schedule.push_back(fmt::format("score = {{{}}}", shape.schedule));
  if (!schedule.empty())
    text +=
        fmt::format(", winnow.schedule = {{{}}}", fmt::join(schedule, ", "));
  if (!shape.attention || !shape.selects)
    return text;
  if (!shape.remaps)
    return text +
           fmt::format(", winnow.attention = {{kv_heads = {}, page_size = {}}}",
                       shape.kvHeads, shape.blockSize);
  return text +
         fmt::format(", winnow.attention = {{kv_heads = {}, page_size = {}, "
                     "block_pages = {}}}",
                     shape.kvHeads, shape.blockSize / shape.pagesPerBlock,
                     shape.pagesPerBlock * shape.tableSides *
                         std::max<int64_t>(shape.rebaseTable, 1));
}

} // namespace

std::string Shape::describe() const {
  if (merges)
    return describeMerge(*this);
  const char *layout = strided ? ", strided<[?, ?, 1]>" : "";
  const std::string query =
      fmt::format("memref<?x{}x{}x{}{}>", heads, headDim, dtype, layout);
  const std::string keys =
      fmt::format("memref<?x{}x{}x{}{}>", blockSize, headDim, dtype, layout);
  Parts parts;
  if (selects)
    addIndexer(*this, query, keys, parts);
  addSteps(*this, keys, parts);
  return fmt::format("func.func @decode({})\n    attributes {{{}}} {{\n{}{}"
                     "  return\n}}\n",
                     fmt::join(parts.arguments, ",\n    "), attributes(*this),
                     parts.steps, parts.indexer);
}

std::string Shape::text() const {
  const Shape m3;
  std::string text;
  auto add = [&](const char *name, int64_t value, int64_t usual) {
    if (value != usual)
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  };
  auto addWord = [&](const char *name, const std::string &value,
                     const std::string &usual) {
    if (value != usual)
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  };
  addWord("dtype", dtype, m3.dtype);
  addWord("reduce", reduce, m3.reduce);
  addWord("prefer", prefer, m3.prefer);
  add("head_dim", headDim, m3.headDim);
  add("strided", strided, m3.strided);
  add("heads", heads, m3.heads);
  add("query_len", queryLen, m3.queryLen);
  add("block_size", blockSize, m3.blockSize);
  add("k", keep, m3.keep);
  add("rank", rank, m3.rank);
  add("world", world, m3.world);
  add("init_blocks", initBlocks, m3.initBlocks);
  add("local_blocks", localBlocks, m3.localBlocks);
  add("ties lowest", tieLowest, m3.tieLowest);
  add("ascending", ascending, m3.ascending);
  add("token_major", tokenMajor, m3.tokenMajor);
  add("selection pad", selectionPad, m3.selectionPad);
  add("pages_per_block", pagesPerBlock, m3.pagesPerBlock);
  add("kv_heads", kvHeads, m3.kvHeads);
  add("page pad", pagePad, m3.pagePad);
  add("stores", stores, m3.stores);
  add("remaps", remaps, m3.remaps);
  add("exchanges", exchanges, m3.exchanges);
  add("merges", merges, m3.merges);
  add("candidates of a rank", rankKeep, m3.rankKeep);
  add("max_seq_len", maxSeqLen, m3.maxSeqLen);
  add("max_requests", maxRequests, m3.maxRequests);
  add("max_query_len", maxQueryLen, m3.maxQueryLen);
  add("max_rows", maxRows, m3.maxRows);
  add("max_pages", maxPages, m3.maxPages);
  add("dense", dense, m3.dense);
  addWord("contract", contract, m3.contract);
  add("attention", attention, m3.attention);
  add("table_sides", tableSides, m3.tableSides);
  add("rebase_table", rebaseTable, m3.rebaseTable);
  add("rebase_slots", rebaseSlots, m3.rebaseSlots);
  add("in place", inPlace, m3.inPlace);
  addWord("new keys", newKeys, m3.newKeys);
  add("selects", selects, m3.selects);
  addWord("score lowering", scoreLowering, m3.scoreLowering);
  addWord("select lowering", selectLowering, m3.selectLowering);
  add("launches", launches, m3.launches);
  addWord("schedule", schedule, m3.schedule);
  return text.empty() ? "MiniMax-M3 decode" : text;
}
