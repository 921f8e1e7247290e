// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions between number formats.
#include "FloatFormats.h"
#include "Lanes.h"

#include <algorithm>
#include <cmath>

namespace winnow::sim {
namespace {

/// Truncates and saturates; NaN gives 0 (CDNA4 ISA, V_CVT_I32_F32).
template <typename I, typename F> I saturating(F value) {
  if (value != value)
    return 0;
  constexpr double low = double(std::numeric_limits<I>::min());
  constexpr double high = double(std::numeric_limits<I>::max());
  double d = std::trunc(double(value));
  return d <= low    ? std::numeric_limits<I>::min()
         : d >= high ? std::numeric_limits<I>::max()
                     : I(d);
}

/// From an integer or another float, as MODE rounds; see roundedOp.
template <typename To>
constexpr auto integerRounded =
    [](Rounding r, auto v) { return exact::fromInteger<To>(v, r); };
template <typename To>
constexpr auto floatRounded =
    [](Rounding r, auto v) { return exact::convert<To>(v, r); };

uint32_t packHalves(uint16_t low, uint16_t high) {
  return uint32_t(high) << 16 | low;
}

/// v_cvt_pk_fp8_f32: two fp8 bytes into the half that op_sel[3] names; the
/// other half stays.
template <bool Bf8> void packFp8(Wave &w, const Instruction &in) {
  LaneBuffer buffers[2], out;
  LaneView a = source<float>(w, in, 0, buffers[0]);
  LaneView b = source<float>(w, in, 1, buffers[1]);
  if (in.immediate & 7)
    return w.stop(in, "op_sel of its sources is not simulated");
  bool high = in.immediate & 8;
  const uint32_t *old = w.row(in.destination.index);
  for (unsigned l = 0; l < kLanes; ++l) {
    float x = laneValue<float>(a, l), y = laneValue<float>(b, l);
    // FP16_OVFL (MODE bit 23) asks for saturation.
    bool saturate = w.mode >> 23 & 1;
    uint32_t value = Bf8 ? uint32_t(floatToBf8(x, saturate)) |
                               uint32_t(floatToBf8(y, saturate)) << 8
                         : uint32_t(floatToFp8(x, saturate)) |
                               uint32_t(floatToFp8(y, saturate)) << 8;
    out.low[l] =
        high ? (old[l] & 0xffff) | value << 16 : (old[l] & 0xffff0000) | value;
  }
  commit(w, in.destination.index, out.low, w.exec());
}

constexpr auto fp8Value = [](uint32_t v) {
  return smallFloatTable(kFp8)[v & 0xff];
};
constexpr auto bf8Value = [](uint32_t v) {
  return smallFloatTable(kBf8)[v & 0xff];
};

/// Two floats from the low 16 bits, into a register pair.
template <unsigned Format> void unpackFp8(Wave &w, const Instruction &in) {
  LaneBuffer buffer, out;
  LaneView a = source<uint32_t>(w, in, 0, buffer);
  const float *table = smallFloatTable(Format);
  for (unsigned l = 0; l < kLanes; ++l) {
    out.low[l] = std::bit_cast<uint32_t>(table[a.low[l] & 0xff]);
    out.high[l] = std::bit_cast<uint32_t>(table[a.low[l] >> 8 & 0xff]);
  }
  if (in.isDpp)
    return w.stop(in, "DPP of it is not simulated");
  commit(w, in.destination.index, out.low, w.exec());
  commit(w, in.destination.index + 1, out.high, w.exec());
}

/// What AMD's documents do not say about other modes is not guessed.
template <auto Fn> void nearestEvenOnly(Wave &w, const Instruction &in) {
  if (!w.plainRounding)
    return w.stop(in, "its rounding while MODE asks for another one than to "
                      "nearest even is not documented");
  lanes<Fn>(w, in);
}
template <auto Fn> constexpr Operation nearestEvenOp(const char *name) {
  Operation op = vectorOp<Fn>(name);
  op.handler = &nearestEvenOnly<Fn>;
  return op;
}

const Operation table[] = {
    roundedOp<[](int32_t a) { return float(a); }, integerRounded<float>>(
        "v_cvt_f32_i32"),
    roundedOp<[](uint32_t a) { return float(a); }, integerRounded<float>>(
        "v_cvt_f32_u32"),
    vectorOp<[](float a) { return saturating<uint32_t>(a); }>("v_cvt_u32_f32"),
    vectorOp<[](float a) { return saturating<int32_t>(a); }>("v_cvt_i32_f32"),
    vectorOp<[](float a) {
      return saturating<int32_t>(std::floor(double(a) + 0.5));
    }>("v_cvt_rpi_i32_f32"),
    vectorOp<[](float a) { return saturating<int32_t>(std::floor(a)); }>(
        "v_cvt_flr_i32_f32"),
    vectorOp<[](int32_t a) { return double(a); }>("v_cvt_f64_i32"),
    vectorOp<[](uint32_t a) { return double(a); }>("v_cvt_f64_u32"),
    vectorOp<[](double a) { return saturating<int32_t>(a); }>("v_cvt_i32_f64"),
    vectorOp<[](double a) { return saturating<uint32_t>(a); }>("v_cvt_u32_f64"),
    roundedOp<[](double a) { return float(a); }, floatRounded<float>>(
        "v_cvt_f32_f64"),
    vectorOp<[](float a) { return double(a); }>("v_cvt_f64_f32"),
    vectorOp<[](uint32_t a) { return float(a & 0xff); }>("v_cvt_f32_ubyte0"),
    vectorOp<[](uint32_t a) { return float(a >> 8 & 0xff); }>(
        "v_cvt_f32_ubyte1"),
    vectorOp<[](uint32_t a) { return float(a >> 16 & 0xff); }>(
        "v_cvt_f32_ubyte2"),
    vectorOp<[](uint32_t a) { return float(a >> 24); }>("v_cvt_f32_ubyte3"),
    roundedOp<[](float a) { return Half{floatToHalf(a)}; }, floatRounded<Half>>(
        "v_cvt_f16_f32"),
    vectorOp<[](Half a) { return halfToFloat(a.bits); }>("v_cvt_f32_f16"),
    roundedOp<[](uint16_t a) { return Half{floatToHalf(a)}; },
              integerRounded<Half>>("v_cvt_f16_u16"),
    roundedOp<[](int16_t a) { return Half{floatToHalf(a)}; },
              integerRounded<Half>>("v_cvt_f16_i16"),
    vectorOp<[](Half a) { return saturating<uint16_t>(halfToFloat(a.bits)); }>(
        "v_cvt_u16_f16"),
    vectorOp<[](Half a) { return saturating<int16_t>(halfToFloat(a.bits)); }>(
        "v_cvt_i16_f16"),
    vectorOp<[](uint16_t a) { return bfloatToFloat(a); }>("v_cvt_f32_bf16"),
    nearestEvenOp<[](float a, float b) {
      return packHalves(floatToBfloat(a), floatToBfloat(b));
    }>("v_cvt_pk_bf16_f32"),
    nearestEvenOp<[](float a, float b) {
      return packHalves(floatToHalf(a), floatToHalf(b));
    }>("v_cvt_pk_f16_f32"),
    vectorOp<[](float a, float b) {
      return packHalves(floatToHalfTowardZero(a), floatToHalfTowardZero(b));
    }>("v_cvt_pkrtz_f16_f32"),
    vectorOp<[](uint32_t a, uint32_t b) {
      return packHalves(uint16_t(std::min(a, 0xffffu)),
                        uint16_t(std::min(b, 0xffffu)));
    }>("v_cvt_pk_u16_u32"),
    vectorOp<[](int32_t a, int32_t b) {
      return packHalves(uint16_t(std::clamp(a, -32768, 32767)),
                        uint16_t(std::clamp(b, -32768, 32767)));
    }>("v_cvt_pk_i16_i32"),
    vectorOp<[](Half a, Half b) { return packHalves(a.bits, b.bits); }>(
        "v_pack_b32_f16"),
    vectorOp<fp8Value>("v_cvt_f32_fp8"),
    vectorOp<bf8Value>("v_cvt_f32_bf8"),
    {"v_cvt_pk_f32_fp8",
     &unpackFp8<kFp8>,
     InstructionClass::Valu,
     ValueType::B64,
     {ValueType::B32, ValueType::None, ValueType::None}},
    {"v_cvt_pk_f32_bf8",
     &unpackFp8<kBf8>,
     InstructionClass::Valu,
     ValueType::B64,
     {ValueType::B32, ValueType::None, ValueType::None}},
    {"v_cvt_pk_fp8_f32",
     &packFp8<false>,
     InstructionClass::Valu,
     ValueType::B32,
     {ValueType::F32, ValueType::F32, ValueType::None},
     kRawOpSel},
    {"v_cvt_pk_bf8_f32",
     &packFp8<true>,
     InstructionClass::Valu,
     ValueType::B32,
     {ValueType::F32, ValueType::F32, ValueType::None},
     kRawOpSel},
};

} // namespace

std::span<const Operation> vectorConvertOperations() { return table; }

} // namespace winnow::sim
