// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// block_score in float64, with the tolerance that each score is held to.
#include "Shapes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

using namespace winnow::reference;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A sum of products: all of them, the positive and the negative ones.
struct Sum {
  double value = 0.0;
  double up = 0.0, down = 0.0; // not negative

  double magnitude() const { return up + down; }
};

/// What becomes of a sum in fp32, where partial sums past the range are
/// infinite: that depends on the order of the additions unless the products of
/// one sign cannot get there.
enum class Range {
  Inside, ///< finite in any order, or a NaN or infinity that an input made
  Above,  ///< +inf in any order
  Below,  ///< -inf in any order
  Open,   ///< finite, infinite or NaN
};

Range rangeOf(const Sum &sum, double roundings) {
  constexpr double largest = std::numeric_limits<float>::max();
  // Twice what `roundings` additions can make of a sum: on the safe side.
  const double slack = roundings * 0x1p-23;
  const bool above = !(sum.up * (1.0 + slack) < largest);
  const bool below = !(sum.down * (1.0 + slack) < largest);
  if (std::isnan(sum.value) || (!above && !below))
    return Range::Inside;
  if (above && below)
    return Range::Open;
  const double infinite = 0x1p128 + slack * sum.magnitude();
  if (std::isinf(sum.value) || std::fabs(sum.value) > infinite)
    return above ? Range::Above : Range::Below;
  return Range::Open;
}

/// What fp32 makes of a sum, as a score and its tolerance are told.
struct Rounded {
  double value;
  bool open; // whether it may be anything; the value is finite then
};

Rounded round(const Sum &sum, double roundings) {
  constexpr double most = std::numeric_limits<double>::max();
  switch (rangeOf(sum, roundings)) {
  case Range::Inside:
    return {sum.value, false};
  case Range::Above:
    return {kInfinity, false};
  case Range::Below:
    return {-kInfinity, false};
  case Range::Open:
    break;
  }
  return {std::clamp(sum.value, -most, most), true};
}

/// The tokens of one (head, row, block) so far.
struct Best {
  Rounded best{-kInfinity, false}; // of the best
  double magnitude = 0.0;          // of that token
  Sum all;
  int64_t tokens = 0;

  void offer(const Sum &sum, Reduction reduction, double roundings) {
    ++tokens;
    if (reduction != Reduction::Max) {
      all.value = tokens == 1 ? sum.value : all.value + sum.value;
      all.up += sum.up;
      all.down += sum.down;
      return;
    }
    const Rounded token = round(sum, roundings);
    best.open |= token.open;
    // A NaN compares false here and so counts as an absent token.
    if (token.value > best.value) {
      best.value = token.value;
      magnitude = sum.magnitude();
    } else if (token.value == best.value) {
      // Equal tokens: a kernel may have kept either.
      magnitude = std::fmax(magnitude, sum.magnitude());
    }
  }
};

/// The dot product of a query and a key.
Sum multiply(const std::vector<double> &query, const std::vector<double> &key) {
  double dot = 0.0, magnitude = 0.0;
  for (size_t d = 0; d < key.size(); ++d) {
    const double product = query[d] * key[d];
    dot += product;
    magnitude += std::fabs(product);
  }
  if (std::isfinite(magnitude))
    return {dot, std::fmax((magnitude + dot) / 2, 0.0),
            std::fmax((magnitude - dot) / 2, 0.0)};
  Sum sum{dot};
  for (size_t d = 0; d < key.size(); ++d) {
    const double product = query[d] * key[d];
    (product > 0.0 ? sum.up : sum.down) += std::fabs(product);
  }
  return sum;
}

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

/// The score of a block of which those tokens are visible, and its tolerance.
std::pair<double, double> scoreOf(const Best &tokens, Reduction reduction,
                                  int64_t dims) {
  // Each of the additions rounds once; a division once more.
  auto roundings = static_cast<double>(dims);
  Rounded score = tokens.best;
  double magnitude = tokens.magnitude;
  if (reduction != Reduction::Max) {
    roundings += static_cast<double>(tokens.tokens);
    if (tokens.tokens > 0)
      score = round(tokens.all, roundings);
    magnitude = tokens.all.magnitude();
  }
  if (reduction == Reduction::Mean && tokens.tokens > 0) {
    score.value /= static_cast<double>(tokens.tokens);
    magnitude /= static_cast<double>(tokens.tokens);
    roundings += 1.0;
  }
  if (!std::isfinite(score.value))
    return {score.value, 0.0};
  if (score.open)
    return {score.value, kInfinity};
  // Below fp32's normal numbers a rounding is off by half of the least one.
  const double least = magnitude > 0.0 ? 0x1p-149 : 0.0;
  return {score.value, roundings * (0x1p-24 * magnitude + least)};
}

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
            best[t * heads + head].offer(
                multiply(columns[t * heads + head], key), options.reduction,
                static_cast<double>(dims));
          }
        }
      }
      for (int64_t t = 0; t < queryLen; ++t) {
        const int64_t row = firstRow + t;
        const int64_t visible = rows.visibleBlocks(row);
        if (block >= visible)
          continue;
        for (int64_t head = 0; head < heads; ++head) {
          auto [value, tolerance] =
              scoreOf(best[t * heads + head], options.reduction, dims);
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
