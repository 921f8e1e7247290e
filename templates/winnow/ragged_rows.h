// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ragged rows (prefill, mixed batches): request r has the rows cu_seqlens[r] to
// cu_seqlens[r + 1] - 1, possibly none. Which request a row belongs to is
// searched for by the whole wave, so that nobody has to make tables of it.
#pragma once

#include "winnow/wave.h"

namespace winnow {

/// How many of begin(1) ... begin(requests) are at most `limit`; they never
/// decrease. Each step asks for as many of them at once as a wave has lanes:
/// one step for up to 64 requests, two for up to 4096, on 64 lanes. All lanes
/// have to be active; the result is scalar.
template <class Begin>
WINNOW_DEVICE i32 count_begun(i32 requests, i32 limit, Begin begin) {
  i32 begun = 0;       // known to have begun
  i32 open = requests; // not known yet, after those
  while (open > 0) {
    const i32 step = (open + kWaveLanes - 1) / kWaveLanes;
    const i32 probe = min((lane_index() + 1) * step, open);
    const LaneMask passed = ballot(begin(begun + probe) <= limit);
    // Lanes past the last probe repeat it.
    const i32 passes = min(count_lanes(passed), (open + step - 1) / step);
    const i32 skipped = min(passes * step, open);
    begun += skipped;
    // The next probe has not begun, those between are open.
    open = min(step, open - skipped) - 1;
  }
  return begun;
}

} // namespace winnow
