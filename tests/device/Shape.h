// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The free choices of a decode description, and the description that they make.
#ifndef WINNOW_TESTS_DEVICE_SHAPE_H
#define WINNOW_TESTS_DEVICE_SHAPE_H

#include <cstdint>
#include <string>

namespace winnow::test {

struct Shape {
  int64_t heads = 1;
  int64_t headDim = 128;
  std::string dtype = "f8E4M3FN"; ///< of queries and keys
  bool strided = false;           ///< queries and keys may have gaps
  std::string reduce = "max";
  int64_t queryLen = 1;
  int64_t blockSize = 128;
  int64_t keep = 16;
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

  /// The lowering that is tried first; empty: the best first.
  std::string prefer;

  /// The description, an entry called `decode`.
  std::string describe() const;
  /// One line for messages: what differs from MiniMax-M3's decode.
  std::string text() const;
};

} // namespace winnow::test

#endif // WINNOW_TESTS_DEVICE_SHAPE_H
