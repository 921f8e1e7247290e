// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the CDNA targets have in common: waves of 64 lanes, scalar registers,
// data-parallel moves within rows of 16 lanes, address spaces, and the layout
// of 16x16 matrix products. A chip's own header adds its matrix instructions
// (multiply_tile) and moves between rows (join_tiles).
#pragma once

#include "winnow/arch/fragment.h"

namespace winnow {

using i32x4 = i32 __attribute__((ext_vector_type(4)));
using u32x2 = u32 __attribute__((ext_vector_type(2)));
using f32x4 = float __attribute__((ext_vector_type(4)));

// --- Waves ---

inline constexpr i32 kWaveLanes = 64;
using LaneMask = u64;

WINNOW_DEVICE i32 lane_index() { return thread_index() % kWaveLanes; }

/// In a scalar register: the compiler cannot see that all lanes agree on it.
WINNOW_DEVICE i32 wave_index() {
  return __builtin_amdgcn_readfirstlane(thread_index() / kWaveLanes);
}

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
  return float_of_bits(partner<N>(bits_of_float(value)));
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
WINNOW_DEVICE LaneMask ballot(bool condition) {
  return __builtin_amdgcn_ballot_w64(condition);
}

/// How many lanes are in `lanes`. Were the compiler to see where the count is
/// from, it would compare 64 bits, for which there are no scalar instructions.
WINNOW_DEVICE i32 count_lanes(LaneMask lanes) {
  i32 count = __builtin_popcountll(lanes);
  __asm__("" : "+s"(count));
  return count;
}

/// How many lanes before this one are in `lanes`.
WINNOW_DEVICE i32 count_before(LaneMask lanes) {
  const u32 low = __builtin_amdgcn_mbcnt_lo(static_cast<u32>(lanes), 0);
  return __builtin_amdgcn_mbcnt_hi(static_cast<u32>(lanes >> 32), low);
}

/// The first lane in `lanes`, of which there has to be one.
WINNOW_DEVICE i32 first_lane(LaneMask lanes) { return __builtin_ctzll(lanes); }

/// The register of one lane, in a scalar register; `lane` has to be uniform.
WINNOW_DEVICE u32 read_lane(u32 value, i32 lane) {
  return __builtin_amdgcn_readlane(value, lane);
}

/// The register of lane `lane`, which may differ from lane to lane.
WINNOW_DEVICE u32 fetch_lane(u32 value, i32 lane) {
  return __builtin_amdgcn_ds_bpermute(lane * 4, value);
}

/// No row is listed as select_quick.h does it.
inline constexpr i32 kQuickSlots = 0;
template <i32 Count> WINNOW_DEVICE i32 lower_bound_of_lanes(i32);
template <class Number> WINNOW_DEVICE i32 mask_above(Number, Number);

/// What any lane of this wave has written to local memory before is seen by all
/// its lanes after. The wave's accesses are executed in order, so that only the
/// compiler has to be told.
WINNOW_DEVICE void wave_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
}

/// What some waves that are one team have written to local memory before is
/// seen by all of them after. There are barriers of whole workgroups alone
/// (CDNA3 and CDNA4 ISA, "s_barrier"), so that all waves have to be one team.
template <i32 Waves> WINNOW_DEVICE void team_barrier(i32) { local_barrier(); }

// --- Groups of keys ---

/// `N` keys of a lane. As one vector they take the compiler a fraction of the
/// time of N variables, for the same instructions in the end.
template <i32 N> using KeyGroup = u32 __attribute__((ext_vector_type(N)));
template <i32 N> using SignedGroup = i32 __attribute__((ext_vector_type(N)));

/// The numbers from 0 to N - 1, for expressions that need no loop.
template <class Number, Number... I> struct Numbers {};
template <i32 N> using NumbersTo = __make_integer_seq<Numbers, i32, N>;

/// The larger of each two as signed integers.
template <i32 N>
WINNOW_DEVICE KeyGroup<N> max_signed(KeyGroup<N> a, KeyGroup<N> b) {
  return (KeyGroup<N>)__builtin_elementwise_max((SignedGroup<N>)a,
                                                (SignedGroup<N>)b);
}

/// f of each key. What f is made of has to be defined for a group, too.
template <i32 N, class Function>
WINNOW_DEVICE KeyGroup<N> each_key(KeyGroup<N> keys, Function f) {
  return f(keys);
}

/// Key i, where i * kWaveLanes is below `count`, and `none` in place of others.
template <i32 N, i32... I>
WINNOW_DEVICE KeyGroup<N> keys_below(KeyGroup<N> keys, i32 count, i32 none,
                                     Numbers<i32, I...>) {
  const SignedGroup<N> place = {I * kWaveLanes...};
  const KeyGroup<N> below = (KeyGroup<N>)((place - count) >> 31);
  return (keys & below) | (~below & static_cast<u32>(none));
}
template <i32 N>
WINNOW_DEVICE KeyGroup<N> keys_below(KeyGroup<N> keys, i32 count, i32 none) {
  return keys_below<N>(keys, count, none, NumbersTo<N>());
}

