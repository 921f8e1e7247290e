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

/// `bits` with one more at the low end: whether a is above b.
WINNOW_DEVICE u32 append_above(u32 bits, u64 a, u64 b) {
  return bits << 1 | (a > b);
}

} // namespace winnow
