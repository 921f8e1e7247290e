// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an entry of a bundle computes, in the reference's terms, and a call of
// it in host memory. With these two, inputs can be made, the reference be run
// and results be held against it, from the bundle alone.
#ifndef WINNOW_HOST_INDEXER_H
#define WINNOW_HOST_INDEXER_H

#include "winnow/Host/Tensors.h"

#include "winnow/Reference/Operations.h"
#include "winnow/Runtime/Manifest.h"

#include <optional>
#include <vector>

namespace winnow::host {

/// An operation of a step, its operands as indices of the entry's arguments.
struct StepCall {
  enum class Kind { RebaseTable, RebaseSlots, InsertKeys };
  Kind kind = Kind::RebaseTable;
  std::vector<int> operands; ///< the last is written
  int64_t sides = 1, blockSize = 1;

  int output() const { return operands.back(); }
};

struct Indexer {
  const runtime::Entry *entry = nullptr;
  /// What runs before the indexer; an entry may hold these alone.
  std::vector<StepCall> steps;
  int64_t heads = 0, headDim = 0, blockSize = 0, keep = 0;
  int64_t queryLen = 0; ///< 0 where the rows are ragged
  int64_t shardRank = 0, shardWorld = 1;
  int64_t rankKeep = 0;  ///< of a merge: candidates of each rank
  int64_t maxBlocks = 0; ///< of the longest sequence in the bounds
  reference::BlockScoreOptions score;
  reference::TopKOptions topk;
  int32_t selectionPad = -1;
  std::optional<reference::RemapOptions> remap;
  bool tokenMajor = false; ///< the stored selection is [N, H, K]
  /// Indices of the entry's arguments; -1 where it has none.
  int query = -1, keys = -1, indexTable = -1, lens = -1;
  int cuSeqlens = -1; ///< of ragged rows only
  int selection = -1, attnTable = -1, pages = -1, contexts = -1;
  int candidateIds = -1, candidateScores = -1; ///< what a rank hands on
  int rankIds = -1, rankScores = -1;           ///< what a merge takes
  int scores = -1; ///< index of the workspace with the scores

  bool ragged() const { return cuSeqlens >= 0; }
  /// Whether it merges the candidates of ranks, in place of scoring blocks.
  bool merges() const { return rankIds >= 0; }
  /// Whether there is an indexer; without one only `steps` means anything.
  bool selects() const { return query >= 0 || merges(); }
  /// The argument that holds, before the steps run, what `argument` is made of.
  int sourceOf(int argument) const;

  /// From the facts and arguments of an entry; an error names what is missing.
  static Result<Indexer> of(const runtime::Entry &entry);

  /// The number of requests, where the entry takes no other.
  std::optional<int64_t> fixedRequests() const;
};

/// The tensors of one call, in the manifest's order.
struct Call {
  const Indexer *indexer = nullptr;
  std::vector<HostTensor> arguments, workspace;
  runtime::Symbols symbols;

  /// Poisoned tensors for `requests` requests over a cache of `pages` pages;
  /// with ragged rows, of `rows` rows in all; a merge of any number of ranks
  /// gets `ranks`. Rows of outputs have gaps between them where the layout
  /// allows it.
  static Result<Call> make(const Indexer &indexer, int64_t requests,
                           int64_t pages, int64_t rows = 0, int64_t ranks = 3);

  int64_t requests() const;
  reference::Rows rows() const;
  /// The selection as [H, N, K] whatever its layout in memory.
  reference::View<int32_t, 3> selection();
  reference::View<const int32_t, 3> selection() const;
  /// The most that all tensors of a call may take: tools keep several copies.
  static constexpr uint64_t kMaxBytes = uint64_t(2) << 30;

  /// The arguments at the addresses of this process.
  std::vector<runtime::TensorView> hostViews() const;
};

} // namespace winnow::host

#endif // WINNOW_HOST_INDEXER_H