template <i32 N> WINNOW_DEVICE i32 largest_key(KeyGroup<N> keys) {
  return __builtin_reduce_max((SignedGroup<N>)keys);
}

/// `bits` with one more at the low end for each key: whether it is above
/// `bound`. The sign of a saturated difference, shifted in by v_alignbit_b32:
/// two instructions, where a comparison has to wait until its lane mask can be
/// read.
template <i32 N, i32... I>
WINNOW_DEVICE u32 append_above(u32 bits, KeyGroup<N> keys, i32 bound,
                               Numbers<i32, I...>) {
  const SignedGroup<N> difference = __builtin_elementwise_sub_sat(
      (SignedGroup<N>)bound, (SignedGroup<N>)keys);
  ((bits = __builtin_amdgcn_alignbit(bits, difference[I], 31)), ...);
  return bits;
}
template <i32 N>
WINNOW_DEVICE u32 append_above(u32 bits, KeyGroup<N> keys, i32 bound) {
  return append_above<N>(bits, keys, bound, NumbersTo<N>());
}

// --- Memory ---

/// Memory at large, as opposed to a pointer that might be to LDS.
template <class T> using Global = T __attribute__((address_space(1)));

/// Holds an address that is the same in all lanes in scalar registers. Without
/// this the compiler folds a loop-invariant lane offset into it first, and is
/// left with more 64-bit vector additions in the loop.
WINNOW_DEVICE const Global<u8> *scalar_base(const u8 *address) {
  const u64 bits = reinterpret_cast<u64>(address);
  const u32 low = __builtin_amdgcn_readfirstlane(static_cast<u32>(bits));
  const u32 high = __builtin_amdgcn_readfirstlane(static_cast<u32>(bits >> 32));
  return reinterpret_cast<const Global<u8> *>(static_cast<u64>(high) << 32 |
                                              low);
}

/// Memory that no kernel writes while this one runs. Only this address space
/// is always read through the scalar cache when the address is uniform.
template <class T> using Constant = const T __attribute__((address_space(4)));

/// `table[index]` of an array that is constant for the launch; the index has
/// to be the same in all lanes.
template <class T> WINNOW_DEVICE T load_uniform(const T *table, i64 index) {
  return ((Constant<T> *)table)[index];
}

/// `count` words of memory, of which a lane may ask for those past the end too
/// and gets 0. A buffer resource bounds what is read without instructions of
/// its own; its last word says that elements are raw words (CDNA3 and CDNA4
/// ISA, "Buffer resource descriptor").
class BoundedWords {
public:
  WINNOW_DEVICE BoundedWords(const void *words, i32 count)
      : resource_(__builtin_amdgcn_make_buffer_rsrc(
            const_cast<void *>(words), 0, max(count, 0) * 4, 0x00027000)) {}
  WINNOW_DEVICE u32 load(u32 index) const {
    return __builtin_amdgcn_raw_buffer_load_b32(resource_, index * 4, 0, 0);
  }
  /// The words at `first` + i * kWaveLanes.
  template <i32 N> WINNOW_DEVICE KeyGroup<N> load_group(u32 first) const {
    return load_group(first * 4, NumbersTo<N>());
  }

private:
  template <i32... I>
  WINNOW_DEVICE KeyGroup<sizeof...(I)> load_group(u32 offset,
                                                  Numbers<i32, I...>) const {
    return {__builtin_amdgcn_raw_buffer_load_b32(
        resource_, offset + I * kWaveLanes * 4, 0, 0)...};
  }

  __amdgpu_buffer_rsrc_t resource_;
};

/// 16 bytes of a row.
using Part = i32x4;

/// The part at `base` + `at` + `lane_offset`: `base` is the same in all lanes,
/// `at` a constant. A load's own offset reaches from -4096 to 4095 bytes
/// (CDNA3 and CDNA4 ISA, "FLAT instructions"), so one address serves parts
/// that lie within 8192 bytes.
WINNOW_DEVICE const Global<Part> *part_address(const u8 *base, i32 at,
                                               u32 lane_offset) {
  constexpr i32 reach = 8192;
  const i32 middle = at / reach * reach + reach / 2;
  return (const Global<Part> *)(scalar_base(base + middle) + lane_offset +
                                (at - middle));
}
WINNOW_DEVICE Part load_part(const u8 *base, i32 at, u32 lane_offset) {
  return *part_address(base, at, lane_offset);
}

/// The same of data that is used once: the load is marked not to displace what
/// the caches hold.
WINNOW_DEVICE Part stream_part(const u8 *base, i32 at, u32 lane_offset) {
  return __builtin_nontemporal_load(part_address(base, at, lane_offset));
}

// --- Scheduling ---

/// Instructions stay on their side of it.
WINNOW_DEVICE void keep_order() { __builtin_amdgcn_sched_barrier(0); }

/// Waits for loads to registers. The operand is that of s_waitcnt vmcnt(0): 0
/// in bits 0 to 3 and 14 to 15, the other counters at their largest (CDNA3 and
/// CDNA4 ISA, SOPP).
WINNOW_DEVICE void wait_for_loads() { __builtin_amdgcn_s_waitcnt(0x0f70); }

