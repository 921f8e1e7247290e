// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Figures beside those that they are compared with and those that they should
// reach: a table for people, JSON for programs.
#ifndef WINNOW_BENCH_FIGURES_H
#define WINNOW_BENCH_FIGURES_H

#include <optional>
#include <string>
#include <vector>

namespace winnow::bench {

struct Figure {
  std::string group; ///< what was measured: "decode fp8 H1 W4"
  std::string name;  ///< of it: "instructions a page, unmasked"
  double ours = 0;
  std::optional<double> anchor = {}; ///< of what it is compared with
  std::optional<double> goal = {};   ///< at most this, or at least
  bool goalIsLeast = false;
  int decimals = 1;
  /// Of figures with a spread: the 10th and 90th percentile; `ours` is the
  /// median.
  std::optional<double> low = {}, high = {};
  std::string note = {};
  bool isWrong = false; ///< what was timed computed something else

  /// "group / name", which is unique.
  std::string key() const { return group + " / " + name; }
  std::optional<double> ratio() const;
  std::optional<bool> met() const;
};

std::string figuresText(const std::vector<Figure> &figures);

/// An object with `figures`, and `about` (a JSON object's text) as it is.
std::string figuresJson(const std::vector<Figure> &figures,
                        const std::string &about);

} // namespace winnow::bench

#endif // WINNOW_BENCH_FIGURES_H
