// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the lanes of one wave do together, beyond the architecture header. Every
// function here, and the ones of that header that it is about, expects all
// lanes to be active.
#pragma once

#include "winnow/arch.h"

namespace winnow {

/// The lane whose number is this one's with its bits in reverse order.
WINNOW_DEVICE i32 mirrored_lane() {
  return static_cast<i32>(reverse_bits(lane_index()) /
                          (0x80000000u / (kWaveLanes / 2)));
}

/// The larger of two as signed integers.
WINNOW_DEVICE u32 max_signed(u32 a, u32 b) {
  return max(static_cast<i32>(a), static_cast<i32>(b));
}

/// `bits` with one more at the low end for each number: whether it is above
/// `bound`.
template <i32 N>
WINNOW_DEVICE u32 append_above(u32 bits, const u64 (&numbers)[N], u64 bound) {
#pragma unroll
  for (i32 i = 0; i < N; ++i)
    bits = bits << 1 | (numbers[i] > bound);
  return bits;
}

} // namespace winnow
