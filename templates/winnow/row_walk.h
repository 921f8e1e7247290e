// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rows and index heads of one request, in turn, by one workgroup.
//
// A shape states:
//   kHeads, kQueryLen   index heads, and rows of a request
#pragma once

#include "winnow/arch/portable.h"

namespace winnow {

/// All members are the same in all lanes.
template <class Shape> class RowWalk {
public:
  WINNOW_DEVICE explicit RowWalk(i32 request)
      : row(request * Shape::kQueryLen), head(0), left_(kQueries) {}

  WINNOW_DEVICE bool more() const { return left_ > 0; }

  /// All lanes have to come here, also those that were done early: the next row
  /// uses the same local memory.
  WINNOW_DEVICE void next() {
    if (--left_ > 0)
      local_barrier();
    if (++head == Shape::kHeads) {
      head = 0;
      ++row;
    }
  }

  i32 row;  ///< n
  i32 head; ///< h

private:
  static constexpr i32 kQueries = Shape::kHeads * Shape::kQueryLen;
  i32 left_;
};

} // namespace winnow