/// A wave without blocks waits for no queries.
inline constexpr bool kEarlyQuery = false;

/// The larger of two numbers of which neither is NaN. v_med3_f32 with +inf as
/// the third operand takes one instruction; before maxnum the compiler would
/// quiet signalling NaNs, because it cannot see that a swizzled register holds
/// none. It must not see the constant, or it makes a maxnum of it.
WINNOW_DEVICE float max_of_numbers(float a, float b) {
  float largest = __builtin_huge_valf();
  __asm__("" : "+s"(largest));
  return __builtin_amdgcn_fmed3f(a, b, largest);
}

// --- Matrix units ---

// A 16x16 product takes 16 rows (operand A) times 16 columns (operand B). Lane
// l holds part of row or column l % 16, and result register i of lane l is row
// 4 * (l / 16) + i of column l % 16 (CDNA3 and CDNA4 ISA, "Matrix core").

/// Rows of a tile that a lane has a share of, and which.
inline constexpr i32 kLaneRows = 1;
WINNOW_DEVICE i32 lane_row(i32) { return lane_index() % kMatrixRows; }

/// The byte at which a lane's first part of a row begins.
WINNOW_DEVICE i32 lane_row_offset() {
  return lane_index() / kMatrixRows * kPieceBytes;
}

/// One lane's share of a tile, or of as many rows of it as `Rows` says.
template <class Element, i32 Rows = kLaneRows> struct Fragment {
  Part part[Rows][kParts<Element>];
};

/// Up to 16 queries against tiles of 16 keys. Queries are the rows, tokens the
/// columns, and query 4 * i + g lies in result register i of the lanes 16 * g
/// to 16 * g + 15: up to four queries need one register, up to eight need two.
template <i32 Queries> struct FewQueries {
  /// Rows of the queries' fragment that a lane has a share of.
  static constexpr i32 kLaneRows = 1;
  /// Queries that a lane has products of, and of each the tokens of a tile.
  static constexpr i32 kSlots = (Queries + 3) / 4;
  static constexpr i32 kTokens = 1;

  struct Products {
    float at[kSlots][kTokens];
  };

  /// The query in row j of this lane's share of the fragment; may be past the
  /// last one.
  WINNOW_DEVICE static i32 query_of_row(i32) {
    const i32 row = lane_index() % kMatrixRows;
    return row % 4 * 4 + row / 4;
  }
  /// The query of a slot; may be past the last one.
  WINNOW_DEVICE static i32 query(i32 slot) {
    return 4 * slot + lane_index() / kMatrixRows;
  }
  /// The token of a tile that a slot's i-th product is of.
  WINNOW_DEVICE static i32 token(i32) { return lane_index() % kMatrixRows; }

  template <class Queried, class Keys>
  WINNOW_DEVICE static Products multiply(const Queried &queries,
                                         const Keys &keys) {
    const f32x4 sum = multiply_tile(queries, keys, f32x4(0.0f));
    Products products;
#pragma unroll
    for (i32 slot = 0; slot < kSlots; ++slot)
      products.at[slot][0] = sum[slot];
    return products;
  }

  /// The maximum over the lanes that share a query, for own_query(). With more
  /// slots than one, each step halves how many of them a lane carries.
  WINNOW_DEVICE static float reduce(const float (&best)[kSlots]) {
    float score;
    if constexpr (kSlots <= 2) {
      if constexpr (kSlots == 2)
        score = join<8>(best[0], best[1]);
      else
        score = join<8>(best[0]);
      score = join<4>(score);
    } else {
      const float first = join<8>(best[0], best[1]);
      if constexpr (kSlots == 4)
        score = join<4>(first, join<8>(best[2], best[3]));
      else
        score = join<4>(first, join<8>(best[2]));
    }
    return join<1>(join<2>(score));
  }
  /// The query whose maximum this lane ends up with; may be past the last one.
  WINNOW_DEVICE static i32 own_query() {
    const i32 slot = lane_index() / 8 % 2 + lane_index() / 4 % 2 * 2;
    return query(kSlots == 1 ? 0 : slot);
  }
  /// Whether this lane is the one of those with its query that stores it.
  WINNOW_DEVICE static bool stores() {
    return lane_index() % (kSlots == 1 ? kMatrixRows : 4) == 0;
  }

private:
  /// One step of a maximum over lanes. Lanes with bit `N` clear go on with `a`,
  /// the others with `b`, each with what its partner knows of it.
  template <i32 N> WINNOW_DEVICE static float join(float a, float b) {
    const bool takes_b = lane_index() & N;
    return max_of_numbers(takes_b ? b : a, partner<N>(takes_b ? a : b));
  }
  template <i32 N> WINNOW_DEVICE static float join(float a) {
    return max_of_numbers(a, partner<N>(a));
  }
};

/// One lane's maximum for each query tile.
template <i32 Tiles> struct TileMaxima {
  float of[Tiles];
};

} // namespace winnow
