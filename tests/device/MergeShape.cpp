// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes descriptions of merges for tests.
#include "Shape.h"

#include <fmt/format.h>

using namespace winnow::test;

std::string winnow::test::describeMerge(const Shape &shape) {
  const std::string ranks =
      shape.merges < 0 ? "?" : std::to_string(shape.merges);
  auto type = [&](const char *element) {
    return fmt::format("memref<{}x{}x?x{}x{}, strided<[?, ?, ?, 1]>>", ranks,
                       shape.heads,
                       shape.rankKeep ? shape.rankKeep : shape.keep, element);
  };
  const std::string heads = std::to_string(shape.heads);
  const std::string ids =
      fmt::format("memref<{}x{}xi32, strided<[?, ?, 1]>>",
                  shape.tokenMajor ? "?x" + heads : heads + "x?", shape.keep);
  const std::string rows =
      shape.ragged() ? "ragged" : fmt::format("query_len = {}", shape.queryLen);
  const std::string selection =
      fmt::format("!winnow.selection<{}, heads = {}, block_size = {}, k = {}>",
                  rows, shape.heads, shape.blockSize, shape.keep);
  std::string text = fmt::format("func.func @merge(%rank_ids: {}, %rank_best: "
                                 "{},\n    %lens: memref<?xi32>",
                                 type("i32"), type("f32"));
  if (shape.ragged())
    text += ", %cu_seqlens: memref<?xi32>";
  if (shape.stores)
    text += ", %idx: " + ids;
  if (shape.remaps)
    text += ", %attn_table: memref<?x?xi32>, %pages: memref<?x?xi32>, "
            "%ctx: memref<?xi32>";
  text += fmt::format(")\n    attributes {{winnow.entry, winnow.bounds = "
                      "{{max_seq_len = {}, max_requests = {}{}}}}} {{\n",
                      shape.maxSeqLen, shape.maxRequests,
                      shape.ragged()
                          ? fmt::format(", max_query_len = {}, max_rows = {}",
                                        shape.maxQueryLen, shape.maxRows)
                          : "");
  text += shape.ragged() ? "  %rows = winnow.ragged_rows %lens, %cu_seqlens "
                           ": memref<?xi32>, memref<?xi32>\n"
                         : fmt::format("  %rows = winnow.uniform_rows %lens "
                                       "{{query_len = {}}} : memref<?xi32>\n",
                                       shape.queryLen);
  text += fmt::format(
      "  %selection = winnow.merge_candidates %rank_ids, %rank_best on %rows\n"
      "    {{block_size = {}, k = {}, ties = {}, order = {}}}\n"
      "    : {}, {}, !winnow.rows<{}>\n",
      shape.blockSize, shape.keep,
      shape.tieLowest ? "lowest_block" : "highest_block",
      shape.ascending ? "ascending" : "score_descending", type("i32"),
      type("f32"), rows);
  if (shape.stores)
    text += fmt::format("  winnow.store_selection %selection, %idx "
                        "{{layout = {}, pad = {}}}\n    : {}, {}\n",
                        shape.tokenMajor ? "token_major" : "head_major",
                        shape.selectionPad, selection, ids);
  if (shape.remaps)
    text += fmt::format(
        "  winnow.remap_pages %selection via %attn_table into %pages, %ctx\n"
        "    {{pages_per_block = {}, kv_heads = {}, pad = {}}}\n"
        "    : {}, memref<?x?xi32>, memref<?x?xi32>, memref<?xi32>\n",
        shape.pagesPerBlock, shape.kvHeads, shape.pagePad, selection);
  return text + "  return\n}\n";
}
