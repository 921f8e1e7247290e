// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sm_90 (Hopper): warps of 32 lanes, bulk copies to local memory, and the
// warp-wide matrix instructions of 16x8x16 16-bit elements. Sections named here
// are those of the PTX ISA 9.0.
#pragma once

#include "winnow/arch/fragment.h"

/// As portable.h has it, with as many registers a lane as there are: the
/// compiler would else keep room for more workgroups than are asked for.
#undef WINNOW_KERNEL
#define WINNOW_KERNEL(threads)                                                 \
  extern "C" __global__ __launch_bounds__(                                     \
      threads, (threads) < 256 ? 256 / (threads) : 1) void

namespace winnow {

//===--- Waves ---===//

inline constexpr i32 kWaveLanes = 32;
using LaneMask = u32;
inline constexpr LaneMask kAllLanes = 0xffffffffu;

WINNOW_DEVICE i32 lane_index() { return thread_index() % kWaveLanes; }
WINNOW_DEVICE i32 wave_index() { return thread_index() / kWaveLanes; }

/// The register of this lane's partner across bit `N` of the lane number.
template <i32 N> WINNOW_DEVICE u32 partner(u32 value) {
  return ::__shfl_xor_sync(kAllLanes, value, N);
}
template <i32 N> WINNOW_DEVICE float partner(float value) {
  return ::__shfl_xor_sync(kAllLanes, value, N);
}

/// The sum over this lane and all lanes before it.
WINNOW_DEVICE u32 prefix_sum(u32 value) {
#pragma unroll
  for (u32 step = 1; step < u32(kWaveLanes); step *= 2) {
    const u32 before = ::__shfl_up_sync(kAllLanes, value, step);
    value += lane_index() >= i32(step) ? before : 0;
  }
  return value;
}

/// The first lane's value.
WINNOW_DEVICE u32 read_first_lane(u32 value) {
  return ::__shfl_sync(kAllLanes, value, 0);
}

/// The lanes for which `condition` holds, one bit a lane.
WINNOW_DEVICE LaneMask ballot(bool condition) {
  return ::__ballot_sync(kAllLanes, condition);
}
WINNOW_DEVICE i32 count_lanes(LaneMask lanes) { return ::__popc(lanes); }

/// How many lanes before this one are in `lanes`.
WINNOW_DEVICE i32 count_before(LaneMask lanes) {
  return ::__popc(lanes & ((1u << lane_index()) - 1));
}

/// The first lane in `lanes`, of which there has to be one.
WINNOW_DEVICE i32 first_lane(LaneMask lanes) { return ::__ffs(lanes) - 1; }

/// The register of one lane; `lane` has to be uniform.
WINNOW_DEVICE u32 read_lane(u32 value, i32 lane) {
  return ::__shfl_sync(kAllLanes, value, lane);
}

/// The register of lane `lane`, which may differ from lane to lane.
WINNOW_DEVICE u32 fetch_lane(u32 value, i32 lane) {
  return ::__shfl_sync(kAllLanes, value, lane);
}

/// The longest rows, in slots a lane, whose candidates are listed in the fewest
/// steps (select_quick.h).
inline constexpr i32 kQuickSlots = 8;

/// -1 if a is above b, else 0: numbers to add up, in any order. Of a condition
/// the compiler would make an addition that waits for the one before it.
WINNOW_DEVICE i32 mask_above(i32 a, i32 b) {
  i32 mask;
  asm("set.gt.u32.s32 %0, %1, %2;" : "=r"(mask) : "r"(a), "r"(b));
  return mask;
}
WINNOW_DEVICE i32 mask_above(u64 a, u64 b) {
  i32 mask;
  asm("{\n\t.reg .pred above;\n\t"
      "setp.gt.u64 above, %1, %2;\n\t"
      "selp.s32 %0, -1, 0, above;\n\t}"
      : "=r"(mask)
      : "l"(a), "l"(b));
  return mask;
}

/// A number that at least `Count` lanes' numbers reach, and few more: in each
/// half of the lanes half as many do. The lane number in the low bits makes all
/// numbers differ, so that one comparison with each other of the half ranks
/// them. To rank all lanes at once would find the best such number, and take
/// twice as long.
template <i32 Count> WINNOW_DEVICE i32 lower_bound_of_lanes(i32 own) {
  constexpr i32 lanes = kWaveLanes / 2, rank = (Count + 1) / 2;
  static_assert(rank >= 1 && rank <= lanes, "no more than there are lanes");
  const i32 mine = (own & ~31) | lane_index();
  i32 larger[2] = {};
#pragma unroll
  for (i32 other = 1; other < lanes; ++other)
    larger[other % 2] -=
        mask_above(::__shfl_xor_sync(kAllLanes, mine, other), mine);
  const bool is_bound = larger[0] + larger[1] == rank - 1;
  return ::__reduce_min_sync(kAllLanes, is_bound ? mine : 0x7fffffff) & ~31;
}

/// What the wave's lanes have written to local memory before is seen by all of
/// them after.
WINNOW_DEVICE void wave_barrier() { ::__syncwarp(); }

/// The same for `Waves` consecutive waves of the workgroup, the `team`-th such
/// group of at most 15: barrier 0 is the whole workgroup's. A warp arrives as a
/// whole, so its lanes come together first.
template <i32 Waves> WINNOW_DEVICE void team_barrier(i32 team) {
  ::__syncwarp();
  asm volatile("bar.sync %0, %1;" ::"r"(team + 1), "n"(Waves * kWaveLanes)
               : "memory");
}

//===--- Groups of keys ---===//

/// `N` keys of a lane.
template <i32 N> struct KeyGroup {
  WINNOW_DEVICE u32 &operator[](i32 i) { return key_[i]; }
  WINNOW_DEVICE u32 operator[](i32 i) const { return key_[i]; }

private:
  u32 key_[N];
};

/// f of each key.
template <i32 N, class Function>
WINNOW_DEVICE KeyGroup<N> each_key(KeyGroup<N> keys, Function f) {
#pragma unroll
  for (i32 i = 0; i < N; ++i)
    keys[i] = f(keys[i]);
  return keys;
}

/// Key i, where i * kWaveLanes is below `count`, and `none` in place of others.
template <i32 N>
WINNOW_DEVICE KeyGroup<N> keys_below(KeyGroup<N> keys, i32 count, i32 none) {
#pragma unroll
  for (i32 i = 0; i < N; ++i)
    keys[i] = i * kWaveLanes < count ? keys[i] : none;
  return keys;
}

template <i32 N> WINNOW_DEVICE i32 largest_key(const KeyGroup<N> &keys) {
  i32 largest = keys[0];
#pragma unroll
  for (i32 i = 1; i < N; ++i)
    largest = max(largest, static_cast<i32>(keys[i]));
  return largest;
}

/// `bits` with one more at the low end for each key: whether it is above
/// `bound`.
template <i32 N>
WINNOW_DEVICE u32 append_above(u32 bits, const KeyGroup<N> &keys, i32 bound) {
#pragma unroll
  for (i32 i = 0; i < N; ++i)
    bits = bits << 1 | (static_cast<i32>(keys[i]) > bound);
  return bits;
}

//===--- Memory ---===//

/// `table[index]` of an array that is constant for the launch.
template <class T> WINNOW_DEVICE T load_uniform(const T *table, i64 index) {
  return ::__ldg(table + index);
}

/// `count` words of memory, of which a lane may ask for those past the end too
/// and gets 0.
class BoundedWords {
public:
  WINNOW_DEVICE BoundedWords(const void *words, i32 count)
      : words_(static_cast<const u32 *>(words)), count_(max(count, 0)) {}
  WINNOW_DEVICE u32 load(u32 index) const {
    return index < count_ ? words_[index] : 0;
  }
  /// The words at `first` + i * kWaveLanes.
  template <i32 N> WINNOW_DEVICE KeyGroup<N> load_group(u32 first) const {
    const u32 *own = words_ + first;
    const i32 left = count_ - static_cast<i32>(first);
    KeyGroup<N> words;
#pragma unroll
    for (i32 i = 0; i < N; ++i)
      words[i] = i * kWaveLanes < left ? own[i * kWaveLanes] : 0;
    return words;
  }

private:
  const u32 *words_;
  u32 count_;
};

/// 16 bytes of a row.
using Part = u32x4;

/// The part at `base` + `at` + `lane_offset`.
WINNOW_DEVICE Part load_part(const u8 *base, i32 at, u32 lane_offset) {
  const uint4 part =
      ::__ldg(reinterpret_cast<const uint4 *>(base + at + lane_offset));
  return {part.x, part.y, part.z, part.w};
}

/// The same of data that is used once: the first-level cache does not keep it,
/// and the second level asks memory for the 128 bytes around it.
WINNOW_DEVICE Part stream_part(const u8 *base, i32 at, u32 lane_offset) {
  Part part;
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 "
               "{%0, %1, %2, %3}, [%4];"
               : "=r"(part.x), "=r"(part.y), "=r"(part.z), "=r"(part.w)
               : "l"(base + at + lane_offset));
  return part;
}

