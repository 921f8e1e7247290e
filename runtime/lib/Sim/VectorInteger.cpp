// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer and bit operations of one lane, and the carry chains.
#include "Lanes.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace winnow::sim {
namespace {

using u16 = uint16_t;
using i16 = int16_t;
using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

i32 signed24(u32 v) { return i32(v << 8) >> 8; }
u32 low24(u32 v) { return v & 0xffffff; }

template <typename T> T median(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

u32 bitFieldExtract(u32 v, u32 offset, u32 width) {
  offset &= 31;
  width &= 31;
  return v >> offset & ((1u << width) - 1);
}
u32 bitFieldExtractSigned(u32 v, u32 offset, u32 width) {
  offset &= 31;
  width &= 31;
  if (!width)
    return 0;
  u32 field = v >> offset & ((1u << width) - 1);
  return u32(i32(field << (32 - width)) >> (32 - width));
}

/// Each selector byte picks a byte of {a, b} (b is bytes 0-3), a sign or a
/// constant (CDNA4 ISA, V_PERM_B32).
u32 permuteBytes(u32 a, u32 b, u32 selector) {
  u64 bytes = u64(a) << 32 | b;
  u32 out = 0;
  for (unsigned i = 0; i < 4; ++i) {
    u32 select = selector >> (8 * i) & 0xff, byte;
    if (select < 8)
      byte = u32(bytes >> (8 * select)) & 0xff;
    else if (select < 12)
      byte = bytes >> (16 * (select - 8) + 15) & 1 ? 0xff : 0;
    else
      byte = select == 12 ? 0 : 0xff;
    out |= byte << (8 * i);
  }
  return out;
}

u32 sumOfDifferences(u32 a, u32 b, u32 c) {
  for (unsigned i = 0; i < 4; ++i) {
    i32 d = i32(a >> (8 * i) & 0xff) - i32(b >> (8 * i) & 0xff);
    c += u32(d < 0 ? -d : d);
  }
  return c;
}

/// v_add_co_u32 and its kin: out = a + b + carry, or the differences; the
/// carry out goes to a mask.
enum class Carry { Add, Sub, SubReverse };
template <Carry Kind, bool In>
void carryHandler(Wave &w, const Instruction &in) {
  LaneBuffer buffers[2], out;
  LaneView a = source<u32>(w, in, 0, buffers[0]);
  LaneView b = source<u32>(w, in, 1, buffers[1]);
  u64 carryIn = In ? readScalar64(w, in.source[2]) : 0;
  uint8_t flags[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    u64 x = a.low[l], y = b.low[l], c = carryIn >> l & 1;
    if constexpr (Kind == Carry::SubReverse)
      std::swap(x, y);
    u64 r = Kind == Carry::Add ? x + y + c : x - y - c;
    out.low[l] = u32(r);
    flags[l] = r >> 32 & 1;
  }
  if (in.isDpp && dppWriteMask(w, in) != w.exec())
    return w.stop(in, "a carry under a partial DPP mask is not simulated");
  result<u32>(w, in, out);
  w.setPair(in.scalarDestination, packMask(flags) & w.exec());
}
template <Carry Kind, bool In> constexpr Operation carryOp(const char *name) {
  return {name,
          &carryHandler<Kind, In>,
          InstructionClass::Valu,
          ValueType::B32,
          {ValueType::B32, ValueType::B32, ValueType::None},
          u32(kScalarDestination) | (In ? u32(kReadsMask) : 0u)};
}

template <bool Signed> void mad64Handler(Wave &w, const Instruction &in) {
  LaneBuffer buffers[3], out;
  LaneView a = source<u32>(w, in, 0, buffers[0]);
  LaneView b = source<u32>(w, in, 1, buffers[1]);
  LaneView c = source<u64>(w, in, 2, buffers[2]);
  uint8_t flags[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    u64 product = Signed ? u64(i64(i32(a.low[l])) * i64(i32(b.low[l])))
                         : u64(a.low[l]) * b.low[l];
    u64 addend = laneValue<u64>(c, l);
    u64 sum = product + addend;
    setLane(out, l, sum);
    if (Signed)
      flags[l] = (~(product ^ addend) & (product ^ sum)) >> 63;
    else
      flags[l] = sum < product;
  }
  result<u64>(w, in, out);
  w.setPair(in.scalarDestination, packMask(flags) & w.exec());
}

void selectHandler(Wave &w, const Instruction &in) {
  LaneBuffer buffers[2], out;
  // The selection itself flushes nothing, but neg and abs are of floats.
  bool isModified = in.source[0].negate || in.source[0].absolute ||
                    in.source[1].negate || in.source[1].absolute;
  if (isModified && !w.plainFloat)
    return w.stop(in, "neg or abs in a selection while denormals are flushed "
                      "is not simulated");
  LaneView a = isModified ? source<float>(w, in, 0, buffers[0])
                          : source<u32>(w, in, 0, buffers[0]);
  LaneView b = isModified ? source<float>(w, in, 1, buffers[1])
                          : source<u32>(w, in, 1, buffers[1]);
  u64 mask = readScalar64(w, in.source[2]);
  for (unsigned half = 0; half < 2; ++half) {
    u32 bits = u32(mask >> (32 * half));
    for (unsigned i = 0; i < 32; ++i) {
      u32 take = 0u - (bits >> i & 1);
      unsigned l = 32 * half + i;
      out.low[l] = (b.low[l] & take) | (a.low[l] & ~take);
    }
  }
  result<u32>(w, in, out);
}

/// Any function of three bits; the table's index is {a, b, c}.
template <typename T> void bitop3Handler(Wave &w, const Instruction &in) {
  LaneBuffer buffers[3], out;
  LaneView a = source<T>(w, in, 0, buffers[0]);
  LaneView b = source<T>(w, in, 1, buffers[1]);
  LaneView c = source<T>(w, in, 2, buffers[2]);
  u32 table = u32(in.immediate);
  u32 terms[8];
  for (unsigned i = 0; i < 8; ++i)
    terms[i] = 0u - (table >> i & 1);
  for (unsigned l = 0; l < kLanes; ++l) {
    u32 r = 0;
    for (unsigned i = 0; i < 8; ++i)
      r |= terms[i] & (i & 4 ? a.low[l] : ~a.low[l]) &
           (i & 2 ? b.low[l] : ~b.low[l]) & (i & 1 ? c.low[l] : ~c.low[l]);
    out.low[l] = r;
  }
  result<T>(w, in, out);
}

template <bool High> void bitCountBelow(Wave &w, const Instruction &in) {
  LaneBuffer buffers[2], out;
  LaneView a = source<u32>(w, in, 0, buffers[0]);
  LaneView b = source<u32>(w, in, 1, buffers[1]);
  for (unsigned l = 0; l < kLanes; ++l) {
    u64 below = (u64(1) << l) - 1;
    u32 mask = High ? u32(below >> 32) : u32(below);
    out.low[l] = b.low[l] + u32(std::popcount(a.low[l] & mask));
  }
  result<u32>(w, in, out);
}

template <typename T> T saturate(i64 value) {
  return T(std::clamp<i64>(value, std::numeric_limits<T>::min(),
                           std::numeric_limits<T>::max()));
}
/// Wraps, or saturates under the clamp bit.
template <auto Wrap, auto Clamped>
void wrapOrClamp(Wave &w, const Instruction &in) {
  if (in.clamp)
    lanes<Clamped>(w, in);
  else
    lanes<Wrap>(w, in);
}
template <auto Wrap, auto Clamped>
constexpr Operation saturatingOp(const char *name, uint32_t flags = 0) {
  Operation op = vectorOp<Wrap>(name, kOwnClamp | flags);
  op.handler = &wrapOrClamp<Wrap, Clamped>;
  return op;
}

constexpr Operation binaryOp(const char *name, Handler handler) {
  return {name,
          handler,
          InstructionClass::Valu,
          ValueType::B32,
          {ValueType::B32, ValueType::B32, ValueType::None}};
}

void noOperation(Wave &, const Instruction &) {}

const Operation table[] = {
    vectorOp<[](u32 a) { return a; }>("v_mov_b32"),
    vectorOp<[](u64 a) { return a; }>("v_mov_b64"),
    {"v_nop", &noOperation, InstructionClass::Wait},
    vectorOp<[](u32 a) { return ~a; }>("v_not_b32"),
    vectorOp<[](u32 a) {
      a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
      a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
      a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
      a = (a >> 8 & 0x00ff00ff) | (a & 0x00ff00ff) << 8;
      return (a >> 16 | a << 16);
    }>("v_bfrev_b32"),
    vectorOp<[](u32 a) { return a ? u32(std::countl_zero(a)) : ~0u; }>(
        "v_ffbh_u32"),
    vectorOp<[](u32 a) { return a ? u32(std::countr_zero(a)) : ~0u; }>(
        "v_ffbl_b32"),
    vectorOp<[](u32 a) {
      u32 m = i32(a) < 0 ? ~a : a;
      return m ? u32(std::countl_zero(m)) : ~0u;
    }>("v_ffbh_i32"),
    saturatingOp<[](u32 a, u32 b) { return a + b; },
                 [](u32 a, u32 b) { return saturate<u32>(i64(a) + b); }>(
        "v_add_u32"),
    saturatingOp<[](u32 a, u32 b) { return a - b; },
                 [](u32 a, u32 b) { return saturate<u32>(i64(a) - b); }>(
        "v_sub_u32"),
    saturatingOp<[](u32 a, u32 b) { return b - a; },
                 [](u32 a, u32 b) { return saturate<u32>(i64(b) - a); }>(
        "v_subrev_u32"),
    saturatingOp<[](u32 a, u32 b) { return a + b; },
                 [](i32 a, i32 b) { return saturate<i32>(i64(a) + b); }>(
        "v_add_i32"),
    saturatingOp<[](u32 a, u32 b) { return a - b; },
                 [](i32 a, i32 b) { return saturate<i32>(i64(a) - b); }>(
        "v_sub_i32"),
    vectorOp<[](u32 a, u32 b) { return u32(signed24(a) * i64(signed24(b))); }>(
        "v_mul_i32_i24"),
    vectorOp<[](u32 a, u32 b) {
      return u32(u64(i64(signed24(a)) * signed24(b)) >> 32);
    }>("v_mul_hi_i32_i24"),
    vectorOp<[](u32 a, u32 b) { return low24(a) * low24(b); }>("v_mul_u32_u24"),
    vectorOp<[](u32 a, u32 b) { return u32(u64(low24(a)) * low24(b) >> 32); }>(
        "v_mul_hi_u32_u24"),
    vectorOp<[](u32 a, u32 b) { return a * b; }>("v_mul_lo_u32"),
    vectorOp<[](u32 a, u32 b) { return u32(u64(a) * b >> 32); }>(
        "v_mul_hi_u32"),
    vectorOp<[](i32 a, i32 b) { return u32(u64(i64(a) * b) >> 32); }>(
        "v_mul_hi_i32"),
    vectorOp<[](i32 a, i32 b) { return std::min(a, b); }>("v_min_i32"),
    vectorOp<[](i32 a, i32 b) { return std::max(a, b); }>("v_max_i32"),
    vectorOp<[](u32 a, u32 b) { return std::min(a, b); }>("v_min_u32"),
    vectorOp<[](u32 a, u32 b) { return std::max(a, b); }>("v_max_u32"),
    vectorOp<[](u32 a, u32 b) { return (b >> (a & 31)); }>("v_lshrrev_b32"),
    vectorOp<[](u32 a, i32 b) { return (b >> (a & 31)); }>("v_ashrrev_i32"),
    vectorOp<[](u32 a, u32 b) { return b << (a & 31); }>("v_lshlrev_b32"),
    vectorOp<[](u32 a, u64 b) { return (b >> (a & 63)); }>("v_lshrrev_b64"),
    vectorOp<[](u32 a, i64 b) { return (b >> (a & 63)); }>("v_ashrrev_i64"),
    vectorOp<[](u32 a, u64 b) { return b << (a & 63); }>("v_lshlrev_b64"),
    vectorOp<[](u32 a, u32 b) { return a & b; }>("v_and_b32"),
    vectorOp<[](u32 a, u32 b) { return a | b; }>("v_or_b32"),
    vectorOp<[](u32 a, u32 b) { return a ^ b; }>("v_xor_b32"),
    vectorOp<[](u32 a, u32 b) { return ~(a ^ b); }>("v_xnor_b32"),
    vectorOp<[](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); }>(
        "v_bfm_b32"),
    vectorOp<[](u32 a, u32 b) { return b + u32(std::popcount(a)); }>(
        "v_bcnt_u32_b32"),
    binaryOp("v_mbcnt_lo_u32_b32", &bitCountBelow<false>),
    binaryOp("v_mbcnt_hi_u32_b32", &bitCountBelow<true>),

    vectorOp<[](u32 a, u32 b, u32 c) { return a + b + c; }>("v_add3_u32"),
    vectorOp<[](u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; }>(
        "v_lshl_add_u32"),
    vectorOp<[](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); }>(
        "v_add_lshl_u32"),
    vectorOp<[](u32 a, u32 b, u32 c) { return (a << (b & 31)) | c; }>(
        "v_lshl_or_b32"),
    vectorOp<[](u32 a, u32 b, u32 c) { return (a & b) | c; }>("v_and_or_b32"),
    vectorOp<[](u32 a, u32 b, u32 c) { return a | b | c; }>("v_or3_b32"),
    vectorOp<[](u32 a, u32 b, u32 c) { return (a ^ b) + c; }>("v_xad_u32"),
    // Shifts of 0 to 4 (CDNA4 ISA, V_LSHL_ADD_U64).
    vectorOp<[](u64 a, u32 b, u64 c) { return (a << (b & 7)) + c; }>(
        "v_lshl_add_u64"),
    vectorOp<[](u32 a, u32 b, u32 c) { return bitFieldExtract(a, b, c); }>(
        "v_bfe_u32"),
    vectorOp<[](u32 a, u32 b, u32 c) {
      return bitFieldExtractSigned(a, b, c);
    }>("v_bfe_i32"),
    vectorOp<[](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }>(
        "v_bfi_b32"),
    vectorOp<[](u32 a, u32 b, u32 c) {
      return u32((u64(a) << 32 | b) >> (c & 31));
    }>("v_alignbit_b32"),
    vectorOp<[](u32 a, u32 b, u32 c) {
      return u32((u64(a) << 32 | b) >> (8 * (c & 3)));
    }>("v_alignbyte_b32"),
    vectorOp<[](u32 a, u32 b, u32 c) { return permuteBytes(a, b, c); }>(
        "v_perm_b32"),
    vectorOp<[](u32 a, u32 b, u32 c) { return sumOfDifferences(a, b, c); }>(
        "v_sad_u8"),
    vectorOp<[](u32 a, u32 b, u32 c) { return (a > b ? a - b : b - a) + c; }>(
        "v_sad_u32"),
    vectorOp<[](u32 a, u32 b, u32 c) { return low24(a) * low24(b) + c; }>(
        "v_mad_u32_u24"),
    vectorOp<[](u32 a, u32 b, u32 c) {
      return u32(i64(signed24(a)) * signed24(b)) + c;
    }>("v_mad_i32_i24"),
    vectorOp<[](u16 a, u16 b, u32 c) { return u32(a) * b + c; }>(
        "v_mad_u32_u16"),
    vectorOp<[](i16 a, i16 b, u32 c) { return u32(i32(a) * b) + c; }>(
        "v_mad_i32_i16"),
    vectorOp<[](i32 a, i32 b, i32 c) { return std::min({a, b, c}); }>(
        "v_min3_i32"),
    vectorOp<[](u32 a, u32 b, u32 c) { return std::min({a, b, c}); }>(
        "v_min3_u32"),
    vectorOp<[](i32 a, i32 b, i32 c) { return std::max({a, b, c}); }>(
        "v_max3_i32"),
    vectorOp<[](u32 a, u32 b, u32 c) { return std::max({a, b, c}); }>(
        "v_max3_u32"),
    vectorOp<[](i32 a, i32 b, i32 c) { return median(a, b, c); }>("v_med3_i32"),
    vectorOp<[](u32 a, u32 b, u32 c) { return median(a, b, c); }>("v_med3_u32"),

