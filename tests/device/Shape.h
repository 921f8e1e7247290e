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
  bool stores = true;     ///< has a store_selection
  bool remaps = true;     ///< has a remap_pages
  bool exchanges = false; ///< has a store_candidates
  /// Merges the candidates of as many ranks, in place of scoring; -1: of any.
  int64_t merges = 0;
  int64_t rankKeep = 0; ///< candidates of each; 0: k
  int64_t maxSeqLen = 16384;
  int64_t maxRequests = 64;
  int64_t maxQueryLen = 2048; ///< of ragged rows, as is the next
  int64_t maxRows = 4096;
  int64_t maxPages = 0; ///< 0: not given

  bool dense = false;     ///< outputs have no gaps, as their types say
  std::string contract;   ///< that the entry names; empty: none
  bool attention = false; ///< the entry says what its attention reads
  int64_t tableSides = 1; ///< that remap_pages is told of
  /// Sides by which a rebase_table scales the attention's table, or by which a
  /// rebase_slots moves slots; 0: there is no such operation.
  int64_t rebaseTable = 0;
  int64_t rebaseSlots = 0;
  bool inPlace = false; ///< those two work in place
  std::string newKeys;  ///< dtype of keys to insert; empty: none
  bool selects = true;  ///< false: operations of a step alone

  /// The lowering that the description asks for; empty: none.
  std::string scoreLowering, selectLowering;

  int64_t launches = 0; ///< that the description asks for; 0: it does not
  std::string schedule; ///< of scoring: "prefetch = 2, waves = 4"; may be empty

  /// The lowering that is tried first; empty: the best first.
  std::string prefer;

  /// Whose architecture header the kernels stand on. They are compiled for
  /// gfx950 all the same, which is what is simulated.
  std::string arch = "gfx950";

  bool ragged() const { return queryLen == 0; }
  int64_t maxBlocks() const { return (maxSeqLen + blockSize - 1) / blockSize; }
  /// The most blocks of a row that the shard scores.
  int64_t shardBlocks() const { return (maxBlocks() + world - 1) / world; }
  /// The description, an entry called `decode`, or `merge` where it merges.
  std::string describe() const;
  /// One line for messages: what differs from MiniMax-M3's decode.
  std::string text() const;
};

/// The description of a shape that merges, an entry called `merge`.
std::string describeMerge(const Shape &shape);

} // namespace winnow::test

#endif // WINNOW_TESTS_DEVICE_SHAPE_H
