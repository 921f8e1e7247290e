// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the facts of a description off its operations. Every name here is one
// of dsl/contracts/facts.json.
#include "winnow/Codegen/Facts.h"

#include "winnow/IR/Winnow.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace winnow;

std::optional<std::string> winnow::platformOf(StringRef arch) {
  if (arch.starts_with("gfx"))
    return "rocm";
  if (arch.starts_with("sm_"))
    return "cuda";
  return std::nullopt;
}

namespace {

std::string spelling(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

class Collector {
public:
  Collector(func::FuncOp entry, StringRef arch)
      : result{{}, {}, {}, entry.getLoc()} {
    Location loc = entry.getLoc();
    if (!arch.empty()) {
      set("arch", arch.str(), loc);
      if (std::optional<std::string> platform = platformOf(arch))
        set("platform", *platform, loc);
    }
    if (std::optional<EntryBounds> bounds = getEntryBounds(entry)) {
      set("max_seq_len", bounds->maxSeqLen, loc);
      set("max_requests", bounds->maxRequests, loc);
      if (bounds->maxPages)
        set("max_pages", *bounds->maxPages, loc);
      if (bounds->maxQueryLen)
        set("max_query_len", *bounds->maxQueryLen, loc);
      if (bounds->maxRows)
        set("max_rows", *bounds->maxRows, loc);
    }
    if (std::optional<AttentionFacts> attention = getAttention(entry)) {
      set("attention_page_tokens", attention->pageSize, loc);
      set("kv_heads", attention->kvHeads, loc);
      set("attention_kv_heads", attention->kvHeads, loc);
    }
  }

  void addScore(BlockScoreOp score) {
    result.operations.push_back(score);
    Value query = score.getQuery(), keys = score.getKeys();
    MemRefType queryType = score.getQuery().getType();
    MemRefType keysType = score.getKeys().getType();
    set("query_dtype", spelling(queryType.getElementType()), query.getLoc());
    setExtent("query_rows", score.getQuery(), 0);
    setExtent("index_heads", score.getQuery(), 1);
    setExtent("head_dim", score.getQuery(), 2);
    setLayout("query_layout", score.getQuery());
    set("key_dtype", spelling(keysType.getElementType()), keys.getLoc());
    setExtent("block_size", score.getKeys(), 1);
    setLayout("key_layout", score.getKeys());
    TypedValue<MemRefType> table = score.getIndexTable();
    set("table_dtype", spelling(table.getType().getElementType()),
        table.getLoc());
    setExtent("index_table_rows", table, 0);

    Location loc = score.getLoc();
    set("score_reduction", stringifyTokenReduction(score.getReduce()).str(),
        loc);
    set("init_blocks", int64_t(score.getInitBlocks()), loc);
    set("local_blocks", int64_t(score.getLocalBlocks()), loc);
    set("shard_rank", int64_t(score.getRank()), loc);
    set("shard_world", int64_t(score.getWorld()), loc);
    // The plan makes the score buffer itself, its rows along blocks dense.
    set("score_layout", "contiguous", loc);
    addRows(score.getRows());
    // The operation that says so when there is one; else the entry, which
    // could have it.
    set("emits_page_table", false, result.entry);
  }

  void addSelection(TopKOp topk) {
    addKept(topk);
    if (auto score = topk.getScores().getDefiningOp<BlockScoreOp>())
      addScore(score);
  }

  void addMerge(MergeCandidatesOp merge) {
    addKept(merge);
    Location loc = merge.getLoc();
    TypedValue<MemRefType> ids = merge.getIds();
    setExtent("merge_world", ids, 0);
    set("merge_world_known", !ids.getType().isDynamicDim(0), ids.getLoc());
    setExtent("index_heads", ids, 1);
    setExtent("query_rows", ids, 2);
    setExtent("rank_candidates", ids, 3);
    set("block_size", int64_t(merge.getBlockSize()), loc);
    addRows(merge.getRows());
    set("emits_page_table", false, result.entry);
  }

  void addPageTable(RemapPagesOp remap) {
    if (auto topk = remap.getSelection().getDefiningOp<TopKOp>())
      addSelection(topk);
    else if (auto merge =
                 remap.getSelection().getDefiningOp<MergeCandidatesOp>())
      addMerge(merge);
    result.operations.push_back(remap);
    Location loc = remap.getLoc();
    set("emits_page_table", true, loc);
    set("kv_heads", int64_t(remap.getKvHeads()), loc);
    set("pages_per_block", int64_t(remap.getPagesPerBlock()), loc);
    set("page_pad", int64_t(remap.getPad()), loc);
    TypedValue<MemRefType> table = remap.getAttentionTable();
    set("attention_table_dtype", spelling(table.getType().getElementType()),
        table.getLoc());
    setExtent("attention_table_rows", table, 0);
  }

  LocatedFacts finish() {
    result.facts = contract::withDerived(std::move(result.facts));
    return std::move(result);
  }

private:
  /// What a topk and a merge have in common, and what is made of both.
  template <typename Op> void addKept(Op op) {
    result.operations.push_back(op);
    Location loc = op.getLoc();
    set("k", int64_t(op.getK()), loc);
    set("ties", stringifyTieRule(op.getTies()).str(), loc);
    set("order", stringifySelectionOrder(op.getOrder()).str(), loc);
    for (Operation *user : op.getSelection().getUsers()) {
      if (auto store = dyn_cast<StoreSelectionOp>(user)) {
        result.operations.push_back(store);
        set("selection_pad", int64_t(store.getPad()), store.getLoc());
      } else if (isa<StoreCandidatesOp>(user)) {
        result.operations.push_back(user);
      }
    }
  }

  void addRows(Value value) {
    if (auto rows = value.getDefiningOp<UniformRowsOp>())
      addRows(rows);
    else if (auto rows = value.getDefiningOp<RaggedRowsOp>())
      addRows(rows);
  }

  void addRows(RaggedRowsOp rows) {
    set("ragged", true, rows.getLoc());
    setExtent("seq_lens_rows", rows.getLens(), 0);
    setExtent("requests", rows.getLens(), 0);
  }

  void addRows(UniformRowsOp rows) {
    set("ragged", false, rows.getLoc());
    set("query_len", int64_t(rows.getQueryLen()), rows.getLoc());
    setExtent("seq_lens_rows", rows.getLens(), 0);
    // Requests follow from the query's rows; where those are not known, there
    // are as many as lengths.
    MemRefType lens = rows.getLens().getType();
    if (result.facts.count("query_rows") == 0 && !lens.isDynamicDim(0))
      set("requests", lens.getDimSize(0), rows.getLens().getLoc());
  }

  void set(StringRef name, contract::Value value, Location place) {
    result.facts[name.str()] = std::move(value);
    result.places.insert_or_assign(name, place);
  }

  void setExtent(StringRef name, TypedValue<MemRefType> memory, unsigned axis) {
    if (!memory.getType().isDynamicDim(axis))
      set(name, memory.getType().getDimSize(axis), memory.getLoc());
  }

  void setLayout(StringRef name, TypedValue<MemRefType> memory) {
    set(name, isContiguous(memory.getType()) ? "contiguous" : "strided",
        memory.getLoc());
  }

  LocatedFacts result;
};

} // namespace

Location LocatedFacts::placeOf(StringRef fact) const {
  auto it = places.find(fact);
  return it == places.end() ? entry : it->second;
}

SmallVector<LocatedFacts> winnow::collectFacts(func::FuncOp entry,
                                               StringRef arch) {
  SmallVector<LocatedFacts> all;
  auto usedBy = [](Value value, auto isUser) {
    return llvm::any_of(value.getUsers(), isUser);
  };
  entry.walk([&](Operation *op) {
    Collector collector(entry, arch);
    if (auto remap = dyn_cast<RemapPagesOp>(op)) {
      collector.addPageTable(remap);
    } else if (auto topk = dyn_cast<TopKOp>(op)) {
      if (usedBy(topk.getSelection(),
                 [](Operation *user) { return isa<RemapPagesOp>(user); }))
        return;
      collector.addSelection(topk);
    } else if (auto merge = dyn_cast<MergeCandidatesOp>(op)) {
      if (usedBy(merge.getSelection(),
                 [](Operation *user) { return isa<RemapPagesOp>(user); }))
        return;
      collector.addMerge(merge);
    } else if (auto score = dyn_cast<BlockScoreOp>(op)) {
      if (usedBy(score.getScores(),
                 [](Operation *user) { return isa<TopKOp>(user); }))
        return;
      collector.addScore(score);
    } else {
      return;
    }
    all.push_back(collector.finish());
  });
  if (all.empty())
    all.push_back(Collector(entry, arch).finish());
  return all;
}
