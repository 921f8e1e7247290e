// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The descriptions that are measured: MiniMax-M3's indexer, with the few
// choices that the figures to compare with differ in.
#ifndef WINNOW_BENCH_DESCRIBE_H
#define WINNOW_BENCH_DESCRIBE_H

#include <cstdint>
#include <string>

namespace winnow::bench {

struct IndexerShape {
  std::string name = "decode";    ///< of the entry
  std::string dtype = "f8E4M3FN"; ///< of queries and keys
  int64_t heads = 1;              ///< index heads
  int64_t queryLen = 1;           ///< rows a request; 0: ragged rows
  int64_t localBlocks = 1;        ///< the last blocks, kept whatever they score
  bool table = true;              ///< writes the page table, too
  int64_t maxSeqLen = 131072;     ///< tokens
  int64_t maxRequests = 64;       ///< of a call
  int64_t maxQueryLen = 16384;    ///< of ragged rows: new tokens of a request
  int64_t maxRows = 16384;        ///< and of a call
  std::string attributes = {};    ///< more of the entry's, ", name = value"

  bool ragged() const { return queryLen == 0; }
};

constexpr int64_t kBlockSize = 128, kHeadDim = 128, kKeep = 16;

/// Attributes of an entry that say how many kernels a decode is.
inline constexpr const char *kOneLaunch = ", winnow.schedule = {launches = 1}";
inline constexpr const char *kTwoLaunches =
    ", winnow.schedule = {launches = 2}";

/// One entry, as text.
std::string describe(const IndexerShape &shape);

} // namespace winnow::bench

#endif // WINNOW_BENCH_DESCRIBE_H
