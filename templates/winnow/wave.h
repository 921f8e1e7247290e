// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exchange between the lanes of one wave, through registers rather than LDS.
// Every function here expects all 64 lanes to be active.
#pragma once

#include "winnow/base.h"

namespace winnow {

/// The register of this lane's partner across bit `N` of the lane number, in
/// the same row of 16 lanes. DPP controls (CDNA3 ISA, "DPP"): row_ror:8 for 8,
/// row_half_mirror for 4, which turns the two bits below over as well, and
/// quad_perm:[2,3,0,1] and [1,0,3,2] for 2 and 1.
template <i32 N> WINNOW_DEVICE u32 partner(u32 value) {
  static_assert(N == 8 || N == 4 || N == 2 || N == 1, "a bit within a row");
  constexpr i32 control = N == 8   ? 0x128
                          : N == 4 ? 0x141
                          : N == 2 ? 0x4e
                                   : 0xb1;
  return __builtin_amdgcn_update_dpp(0, value, control, 0xf, 0xf, true);
}
template <i32 N> WINNOW_DEVICE float partner(float value) {
  return __builtin_bit_cast(float, partner<N>(__builtin_bit_cast(u32, value)));
}

/// Combines the four lanes that share an index within their row of 16; all
/// four get the result. v_permlane32_swap exchanges the upper half of its
/// first register with the lower half of its second, v_permlane16_swap the odd
/// rows of the first with the even rows of the second (CDNA4 ISA, VOP1), so a
/// swap of two copies puts the two partners side by side.
template <class Combine> WINNOW_DEVICE u32 combine_rows(u32 value, Combine f) {
  const u32x2 halves =
      __builtin_amdgcn_permlane32_swap(value, value, false, false);
  const u32 half = f(halves.x, halves.y);
  const u32x2 rows = __builtin_amdgcn_permlane16_swap(half, half, false, false);
  return f(rows.x, rows.y);
}

/// Combines all lanes of the wave; every lane gets the result.
template <class Combine> WINNOW_DEVICE u32 combine_wave(u32 value, Combine f) {
  value = f(value, partner<8>(value));
  value = f(value, partner<4>(value));
  value = f(value, partner<2>(value));
  value = f(value, partner<1>(value));
  return combine_rows(value, f);
}

/// The sum over this lane and all lanes before it. Rows are summed by
/// row_shr:1, 2, 4, 8 (0x110 + N); row_bcast:15 (0x142) then adds each row's
/// total to the next row (rows 1 and 3 listen), row_bcast:31 (0x143) that of
/// the lower half to the upper one (rows 2 and 3).
WINNOW_DEVICE u32 prefix_sum(u32 value) {
  value += __builtin_amdgcn_update_dpp(0, value, 0x111, 0xf, 0xf, true);
  value += __builtin_amdgcn_update_dpp(0, value, 0x112, 0xf, 0xf, true);
  value += __builtin_amdgcn_update_dpp(0, value, 0x114, 0xf, 0xf, true);
  value += __builtin_amdgcn_update_dpp(0, value, 0x118, 0xf, 0xf, true);
  value += __builtin_amdgcn_update_dpp(0, value, 0x142, 0xa, 0xf, false);
  value += __builtin_amdgcn_update_dpp(0, value, 0x143, 0xc, 0xf, false);
  return value;
}

/// A value that all lanes agree on, in a scalar register.
WINNOW_DEVICE u32 read_first_lane(u32 value) {
  return __builtin_amdgcn_readfirstlane(value);
}

/// The lanes for which `condition` holds, one bit a lane.
WINNOW_DEVICE u64 ballot(bool condition) {
  return __builtin_amdgcn_ballot_w64(condition);
}

/// How many lanes are in `lanes`. Of a 64-bit count the compiler would make
/// 64-bit comparisons, for which there are no scalar instructions.
WINNOW_DEVICE i32 count_lanes(u64 lanes) {
  return __builtin_popcount(static_cast<u32>(lanes)) +
         __builtin_popcount(static_cast<u32>(lanes >> 32));
}

/// How many lanes before this one are in `lanes`.
WINNOW_DEVICE i32 count_before(u64 lanes) {
  const u32 low = __builtin_amdgcn_mbcnt_lo(static_cast<u32>(lanes), 0);
  return __builtin_amdgcn_mbcnt_hi(static_cast<u32>(lanes >> 32), low);
}

/// The register of one lane, in a scalar register; `lane` has to be uniform.
WINNOW_DEVICE u32 read_lane(u32 value, i32 lane) {
  return __builtin_amdgcn_readlane(value, lane);
}
WINNOW_DEVICE u64 read_lane(u64 value, i32 lane) {
  const u32 low = read_lane(static_cast<u32>(value), lane);
  const u32 high = read_lane(static_cast<u32>(value >> 32), lane);
  return static_cast<u64>(high) << 32 | low;
}

/// The register of lane `lane`, which may differ from lane to lane.
WINNOW_DEVICE u32 fetch_lane(u32 value, i32 lane) {
  return __builtin_amdgcn_ds_bpermute(lane * 4, value);
}

/// Moves this lane's register to lane `lane`; the targets have to be a
/// permutation of the 64 lanes.
WINNOW_DEVICE u32 send_to_lane(u32 value, i32 lane) {
  return __builtin_amdgcn_ds_permute(lane * 4, value);
}
WINNOW_DEVICE u64 send_to_lane(u64 value, i32 lane) {
  const u32 low = send_to_lane(static_cast<u32>(value), lane);
  const u32 high = send_to_lane(static_cast<u32>(value >> 32), lane);
  return static_cast<u64>(high) << 32 | low;
}

} // namespace winnow