WINNOW_DEVICE u32 local_address(const void *local) {
  return static_cast<u32>(::__cvta_generic_to_shared(local));
}

/// Has the second-level cache drop what is loaded before anything else.
WINNOW_DEVICE u64 dropped_first() {
  u64 policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy));
  return policy;
}

/// Asynchronous bulk copies from memory to local memory, and a barrier at which
/// one wave waits for its own (mbarrier). Copies are in order after what the
/// wave has read of `to` before its last wave_barrier().
class BulkCopy {
public:
  /// One lane prepares the barrier, and that for the copies, too.
  WINNOW_DEVICE void prepare() {
    asm volatile(
        "mbarrier.init.shared.b64 [%0], 1;\n\t"
        "fence.mbarrier_init.release.cluster;" ::"r"(local_address(&state_))
        : "memory");
  }
  /// One lane asks for `bytes`, a multiple of 16, from and to multiples of 16.
  /// `IsOnce`: of data that is used once.
  template <bool IsOnce>
  WINNOW_DEVICE void ask(Part *to, const u8 *from, i32 bytes) {
    if constexpr (IsOnce)
      asm volatile(
          "mbarrier.arrive.expect_tx.shared.b64 _, [%3], %2;\n\t"
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
          ".L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(local_address(to)),
          "l"(from), "r"(bytes), "r"(local_address(&state_)),
          "l"(dropped_first())
          : "memory");
    else
      asm volatile(
          "mbarrier.arrive.expect_tx.shared.b64 _, [%3], %2;\n\t"
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
          "[%0], [%1], %2, [%3];" ::"r"(local_address(to)),
          "l"(from), "r"(bytes), "r"(local_address(&state_))
          : "memory");
  }
  /// Waits for the copy that was asked for `phase` copies after the first.
  WINNOW_DEVICE void wait(u32 phase) {
    u32 done;
    do
      asm volatile("{\n\t.reg .pred done;\n\t"
                   "mbarrier.try_wait.parity.shared.b64 done, [%1], %2;\n\t"
                   "selp.u32 %0, 1, 0, done;\n\t}"
                   : "=r"(done)
                   : "r"(local_address(&state_)), "r"(phase % 2)
                   : "memory");
    while (!done);
  }

private:
  u64 state_;
};

