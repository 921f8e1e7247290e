// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// V_CVT_SCALEF32_*: between f32, f16, bf16 and the 8, 6 and 4-bit floats with a
// scale, the exponent field of an f32 read as E8M0: values are divided by it
// before they are narrowed and multiplied by it after they are widened. Also
// the stochastic conversions without a scale.
#include "SmallFloats.h"

#include <cmath>

namespace winnow::sim {
namespace {

using u32 = uint32_t;

/// The wide side of a conversion.
enum class Wide { F32, F16, Bf16 };

/// An operand's lanes, whatever it is; registers after the first one are
/// vector registers.
class Reader {
public:
  Reader(Wave &w, const Instruction &in, unsigned which)
      : row(in.source[which].kind == Operand::Kind::Vgpr
                ? w.row(in.source[which].index)
                : nullptr),
        uniform(row ? 0 : readScalar32(w, in.source[which])),
        flip(in.source[which].negate ? 0x80000000u : 0),
        keep(in.source[which].absolute ? 0x7fffffffu : ~0u) {}
  u32 at(unsigned lane, unsigned registers = 0) const {
    return ((row ? row[registers * kLanes + lane] : uniform) & keep) ^ flip;
  }

private:
  const u32 *row;
  u32 uniform, flip, keep;
};

template <Wide W> double valueOf(u32 bits, unsigned half) {
  uint16_t part = uint16_t(bits >> (16 * half));
  return W == Wide::F32   ? std::bit_cast<float>(bits)
         : W == Wide::F16 ? halfToFloat(part)
                          : bfloatToFloat(part);
}

/// The exponent of a scale.
Checked<int> scaleOf(u32 bits) {
  unsigned code = bits >> 23 & 0xff;
  if (code == 255)
    return {0, "a NaN scale (exponent 255) is not documented for conversions"};
  return {int(code) - 127};
}

/// Stops at the first lane that has no answer.
class Lanes {
public:
  Lanes(Wave &w, const Instruction &in) : w(w), in(in), exec(w.exec()) {}
  /// Why a value is not known: it is a denormal that MODE may flush. (8, 6 and
  /// 4-bit denormals are always kept.)
  template <Wide W> const char *flushed(u32 bits) const {
    constexpr u32 exponent = W == Wide::F32   ? 0x7f800000
                             : W == Wide::F16 ? 0x7c00
                                              : 0x7f80;
    constexpr u32 fraction = W == Wide::F32   ? 0x7fffff
                             : W == Wide::F16 ? 0x3ff
                                              : 0x7f;
    unsigned kept = W == Wide::F16 ? w.mode >> 6 & 3 : w.mode >> 4 & 3;
    return kept != 3 && !(bits & exponent) && bits & fraction
               ? "a denormal in such a conversion while MODE flushes denormals "
                 "is not simulated"
               : nullptr;
  }
  template <typename Body> bool each(Body body) {
    for (unsigned l = 0; l < kLanes && w.state != WaveState::Stopped; ++l)
      if (exec >> l & 1)
        if (const char *problem = body(l))
          w.stop(in,
                 std::string(problem) + " (lane " + std::to_string(l) + ")");
    return w.state != WaveState::Stopped;
  }

private:
  Wave &w;
  const Instruction &in;
  uint64_t exec;
};

constexpr unsigned kFp16Overflow = 23; // bit of MODE

Narrowing narrowing(const Wave &w, bool isStochastic, u32 seed) {
  return {isStochastic, seed, bool(w.mode >> kFp16Overflow & 1)};
}

/// One or two elements into a byte or a word of the destination, the rest of
/// which stays. Sources: the values (two f32 take two operands, or a register
/// pair when they are rounded stochastically), the random number, the scale.
template <unsigned Format, Wide W, bool Stochastic, unsigned Count, bool Scaled>
void narrow(Wave &w, const Instruction &in) {
  constexpr unsigned bits = bitsOf(Format) * Count;
  unsigned opSel = unsigned(in.immediate);
  if (opSel & (bits == 8 ? 3 : 7))
    return w.stop(in, "op_sel of its sources is not simulated");
  unsigned shift = bits == 8 ? 8 * (opSel >> 2) : 16 * (opSel >> 3);
  constexpr bool hasTwo = W == Wide::F32 && Count == 2 && !Stochastic;
  Lanes lanes(w, in);
  Reader first(w, in, 0), second(w, in, hasTwo || Stochastic ? 1 : 0),
      scale(w, in,
            !Scaled                ? 0
            : hasTwo || Stochastic ? 2
                                   : 1);
  u32 *to = w.row(in.destination.index), out[kLanes];
  bool ok = lanes.each([&](unsigned l) -> const char * {
    Checked<int> exponent{};
    if (Scaled)
      exponent = scaleOf(scale.at(l));
    if (exponent.problem)
      return exponent.problem;
    u32 seed = Stochastic ? second.at(l) : 0, code = 0;
    for (unsigned i = 0; i < Count; ++i) {
      u32 word = W != Wide::F32 || i == 0 ? first.at(l)
                 : hasTwo                 ? second.at(l)
                                          : first.at(l, 1);
      if (const char *problem =
              lanes.template flushed<W>(word >> (W == Wide::F32 ? 0 : 16 * i)))
        return problem;
      Checked<u32> r =
          toSmallFloat(std::ldexp(valueOf<W>(word, i), -exponent.value), Format,
                       narrowing(w, Stochastic, seed));
      if (r.problem)
        return r.problem;
      code |= r.value << (bitsOf(Format) * i);
      seed = nextRandom(seed);
    }
    constexpr u32 mask = (1u << bits) - 1;
    out[l] = (to[l] & ~(mask << shift)) | code << shift;
    return nullptr;
  });
  if (ok)
    commit(w, in.destination.index, out, w.exec());
}

/// A widened value's bits.
template <Wide W> u32 widened(double value) {
  if (W == Wide::F32)
    return std::bit_cast<u32>(float(value));
  return W == Wide::F16 ? doubleToHalf(value) : floatToBfloat(float(value));
}

/// One or two elements of a byte or a word of the source.
template <unsigned Format, Wide W, unsigned Count>
void widen(Wave &w, const Instruction &in) {
  constexpr unsigned bits = bitsOf(Format) * Count;
  constexpr bool hasHalves = W == Wide::F16 && Count == 1;
  unsigned opSel = unsigned(in.immediate);
  if (opSel & ~((bits == 8 ? 3u : 1u) | (hasHalves ? 8u : 0u)))
    return w.stop(in, "op_sel of such an operand is not simulated");
  unsigned shift = bits == 8 ? 8 * (opSel & 3) : 16 * (opSel & 1);
  Lanes lanes(w, in);
  if (!roundsToNearest(w, in))
    return;
  Reader source(w, in, 0), scale(w, in, 1);
  const float *table = smallFloatTable(Format);
  LaneBuffer out{};
  const u32 *old = w.row(in.destination.index);
  bool ok = lanes.each([&](unsigned l) -> const char * {
    Checked<int> exponent = scaleOf(scale.at(l));
    if (exponent.problem)
      return exponent.problem;
    u32 code = source.at(l) >> shift, r[2] = {};
    for (unsigned i = 0; i < Count; ++i) {
      r[i] = widened<W>(std::ldexp(double(table[code >> (bitsOf(Format) * i) &
                                                ((1u << bitsOf(Format)) - 1)]),
                                   exponent.value));
      if (const char *problem = lanes.template flushed<W>(r[i]))
        return problem;
    }
    if (W == Wide::F32) {
      out.low[l] = r[0];
      out.high[l] = r[1];
    } else if (Count == 2) {
      out.low[l] = r[1] << 16 | r[0];
    } else {
      out.low[l] = opSel & 8 ? r[0] << 16 | (old[l] & 0xffff)
                             : r[0] | (old[l] & 0xffff0000);
    }
    return nullptr;
  });
  if (!ok)
    return;
  commit(w, in.destination.index, out.low, w.exec());
  if (W == Wide::F32 && Count == 2)
    commit(w, in.destination.index + 1, out.high, w.exec());
}

constexpr unsigned kMany = 32;

void putSixBits(u32 (*words)[kLanes], unsigned lane, unsigned i, u32 code) {
  unsigned at = 6 * i;
  words[at / 32][lane] |= code << (at % 32);
  if (at % 32 > 26)
    words[at / 32 + 1][lane] |= code >> (32 - at % 32);
}

/// 32 elements into six registers. `Interleaved`: f32 of two operands of 16
/// registers, in turn.
template <unsigned Format, Wide W, bool Stochastic, bool Interleaved>
void narrowMany(Wave &w, const Instruction &in) {
  if (in.immediate)
    return w.stop(in, "op_sel of it is not simulated");
  Lanes lanes(w, in);
  Reader first(w, in, 0), second(w, in, 1),
      scale(w, in, Stochastic || Interleaved ? 2 : 1);
  alignas(64) u32 out[6][kLanes] = {};
  bool ok = lanes.each([&](unsigned l) -> const char * {
    Checked<int> exponent = scaleOf(scale.at(l));
    if (exponent.problem)
      return exponent.problem;
    u32 seed = Stochastic ? second.at(l) : 0;
    for (unsigned i = 0; i < kMany; ++i) {
      u32 word = Interleaved      ? (i % 2 ? second : first).at(l, i / 2)
                 : W == Wide::F32 ? first.at(l, i)
                                  : first.at(l, i / 2);
      if (const char *problem = lanes.template flushed<W>(
              word >> (W == Wide::F32 ? 0 : 16 * (i % 2))))
        return problem;
      Checked<u32> r =
          toSmallFloat(std::ldexp(valueOf<W>(word, i % 2), -exponent.value),
                       Format, narrowing(w, Stochastic, seed));
      if (r.problem)
        return r.problem;
      putSixBits(out, l, i, r.value);
      seed = nextRandom(seed);
    }
    return nullptr;
  });
  for (unsigned d = 0; ok && d < 6; ++d)
    commit(w, in.destination.index + d, out[d], w.exec());
}

/// Six registers into 32 elements.
template <unsigned Format, Wide W>
void widenMany(Wave &w, const Instruction &in) {
  if (in.immediate)
    return w.stop(in, "op_sel of it is not simulated");
  Lanes lanes(w, in);
  if (!roundsToNearest(w, in))
    return;
  Reader source(w, in, 0), scale(w, in, 1);
  const float *table = smallFloatTable(Format);
  constexpr unsigned registers = W == Wide::F32 ? kMany : kMany / 2;
  alignas(64) static thread_local u32 out[registers][kLanes];
  bool ok = lanes.each([&](unsigned l) -> const char * {
    Checked<int> exponent = scaleOf(scale.at(l));
    if (exponent.problem)
      return exponent.problem;
    for (unsigned i = 0; i < kMany; ++i) {
      unsigned at = 6 * i;
      uint64_t window = source.at(l, at / 32);
      if (at % 32 > 26)
        window |= uint64_t(source.at(l, at / 32 + 1)) << 32;
      u32 r = widened<W>(
          std::ldexp(double(table[window >> (at % 32) & 63]), exponent.value));
      if (const char *problem = lanes.template flushed<W>(r))
        return problem;
      if (W == Wide::F32)
        out[i][l] = r;
      else
        out[i / 2][l] = i % 2 ? out[i / 2][l] | r << 16 : r;
    }
    return nullptr;
  });
  for (unsigned d = 0; ok && d < registers; ++d)
    commit(w, in.destination.index + d, out[d], w.exec());
}

/// v_cvt_sr_f16_f32 and v_cvt_sr_bf16_f32: a half of the destination.
template <auto Convert> void stochasticHalf(Wave &w, const Instruction &in) {
  if (in.immediate & 7)
    return w.stop(in, "op_sel of its sources is not simulated");
  Lanes lanes(w, in);
  if (w.mode >> kFp16Overflow & 1)
    return w.stop(in, "FP16_OVFL with stochastic rounding is not simulated");
  Reader value(w, in, 0), seed(w, in, 1);
  u32 out[kLanes];
  const u32 *old = w.row(in.destination.index);
  bool ok = lanes.each([&](unsigned l) -> const char * {
    if (const char *problem = lanes.flushed<Wide::F32>(value.at(l)))
      return problem;
    Checked<u32> r = Convert(std::bit_cast<float>(value.at(l)), seed.at(l));
    out[l] = in.immediate & 8 ? r.value << 16 | (old[l] & 0xffff)
                              : r.value | (old[l] & 0xffff0000);
    return r.problem;
  });
  if (ok)
    commit(w, in.destination.index, out, w.exec());
}

// Rows: how many sources there are, how wide the first ones, the result.
constexpr Operation row(const char *name, Handler handler, unsigned sources,
                        ValueType first, unsigned firstRegisters,
                        unsigned resultRegisters) {
  Operation op{name, handler, InstructionClass::Valu};
  op.result = ValueType::B32;
  op.flags = kRawOpSel;
  for (unsigned i = 0; i < sources; ++i)
    op.sources[i] = ValueType::B32;
  op.sources[0] = first;
  op.sourceRegisters[0] = uint8_t(firstRegisters);
  op.resultRegisters = uint8_t(resultRegisters);
  return op;
}
constexpr ValueType F32 = ValueType::F32, B32 = ValueType::B32;

template <unsigned Format, Wide W> constexpr Operation pair(const char *name) {
  Operation op = row(name, &narrow<Format, W, false, 2, true>,
                     W == Wide::F32 ? 3 : 2, W == Wide::F32 ? F32 : B32, 0, 0);
  if (W == Wide::F32)
    op.sources[1] = F32;
  return op;
}
template <unsigned Format, Wide W>
constexpr Operation single(const char *name) {
  return row(name, &narrow<Format, W, true, 1, true>, 3,
             W == Wide::F32 ? F32 : B32, 0, 0);
}
template <Wide W> constexpr Operation stochasticPair(const char *name) {
  return row(name, &narrow<kFp4, W, true, 2, true>, 3, B32,
             W == Wide::F32 ? 2 : 0, 0);
}
template <unsigned Format, Wide W, unsigned Count>
constexpr Operation wide(const char *name) {
  return row(name, &widen<Format, W, Count>, 2, B32, 0,
             W == Wide::F32 && Count == 2 ? 2 : 0);
}
template <unsigned Format, Wide W> constexpr Operation many(const char *name) {
  return row(name, &narrowMany<Format, W, false, false>, 2, B32, 16, 6);
}
template <unsigned Format, Wide W>
constexpr Operation stochasticMany(const char *name) {
  return row(name, &narrowMany<Format, W, true, false>, 3, B32,
             W == Wide::F32 ? 32 : 16, 6);
}
template <unsigned Format> constexpr Operation interleaved(const char *name) {
  Operation op =
      row(name, &narrowMany<Format, Wide::F32, false, true>, 3, B32, 16, 6);
  op.sourceRegisters[1] = 16;
  return op;
}
template <unsigned Format, Wide W>
constexpr Operation wideMany(const char *name) {
  return row(name, &widenMany<Format, W>, 2, B32, 6, W == Wide::F32 ? 32 : 16);
}

constexpr Wide kF32 = Wide::F32, kF16 = Wide::F16, kBf16 = Wide::Bf16;
const Operation table[] = {
    pair<kFp8, kF32>("v_cvt_scalef32_pk_fp8_f32"),
    pair<kBf8, kF32>("v_cvt_scalef32_pk_bf8_f32"),
    pair<kFp4, kF32>("v_cvt_scalef32_pk_fp4_f32"),
    pair<kFp8, kF16>("v_cvt_scalef32_pk_fp8_f16"),
    pair<kBf8, kF16>("v_cvt_scalef32_pk_bf8_f16"),
    pair<kFp4, kF16>("v_cvt_scalef32_pk_fp4_f16"),
    pair<kFp8, kBf16>("v_cvt_scalef32_pk_fp8_bf16"),
    pair<kBf8, kBf16>("v_cvt_scalef32_pk_bf8_bf16"),
    pair<kFp4, kBf16>("v_cvt_scalef32_pk_fp4_bf16"),
    single<kFp8, kF32>("v_cvt_scalef32_sr_fp8_f32"),
    single<kBf8, kF32>("v_cvt_scalef32_sr_bf8_f32"),
    single<kFp8, kF16>("v_cvt_scalef32_sr_fp8_f16"),
    single<kBf8, kF16>("v_cvt_scalef32_sr_bf8_f16"),
    single<kFp8, kBf16>("v_cvt_scalef32_sr_fp8_bf16"),
    single<kBf8, kBf16>("v_cvt_scalef32_sr_bf8_bf16"),
    stochasticPair<kF32>("v_cvt_scalef32_sr_pk_fp4_f32"),
    stochasticPair<kF16>("v_cvt_scalef32_sr_pk_fp4_f16"),
    stochasticPair<kBf16>("v_cvt_scalef32_sr_pk_fp4_bf16"),
    wide<kFp8, kF32, 2>("v_cvt_scalef32_pk_f32_fp8"),
    wide<kBf8, kF32, 2>("v_cvt_scalef32_pk_f32_bf8"),
    wide<kFp4, kF32, 2>("v_cvt_scalef32_pk_f32_fp4"),
    wide<kFp8, kF32, 1>("v_cvt_scalef32_f32_fp8"),
    wide<kBf8, kF32, 1>("v_cvt_scalef32_f32_bf8"),
    wide<kFp8, kF16, 2>("v_cvt_scalef32_pk_f16_fp8"),
    wide<kBf8, kF16, 2>("v_cvt_scalef32_pk_f16_bf8"),
    wide<kFp4, kF16, 2>("v_cvt_scalef32_pk_f16_fp4"),
    wide<kFp8, kF16, 1>("v_cvt_scalef32_f16_fp8"),
    wide<kBf8, kF16, 1>("v_cvt_scalef32_f16_bf8"),
    wide<kFp8, kBf16, 2>("v_cvt_scalef32_pk_bf16_fp8"),
    wide<kBf8, kBf16, 2>("v_cvt_scalef32_pk_bf16_bf8"),
    wide<kFp4, kBf16, 2>("v_cvt_scalef32_pk_bf16_fp4"),
    interleaved<kFp6>("v_cvt_scalef32_2xpk16_fp6_f32"),
    interleaved<kBf6>("v_cvt_scalef32_2xpk16_bf6_f32"),
    many<kFp6, kF16>("v_cvt_scalef32_pk32_fp6_f16"),
    many<kBf6, kF16>("v_cvt_scalef32_pk32_bf6_f16"),
    many<kFp6, kBf16>("v_cvt_scalef32_pk32_fp6_bf16"),
    many<kBf6, kBf16>("v_cvt_scalef32_pk32_bf6_bf16"),
    stochasticMany<kFp6, kF32>("v_cvt_scalef32_sr_pk32_fp6_f32"),
    stochasticMany<kBf6, kF32>("v_cvt_scalef32_sr_pk32_bf6_f32"),
    stochasticMany<kFp6, kF16>("v_cvt_scalef32_sr_pk32_fp6_f16"),
    stochasticMany<kBf6, kF16>("v_cvt_scalef32_sr_pk32_bf6_f16"),
    stochasticMany<kFp6, kBf16>("v_cvt_scalef32_sr_pk32_fp6_bf16"),
    stochasticMany<kBf6, kBf16>("v_cvt_scalef32_sr_pk32_bf6_bf16"),
    wideMany<kFp6, kF32>("v_cvt_scalef32_pk32_f32_fp6"),
    wideMany<kBf6, kF32>("v_cvt_scalef32_pk32_f32_bf6"),
    wideMany<kFp6, kF16>("v_cvt_scalef32_pk32_f16_fp6"),
    wideMany<kBf6, kF16>("v_cvt_scalef32_pk32_f16_bf6"),
    wideMany<kFp6, kBf16>("v_cvt_scalef32_pk32_bf16_fp6"),
    wideMany<kBf6, kBf16>("v_cvt_scalef32_pk32_bf16_bf6"),
    row("v_cvt_sr_fp8_f32", &narrow<kFp8, Wide::F32, true, 1, false>, 2, F32, 0,
        0),
    row("v_cvt_sr_bf8_f32", &narrow<kBf8, Wide::F32, true, 1, false>, 2, F32, 0,
        0),
    row("v_cvt_sr_f16_f32", &stochasticHalf<&toHalfStochastic>, 2, F32, 0, 0),
    row("v_cvt_sr_bf16_f32", &stochasticHalf<&toBfloatStochastic>, 2, F32, 0,
        0),
};

} // namespace

std::span<const Operation> vectorScaledOperations() { return table; }

} // namespace winnow::sim
