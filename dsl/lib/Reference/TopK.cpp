// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// topk and store_selection: fully determined, so kernels are held to the bits.
#include "Shapes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

using namespace winnow::reference;

uint32_t winnow::reference::scoreOrder(float score) {
  if (std::isnan(score))
    score = -std::numeric_limits<float>::infinity();
  // Sign-magnitude to an unsigned number of the same order: negative floats
  // reverse, positive ones move above them; -0.0 lands just below +0.0.
  uint32_t bits = std::bit_cast<uint32_t>(score);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

Problem winnow::reference::topk(const Rows &rows, View<const float, 3> scores,
                                const TopKOptions &options,
                                View<int32_t, 3> selection) {
  if (Problem problem = rows.verify())
    return problem;
  const int64_t heads = scores.extents[0];
  const int64_t keep = selection.extents[2];
  if (Problem problem = rows.verifyExtent("scores", 1, scores.extents[1]))
    return problem;
  if (Problem problem = wantAtLeast("scores", 2, scores.extents[2],
                                    rows.localCount(rows.mostVisibleBlocks())))
    return problem;
  if (Problem problem = wantExtent("selection", 0, selection.extents[0], heads))
    return problem;
  if (Problem problem = rows.verifyExtent("selection", 1, selection.extents[1]))
    return problem;
  if (Problem problem = wantAtLeast("selection", 2, keep, 1))
    return problem;

  std::vector<int32_t> blocks;
  for (int64_t head = 0; head < heads; ++head) {
    for (int64_t row = 0; row < rows.rows(); ++row) {
      blocks.resize(rows.localBlocks(row));
      std::iota(blocks.begin(), blocks.end(), 0);
      std::sort(blocks.begin(), blocks.end(), [&](int32_t a, int32_t b) {
        const uint32_t left = scoreOrder(scores(head, row, a));
        const uint32_t right = scoreOrder(scores(head, row, b));
        if (left != right)
          return left > right;
        return options.ties == Ties::HighestBlock ? a > b : a < b;
      });
      if (static_cast<int64_t>(blocks.size()) > keep)
        blocks.resize(keep);
      if (options.order == Order::Ascending)
        std::sort(blocks.begin(), blocks.end());
      for (int64_t slot = 0; slot < keep; ++slot)
        selection(head, row, slot) =
            slot < static_cast<int64_t>(blocks.size())
                ? static_cast<int32_t>(rows.globalBlock(blocks[slot]))
                : -1;
    }
  }
  return std::nullopt;
}

Problem winnow::reference::storeSelection(View<const int32_t, 3> selection,
                                          int32_t pad,
                                          View<int32_t, 3> destination) {
  for (int axis = 0; axis < 3; ++axis)
    if (Problem problem =
            wantExtent("destination", axis, destination.extents[axis],
                       selection.extents[axis]))
      return problem;
  for (int64_t head = 0; head < selection.extents[0]; ++head)
    for (int64_t row = 0; row < selection.extents[1]; ++row)
      for (int64_t slot = 0; slot < selection.extents[2]; ++slot) {
        const int32_t block = selection(head, row, slot);
        destination(head, row, slot) = block < 0 ? pad : block;
      }
  return std::nullopt;
}

Problem winnow::reference::storeCandidates(const Rows &rows,
                                           View<const float, 3> scores,
                                           View<const int32_t, 3> selection,
                                           View<int32_t, 3> ids,
                                           View<float, 3> best) {
  if (Problem problem = rows.verify())
    return problem;
  if (Problem problem = rows.verifyExtent("scores", 1, scores.extents[1]))
    return problem;
  for (int axis = 0; axis < 3; ++axis) {
    if (Problem problem =
            wantExtent("ids", axis, ids.extents[axis], selection.extents[axis]))
      return problem;
    if (Problem problem =
            wantExtent("scores of candidates", axis, best.extents[axis],
                       selection.extents[axis]))
      return problem;
  }
  for (int64_t head = 0; head < selection.extents[0]; ++head)
    for (int64_t row = 0; row < selection.extents[1]; ++row)
      for (int64_t slot = 0; slot < selection.extents[2]; ++slot) {
        const int32_t block = selection(head, row, slot);
        ids(head, row, slot) = block < 0 ? -1 : block;
        const float score = block < 0 ? -std::numeric_limits<float>::infinity()
                                      : scores(head, row, block / rows.world);
        best(head, row, slot) =
            std::isnan(score) ? -std::numeric_limits<float>::infinity() : score;
      }
  return std::nullopt;
}

Problem winnow::reference::mergeCandidates(const Rows &rows,
                                           View<const int32_t, 4> ids,
                                           View<const float, 4> best,
                                           const TopKOptions &options,
                                           View<int32_t, 3> selection) {
  if (Problem problem = rows.verify())
    return problem;
  if (Problem problem = rows.verifyExtent("candidates", 2, ids.extents[2]))
    return problem;
  for (int axis = 0; axis < 4; ++axis)
    if (Problem problem = wantExtent("scores of candidates", axis,
                                     best.extents[axis], ids.extents[axis]))
      return problem;
  for (int axis = 1; axis < 3; ++axis)
    if (Problem problem = wantExtent("candidates", axis, ids.extents[axis],
                                     selection.extents[axis - 1]))
      return problem;
  const int64_t keep = selection.extents[2];
  if (Problem problem = wantAtLeast("candidates", 3, ids.extents[3], keep))
    return problem;

  struct Candidate {
    uint32_t order;
    int32_t block;
  };
  std::vector<Candidate> all;
  for (int64_t head = 0; head < selection.extents[0]; ++head)
    for (int64_t row = 0; row < selection.extents[1]; ++row) {
      const int64_t reach = rows.visibleBlocks(row);
      all.clear();
      for (int64_t rank = 0; rank < ids.extents[0]; ++rank)
        for (int64_t slot = 0; slot < ids.extents[3]; ++slot)
          if (ids(rank, head, row, slot) >= 0 &&
              ids(rank, head, row, slot) < reach)
            all.push_back({scoreOrder(best(rank, head, row, slot)),
                           ids(rank, head, row, slot)});
      std::sort(all.begin(), all.end(),
                [&](const Candidate &a, const Candidate &b) {
                  if (a.order != b.order)
                    return a.order > b.order;
                  return options.ties == Ties::HighestBlock ? a.block > b.block
                                                            : a.block < b.block;
                });
      if (static_cast<int64_t>(all.size()) > keep)
        all.resize(keep);
      if (options.order == Order::Ascending)
        std::sort(all.begin(), all.end(),
                  [](const Candidate &a, const Candidate &b) {
                    return a.block < b.block;
                  });
      for (int64_t slot = 0; slot < keep; ++slot)
        selection(head, row, slot) =
            slot < static_cast<int64_t>(all.size()) ? all[slot].block : -1;
    }
  return std::nullopt;
}