//===--- Scheduling ---===//

/// Loads stay on their side of it. Of the loop over tiles the compiler would
/// else have more keys in registers than fit.
WINNOW_DEVICE void keep_order() { asm volatile("" ::: "memory"); }
WINNOW_DEVICE void wait_for_loads() {}

/// Queries are asked for before it is known whether a wave has blocks: there is
/// little else to do until the request's length has arrived.
inline constexpr bool kEarlyQuery = true;

/// The larger of two numbers of which neither is NaN.
WINNOW_DEVICE float max_of_numbers(float a, float b) { return ::fmaxf(a, b); }

//===--- Matrix units ---===//

// mma.m16n8k16 multiplies 16 rows (operand A: tokens) with 8 columns (operand
// B: queries). Lane l holds parts of rows l / 4 and l / 4 + 8 of A and of
// column l / 4 of B; its results are those of the two rows with columns 2 * (l
// % 4) and the next ("Matrix Fragments for mma.m16n8k16"). 16 queries are two
// such products.

/// Rows of a tile that a lane has a share of, and which.
inline constexpr i32 kLaneRows = 2;
WINNOW_DEVICE i32 lane_row(i32 j) { return lane_index() / 4 + j * 8; }

/// The byte at which a lane's first part of a row begins.
WINNOW_DEVICE i32 lane_row_offset() { return lane_index() % 4 * kPieceBytes; }

