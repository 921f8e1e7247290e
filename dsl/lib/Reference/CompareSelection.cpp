// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selections and page tables held against the reference: end to end, where
// rounding may have exchanged near-equal blocks, and bit for bit.
#include "Shapes.h"
#include "winnow/Reference/Compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

using namespace winnow::reference;

namespace {

std::string at(const char *tensor, int64_t i, int64_t j, int64_t k) {
  return std::string(tensor) + "[" + std::to_string(i) + ", " +
         std::to_string(j) + ", " + std::to_string(k) + "]";
}

std::string scored(int64_t block, double value, double tolerance) {
  char text[96];
  std::snprintf(text, sizeof text, "block %lld (exact score %.9g +- %.3g)",
                static_cast<long long>(block), value, tolerance);
  return text;
}

/// One row's checks; `kept` receives a flag for each visible block.
class RowCheck {
public:
  RowCheck(const ExactScores &exact, View<const int32_t, 3> got, int64_t head,
           int64_t row, int64_t candidates, Comparison &comparison)
      : exact(exact), got(got), head(head), row(row), candidates(candidates),
        comparison(comparison), kept(candidates, false) {}

  /// Count, range and uniqueness. False: the row makes no sense further on.
  bool shape() {
    const int64_t keep = got.extents[2];
    const int64_t expected = std::min(keep, candidates);
    bool sound = true;
    for (int64_t slot = 0; slot < keep; ++slot) {
      ++comparison.checked;
      const int32_t block = got(head, row, slot);
      std::string wanted;
      if (slot >= expected && block != -1)
        wanted = "-1: the row has " + std::to_string(candidates) + " blocks";
      else if (slot < expected && (block < 0 || block >= candidates))
        wanted = "a block of [0, " + std::to_string(candidates) + ")";
      else if (slot < expected && kept[block])
        wanted = "each block once";
      if (!wanted.empty()) {
        comparison.add({at("selection", head, row, slot), std::to_string(block),
                        std::move(wanted)});
        sound = false;
      } else if (slot < expected) {
        kept[block] = true;
      }
    }
    return sound;
  }

  /// No left-out block beats a kept one by more than both tolerances.
  void membership() {
    int64_t bestOut = -1;
    for (int64_t block = 0; block < candidates; ++block)
      if (!kept[block] && (bestOut < 0 || least(block) > least(bestOut)))
        bestOut = block;
    if (bestOut < 0)
      return;
    for (int64_t slot = 0; slot < std::min(got.extents[2], candidates);
         ++slot) {
      const int32_t block = got(head, row, slot);
      if (most(block) >= least(bestOut))
        continue;
      comparison.add({at("selection", head, row, slot),
                      scored(block, exact.value(head, row, block),
                             exact.tolerance(head, row, block)),
                      scored(bestOut, exact.value(head, row, bestOut),
                             exact.tolerance(head, row, bestOut)) +
                          ", which was left out"});
    }
  }

  /// Neighbours in the order that the options ask for.
  void order(const TopKOptions &options,
             const View<const float, 3> *deviceScores) {
    for (int64_t slot = 1; slot < std::min(got.extents[2], candidates);
         ++slot) {
      const int32_t before = got(head, row, slot - 1);
      const int32_t here = got(head, row, slot);
      std::string wanted;
      if (options.order == Order::Ascending) {
        if (before > here)
          wanted = "ascending numbers, found after " + std::to_string(before);
      } else if (deviceScores) {
        const uint32_t left = scoreOrder((*deviceScores)(head, row, before));
        const uint32_t right = scoreOrder((*deviceScores)(head, row, here));
        if (left < right)
          wanted = "a place before block " + std::to_string(before) +
                   ", which scored less";
        else if (left == right &&
                 (options.ties == Ties::HighestBlock) != (before > here))
          wanted = "a place before block " + std::to_string(before) +
                   ", which scored the same";
      }
      if (!wanted.empty())
        comparison.add({at("selection", head, row, slot), std::to_string(here),
                        std::move(wanted)});
    }
  }

private:
  /// What the selection orders by: NaN counts as -inf.
  double value(int64_t block) const {
    const double exactly = exact.value(head, row, block);
    return std::isnan(exactly) ? -std::numeric_limits<double>::infinity()
                               : exactly;
  }
  double most(int64_t block) const {
    return value(block) + exact.tolerance(head, row, block);
  }
  double least(int64_t block) const {
    return value(block) - exact.tolerance(head, row, block);
  }

