// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The free choices of a description of an indexer, and the description that
// they make.
#ifndef WINNOW_TESTS_DEVICE_SHAPE_H
#define WINNOW_TESTS_DEVICE_SHAPE_H

#include <cstdint>
#include <string>

namespace winnow::test {

struct Shape {
  std::string dtype = "f8E4M3FN"; ///< of queries and keys
  int64_t heads = 1;
  int64_t headDim = 128;
  bool strided = false; ///< queries and keys may have gaps
  std::string reduce = "max";
  int64_t queryLen = 1; ///< 0: ragged rows
  int64_t blockSize = 128;
  int64_t keep = 16;
  int64_t rank = 0, world = 1; ///< which shard of the blocks
  int64_t initBlocks = 0;
  int64_t localBlocks = 1;
  bool tieLowest = false;
  bool ascending = false;
  bool tokenMajor = false;
  int64_t selectionPad = -1;
  int64_t pagesPerBlock = 8;
  int64_t kvHeads = 1;
  int64_t pagePad = 0;
  bool stores = true; ///< has a store_selection
  bool remaps = true; ///< has a remap_pages
  int64_t maxSeqLen = 16384;
  int64_t maxRequests = 64;
  int64_t maxQueryLen = 2048; ///< of ragged rows, as is the next
  int64_t maxRows = 4096;

  /// The lowering that is tried first; empty: the best first.
  std::string prefer;

  bool ragged() const { return queryLen == 0; }
  /// The description, an entry called `decode`.
  std::string describe() const;
  /// One line for messages: what differs from MiniMax-M3's decode.
  std::string text() const;
};

} // namespace winnow::test

#endif // WINNOW_TESTS_DEVICE_SHAPE_H