/// One lane's share of a tile, or of as many rows of it as `Rows` says.
template <class Element, i32 Rows = kLaneRows> struct Fragment {
  Part part[Rows][kParts<Element>];
};

/// The same as the matrix unit takes it: pairs of 16-bit elements, two words of
/// each row for each of eight steps.
inline constexpr i32 kMatrixSteps = 8;
template <class Element, i32 Rows = kLaneRows> struct Operand {
  u32 word[Rows][kMatrixSteps][2];
};

template <class Element, i32 Rows>
WINNOW_DEVICE Operand<Element, Rows>
operand_of(const Fragment<Element, Rows> &fragment) {
  Operand<Element, Rows> operand;
#pragma unroll
  for (i32 j = 0; j < Rows; ++j)
#pragma unroll
    for (i32 p = 0; p < kParts<Element>; ++p) {
      const Part part = fragment.part[j][p];
      u32(&low)[2] = operand.word[j][2 * p];
      u32(&high)[2] = operand.word[j][2 * p + 1];
      low[0] = part.x, low[1] = part.y;
      high[0] = part.z, high[1] = part.w;
    }
  return operand;
}

/// Four fp8 e4m3 (OCP) become f16, exactly, NaN stays NaN. The matrix
/// instruction for fp8 would do the same: there is none in hardware that sums
/// in full precision (it is F2FP and HMMA in the machine code).
WINNOW_DEVICE void widen_fp8(u32 four, u32 (&pairs)[2]) {
  asm("{\n\t.reg .b16 low, high;\n\t"
      "mov.b32 {low, high}, %2;\n\t"
      "cvt.rn.f16x2.e4m3x2 %0, low;\n\t"
      "cvt.rn.f16x2.e4m3x2 %1, high;\n\t}"
      : "=r"(pairs[0]), "=r"(pairs[1])
      : "r"(four));
}
template <i32 Rows>
WINNOW_DEVICE Operand<u8, Rows> operand_of(const Fragment<u8, Rows> &fragment) {
  Operand<u8, Rows> operand;
#pragma unroll
  for (i32 j = 0; j < Rows; ++j)
#pragma unroll
    for (i32 p = 0; p < kParts<u8>; ++p) {
      const Part part = fragment.part[j][p];
      widen_fp8(part.x, operand.word[j][4 * p]);
      widen_fp8(part.y, operand.word[j][4 * p + 1]);
      widen_fp8(part.z, operand.word[j][4 * p + 2]);
      widen_fp8(part.w, operand.word[j][4 * p + 3]);
    }
  return operand;
}

