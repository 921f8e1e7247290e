// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uniform rows (decode, speculative decode): every request has kQueryLen rows,
// row n = request * kQueryLen + t.
//
// A shape states:
//   kQueryLen    rows a request, at least 1
//   kBlockSize   tokens a block, at least 1
//   kMaxBlocks   blocks of the longest sequence that the plan allows
#pragma once

#include "winnow/portable.h"

namespace winnow {

/// c(n): how many tokens the request's row `t` sees when its cache holds
/// `length`. A negative length counts as 0, one past the plan's bound as the
/// bound, so that nothing downstream can index past a row.
template <class Shape> WINNOW_DEVICE i32 causal_length(i32 length, i32 t) {
  static_assert(Shape::kQueryLen >= 1, "a request has at least one row");
  constexpr i64 longest = i64(Shape::kMaxBlocks) * Shape::kBlockSize;
  constexpr i32 bound = longest < 0x7fffffff ? i32(longest) : 0x7fffffff;
  const i32 visible = max(length, 0) - Shape::kQueryLen + t + 1;
  return min(max(visible, 0), bound);
}

/// nb(n): how many blocks hold the first `visible` tokens.
template <class Shape> WINNOW_DEVICE i32 block_count(i32 visible) {
  static_assert(Shape::kBlockSize >= 1, "a block has at least one token");
  return static_cast<i32>(
      (static_cast<u32>(visible) + (Shape::kBlockSize - 1)) /
      Shape::kBlockSize);
}

} // namespace winnow
