// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Refusals.h"

#include <algorithm>
#include <functional>
#include <map>

using namespace winnow;
using namespace winnow::test;

namespace {

bool isOneOf(const std::string &value, std::initializer_list<const char *> of) {
  for (const char *each : of)
    if (value == each)
      return true;
  return false;
}

bool hasPageNumbersPast32Bits(const Shape &shape) {
  return shape.remaps && shape.maxPages &&
         static_cast<double>(shape.maxPages) *
                 static_cast<double>(shape.pagesPerBlock * shape.kvHeads) >
             2147483648.0;
}

bool hasRequestsPastTheGrid(const Shape &shape) {
  return !shape.ragged() && shape.maxRequests > 65535;
}

/// Candidates of a row that a merge of a fixed number of ranks looks at.
int64_t mergedPlaces(const Shape &shape) {
  return std::max<int64_t>(shape.merges, 0) *
         std::max(shape.rankKeep, shape.keep);
}

using Breaks = std::function<bool(const Shape &)>;

/// By contract and limit. A limit that is lifted one day is never named again,
/// and its line here has to go; one that is added has to come in here.
const std::map<std::string, Breaks> &rules() {
  static const std::map<std::string, Breaks> rules = {
      {"winnow_mfma/query_dtype",
       [](const Shape &s) { return s.dtype == "f8E5M2"; }},
      {"winnow_mfma/key_dtype",
       [](const Shape &s) { return s.dtype == "f8E5M2"; }},
      {"winnow_mfma/score_reduction",
       [](const Shape &s) { return s.reduce != "max"; }},
      {"winnow_mfma/head_dim", [](const Shape &s) { return s.headDim != 128; }},
      {"winnow_mfma/index_heads", [](const Shape &s) { return s.heads > 16; }},
      {"winnow_mfma/queries",
       [](const Shape &s) { return !s.ragged() && s.heads * s.queryLen > 16; }},
      {"winnow_mfma/block_size",
       [](const Shape &s) {
         return s.blockSize != 32 && s.blockSize != 64 && s.blockSize != 128 &&
                s.blockSize != 256;
       }},
      {"winnow_mfma/k", [](const Shape &s) { return s.keep > 64; }},
      {"winnow_mfma/max_blocks",
       [](const Shape &s) { return s.shardBlocks() > 32768; }},
      {"winnow_mfma/max_requests", hasRequestsPastTheGrid},
      {"winnow_generic/max_requests", hasRequestsPastTheGrid},
      {"winnow_mfma/merge_world_known",
       [](const Shape &s) { return s.merges < 0; }},
      {"winnow_mfma/candidates",
       [](const Shape &s) { return mergedPlaces(s) > 16384; }},
      {"winnow_mfma/query_layout", [](const Shape &s) { return s.strided; }},
      {"winnow_mfma/key_layout", [](const Shape &s) { return s.strided; }},
      {"winnow_mfma/page_numbers", hasPageNumbersPast32Bits},
      {"winnow_generic/page_numbers", hasPageNumbersPast32Bits},
      {"aiter_msa/query_dtype",
       [](const Shape &s) { return s.dtype != "f8E4M3FN"; }},
      {"aiter_msa/key_dtype",
       [](const Shape &s) { return s.dtype != "f8E4M3FN"; }},
      {"aiter_msa/score_reduction",
       [](const Shape &s) { return s.reduce != "max"; }},
      {"aiter_msa/k", [](const Shape &s) { return s.keep != 16; }},
      {"aiter_msa/block_size",
       [](const Shape &s) { return s.blockSize != 128; }},
      {"aiter_msa/head_dim", [](const Shape &s) { return s.headDim != 128; }},
      {"aiter_msa/index_heads", [](const Shape &s) { return s.heads > 16; }},
      {"aiter_msa/columns",
       [](const Shape &s) { return !s.ragged() && s.heads * s.queryLen > 16; }},
      {"aiter_msa/max_blocks",
       [](const Shape &s) { return s.maxBlocks() > 8192; }},
      {"aiter_msa/kv_heads_without_table",
       [](const Shape &s) {
         return !s.remaps && s.attention && s.kvHeads != 1;
       }},
      {"aiter_msa/page_numbering",
       [](const Shape &s) {
         return s.remaps && s.blockSize / s.pagesPerBlock != 16;
       }},
      {"aiter_msa/attention_pairing",
       [](const Shape &s) {
         return s.attention &&
                (s.remaps ? s.blockSize / s.pagesPerBlock : s.blockSize) != 16;
       }},
      {"aiter_msa/query_layout", [](const Shape &s) { return s.strided; }},
      {"aiter_msa/key_layout", [](const Shape &s) { return s.strided; }},
  };
  return rules;
}

} // namespace

std::vector<NamedLimit> test::limitsIn(std::string_view text) {
  constexpr std::string_view first = "contract '", second = "', limit '";
  std::vector<NamedLimit> limits;
  for (size_t at = 0; (at = text.find(first, at)) != std::string_view::npos;) {
    at += first.size();
    const size_t middle = text.find(second, at);
    if (middle == std::string_view::npos)
      break;
    const size_t end = text.find('\'', middle + second.size());
    if (end == std::string_view::npos)
      break;
    NamedLimit limit{std::string(text.substr(at, middle - at)),
                     std::string(text.substr(middle + second.size(),
                                             end - middle - second.size()))};
    at = end;
    bool known = false;
    for (const NamedLimit &other : limits)
      known |= other.text() == limit.text();
    if (!known)
      limits.push_back(std::move(limit));
  }
  return limits;
}

bool test::breaks(const Shape &shape, const NamedLimit &limit) {
  auto rule = rules().find(limit.text());
  return shape.selects && rule != rules().end() && rule->second(shape);
}

bool test::mfmaScores(const Shape &shape) {
  return isOneOf(shape.dtype, {"f8E4M3FN", "bf16", "f16"}) &&
         shape.reduce == "max" && shape.headDim == 128 && shape.heads <= 16 &&
         (shape.ragged() || shape.heads * shape.queryLen <= 16) &&
         (shape.blockSize == 32 || shape.blockSize == 64 ||
          shape.blockSize == 128 || shape.blockSize == 256) &&
         !shape.strided && !hasRequestsPastTheGrid(shape);
}

bool test::mfmaSelects(const Shape &shape) {
  if (shape.merges)
    return shape.keep <= 64 && shape.merges > 0 &&
           mergedPlaces(shape) <= 16384 && !hasPageNumbersPast32Bits(shape);
  return shape.keep <= 64 && shape.shardBlocks() <= 32768 &&
         !hasPageNumbersPast32Bits(shape);
}

bool test::joins(const Shape &shape) {
  auto isMfma = [&](const std::string &asked, bool owed) {
    return shape.prefer != "generic" &&
           (asked.empty() ? owed : asked == "mfma");
  };
  return shape.selects && !shape.merges && !shape.ragged() &&
         shape.heads * shape.queryLen <= 16 && shape.keep <= 512 &&
         shape.shardBlocks() <= 8192 &&
         isMfma(shape.scoreLowering, mfmaScores(shape)) ==
             isMfma(shape.selectLowering, mfmaSelects(shape));
}
