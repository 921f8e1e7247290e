// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ragged rows (prefill, mixed batches) where nothing is known of a wave:
// request r has the rows cu_seqlens[r] to cu_seqlens[r + 1] - 1, possibly none.
// Every lane searches for itself, all at the same addresses, so that nobody has
// to make tables of it and no lane has to wait for another.
#pragma once

#include "winnow/arch/portable.h"

namespace winnow::generic {

/// How many of begin(1) ... begin(requests) are at most `limit`, if they never
/// decrease. Whatever they are, the result is between 0 and `requests`.
template <class Begin>
WINNOW_DEVICE i32 count_begun(i32 requests, i64 limit, Begin begin) {
  i32 begun = 0, most = requests;
  while (begun < most) {
    const i32 middle = begun + (most - begun) / 2;
    if (begin(middle + 1) <= limit)
      begun = middle + 1;
    else
      most = middle;
  }
  return begun;
}

} // namespace winnow::generic
