// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Describe.h"

#include <fmt/format.h>

std::string winnow::bench::describe(const IndexerShape &shape) {
  const std::string query =
      fmt::format("memref<?x{}x{}x{}>", shape.heads, kHeadDim, shape.dtype);
  const std::string keys =
      fmt::format("memref<?x{}x{}x{}>", kBlockSize, kHeadDim, shape.dtype);
  const std::string ids =
      fmt::format("memref<{}x?x{}xi32>", shape.heads, kKeep);
  const std::string rows =
      shape.ragged() ? "ragged" : fmt::format("query_len = {}", shape.queryLen);
  const std::string of = fmt::format("{}, heads = {}, block_size = {}", rows,
                                     shape.heads, kBlockSize);

  std::string text = fmt::format(
      "func.func @{}(%q: {}, %keys: {},\n"
      "    %index_table: memref<?x?xi32>, %attn_table: memref<?x?xi32>,\n"
      "    %lens: memref<?xi32>, {}%idx: {},\n"
      "    %pages: memref<?x128xi32>, %ctx: memref<?xi32>)\n"
      "    attributes {{winnow.entry, winnow.bounds = {{max_seq_len = {}, "
      "max_requests = {}{}}}{}}} {{\n",
      shape.name, query, keys,
      shape.ragged() ? "%cu_seqlens: memref<?xi32>, " : "", ids,
      shape.maxSeqLen, shape.maxRequests,
      shape.ragged() ? fmt::format(", max_query_len = {}, max_rows = {}",
                                   shape.maxQueryLen, shape.maxRows)
                     : "",
      shape.attributes);
  // An entry has to use each of its arguments, so the table's go where there
  // is none.
  if (!shape.table) {
    for (const char *argument :
         {" %attn_table: memref<?x?xi32>,",
          ",\n    %pages: memref<?x128xi32>, %ctx: memref<?xi32>"})
      if (size_t at = text.find(argument); at != text.npos)
        text.erase(at, std::string_view(argument).size());
  }
  text += shape.ragged()
              ? "  %rows = winnow.ragged_rows %lens, %cu_seqlens : "
                "memref<?xi32>, memref<?xi32>\n"
              : fmt::format("  %rows = winnow.uniform_rows %lens {{query_len = "
                            "{}}} : memref<?xi32>\n",
                            shape.queryLen);
  text += fmt::format(
      "  %s = winnow.block_score %q, %keys[%index_table] on %rows\n"
      "      {{reduce = max, init_blocks = 0, local_blocks = {}}}\n"
      "      : {}, {}, memref<?x?xi32>, !winnow.rows<{}>\n"
      "  %sel = winnow.topk %s {{k = {}}} : !winnow.scores<{}>\n"
      "  winnow.store_selection %sel, %idx {{layout = head_major, pad = -1}}\n"
      "      : !winnow.selection<{}, k = {}>, {}\n",
      shape.localBlocks, query, keys, rows, kKeep, of, of, kKeep, ids);
  if (shape.table)
    text += fmt::format(
        "  winnow.remap_pages %sel via %attn_table into %pages, %ctx\n"
        "      {{pages_per_block = 8, kv_heads = {}, pad = 0}}\n"
        "      : !winnow.selection<{}, k = {}>, memref<?x?xi32>, "
        "memref<?x128xi32>, memref<?xi32>\n",
        shape.heads, of, kKeep);
  return text + "  return\n}\n";
}
