// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exchange of 64-bit values between the lanes of one wave. Every function here,
// and the ones of the architecture header that it calls, expects all lanes to
// be active.
#pragma once

#include "winnow/arch.h"

namespace winnow {

/// The value of one lane, in scalar registers; `lane` has to be uniform.
WINNOW_DEVICE u64 read_lane(u64 value, i32 lane) {
  const u32 low = read_lane(static_cast<u32>(value), lane);
  const u32 high = read_lane(static_cast<u32>(value >> 32), lane);
  return static_cast<u64>(high) << 32 | low;
}

/// Moves this lane's value to lane `lane`; the targets have to be a permutation
/// of the lanes.
WINNOW_DEVICE u64 send_to_lane(u64 value, i32 lane) {
  const u32 low = send_to_lane(static_cast<u32>(value), lane);
  const u32 high = send_to_lane(static_cast<u32>(value >> 32), lane);
  return static_cast<u64>(high) << 32 | low;
}

} // namespace winnow
