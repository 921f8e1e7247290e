// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Describe.h.
#include "Describe.h"

#include <map>

namespace winnow::contract::test {

namespace {

class Describer {
public:
  explicit Describer(const Facts &facts) : facts(withDerived(facts)) {}

  std::string write(const std::string &contract) {
    std::string dtype = text("query_dtype");
    add("q",
        text("query_rows") + "x" + text("index_heads") + "x" +
            text("head_dim") + "x" + dtype,
        strides("query_layout", "index_heads", "head_dim"));
    add("keys",
        "?x" + text("block_size") + "x" + text("head_dim") + "x" +
            text("key_dtype"),
        strides("key_layout", "block_size", "head_dim"));
    add("table", text("index_table_rows") + "x?x" + text("table_dtype"));
    add("lens", text("seq_lens_rows") + "xi32");
    add("idx", text("index_heads") + "x?x" + text("k") + "xi32");
    bool table = text("emits_page_table") == "true";
    if (table) {
      add("attn",
          text("attention_table_rows") + "x?x" + text("attention_table_dtype"));
      add("pages", "?x?xi32");
      add("ctx", "?xi32");
    }

    bool ragged = text("ragged") == "true";
    if (ragged)
      add("cu", "?xi32");
    std::string perRequest =
        ragged ? "ragged" : "query_len = " + text("query_len");
    std::string rows = "!winnow.rows<" + perRequest + ">";
    std::string shape = perRequest + ", heads = " + text("index_heads") +
                        ", block_size = " + text("block_size");
    std::string scores = "!winnow.scores<" + shape + ">";
    std::string selection =
        "!winnow.selection<" + shape + ", k = " + text("k") + ">";
    std::string body =
        "func.func @described(" + arguments +
        ") attributes {winnow.entry, winnow.contract = \"" + contract +
        "\", winnow.bounds = {max_seq_len = " + text("max_seq_len") +
        ", max_requests = " + text("max_requests") + pagesBound() +
        ", max_query_len = " + text("max_query_len") +
        ", max_rows = " + text("max_rows") +
        "}, winnow.attention = {kv_heads = " +
        // Without an emitted table this is where the kv heads come from.
        text(table ? "attention_kv_heads" : "kv_heads") +
        ", page_size = " + text("attention_page_tokens") + "}} {\n" +
        "  %rows = winnow." +
        (ragged ? "ragged_rows %lens, %cu" : "uniform_rows %lens {") +
        (ragged ? "" : perRequest + "}") + " : " + types["lens"] +
        (ragged ? ", " + types["cu"] : "") + "\n" +
        "  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = " +
        text("score_reduction") + ", init_blocks = " + text("init_blocks") +
        ", local_blocks = " + text("local_blocks") +
        ", rank = " + text("shard_rank") + ", world = " + text("shard_world") +
        "} : " + types["q"] + ", " + types["keys"] + ", " + types["table"] +
        ", " + rows + "\n" +
        "  %selection = winnow.topk %scores {k = " + text("k") +
        ", ties = " + text("ties") + ", order = " + text("order") +
        "} : " + scores + "\n" +
        "  winnow.store_selection %selection, %idx : " + selection + ", " +
        types["idx"] + "\n";
    if (table)
      body += "  winnow.remap_pages %selection via %attn into %pages, %ctx "
              "{pages_per_block = " +
              text("pages_per_block") + ", kv_heads = " + text("kv_heads") +
              "} : " + selection + ", " + types["attn"] + ", " +
              types["pages"] + ", " + types["ctx"] + "\n";
    return body + "  return\n}\n";
  }

  std::string writeMerge(const std::string &contract) {
    const std::string shape =
        (text("merge_world_known") == "true" ? text("merge_world") : "?") +
        "x" + text("index_heads") + "x" + text("query_rows") + "x" +
        text("rank_candidates") + "x";
    add("ids", shape + "i32");
    add("best", shape + "f32");
    add("lens", text("seq_lens_rows") + "xi32");
    add("idx", text("index_heads") + "x?x" + text("k") + "xi32");
    const std::string perRequest = "query_len = " + text("query_len");
    return "func.func @described(" + arguments +
           ") attributes {winnow.entry, winnow.contract = \"" + contract +
           "\", winnow.bounds = {max_seq_len = " + text("max_seq_len") +
           ", max_requests = " + text("max_requests") + "}} {\n" +
           "  %rows = winnow.uniform_rows %lens {" + perRequest +
           "} : " + types["lens"] + "\n" +
           "  %selection = winnow.merge_candidates %ids, %best on %rows "
           "{block_size = " +
           text("block_size") + ", k = " + text("k") +
           ", ties = " + text("ties") + ", order = " + text("order") +
           "} : " + types["ids"] + ", " + types["best"] + ", !winnow.rows<" +
           perRequest + ">\n" +
           "  winnow.store_selection %selection, %idx : !winnow.selection<" +
           perRequest + ", heads = " + text("index_heads") +
           ", block_size = " + text("block_size") + ", k = " + text("k") +
           ">, " + types["idx"] + "\n  return\n}\n";
  }

private:
  std::string text(const std::string &fact) {
    auto it = facts.find(fact);
    return it == facts.end() ? "?" : valueText(it->second);
  }

  std::string pagesBound() {
    return facts.count("max_pages") ? ", max_pages = " + text("max_pages") : "";
  }

  /// A padded layout where the fact asks for one.
  std::string strides(const std::string &layout, const std::string &middle,
                      const std::string &inner) {
    if (text(layout) == "contiguous")
      return "";
    int64_t row = 2 * std::get<int64_t>(facts.at(inner));
    int64_t outer = row * std::get<int64_t>(facts.at(middle));
    return ", strided<[" + std::to_string(outer) + ", " + std::to_string(row) +
           ", 1]>";
  }

  void add(const std::string &name, const std::string &shape,
           const std::string &layout = "") {
    types[name] = "memref<" + shape + layout + ">";
    arguments += (arguments.empty() ? "%" : ", %") + name + ": " + types[name];
  }

  Facts facts;
  std::map<std::string, std::string> types;
  std::string arguments;
};

} // namespace

std::string describe(const Facts &facts, const std::string &contract) {
  return Describer(facts).write(contract);
}

std::string describeMerge(const Facts &facts, const std::string &contract) {
  return Describer(facts).writeMerge(contract);
}

} // namespace winnow::contract::test