    saturatingOp<[](u16 a, u16 b) { return u16(a + b); },
                 [](u16 a, u16 b) { return saturate<u16>(i64(a) + b); }>(
        "v_add_u16"),
    saturatingOp<[](u16 a, u16 b) { return u16(a - b); },
                 [](u16 a, u16 b) { return saturate<u16>(i64(a) - b); }>(
        "v_sub_u16"),
    vectorOp<[](u16 a, u16 b, u16 c) { return u16(u32(a) * b + c); }>(
        "v_mad_legacy_u16"),
    vectorOp<[](u16 a, u16 b, u16 c) { return u16(u32(a) * b + c); }>(
        "v_mad_legacy_i16"),
    vectorOp<[](u16 a, u16 b) { return u16(b - a); }>("v_subrev_u16"),
    saturatingOp<[](u16 a, u16 b) { return u16(a + b); },
                 [](i16 a, i16 b) { return saturate<i16>(i64(a) + b); }>(
        "v_add_i16", kKeepsOtherHalf),
    saturatingOp<[](u16 a, u16 b) { return u16(a - b); },
                 [](i16 a, i16 b) { return saturate<i16>(i64(a) - b); }>(
        "v_sub_i16", kKeepsOtherHalf),
    vectorOp<[](u16 a, u16 b) { return u16(u32(a) * b); }>("v_mul_lo_u16"),
    vectorOp<[](u16 a, u16 b) { return u16(b << (a & 15)); }>("v_lshlrev_b16"),
    vectorOp<[](u16 a, u16 b) { return u16(b >> (a & 15)); }>("v_lshrrev_b16"),
    vectorOp<[](u16 a, i16 b) { return u16(b >> (a & 15)); }>("v_ashrrev_i16"),
    vectorOp<[](u16 a, u16 b) { return std::max(a, b); }>("v_max_u16"),
    vectorOp<[](u16 a, u16 b) { return std::min(a, b); }>("v_min_u16"),
    vectorOp<[](i16 a, i16 b) { return std::max(a, b); }>("v_max_i16"),
    vectorOp<[](i16 a, i16 b) { return std::min(a, b); }>("v_min_i16"),
    vectorOp<[](u16 a, u16 b, u16 c) { return u16(u32(a) * b + c); }>(
        "v_mad_u16", kKeepsOtherHalf),
    vectorOp<[](u16 a, u16 b, u16 c) { return u16(u32(a) * b + c); }>(
        "v_mad_i16", kKeepsOtherHalf),

