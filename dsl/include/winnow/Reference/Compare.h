// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What counts as right: a kernel's results held against the reference, each
// difference reported with its place, what was found and what was wanted.
#ifndef WINNOW_REFERENCE_COMPARE_H
#define WINNOW_REFERENCE_COMPARE_H

#include "winnow/Reference/Operations.h"

#include <functional>

namespace winnow::reference {

struct Mismatch {
  std::string where;      ///< "score[0, 3, 17]"
  std::string got;        ///< the value found
  std::string wanted;     ///< the value, or the rule that it breaks
  double tolerance = 0.0; ///< 0 where the comparison is bit for bit

  std::string text() const;
};

/// The outcome of one comparison. `examples` holds the first mismatches only
/// (kExamples of them); `mismatches` counts all.
struct Comparison {
  static constexpr size_t kExamples = 8;

  int64_t checked = 0;
  int64_t mismatches = 0;
  std::vector<Mismatch> examples;

  bool ok() const { return mismatches == 0; }
  void add(Mismatch mismatch);
  void add(const Comparison &other);
  /// One line a mismatch, and how many were left out; empty when ok.
  std::string text() const;
};

/// Scores [H, N, >= nb] within their tolerances, below nb(n). Infinities and
/// NaN are right when they are the exact ones, or where the tolerance is
/// infinite.
Comparison compareScores(const Rows &rows, const ExactScores &exact,
                         View<const float, 3> got);

/// Whether the kept blocks follow from the exact scores, whatever the rounding
/// of the scores between: as many as there are candidates, each once, -1 past
/// them, and no block that was left out beats one that was kept by more than
/// the tolerances of the two (so a kept block within the tolerance of the K-th
/// exact score is right). With `deviceScores`, the order of the kept has to be
/// the one that those scores give; with Order::Ascending, that of the numbers.
Comparison compareSelection(const Rows &rows, const ExactScores &exact,
                            const TopKOptions &options,
                            View<const int32_t, 3> got,
                            const View<const float, 3> *deviceScores);

/// Bit for bit: `got` against topk of the same scores.
Comparison compareTopK(const Rows &rows, View<const float, 3> scores,
                       const TopKOptions &options, View<const int32_t, 3> got);

/// Bit for bit: `pages` and `contexts` against remapPages of the same
/// selection.
Comparison comparePages(const Rows &rows, View<const int32_t, 3> selection,
                        View<const int32_t, 2> table,
                        const RemapOptions &options,
                        View<const int32_t, 2> pages,
                        View<const int32_t, 1> contexts);

/// Every byte of [0, size) that `written` does not claim still holds `poison`.
/// Reported as runs of bytes, so one stray store is one mismatch. `written`
/// answers for a byte offset.
Comparison compareUntouched(const std::string &name, const void *data,
                            int64_t size, uint8_t poison,
                            const std::function<bool(int64_t)> &written);

} // namespace winnow::reference

#endif // WINNOW_REFERENCE_COMPARE_H
