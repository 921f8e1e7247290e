// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// VOP3P: two lanes of 16 bits in a register, two of f32 in a register pair, the
// mixed-precision fma and the dot products.
#include "FloatFormats.h"
#include "FloatMath.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace winnow::sim {
namespace {

float canonical(float r, bool anyNan) {
  return r != r && !anyNan ? std::bit_cast<float>(0x7fc00000u) : r;
}

/// The 16-bit half of source `which` that the low or high result lane uses,
/// negated as the modifiers say.
struct Halves {
  uint16_t low[kLanes], high[kLanes];
};
void readHalves(Wave &w, const Instruction &in, unsigned which, bool isFloat16,
                Halves &out) {
  const Operand &s = in.source[which];
  LaneBuffer buffer;
  const uint32_t *values = buffer.low;
  if (s.kind == Operand::Kind::Vgpr) {
    values = w.row(s.index);
  } else {
    uint32_t value = readScalar32(w, s);
    std::fill(buffer.low, buffer.low + kLanes, value);
  }
  uint16_t flipLow = isFloat16 && s.negate ? 0x8000 : 0;
  uint16_t flipHigh = isFloat16 && s.negateHigh ? 0x8000 : 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    out.low[l] = uint16_t((s.highHalf ? values[l] >> 16 : values[l]) ^ flipLow);
    out.high[l] =
        uint16_t((s.highOfHigh ? values[l] >> 16 : values[l]) ^ flipHigh);
  }
}

template <typename T> T fromBits(uint16_t bits) {
  return std::bit_cast<T>(bits);
}

void flushHalf(uint16_t &bits) {
  if (!(bits & 0x7c00))
    bits &= 0x8000;
}
void flushSingle(uint32_t &bits) {
  if (!(bits & 0x7f800000))
    bits &= 0x80000000;
}

/// Fn works on one 16-bit lane; Rounded too, in the modes that round otherwise.
template <auto Fn, auto Rounded = Fn>
void packed16(Wave &w, const Instruction &in) {
  using S = Signature<decltype(Fn)>;
  S::with([&]<typename R, typename... A>() {
    constexpr bool isHalf = std::is_same_v<R, Half>;
    constexpr bool rounds = !std::is_same_v<decltype(Fn), decltype(Rounded)>;
    if (in.clamp && !isHalf)
      return w.stop(in, "clamp of a packed integer is not simulated");
    Halves sources[sizeof...(A)];
    for (unsigned i = 0; i < sizeof...(A); ++i) {
      if (!isHalf && (in.source[i].negate || in.source[i].negateHigh))
        return w.stop(in, "neg of a packed integer is not simulated");
      readHalves(w, in, i, isHalf, sources[i]);
      if (isHalf && !keepsDenormals(w, ValueType::F16, false))
        for (unsigned l = 0; l < kLanes; ++l) {
          flushHalf(sources[i].low[l]);
          flushHalf(sources[i].high[l]);
        }
    }
    const bool flushes = isHalf && !keepsDenormals(w, ValueType::F16, true);
    const bool isPlain = !rounds || w.plainRounding;
    const Rounding rounding = roundingOf<Half>(w);
    auto compute = [&](auto... operands) {
      uint16_t bits;
      if constexpr (rounds)
        bits = std::bit_cast<uint16_t>(
            isPlain ? R(Fn(operands...)) : R(Rounded(rounding, operands...)));
      else
        bits = std::bit_cast<uint16_t>(R(Fn(operands...)));
      if (isHalf && in.clamp)
        bits = floatToHalf(clampUnit(w, halfToFloat(bits)));
      if (flushes)
        flushHalf(bits);
      return bits;
    };
    LaneBuffer out;
    [&]<size_t... I>(std::index_sequence<I...>) {
      for (unsigned l = 0; l < kLanes; ++l) {
        uint16_t low = compute(fromBits<A>(sources[I].low[l])...);
        uint16_t high = compute(fromBits<A>(sources[I].high[l])...);
        out.low[l] = uint32_t(high) << 16 | low;
      }
    }(std::index_sequence_for<A...>());
    commit(w, in.destination.index, out.low, w.exec());
  });
}
template <auto Fn, auto Rounded = Fn>
constexpr Operation packedOp(const char *name) {
  Operation op{name, &packed16<Fn, Rounded>, InstructionClass::Valu};
  op.flags = kPacked;
  Signature<decltype(Fn)>::with([&]<typename R, typename... A>() {
    constexpr ValueType t =
        std::is_same_v<R, Half> ? ValueType::PackedF16 : ValueType::PackedB16;
    op.result = t;
    for (unsigned i = 0; i < sizeof...(A); ++i)
      op.sources[i] = t;
  });
  return op;
}