    carryOp<Carry::Add, false>("v_add_co_u32"),
    carryOp<Carry::Sub, false>("v_sub_co_u32"),
    carryOp<Carry::SubReverse, false>("v_subrev_co_u32"),
    carryOp<Carry::Add, true>("v_addc_co_u32"),
    carryOp<Carry::Sub, true>("v_subb_co_u32"),
    carryOp<Carry::SubReverse, true>("v_subbrev_co_u32"),
    {"v_mad_u64_u32",
     &mad64Handler<false>,
     InstructionClass::Valu,
     ValueType::B64,
     {ValueType::B32, ValueType::B32, ValueType::B64},
     kScalarDestination},
    {"v_mad_i64_i32",
     &mad64Handler<true>,
     InstructionClass::Valu,
     ValueType::B64,
     {ValueType::B32, ValueType::B32, ValueType::B64},
     kScalarDestination},
    {"v_cndmask_b32",
     &selectHandler,
     InstructionClass::Valu,
     ValueType::B32,
     {ValueType::F32, ValueType::F32, ValueType::None},
     kReadsMask},
    {"v_bitop3_b32",
     &bitop3Handler<u32>,
     InstructionClass::Valu,
     ValueType::B32,
     {ValueType::B32, ValueType::B32, ValueType::B32}},
    {"v_bitop3_b16",
     &bitop3Handler<u16>,
     InstructionClass::Valu,
     ValueType::B16,
     {ValueType::B16, ValueType::B16, ValueType::B16},
     kKeepsOtherHalf},
};

} // namespace

std::span<const Operation> vectorIntegerOperations() { return table; }

} // namespace winnow::sim
