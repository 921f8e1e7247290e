// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The indexer's operations in plain C++ over host memory: the oracle of every
// test and what `--device host` runs. Clear first, fast second.
//
// Words: N rows (query tokens), R requests, H index heads, B tokens a block,
// D head dim, K blocks kept, P pages a block, G kv heads. Every function is
// re-entrant, reads only what the formulas name and checks its arguments first:
// when it answers with a Problem, nothing has been written.
#ifndef WINNOW_REFERENCE_OPERATIONS_H
#define WINNOW_REFERENCE_OPERATIONS_H

#include "winnow/Reference/View.h"

#include <optional>
#include <string>
#include <vector>

namespace winnow::reference {

/// Nothing when all is well; else what is wrong with the arguments: the thing,
/// the value found and the value wanted.
using Problem = std::optional<std::string>;

/// The rows of a batch. Uniform: every request has `queryLen` rows and row
/// n = r*queryLen + t belongs to request r. Ragged, with `offsets` given: the
/// rows of request r are offsets[r] ... offsets[r + 1] - 1, and `queryLen`
/// means nothing. A negative length counts as 0. The members other than
/// verify() hold for rows that it finds nothing wrong with.
struct Rows {
  View<const int32_t, 1> lengths;   ///< [R], tokens, the new ones included
  int64_t queryLen = 1;             ///< Q, at least 1
  int64_t blockSize = 1;            ///< B, at least 1
  View<const int32_t, 1> offsets{}; ///< cu_seqlens [R + 1]; no data: uniform

  /// A shard scores the blocks b with b mod world = rank only; its block j is
  /// b = j * world + rank. Everything else is decided on b.
  int64_t rank = 0, world = 1;

  bool ragged() const { return offsets.data != nullptr; }
  int64_t requests() const { return lengths.extents[0]; }
  int64_t rows() const { return firstRow(requests()); }
  /// The first row of a request; of request R, the number of rows.
  int64_t firstRow(int64_t request) const {
    return ragged() ? offsets(request) : request * queryLen;
  }
  /// How many rows a request has; 0 is possible where they are ragged.
  int64_t rowsOf(int64_t request) const {
    return firstRow(request + 1) - firstRow(request);
  }
  int64_t request(int64_t row) const;
  /// c(n): how many tokens the row may see; 0 for a padding row.
  int64_t causalLength(int64_t row) const;
  /// nb(n) = ceil(c(n) / B): how many blocks the row may see.
  int64_t visibleBlocks(int64_t row) const;
  /// How many of those the shard scores, and the block that its j-th one is.
  int64_t localBlocks(int64_t row) const {
    return localCount(visibleBlocks(row));
  }
  int64_t localCount(int64_t blocks) const {
    return (blocks - rank + world - 1) / world;
  }
  int64_t globalBlock(int64_t local) const { return local * world + rank; }
  /// Tokens and blocks that some row of the request may see: those of its last
  /// row, 0 without rows.
  int64_t tokensSeen(int64_t request) const;
  int64_t blocksSeen(int64_t request) const;
  /// The largest nb(n) of the batch.
  int64_t mostVisibleBlocks() const;
  /// Offsets that are too many or too few, do not start at 0 or fall are
  /// problems, beside numbers below 1.
  Problem verify() const;
  /// Whether a tensor whose rows lie along `axis` fits the batch.
  Problem verifyExtent(const char *tensor, int axis, int64_t found) const;
};

/// The scores of forced blocks, as the kernels write them: the nearest floats.
inline constexpr float kLocalBlockScore = 1e29f;
inline constexpr float kInitBlockScore = 1e30f;

/// What becomes of the products of a block's visible tokens. A NaN product is
/// passed over by Max; it makes a Sum or Mean NaN.
enum class Reduction { Max, Sum, Mean };

struct BlockScoreOptions {
  Reduction reduction = Reduction::Max;
  int64_t initBlocks = 0;
  int64_t localBlocks = 0;
};

/// Exact scores and, for each, how far an fp32 accumulation may be away:
/// D * 2^-24 * sum_j |q_j * k_j| of the token that gave the maximum; for a sum
/// over V tokens (D + V) * 2^-24 times the sum over all of them, for a mean
/// that divided by V and one more rounding; 0 for forced blocks, -inf and +inf,
/// which are exact. Each rounding may be off by 2^-149 besides, for what is
/// below fp32's normal numbers. A sum past fp32's range is infinite; where the
/// order of the additions decides whether some partial sum leaves the range,
/// the tolerance is infinite and the value finite. Entries a row may not see
/// are NaN in both; a score that is NaN has the tolerance 0.
struct ExactScores {
  int64_t heads = 0, rows = 0, blocks = 0;
  std::vector<double> values, tolerances; ///< dense [H, N, blocks]