/// Integers that wrap, or with clamp saturate.
template <auto Wrap, auto Saturated>
void packedSaturating(Wave &w, const Instruction &in) {
  if (!in.clamp)
    return packed16<Wrap>(w, in);
  Instruction plain = in;
  plain.clamp = false;
  packed16<Saturated>(w, plain);
  if (w.state == WaveState::Stopped)
    w.stoppedAt = &in;
}
template <auto Wrap, auto Saturated>
constexpr Operation packedSaturatingOp(const char *name) {
  Operation op = packedOp<Wrap>(name);
  op.handler = &packedSaturating<Wrap, Saturated>;
  return op;
}
template <typename T> T saturate16(int32_t v) {
  return T(std::clamp<int32_t>(v, std::numeric_limits<T>::min(),
                               std::numeric_limits<T>::max()));
}

/// f32 of source `which` for the low or high result lane.
void readPairs(Wave &w, const Instruction &in, unsigned which, LaneBuffer &b) {
  const Operand &s = in.source[which];
  uint32_t flipLow = s.negate ? 0x80000000u : 0;
  uint32_t flipHigh = s.negateHigh ? 0x80000000u : 0;
  if (s.kind == Operand::Kind::Vgpr) {
    const uint32_t *low = w.row(s.index + (s.highHalf ? 1 : 0));
    const uint32_t *high = w.row(s.index + (s.highOfHigh ? 1 : 0));
    for (unsigned l = 0; l < kLanes; ++l) {
      b.low[l] = low[l] ^ flipLow;
      b.high[l] = high[l] ^ flipHigh;
    }
    return;
  }
  uint64_t value = s.kind == Operand::Kind::Sgpr ? w.pair(s.index) : s.value;
  std::fill(b.low, b.low + kLanes,
            uint32_t(s.highHalf ? value >> 32 : value) ^ flipLow);
  std::fill(b.high, b.high + kLanes,
            uint32_t(s.highOfHigh ? value >> 32 : value) ^ flipHigh);
}
template <auto Fn, auto Rounded> void packed32(Wave &w, const Instruction &in) {
  using S = Signature<decltype(Fn)>;
  S::with([&]<typename R, typename... A>() {
    LaneBuffer sources[sizeof...(A)], out;
    for (unsigned i = 0; i < sizeof...(A); ++i) {
      readPairs(w, in, i, sources[i]);
      if (!keepsDenormals(w, ValueType::F32, false))
        for (unsigned l = 0; l < kLanes; ++l) {
          flushSingle(sources[i].low[l]);
          flushSingle(sources[i].high[l]);
        }
    }
    auto forEach = [&](auto compute) {
      [&]<size_t... I>(std::index_sequence<I...>) {
        for (unsigned l = 0; l < kLanes; ++l) {
          out.low[l] = std::bit_cast<uint32_t>(
              R(compute(std::bit_cast<A>(sources[I].low[l])...)));
          out.high[l] = std::bit_cast<uint32_t>(
              R(compute(std::bit_cast<A>(sources[I].high[l])...)));
        }
      }(std::index_sequence_for<A...>());
    };
    const Rounding rounding = roundingOf<float>(w);
    if (w.plainRounding)
      forEach(Fn);
    else
      forEach([&](auto... operands) { return Rounded(rounding, operands...); });
    const bool flushes = !keepsDenormals(w, ValueType::F32, true);
    for (uint32_t *half : {out.low, out.high})
      for (unsigned l = 0; (in.clamp || flushes) && l < kLanes; ++l) {
        if (in.clamp)
          half[l] = std::bit_cast<uint32_t>(
              clampUnit(w, std::bit_cast<float>(half[l])));
        if (flushes)
          flushSingle(half[l]);
      }
    commit(w, in.destination.index, out.low, w.exec());
    commit(w, in.destination.index + 1, out.high, w.exec());
  });
}
template <auto Fn, auto Rounded>
constexpr Operation packed32Op(const char *name) {
  Operation op{name, &packed32<Fn, Rounded>, InstructionClass::Valu};
  op.flags = kPacked;
  op.result = ValueType::PackedF32;
  Signature<decltype(Fn)>::with([&]<typename R, typename... A>() {
    for (unsigned i = 0; i < sizeof...(A); ++i)
      op.sources[i] = ValueType::PackedF32;
  });
  return op;
}

