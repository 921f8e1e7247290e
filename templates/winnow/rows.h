// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a request's rows see: its row t of `rows` sees the tokens of its cache
// up to its own.
//
// A shape states:
//   kBlockSize   tokens a block, at least 1
//   kMaxBlocks   blocks of the longest sequence that the plan allows
#pragma once

#include "winnow/arch/portable.h"

namespace winnow {

/// c(n): how many tokens row `t` of a request sees that has `rows` rows and
/// whose cache holds `length` tokens. A negative length counts as 0, one past
/// the end of the plan's last block as that end, so that nothing downstream can
/// index past a row, whatever `rows` and `t` are.
template <class Shape>
WINNOW_DEVICE i32 causal_length(i32 length, i32 rows, i32 t) {
  constexpr i64 longest = i64(Shape::kMaxBlocks) * Shape::kBlockSize;
  constexpr i32 bound = longest < 0x7fffffff ? i32(longest) : 0x7fffffff;
  const u32 held =
      min(static_cast<u32>(max(length, 0)), static_cast<u32>(bound));
  const i32 visible = static_cast<i32>(held) - rows + t + 1;
  return min(max(visible, 0), bound);
}

/// The same of uniform rows (decode, speculative decode): every request has
/// Shape::kQueryLen of them, row n = request * kQueryLen + t.
template <class Shape> WINNOW_DEVICE i32 causal_length(i32 length, i32 t) {
  static_assert(Shape::kQueryLen >= 1, "a request has at least one row");
  return causal_length<Shape>(length, Shape::kQueryLen, t);
}

/// nb(n): how many blocks hold the first `visible` tokens.
template <class Shape> WINNOW_DEVICE i32 block_count(i32 visible) {
  static_assert(Shape::kBlockSize >= 1, "a block has at least one token");
  return static_cast<i32>(
      (static_cast<u32>(visible) + (Shape::kBlockSize - 1)) /
      Shape::kBlockSize);
}

} // namespace winnow