  int64_t index(int64_t head, int64_t row, int64_t block) const {
    return (head * rows + row) * blocks + block;
  }
  double value(int64_t head, int64_t row, int64_t block) const {
    return values[index(head, row, block)];
  }
  double tolerance(int64_t head, int64_t row, int64_t block) const {
    return tolerances[index(head, row, block)];
  }
};

/// For a shard, block j of `scores` is block rows.globalBlock(j).
/// score[h, n, b] = max over the visible tokens of block b of q[n, h] . k.
/// `query` is [N, H, D], `keys` [pages, B, D], `table` [R, >= nb]. A negative
/// table entry is an unmapped block: it scores -inf, even where it is forced,
/// and nothing is read for it. `scores.blocks` becomes the most visible blocks.
Problem blockScore(const Rows &rows, const NumberView &query,
                   const NumberView &keys, View<const int32_t, 2> table,
                   const BlockScoreOptions &options, ExactScores &scores);

enum class Ties { HighestBlock, LowestBlock };
enum class Order { ScoreDescending, Ascending };

struct TopKOptions {
  Ties ties = Ties::HighestBlock;
  Order order = Order::ScoreDescending;
};

/// A number that orders scores as topk does: NaN as -inf, -0.0 below +0.0.
uint32_t scoreOrder(float score);

/// The K best of each row's visible blocks. `scores` is [H, N, >= nb], read
/// below nb(n) only; `selection` is [H, N, K] and gets -1 past the candidates.
/// Of a shard, `scores` holds its own blocks and `selection` their numbers b.
Problem topk(const Rows &rows, View<const float, 3> scores,
             const TopKOptions &options, View<int32_t, 3> selection);

/// Copies a selection [H, N, K] to where it is kept, -1 written as `pad`. A
/// token-major destination is the same view with its strides exchanged.
Problem storeSelection(View<const int32_t, 3> selection, int32_t pad,
                       View<int32_t, 3> destination);

/// A selection and its scores, for other ranks: `ids` gets the selection and
/// `best` [H, N, K] the score of each place, -inf past the candidates. A NaN is
/// handed on as -inf, which is what it counts as.
Problem storeCandidates(const Rows &rows, View<const float, 3> scores,
                        View<const int32_t, 3> selection, View<int32_t, 3> ids,
                        View<float, 3> best);

/// The K best of the candidates of all ranks: `ids` and `best` are
/// [world, H, N, K'], an id that is negative or past the row's reach is no
/// candidate. The result is what topk of all blocks gives where every rank
/// handed on its K' >= K best. Rank and world of `rows` mean nothing.
Problem mergeCandidates(const Rows &rows, View<const int32_t, 4> ids,
                        View<const float, 4> best, const TopKOptions &options,
                        View<int32_t, 3> selection);

struct RemapOptions {
  int64_t pagesPerBlock = 1; ///< P
  int64_t kvHeads = 1;       ///< G, a positive multiple of H
  int32_t pad = 0;           ///< entries past the valid ones
};

/// The attention's page table: `pages` [N*G, K*P] and `contexts` [N*G] from a
/// `selection` [H, N, K], through the attention's own `table` [R, *]. Entries
/// of the selection outside [0, self] and blocks without a page are dropped.
Problem remapPages(const Rows &rows, View<const int32_t, 3> selection,
                   View<const int32_t, 2> table, const RemapOptions &options,
                   View<int32_t, 2> pages, View<int32_t, 1> contexts);

/// output[r, j] = input[r, j] * sides, modulo 2^32, for every entry of the
/// input; both may be the same. An output that is smaller along some axis is a
/// Problem that names both shapes.
Problem rebaseTable(View<const int32_t, 2> input, int64_t sides,
                    View<int32_t, 2> output);

/// output[i] = input[i] + (input[i] / B) * B * (sides - 1), modulo 2^32, for
/// slots from 0 up; a negative one stays as it is. Both may be the same.
Problem rebaseSlots(View<const int32_t, 1> input, int64_t blockSize,
                    int64_t sides, View<int32_t, 1> output);

/// cache[s / B, s mod B, :] = convert(keys[i, :]) for every token i whose slot
/// s is from 0 up. `keys` is [1, tokens, D] in f32, bf16 or f16; `cache` is
/// [pages, B, D] in f8E4M3FN, bf16 or f16. A slot past the cache is a Problem.
Problem insertKeys(const NumberView &keys, View<const int32_t, 1> slots,
                   const NumberStore &cache);

} // namespace winnow::reference

#endif // WINNOW_REFERENCE_OPERATIONS_H
