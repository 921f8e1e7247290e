// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// block_score in float64, with the tolerance that each score is held to.
#include "Shapes.h"

#include <cmath>
#include <limits>

using namespace winnow::reference;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The tokens of one (head, row, block) so far.
struct Best {
  double value = -kInfinity; // of the best, or the sum
  double magnitude = 0.0;    // sum_j |q_j * k_j| of that token, or of all
  int64_t tokens = 0;

  void offer(double dot, double sum, Reduction reduction) {
    if (reduction != Reduction::Max) {
      value = tokens == 0 ? dot : value + dot;
      magnitude += sum;
      ++tokens;
      return;
    }
    // A NaN compares false here and so counts as an absent token.
    if (dot > value) {
      value = dot;
      magnitude = sum;
    } else if (dot == value) {
      // Equal tokens: a kernel may have kept either.
      magnitude = std::fmax(magnitude, sum);
    }
  }
};

/// Widens rows of a tensor [.., .., D] to float64. One-byte formats go through
/// a table: decoding is most of the work of a long context otherwise.
class Widener {
public:
  explicit Widener(const NumberView &from) : from(from) {
    if (byteWidth(from.format) != 1)
      return;
    values.resize(256);
    for (int code = 0; code < 256; ++code) {
      const auto byte = static_cast<uint8_t>(code);
      values[code] = NumberView(&byte, from.format, {1, 1, 1})(0, 0, 0);
    }
  }

  void row(int64_t i, int64_t j, std::vector<double> &to) const {
    if (values.empty()) {
      for (int64_t d = 0; d < from.extents[2]; ++d)
        to[d] = from(i, j, d);
      return;
    }
    const uint8_t *bytes = static_cast<const uint8_t *>(from.data) +
                           i * from.strides[0] + j * from.strides[1];
    for (int64_t d = 0; d < from.extents[2]; ++d)
      to[d] = values[bytes[d * from.strides[2]]];
  }

private:
  const NumberView &from;
  std::vector<double> values;
};

Problem verify(const Rows &rows, const NumberView &query,
               const NumberView &keys, View<const int32_t, 2> table,
               const BlockScoreOptions &options) {
  if (Problem problem = rows.verify())
    return problem;
  if (Problem problem = rows.verifyExtent("query", 0, query.extents[0]))
    return problem;
  if (Problem problem = wantAtLeast("query", 1, query.extents[1], 1))
    return problem;
  if (Problem problem = wantExtent("keys", 1, keys.extents[1], rows.blockSize))
    return problem;
  if (Problem problem =
          wantExtent("keys", 2, keys.extents[2], query.extents[2]))
    return problem;
  if (Problem problem =
          wantAtLeast("index_table", 0, table.extents[0], rows.requests()))
    return problem;
  if (options.initBlocks < 0 || options.localBlocks < 0)
    return "init_blocks = " + std::to_string(options.initBlocks) +
           ", local_blocks = " + std::to_string(options.localBlocks) +
           ": wanted at least 0";
  if (Problem problem = wantAtLeast("index_table", 1, table.extents[1],
                                    rows.mostVisibleBlocks()))
    return problem;
  for (int64_t request = 0; request < rows.requests(); ++request) {
    const int64_t reach = rows.blocksSeen(request);
    for (int64_t block = 0; block < reach; ++block)
      if (table(request, block) >= keys.extents[0])
        return "index_table[" + std::to_string(request) + ", " +
               std::to_string(block) + "] is page " +
               std::to_string(table(request, block)) + ", the cache has " +
               std::to_string(keys.extents[0]) + " pages";
  }
  return std::nullopt;
}

} // namespace

Problem winnow::reference::blockScore(const Rows &rows, const NumberView &query,
                                      const NumberView &keys,
                                      View<const int32_t, 2> table,
                                      const BlockScoreOptions &options,
                                      ExactScores &scores) {
  if (Problem problem = verify(rows, query, keys, table, options))
    return problem;

  const int64_t heads = query.extents[1];
  const int64_t dims = query.extents[2];
  scores.heads = heads;
  scores.rows = rows.rows();
  scores.blocks = rows.localCount(rows.mostVisibleBlocks());
  const double unseen = std::numeric_limits<double>::quiet_NaN();
  scores.values.assign(heads * scores.rows * scores.blocks, unseen);
  scores.tolerances.assign(scores.values.size(), unseen);

  // The columns of one request: (position t, head h), as a kernel groups them.
  std::vector<std::vector<double>> columns;
  std::vector<Best> best;
  std::vector<double> key(dims);
  const Widener queryRows(query), keyRows(keys);
  for (int64_t request = 0; request < rows.requests(); ++request) {
    const int64_t firstRow = rows.firstRow(request);
    const int64_t queryLen = rows.rowsOf(request);
    const int64_t seen = rows.tokensSeen(request);
    columns.resize(queryLen * heads, std::vector<double>(dims));
    for (int64_t t = 0; t < queryLen; ++t)
      for (int64_t head = 0; head < heads; ++head)
        queryRows.row(firstRow + t, head, columns[t * heads + head]);

    const int64_t reach = rows.blocksSeen(request);
    for (int64_t block = rows.rank; block < reach; block += rows.world) {
      const int32_t page = table(request, block);
      const int64_t local = block / rows.world;
      best.assign(columns.size(), Best());
      for (int64_t i = 0; page >= 0 && i < rows.blockSize; ++i) {
        const int64_t token = block * rows.blockSize + i;
        if (token >= seen)
          break;
        keyRows.row(page, i, key);
        for (int64_t t = 0; t < queryLen; ++t) {
          // Row t sees all but the tokens of the rows after it.
          if (token >= seen - (queryLen - 1 - t))
            continue;
          for (int64_t head = 0; head < heads; ++head) {
            const std::vector<double> &column = columns[t * heads + head];
            double dot = 0.0, magnitude = 0.0;
            for (int64_t d = 0; d < dims; ++d) {
              const double product = column[d] * key[d];
              dot += product;
              magnitude += std::fabs(product);
            }
            best[t * heads + head].offer(dot, magnitude, options.reduction);
          }
        }
      }
      for (int64_t t = 0; t < queryLen; ++t) {
        const int64_t row = firstRow + t;
        const int64_t visible = rows.visibleBlocks(row);
        if (block >= visible)
          continue;
        for (int64_t head = 0; head < heads; ++head) {
          const Best &winner = best[t * heads + head];
          double value = winner.value;
          // Each of the additions rounds once; a division once more.
          double roundings = static_cast<double>(dims + winner.tokens);
          double magnitude = winner.magnitude;
          if (options.reduction == Reduction::Mean && winner.tokens > 0) {
            value /= static_cast<double>(winner.tokens);
            magnitude /= static_cast<double>(winner.tokens);
            roundings += 1.0;
          }
          double tolerance =
              std::isfinite(value) ? roundings * 0x1p-24 * magnitude : 0.0;
          // Local wins over init; an unmapped block wins over both.
          if (page >= 0 && block >= visible - options.localBlocks) {
            value = kLocalBlockScore;
            tolerance = 0.0;
          } else if (page >= 0 && block < options.initBlocks) {
            value = kInitBlockScore;
            tolerance = 0.0;
          }
          scores.values[scores.index(head, row, local)] = value;
          scores.tolerances[scores.index(head, row, local)] = tolerance;
        }
      }
    }
  }
  return std::nullopt;
}