/// v_fma_mix: op_sel_hi says f16, op_sel which half; neg_hi is abs.
float readMixed(Wave &w, const Operand &s, unsigned lane) {
  uint32_t bits =
      s.kind == Operand::Kind::Vgpr ? w.row(s.index)[lane] : readScalar32(w, s);
  float v;
  if (s.highOfHigh) {
    uint16_t half = uint16_t(s.highHalf ? bits >> 16 : bits);
    if (!keepsDenormals(w, ValueType::F16, false))
      flushHalf(half);
    v = halfToFloat(half);
  } else {
    if (!keepsDenormals(w, ValueType::F32, false))
      flushSingle(bits);
    v = std::bit_cast<float>(bits);
  }
  uint32_t raw = std::bit_cast<uint32_t>(v);
  if (s.negateHigh)
    raw &= 0x7fffffff;
  if (s.negate)
    raw ^= 0x80000000;
  return std::bit_cast<float>(raw);
}
enum class MixResult { F32, Low, High };
template <MixResult Kind> void fmaMix(Wave &w, const Instruction &in) {
  for (const Operand &s : in.source)
    if (s.kind == Operand::Kind::Constant && s.highOfHigh)
      return w.stop(in, "a constant as f16 of a mixed fma is not simulated");
  LaneBuffer out;
  const uint32_t *old = w.row(in.destination.index);
  for (unsigned l = 0; l < kLanes; ++l) {
    float a = readMixed(w, in.source[0], l), b = readMixed(w, in.source[1], l),
          c = readMixed(w, in.source[2], l);
    float r = w.plainRounding
                  ? canonical(std::fma(a, b, c), a != a || b != b || c != c)
                  : exact::fma(a, b, c, roundingOf<float>(w));
    if (in.clamp)
      r = clampUnit(w, r);
    if (Kind == MixResult::F32) {
      out.low[l] = std::bit_cast<uint32_t>(r);
      if (!keepsDenormals(w, ValueType::F32, true))
        flushSingle(out.low[l]);
      continue;
    }
    // The sum is an f32 before it is an f16: two roundings.
    uint16_t half = w.plainRounding
                        ? floatToHalf(r)
                        : exact::convert<Half>(r, roundingOf<Half>(w)).bits;
    if (!keepsDenormals(w, ValueType::F16, true))
      flushHalf(half);
    out.low[l] = Kind == MixResult::Low
                     ? (old[l] & 0xffff0000) | half
                     : (old[l] & 0xffff) | uint32_t(half) << 16;
  }
  commit(w, in.destination.index, out.low, w.exec());
}
constexpr Operation mixOp(const char *name, Handler handler) {
  return {name,
          handler,
          InstructionClass::Valu,
          ValueType::B32,
          {ValueType::F32, ValueType::F32, ValueType::F32},
          uint32_t(kPacked | kMixed)};
}

void movePair(Wave &w, const Instruction &in) {
  // op_sel[0] picks the half of src0 for the low result, op_sel[1] that of
  // src1 for the high one.
  auto pick = [&](const Operand &s, uint32_t *to) {
    if (s.kind == Operand::Kind::Vgpr) {
      std::memcpy(to, w.row(s.index + s.highHalf), kLanes * 4);
      return;
    }
    uint64_t value = s.kind == Operand::Kind::Sgpr ? w.pair(s.index) : s.value;
    std::fill(to, to + kLanes, uint32_t(s.highHalf ? value >> 32 : value));
  };
  LaneBuffer out;
  pick(in.source[0], out.low);
  pick(in.source[1], out.high);
  commit(w, in.destination.index, out.low, w.exec());
  commit(w, in.destination.index + 1, out.high, w.exec());
}

using u16 = uint16_t;
using i16 = int16_t;
float f(Half h) { return halfToFloat(h.bits); }
Half h(float v) { return {floatToHalf(v)}; }

template <bool Ieee>
constexpr auto maxHalf =
    [](Half a, Half b) { return h(maxOf<Ieee>(f(a), f(b))); };
template <bool Ieee>
constexpr auto minHalf =
    [](Half a, Half b) { return h(minOf<Ieee>(f(a), f(b))); };
template <auto InIeee, auto InPlain>
void packedByIeee(Wave &w, const Instruction &in) {
  if (w.mode & kModeIeee)
    packed16<InIeee>(w, in);
  else
    packed16<InPlain>(w, in);
}
template <auto InIeee, auto InPlain>
constexpr Operation packedIeeeOp(const char *name) {
  Operation op = packedOp<InIeee>(name);
  op.handler = &packedByIeee<InIeee, InPlain>;
  return op;
}