  const ExactScores &exact;
  View<const int32_t, 3> got;
  int64_t head, row, candidates;
  Comparison &comparison;
  std::vector<bool> kept;
};

Comparison refused(const Problem &problem) {
  Comparison comparison;
  comparison.add({"arguments", *problem, "arguments the reference accepts"});
  return comparison;
}

} // namespace

Comparison winnow::reference::compareSelection(
    const Rows &rows, const ExactScores &exact, const TopKOptions &options,
    View<const int32_t, 3> got, const View<const float, 3> *deviceScores) {
  if (Problem problem = wantExtent("selection", 0, got.extents[0], exact.heads))
    return refused(problem);
  if (Problem problem = wantExtent("selection", 1, got.extents[1], exact.rows))
    return refused(problem);
  // A shard's own numbers, which its scores go by; a block of another rank
  // becomes one that is out of range.
  std::vector<int32_t> local;
  if (rows.world > 1) {
    for (int64_t head = 0; head < exact.heads; ++head)
      for (int64_t row = 0; row < exact.rows; ++row)
        for (int64_t slot = 0; slot < got.extents[2]; ++slot) {
          const int32_t block = got(head, row, slot);
          const bool own = block < 0 || block % rows.world == rows.rank;
          local.push_back(block < 0 ? block
                          : own     ? static_cast<int32_t>(block / rows.world)
                                    : std::numeric_limits<int32_t>::max());
        }
    got = {local.data(), got.extents};
  }
  Comparison comparison;
  for (int64_t head = 0; head < exact.heads; ++head)
    for (int64_t row = 0; row < exact.rows; ++row) {
      RowCheck check(exact, got, head, row, rows.localBlocks(row), comparison);
      if (!check.shape())
        continue;
      check.membership();
      check.order(options, deviceScores);
    }
  return comparison;
}

Comparison winnow::reference::compareTopK(const Rows &rows,
                                          View<const float, 3> scores,
                                          const TopKOptions &options,
                                          View<const int32_t, 3> got) {
  std::vector<int32_t> storage(got.extents[0] * got.extents[1] *
                               got.extents[2]);
  View<int32_t, 3> wanted(storage.data(), got.extents);
  if (Problem problem = topk(rows, scores, options, wanted))
    return refused(problem);
  Comparison comparison;
  for (int64_t head = 0; head < got.extents[0]; ++head)
    for (int64_t row = 0; row < got.extents[1]; ++row)
      for (int64_t slot = 0; slot < got.extents[2]; ++slot) {
        ++comparison.checked;
        if (got(head, row, slot) != wanted(head, row, slot))
          comparison.add({at("selection", head, row, slot),
                          std::to_string(got(head, row, slot)),
                          std::to_string(wanted(head, row, slot))});
      }
  return comparison;
}

Comparison winnow::reference::comparePages(const Rows &rows,
                                           View<const int32_t, 3> selection,
                                           View<const int32_t, 2> table,
                                           const RemapOptions &options,
                                           View<const int32_t, 2> pages,
                                           View<const int32_t, 1> contexts) {
  std::vector<int32_t> pageStorage(pages.extents[0] * pages.extents[1]);
  std::vector<int32_t> contextStorage(contexts.extents[0]);
  View<int32_t, 2> wantedPages(pageStorage.data(), pages.extents);
  View<int32_t, 1> wantedContexts(contextStorage.data(), contexts.extents);
  if (Problem problem = remapPages(rows, selection, table, options, wantedPages,
                                   wantedContexts))
    return refused(problem);
  Comparison comparison;
  for (int64_t row = 0; row < pages.extents[0]; ++row) {
    for (int64_t entry = 0; entry < pages.extents[1]; ++entry) {
      ++comparison.checked;
      if (pages(row, entry) != wantedPages(row, entry))
        comparison.add({"pages[" + std::to_string(row) + ", " +
                            std::to_string(entry) + "]",
                        std::to_string(pages(row, entry)),
                        std::to_string(wantedPages(row, entry))});
    }
    ++comparison.checked;
    if (contexts(row) != wantedContexts(row))
      comparison.add({"ctx[" + std::to_string(row) + "]",
                      std::to_string(contexts(row)),
                      std::to_string(wantedContexts(row))});
  }
  return comparison;
}
