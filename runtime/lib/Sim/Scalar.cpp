// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SOP1, SOP2, SOPC and SOPK: scalar arithmetic, comparisons and EXEC updates.
#include "Lanes.h"

#include <algorithm>
#include <bit>

namespace winnow::sim {
namespace {

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

template <typename T> T scalarValue(const Wave &w, const Operand &operand) {
  if constexpr (sizeof(T) == 8)
    return T(readScalar64(w, operand));
  else
    return T(readScalar32(w, operand));
}
template <typename T> void setScalar(Wave &w, const Instruction &in, T value) {
  if constexpr (sizeof(T) == 8)
    w.setPair(in.destination.index, u64(value));
  else
    w.sgpr[in.destination.index] = u32(value);
}

/// Fn takes one or two sources, and SCC by reference to read or set it.
template <typename F>
struct ScalarSignature : ScalarSignature<decltype(&F::operator())> {};
template <typename C, typename R, typename A>
struct ScalarSignature<R (C::*)(A, bool &) const> {
  static constexpr ValueType result = typeOf<R>();
  static constexpr ValueType sources[2] = {typeOf<A>(), ValueType::None};
  template <auto Fn> static void run(Wave &w, const Instruction &in) {
    setScalar<R>(w, in, Fn(scalarValue<A>(w, in.source[0]), w.scc));
  }
};
template <typename C, typename R, typename A, typename B>
struct ScalarSignature<R (C::*)(A, B, bool &) const> {
  static constexpr ValueType result = typeOf<R>();
  static constexpr ValueType sources[2] = {typeOf<A>(), typeOf<B>()};
  template <auto Fn> static void run(Wave &w, const Instruction &in) {
    setScalar<R>(w, in,
                 Fn(scalarValue<A>(w, in.source[0]),
                    scalarValue<B>(w, in.source[1]), w.scc));
  }
};
template <auto Fn> constexpr Operation scalarOp(const char *name) {
  using S = ScalarSignature<decltype(Fn)>;
  return {name,
          &S::template run<Fn>,
          InstructionClass::Salu,
          S::result,
          {S::sources[0], S::sources[1], ValueType::None}};
}

/// Comparisons set SCC alone.
template <typename T, auto Test> void compare(Wave &w, const Instruction &in) {
  w.scc =
      Test(scalarValue<T>(w, in.source[0]), scalarValue<T>(w, in.source[1]));
}
template <typename T, auto Test>
constexpr Operation compareOp(const char *name) {
  ValueType t = typeOf<T>();
  return {name,
          &compare<T, Test>,
          InstructionClass::Salu,
          ValueType::None,
          {t, t, ValueType::None}};
}
/// SOPK comparisons: register against a 16-bit constant, sign extended for
/// signed types.
template <typename T, auto Test> void compareK(Wave &w, const Instruction &in) {
  T constant =
      std::is_signed_v<T> ? T(in.immediate) : T(uint16_t(in.immediate));
  w.scc = Test(T(w.sgpr[in.destination.index]), constant);
}
template <typename T, auto Test>
constexpr Operation compareKOp(const char *name) {
  return {name, &compareK<T, Test>, InstructionClass::Salu, ValueType::B32};
}
constexpr auto eq = [](auto a, auto b) { return a == b; };
constexpr auto ne = [](auto a, auto b) { return a != b; };
constexpr auto gt = [](auto a, auto b) { return a > b; };
constexpr auto ge = [](auto a, auto b) { return a >= b; };
constexpr auto lt = [](auto a, auto b) { return a < b; };
constexpr auto le = [](auto a, auto b) { return a <= b; };

/// D = EXEC; EXEC = Fn(source, EXEC); SCC = EXEC != 0.
template <auto Fn, bool KeepsOld>
void saveExec(Wave &w, const Instruction &in) {
  u64 s = readScalar64(w, in.source[0]), old = w.exec();
  u64 next = Fn(s, old);
  w.setPair(in.destination.index, KeepsOld ? old : next);
  w.setPair(kExec, next);
  w.scc = next != 0;
}
template <auto Fn, bool KeepsOld = true>
constexpr Operation execOp(const char *name) {
  return {name,
          &saveExec<Fn, KeepsOld>,
          InstructionClass::Salu,
          ValueType::B64,
          {ValueType::B64, ValueType::None, ValueType::None}};
}

template <typename T> T logic(T value, bool &scc) {
  scc = value != 0;
  return value;
}
u32 addSigned(u32 a, u32 b, bool &scc) {
  u32 r = a + b;
  scc = (~(a ^ b) & (a ^ r)) >> 31;
  return r;
}
template <typename T> T extract(T v, u32 field, bool &scc) {
  constexpr u32 width = sizeof(T) * 8;
  u32 offset = field & (width - 1), count = field >> 16 & 127;
  using U = std::make_unsigned_t<T>;
  U shifted = U(v >> offset);
  if (count == 0)
    shifted = 0;
  else if (count < width) {
    // Sign or zero extension from bit `count`.
    U up = U(shifted << (width - count));
    shifted = std::is_signed_v<T> ? U(T(up) >> (width - count))
                                  : U(up >> (width - count));
  }
  scc = shifted != 0;
  return T(shifted);
}
template <typename T> T reverse(T v) {
  T r = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; ++i)
    r |= T(v >> i & 1) << (sizeof(T) * 8 - 1 - i);
  return r;
}
template <typename T> i32 signBits(T v) {
  using U = std::make_unsigned_t<T>;
  U m = v < 0 ? U(~v) : U(v);
  return m ? i32(std::countl_zero(m)) : -1;
}

void bitSet(Wave &w, const Instruction &in, unsigned width, bool value) {
  u32 bit = readScalar32(w, in.source[0]) & (width - 1);
  u32 &word = w.sgpr[in.destination.index + bit / 32];
  word = value ? word | 1u << (bit & 31) : word & ~(1u << (bit & 31));
}
template <unsigned Width, bool Value>
void bitSetHandler(Wave &w, const Instruction &in) {
  bitSet(w, in, Width, Value);
}
template <typename T> void conditionalMove(Wave &w, const Instruction &in) {
  if (w.scc)
    setScalar<T>(w, in, scalarValue<T>(w, in.source[0]));
}

constexpr ValueType B32 = ValueType::B32, B64 = ValueType::B64,
                    None = ValueType::None;
constexpr InstructionClass kSalu = InstructionClass::Salu;

const Operation table[] = {
    scalarOp<[](u32 a, u32 b, bool &scc) {
      u32 r = a + b;
      scc = r < a;
      return r;
    }>("s_add_u32"),
    scalarOp<[](u32 a, u32 b, bool &scc) {
      scc = (b > a);
      return a - b;
    }>("s_sub_u32"),
    scalarOp<[](u32 a, u32 b, bool &scc) { return addSigned(a, b, scc); }>(
        "s_add_i32"),
    scalarOp<[](u32 a, u32 b, bool &scc) {
      u32 r = a - b;
      scc = (((a ^ b) & (a ^ r)) >> 31);
      return r;
    }>("s_sub_i32"),
    scalarOp<[](u32 a, u32 b, bool &scc) {
      u64 r = u64(a) + b + scc;
      scc = (r >> 32);
      return u32(r);
    }>("s_addc_u32"),
    scalarOp<[](u32 a, u32 b, bool &scc) {
      u64 r = u64(a) - b - scc;
      scc = (r >> 32 != 0);
      return u32(r);
    }>("s_subb_u32"),
    scalarOp<[](i32 a, i32 b, bool &scc) {
      scc = a < b;
      return std::min(a, b);
    }>("s_min_i32"),
    scalarOp<[](u32 a, u32 b, bool &scc) {
      scc = a < b;
      return std::min(a, b);
    }>("s_min_u32"),
    scalarOp<[](i32 a, i32 b, bool &scc) {
      scc = (a > b);
      return std::max(a, b);
    }>("s_max_i32"),
    scalarOp<[](u32 a, u32 b, bool &scc) {
      scc = (a > b);
      return std::max(a, b);
    }>("s_max_u32"),
    scalarOp<[](u32 a, u32 b, bool &scc) { return scc ? a : b; }>(
        "s_cselect_b32"),
    scalarOp<[](u64 a, u64 b, bool &scc) { return scc ? a : b; }>(
        "s_cselect_b64"),
    scalarOp<[](u32 a, u32 b, bool &scc) { return logic(a & b, scc); }>(
        "s_and_b32"),
    scalarOp<[](u64 a, u64 b, bool &scc) { return logic(a & b, scc); }>(
        "s_and_b64"),
    scalarOp<[](u32 a, u32 b, bool &scc) { return logic(a | b, scc); }>(
        "s_or_b32"),
    scalarOp<[](u64 a, u64 b, bool &scc) { return logic(a | b, scc); }>(
        "s_or_b64"),
    scalarOp<[](u32 a, u32 b, bool &scc) { return logic(a ^ b, scc); }>(
        "s_xor_b32"),
    scalarOp<[](u64 a, u64 b, bool &scc) { return logic(a ^ b, scc); }>(
        "s_xor_b64"),
    scalarOp<[](u32 a, u32 b, bool &scc) { return logic(a & ~b, scc); }>(
        "s_andn2_b32"),
    scalarOp<[](u64 a, u64 b, bool &scc) { return logic(a & ~b, scc); }>(
        "s_andn2_b64"),
    scalarOp<[](u32 a, u32 b, bool &scc) { return logic(a | ~b, scc); }>(
        "s_orn2_b32"),
    scalarOp<[](u64 a, u64 b, bool &scc) { return logic(a | ~b, scc); }>(
        "s_orn2_b64"),
    scalarOp<[](u32 a, u32 b, bool &scc) { return logic(~(a & b), scc); }>(
        "s_nand_b32"),
    scalarOp<[](u64 a, u64 b, bool &scc) { return logic(~(a & b), scc); }>(
        "s_nand_b64"),
    scalarOp<[](u32 a, u32 b, bool &scc) { return logic(~(a | b), scc); }>(
        "s_nor_b32"),
    scalarOp<[](u64 a, u64 b, bool &scc) { return logic(~(a | b), scc); }>(
        "s_nor_b64"),
    scalarOp<[](u32 a, u32 b, bool &scc) { return logic(~(a ^ b), scc); }>(
        "s_xnor_b32"),
    scalarOp<[](u64 a, u64 b, bool &scc) { return logic(~(a ^ b), scc); }>(
        "s_xnor_b64"),
    scalarOp<[](u32 a, u32 b, bool &scc) { return logic(a << (b & 31), scc); }>(
        "s_lshl_b32"),
    scalarOp<[](u64 a, u32 b, bool &scc) { return logic(a << (b & 63), scc); }>(
        "s_lshl_b64"),
    scalarOp<[](u32 a, u32 b, bool &scc) { return logic(a >> (b & 31), scc); }>(
        "s_lshr_b32"),
    scalarOp<[](u64 a, u32 b, bool &scc) { return logic(a >> (b & 63), scc); }>(
        "s_lshr_b64"),
    scalarOp<[](i32 a, u32 b, bool &scc) { return logic(a >> (b & 31), scc); }>(
        "s_ashr_i32"),
    scalarOp<[](i64 a, u32 b, bool &scc) { return logic(a >> (b & 63), scc); }>(
        "s_ashr_i64"),
    scalarOp<[](u32 a, u32 b, bool &) {
      return ((1u << (a & 31)) - 1) << (b & 31);
    }>("s_bfm_b32"),
    scalarOp<[](u32 a, u32 b, bool &) {
      return ((u64(1) << (a & 63)) - 1) << (b & 63);
    }>("s_bfm_b64"),
    scalarOp<[](u32 a, u32 b, bool &) { return a * b; }>("s_mul_i32"),
    scalarOp<[](u32 a, u32 b, bool &) { return u32(u64(a) * b >> 32); }>(
        "s_mul_hi_u32"),
    scalarOp<[](i32 a, i32 b, bool &) { return u32(u64(i64(a) * b) >> 32); }>(
        "s_mul_hi_i32"),
    scalarOp<[](u32 v, u32 field, bool &scc) { return extract(v, field, scc); }>(
        "s_bfe_u32"),
    scalarOp<[](i32 v, u32 field, bool &scc) { return extract(v, field, scc); }>(
        "s_bfe_i32"),
    scalarOp<[](u64 v, u32 field, bool &scc) { return extract(v, field, scc); }>(
        "s_bfe_u64"),
    scalarOp<[](i64 v, u32 field, bool &scc) { return extract(v, field, scc); }>(
        "s_bfe_i64"),
    scalarOp<[](u32 a, u32 b, bool &scc) {
      i32 d = i32(a - b);
      return logic(u32(d < 0 ? 0u - u32(d) : u32(d)), scc);
    }>("s_absdiff_i32"),
    scalarOp<[](u32 a, u32 b, bool &scc) {
      u64 r = (u64(a) << 1) + b;
      scc = (r >> 32);
      return u32(r);
    }>("s_lshl1_add_u32"),
    scalarOp<[](u32 a, u32 b, bool &scc) {
      u64 r = (u64(a) << 2) + b;
      scc = (r >> 32);
      return u32(r);
    }>("s_lshl2_add_u32"),
    scalarOp<[](u32 a, u32 b, bool &scc) {
      u64 r = (u64(a) << 3) + b;
      scc = (r >> 32 != 0);
      return u32(r);
    }>("s_lshl3_add_u32"),
    scalarOp<[](u32 a, u32 b, bool &scc) {
      u64 r = (u64(a) << 4) + b;
      scc = (r >> 32 != 0);
      return u32(r);
    }>("s_lshl4_add_u32"),
    scalarOp<[](u32 a, u32 b, bool &) { return (a & 0xffff) | b << 16; }>(
        "s_pack_ll_b32_b16"),
    scalarOp<[](u32 a, u32 b, bool &) {
      return (a & 0xffff) | (b & 0xffff0000);
    }>("s_pack_lh_b32_b16"),
    scalarOp<[](u32 a, u32 b, bool &) {
      return (a >> 16 | (b & 0xffff0000));
    }>("s_pack_hh_b32_b16"),

    scalarOp<[](u32 a, bool &) { return a; }>("s_mov_b32"),
    scalarOp<[](u64 a, bool &) { return a; }>("s_mov_b64"),
    scalarOp<[](u32 a, bool &scc) { return logic(~a, scc); }>("s_not_b32"),
    scalarOp<[](u64 a, bool &scc) { return logic(~a, scc); }>("s_not_b64"),
    scalarOp<[](u32 a, bool &) { return reverse(a); }>("s_brev_b32"),
    scalarOp<[](u64 a, bool &) { return reverse(a); }>("s_brev_b64"),
    scalarOp<[](u32 a, bool &scc) {
      return logic(u32(32 - std::popcount(a)), scc);
    }>("s_bcnt0_i32_b32"),
    scalarOp<[](u64 a, bool &scc) {
      return logic(u32(64 - std::popcount(a)), scc);
    }>("s_bcnt0_i32_b64"),
    scalarOp<[](u32 a, bool &scc) {
      return logic(u32(std::popcount(a)), scc);
    }>("s_bcnt1_i32_b32"),
    scalarOp<[](u64 a, bool &scc) {
      return logic(u32(std::popcount(a)), scc);
    }>("s_bcnt1_i32_b64"),
    scalarOp<[](u32 a, bool &) {
      return a == ~0u ? -1 : i32(std::countr_one(a));
    }>("s_ff0_i32_b32"),
    scalarOp<[](u64 a, bool &) {
      return a == ~u64(0) ? -1 : i32(std::countr_one(a));
    }>("s_ff0_i32_b64"),
    scalarOp<[](u32 a, bool &) { return a ? i32(std::countr_zero(a)) : -1; }>(
        "s_ff1_i32_b32"),
    scalarOp<[](u64 a, bool &) { return a ? i32(std::countr_zero(a)) : -1; }>(
        "s_ff1_i32_b64"),
    scalarOp<[](u32 a, bool &) { return a ? i32(std::countl_zero(a)) : -1; }>(
        "s_flbit_i32_b32"),
    scalarOp<[](u64 a, bool &) { return a ? i32(std::countl_zero(a)) : -1; }>(
        "s_flbit_i32_b64"),
    scalarOp<[](i32 a, bool &) { return signBits(a); }>("s_flbit_i32"),
    scalarOp<[](i64 a, bool &) { return signBits(a); }>("s_flbit_i32_i64"),
    scalarOp<[](u32 a, bool &) { return i32(int8_t(a)); }>("s_sext_i32_i8"),
    scalarOp<[](u32 a, bool &) { return i32(int16_t(a)); }>("s_sext_i32_i16"),
    scalarOp<[](u32 a, bool &scc) {
      return logic(i32(a) < 0 ? 0u - a : a, scc);
    }>("s_abs_i32"),
    {"s_cmov_b32", &conditionalMove<u32>, kSalu, B32, {B32, None, None}},
    {"s_cmov_b64", &conditionalMove<u64>, kSalu, B64, {B64, None, None}},
    {"s_bitset0_b32", &bitSetHandler<32, false>, kSalu, B32, {B32, None, None}},
    {"s_bitset1_b32", &bitSetHandler<32, true>, kSalu, B32, {B32, None, None}},
    {"s_bitset0_b64", &bitSetHandler<64, false>, kSalu, B64, {B32, None, None}},
    {"s_bitset1_b64", &bitSetHandler<64, true>, kSalu, B64, {B32, None, None}},

    execOp<[](u64 s, u64 e) { return s & e; }>("s_and_saveexec_b64"),
    execOp<[](u64 s, u64 e) { return s | e; }>("s_or_saveexec_b64"),
    execOp<[](u64 s, u64 e) { return s ^ e; }>("s_xor_saveexec_b64"),
    execOp<[](u64 s, u64 e) { return s & ~e; }>("s_andn2_saveexec_b64"),
    execOp<[](u64 s, u64 e) { return s | ~e; }>("s_orn2_saveexec_b64"),
    execOp<[](u64 s, u64 e) { return ~s & e; }>("s_andn1_saveexec_b64"),
    execOp<[](u64 s, u64 e) { return ~s | e; }>("s_orn1_saveexec_b64"),
    execOp<[](u64 s, u64 e) { return ~(s & e); }>("s_nand_saveexec_b64"),
    execOp<[](u64 s, u64 e) { return ~(s | e); }>("s_nor_saveexec_b64"),
    execOp<[](u64 s, u64 e) { return ~(s ^ e); }>("s_xnor_saveexec_b64"),
    execOp<[](u64 s, u64 e) { return ~s & e; }, false>("s_andn1_wrexec_b64"),
    execOp<[](u64 s, u64 e) { return s & ~e; }, false>("s_andn2_wrexec_b64"),

    compareOp<i32, eq>("s_cmp_eq_i32"),
    compareOp<i32, ne>("s_cmp_lg_i32"),
    compareOp<i32, gt>("s_cmp_gt_i32"),
    compareOp<i32, ge>("s_cmp_ge_i32"),
    compareOp<i32, lt>("s_cmp_lt_i32"),
    compareOp<i32, le>("s_cmp_le_i32"),
    compareOp<u32, eq>("s_cmp_eq_u32"),
    compareOp<u32, ne>("s_cmp_lg_u32"),
    compareOp<u32, gt>("s_cmp_gt_u32"),
    compareOp<u32, ge>("s_cmp_ge_u32"),
    compareOp<u32, lt>("s_cmp_lt_u32"),
    compareOp<u32, le>("s_cmp_le_u32"),
    compareOp<u64, eq>("s_cmp_eq_u64"),
    compareOp<u64, ne>("s_cmp_lg_u64"),
    compareOp<u32, [](u32 a, u32 b) { return !(a >> (b & 31) & 1); }>(
        "s_bitcmp0_b32"),
    compareOp<u32, [](u32 a, u32 b) { return bool(a >> (b & 31) & 1); }>(
        "s_bitcmp1_b32"),
    {"s_bitcmp0_b64",
     [](Wave &w, const Instruction &in) {
       w.scc = !(readScalar64(w, in.source[0]) >>
                     (readScalar32(w, in.source[1]) & 63) & 1);
     },
     kSalu, None, {B64, B32, None}},
    {"s_bitcmp1_b64",
     [](Wave &w, const Instruction &in) {
       w.scc = readScalar64(w, in.source[0]) >>
                   (readScalar32(w, in.source[1]) & 63) & 1;
     },
     kSalu, None, {B64, B32, None}},
    compareKOp<i32, eq>("s_cmpk_eq_i32"),
    compareKOp<i32, ne>("s_cmpk_lg_i32"),
    compareKOp<i32, gt>("s_cmpk_gt_i32"),
    compareKOp<i32, ge>("s_cmpk_ge_i32"),
    compareKOp<i32, lt>("s_cmpk_lt_i32"),
    compareKOp<i32, le>("s_cmpk_le_i32"),
    compareKOp<u32, eq>("s_cmpk_eq_u32"),
    compareKOp<u32, ne>("s_cmpk_lg_u32"),
    compareKOp<u32, gt>("s_cmpk_gt_u32"),
    compareKOp<u32, ge>("s_cmpk_ge_u32"),
    compareKOp<u32, lt>("s_cmpk_lt_u32"),
    compareKOp<u32, le>("s_cmpk_le_u32"),
    {"s_movk_i32",
     [](Wave &w, const Instruction &in) {
       w.sgpr[in.destination.index] = u32(in.immediate);
     },
     kSalu, B32},
    {"s_cmovk_i32",
     [](Wave &w, const Instruction &in) {
       if (w.scc)
         w.sgpr[in.destination.index] = u32(in.immediate);
     },
     kSalu, B32},
    {"s_addk_i32",
     [](Wave &w, const Instruction &in) {
       u32 &d = w.sgpr[in.destination.index];
       d = addSigned(d, u32(in.immediate), w.scc);
     },
     kSalu, B32},
    {"s_mulk_i32",
     [](Wave &w, const Instruction &in) {
       w.sgpr[in.destination.index] *= u32(in.immediate);
     },
     kSalu, B32},
};

} // namespace

std::span<const Operation> scalarOperations() { return table; }

} // namespace winnow::sim
