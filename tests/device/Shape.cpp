// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes descriptions for tests.
#include "Shape.h"

#include <fmt/format.h>

using namespace winnow::test;

std::string Shape::describe() const {
  const char *layout = strided ? ", strided<[?, ?, 1]>" : "";
  std::string query =
      fmt::format("memref<?x{}x{}x{}{}>", heads, headDim, dtype, layout);
  std::string keys =
      fmt::format("memref<?x{}x{}x{}{}>", blockSize, headDim, dtype, layout);
  std::string ids =
      tokenMajor
          ? fmt::format("memref<?x{}x{}xi32, strided<[?, ?, 1]>>", heads, keep)
          : fmt::format("memref<{}x?x{}xi32, strided<[?, ?, 1]>>", heads, keep);
  std::string rows =
      ragged() ? "ragged" : fmt::format("query_len = {}", queryLen);
  std::string facts =
      fmt::format("{}, heads = {}, block_size = {}", rows, heads, blockSize);
  std::string selection =
      fmt::format("!winnow.selection<{}, k = {}>", facts, keep);
  std::string text = fmt::format(
      "func.func @decode(%q: {}, %keys: {}, %index_table: memref<?x?xi32>,\n"
      "    %lens: memref<?xi32>",
      query, keys);
  if (ragged())
    text += ", %cu_seqlens: memref<?xi32>";
  if (stores)
    text += fmt::format(", %idx: {}", ids);
  if (remaps)
    text += ", %attn_table: memref<?x?xi32>, %pages: memref<?x?xi32>, "
            "%ctx: memref<?xi32>";
  text +=
      fmt::format(")\n    attributes {{winnow.entry, winnow.bounds = "
                  "{{max_seq_len = {}, max_requests = {}{}}}}} {{\n",
                  maxSeqLen, maxRequests,
                  ragged() ? fmt::format(", max_query_len = {}, max_rows = {}",
                                         maxQueryLen, maxRows)
                           : "");
  text += ragged() ? "  %rows = winnow.ragged_rows %lens, %cu_seqlens "
                     ": memref<?xi32>, memref<?xi32>\n"
                   : fmt::format("  %rows = winnow.uniform_rows %lens "
                                 "{{query_len = {}}} : memref<?xi32>\n",
                                 queryLen);
  text += fmt::format(
      "  %scores = winnow.block_score %q, %keys[%index_table] on %rows\n"
      "    {{reduce = {}, init_blocks = {}, local_blocks = {}, rank = {}, "
      "world = {}}}\n"
      "    : {}, {}, memref<?x?xi32>, !winnow.rows<{}>\n",
      reduce, initBlocks, localBlocks, rank, world, query, keys, rows);
  text += fmt::format(
      "  %selection = winnow.topk %scores {{k = {}, ties = {}, order = {}}}\n"
      "    : !winnow.scores<{}>\n",
      keep, tieLowest ? "lowest_block" : "highest_block",
      ascending ? "ascending" : "score_descending", facts);
  if (stores)
    text += fmt::format("  winnow.store_selection %selection, %idx "
                        "{{layout = {}, pad = {}}}\n    : {}, {}\n",
                        tokenMajor ? "token_major" : "head_major", selectionPad,
                        selection, ids);
  if (remaps)
    text += fmt::format(
        "  winnow.remap_pages %selection via %attn_table into %pages, %ctx\n"
        "    {{pages_per_block = {}, kv_heads = {}, pad = {}}}\n"
        "    : {}, memref<?x?xi32>, memref<?x?xi32>, memref<?xi32>\n",
        pagesPerBlock, kvHeads, pagePad, selection);
  return text + "  return\n}\n";
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
  add("max_seq_len", maxSeqLen, m3.maxSeqLen);
  add("max_query_len", maxQueryLen, m3.maxQueryLen);
  return text.empty() ? "MiniMax-M3 decode" : text;
}