/// In the modes that do not round to nearest even.
constexpr auto addRounded = [](Rounding r, auto a, auto b) {
  return exact::add(a, b, r);
};
constexpr auto mulRounded = [](Rounding r, auto a, auto b) {
  return exact::multiply(a, b, r);
};
constexpr auto fmaRounded = [](Rounding r, auto a, auto b, auto c) {
  return exact::fma(a, b, c, r);
};

const Operation table[] = {
    packedSaturatingOp<[](u16 a, u16 b) { return u16(a + b); },
                       [](u16 a, u16 b) { return saturate16<u16>(a + b); }>(
        "v_pk_add_u16"),
    packedSaturatingOp<[](u16 a, u16 b) { return u16(a + b); },
                       [](i16 a, i16 b) { return saturate16<i16>(a + b); }>(
        "v_pk_add_i16"),
    packedSaturatingOp<[](u16 a, u16 b) { return u16(a - b); },
                       [](u16 a, u16 b) { return saturate16<u16>(a - b); }>(
        "v_pk_sub_u16"),
    packedSaturatingOp<[](u16 a, u16 b) { return u16(a - b); },
                       [](i16 a, i16 b) { return saturate16<i16>(a - b); }>(
        "v_pk_sub_i16"),
    // IEEE 754-2019: any NaN gives a NaN (V_PK_MINIMUM3_F16).
    packedOp<[](Half a, Half b, Half c) {
      return h(minimum(minimum(f(a), f(b)), f(c)));
    }>("v_pk_minimum3_f16"),
    packedOp<[](Half a, Half b, Half c) {
      return h(maximum(maximum(f(a), f(b)), f(c)));
    }>("v_pk_maximum3_f16"),
    packedOp<[](u16 a, u16 b) { return u16(uint32_t(a) * b); }>(
        "v_pk_mul_lo_u16"),
    packedOp<[](u16 a, u16 b, u16 c) { return u16(uint32_t(a) * b + c); }>(
        "v_pk_mad_u16"),
    packedOp<[](u16 a, u16 b, u16 c) { return u16(uint32_t(a) * b + c); }>(
        "v_pk_mad_i16"),
    packedOp<[](u16 a, u16 b) { return u16(b << (a & 15)); }>(
        "v_pk_lshlrev_b16"),
    packedOp<[](u16 a, u16 b) { return u16(b >> (a & 15)); }>(
        "v_pk_lshrrev_b16"),
    packedOp<[](u16 a, i16 b) { return u16(b >> (a & 15)); }>(
        "v_pk_ashrrev_i16"),
    packedOp<[](u16 a, u16 b) { return std::max(a, b); }>("v_pk_max_u16"),
    packedOp<[](u16 a, u16 b) { return std::min(a, b); }>("v_pk_min_u16"),
    packedOp<[](i16 a, i16 b) { return std::max(a, b); }>("v_pk_max_i16"),
    packedOp<[](i16 a, i16 b) { return std::min(a, b); }>("v_pk_min_i16"),
    packedOp<[](Half a, Half b) {
      return h(canonical(f(a) + f(b), std::isnan(f(a)) || std::isnan(f(b))));
    },
             addRounded>("v_pk_add_f16"),
    packedOp<[](Half a, Half b) {
      return h(canonical(f(a) * f(b), std::isnan(f(a)) || std::isnan(f(b))));
    },
             mulRounded>("v_pk_mul_f16"),
    packedOp<[](Half a, Half b, Half c) { return fmaHalf(a, b, c); },
             fmaRounded>("v_pk_fma_f16"),
    packedIeeeOp<maxHalf<true>, maxHalf<false>>("v_pk_max_f16"),
    packedIeeeOp<minHalf<true>, minHalf<false>>("v_pk_min_f16"),
    packed32Op<[](float a, float b) {
      return canonical(a + b, a != a || b != b);
    },
               addRounded>("v_pk_add_f32"),
    packed32Op<[](float a, float b) {
      return canonical(a * b, a != a || b != b);
    },
               mulRounded>("v_pk_mul_f32"),
    packed32Op<[](float a, float b, float c) {
      return canonical(std::fma(a, b, c), a != a || b != b || c != c);
    },
               fmaRounded>("v_pk_fma_f32"),
    mixOp("v_fma_mix_f32", &fmaMix<MixResult::F32>),
    mixOp("v_fma_mixlo_f16", &fmaMix<MixResult::Low>),
    mixOp("v_fma_mixhi_f16", &fmaMix<MixResult::High>),
    {"v_pk_mov_b32",
     &movePair,
     InstructionClass::Valu,
     ValueType::B64,
     {ValueType::B64, ValueType::B64, ValueType::None},
     kPacked},
};

} // namespace

std::span<const Operation> vectorPackedOperations() { return table; }

} // namespace winnow::sim
