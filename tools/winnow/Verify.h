// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The results of a call held against the reference, and everything around them
// against what was there before.
#ifndef WINNOW_TOOL_VERIFY_H
#define WINNOW_TOOL_VERIFY_H

#include "HostCall.h"

#include "winnow/Reference/Compare.h"

#include <optional>

namespace winnow::tool {

/// One comparison each; absent where the entry does not produce the thing.
struct Verdict {
  /// Device scores within the tolerance of the exact ones.
  std::optional<reference::Comparison> scores;
  /// The stored selection: bit for bit topk of the device's scores, and right
  /// end to end; of a merge, bit for bit that of the candidates.
  std::optional<reference::Comparison> selection;
  /// What a rank hands on: bit for bit topk of the device's scores and those
  /// scores, and right end to end.
  std::optional<reference::Comparison> candidates;
  /// Page table and context lengths: bit for bit remap_pages of the selection.
  std::optional<reference::Comparison> pages;
  /// What the operations of a step wrote, and all around it: byte for byte.
  std::optional<reference::Comparison> steps;
  /// Inputs as they were, and the poison of every byte that no formula writes:
  /// score tails, gaps between rows.
  reference::Comparison untouched;

  bool ok() const;
};

/// `before` is the call as it was made, `after` the same after running. An
/// error is an input that the reference refuses.
Result<Verdict> verify(const Call &before, const Call &after);

/// The stored selection with -1 for the pad past each row's candidates.
std::vector<int32_t> plainSelection(const Call &call);

} // namespace winnow::tool

#endif // WINNOW_TOOL_VERIFY_H