/// 16 tokens times 8 queries, one of the eight steps, added to `sum`.
struct TileSum {
  float at[4]; ///< row l / 4, both columns, then row l / 4 + 8
};
WINNOW_DEVICE void multiply_step(const Operand<bf16> &rows, i32 step,
                                 const u32 (&columns)[2], TileSum &sum) {
  float (&at)[4] = sum.at;
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(at[0]), "+f"(at[1]), "+f"(at[2]), "+f"(at[3])
      : "r"(rows.word[0][step][0]), "r"(rows.word[1][step][0]),
        "r"(rows.word[0][step][1]), "r"(rows.word[1][step][1]), "r"(columns[0]),
        "r"(columns[1]));
}
/// f16, and fp8 that has become f16.
template <class Element>
WINNOW_DEVICE void multiply_step(const Operand<Element> &rows, i32 step,
                                 const u32 (&columns)[2], TileSum &sum) {
  float (&at)[4] = sum.at;
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(at[0]), "+f"(at[1]), "+f"(at[2]), "+f"(at[3])
      : "r"(rows.word[0][step][0]), "r"(rows.word[1][step][0]),
        "r"(rows.word[0][step][1]), "r"(rows.word[1][step][1]), "r"(columns[0]),
        "r"(columns[1]));
}

/// The maximum over the lanes that share their queries. Of two lanes, each goes
/// on with one of two numbers and with what its partner knows of it.
template <i32 N> WINNOW_DEVICE float join_lanes(float a, float b) {
  const bool takes_b = lane_index() & N;
  return max_of_numbers(takes_b ? b : a, partner<N>(takes_b ? a : b));
}
template <i32 N> WINNOW_DEVICE float join_lanes(float a) {
  return max_of_numbers(a, partner<N>(a));
}

/// Up to 16 queries against tiles of 16 keys.
template <i32 Queries> struct FewQueries {
  static constexpr i32 kColumnTiles = (Queries + 7) / 8;
  /// Rows of the queries' fragment that a lane has a share of.
  static constexpr i32 kLaneRows = kColumnTiles;
  /// Queries that a lane has products of, and of each the tokens of a tile.
  static constexpr i32 kSlots = 2 * kColumnTiles;
  static constexpr i32 kTokens = 2;

  struct Products {
    float at[kSlots][kTokens];
  };

  /// The query in row j of this lane's share of the fragment; may be past the
  /// last one.
  WINNOW_DEVICE static i32 query_of_row(i32 j) {
    return j * 8 + lane_index() / 4;
  }
  /// The query of a slot, two of each eight; may be past the last one.
  WINNOW_DEVICE static i32 query(i32 slot) {
    return slot / 2 * 8 + lane_index() % 4 * 2 + slot % 2;
  }
  /// The token of a tile that a slot's i-th product is of.
  WINNOW_DEVICE static i32 token(i32 i) { return lane_index() / 4 + i * 8; }

  /// Two sums, of the even and of the odd steps, as each step of one has to
  /// wait for the one before.
  template <class Element>
  WINNOW_DEVICE static Products
  multiply(const Operand<Element, kLaneRows> &queries,
           const Operand<Element> &keys) {
    Products products;
#pragma unroll
    for (i32 n = 0; n < kColumnTiles; ++n) {
      TileSum sum[2] = {};
#pragma unroll
      for (i32 step = 0; step < kMatrixSteps; ++step)
        multiply_step(keys, step, queries.word[n][step], sum[step % 2]);
#pragma unroll
      for (i32 i = 0; i < 4; ++i)
        products.at[2 * n + i % 2][i / 2] = sum[0].at[i] + sum[1].at[i];
    }
    return products;
  }

  /// The maximum over the lanes that share a query, for own_query().
  WINNOW_DEVICE static float reduce(const float (&best)[kSlots]) {
    const float first = join_lanes<16>(best[0], best[1]);
    if constexpr (kColumnTiles == 1)
      return join_lanes<4>(join_lanes<8>(first));
    else
      return join_lanes<4>(
          join_lanes<8>(first, join_lanes<16>(best[2], best[3])));
  }
  /// The query whose maximum this lane ends up with; may be past the last one.
  WINNOW_DEVICE static i32 own_query() {
    const i32 upper = kColumnTiles == 1 ? 0 : lane_index() / 8 % 2 * 2;
    return query(upper + lane_index() / 16);
  }
  /// Whether this lane is the one of those with its query that stores it.
  WINNOW_DEVICE static bool stores() {
    return lane_index() / 4 % (kColumnTiles == 1 ? 4 : 2) == 0;
  }
};

} // namespace winnow
