// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions on the bytes of a register: sums of differences, averages,
// saturating packs; the pseudorandom step; cube maps and normalised integers;
// the bits of 2 / pi.
#include "CheckedLanes.h"
#include "FloatFormats.h"
#include "FloatMath.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace winnow::sim {
namespace {

using u16 = uint16_t;
using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;

u32 byteOf(u32 v, unsigned i) { return v >> (8 * i) & 0xff; }
u32 apart(u32 a, u32 b) { return a > b ? a - b : b - a; }

/// V_SAD_U8; the masked kind leaves out bytes whose reference is zero.
template <bool Masked> u32 sumOfDifferences(u32 a, u32 reference, u32 sum) {
  for (unsigned i = 0; i < 4; ++i)
    if (!Masked || byteOf(reference, i))
      sum += apart(byteOf(a, i), byteOf(reference, i));
  return sum;
}
/// Four of them over a sliding window of eight bytes.
template <bool Masked>
constexpr auto quad = [](u64 window, u32 reference, u64 sums) {
  u64 out = 0;
  for (unsigned i = 0; i < 4; ++i)
    out |= u64(u16(sumOfDifferences<Masked>(u32(window >> (8 * i)), reference,
                                            u16(sums >> (16 * i)))))
           << (16 * i);
  return out;
};

/// Four 32-bit sums in as many registers.
void maskedQuadWide(Wave &w, const Instruction &in) {
  LaneBuffer buffers[2];
  LaneView window = source<u64>(w, in, 0, buffers[0]);
  LaneView reference = source<u32>(w, in, 1, buffers[1]);
  alignas(64) u32 out[4][kLanes];
  for (unsigned i = 0; i < 4; ++i) {
    const u32 *sums = w.row(in.source[2].index + i);
    for (unsigned l = 0; l < kLanes; ++l)
      out[i][l] = sumOfDifferences<true>(
          u32(laneValue<u64>(window, l) >> (8 * i)), reference.low[l], sums[l]);
  }
  for (unsigned i = 0; i < 4; ++i)
    commit(w, in.destination.index + i, out[i], w.exec());
}

template <i32 Low, i32 High> u32 saturate(i32 v) {
  return u32(std::clamp(v, Low, High)) & 0xff;
}
/// The upper half stays: "D0[15:0] = tmp" (CDNA4 ISA, V_ASHR_PK_I8_I32); with
/// op_sel[3] it is the upper half that is written.
template <i32 Low, i32 High> void shiftAndPack(Wave &w, const Instruction &in) {
  if (in.immediate & 7)
    return w.stop(in, "op_sel of its sources is not simulated");
  LaneBuffer buffers[3], out;
  LaneView a = source<u32>(w, in, 0, buffers[0]);
  LaneView b = source<u32>(w, in, 1, buffers[1]);
  LaneView shift = source<u32>(w, in, 2, buffers[2]);
  const u32 *old = w.row(in.destination.index);
  for (unsigned l = 0; l < kLanes; ++l) {
    unsigned n = shift.low[l] & 31;
    u32 packed = saturate<Low, High>(i32(a.low[l]) >> n) |
                 saturate<Low, High>(i32(b.low[l]) >> n) << 8;
    out.low[l] = in.immediate & 8 ? packed << 16 | (old[l] & 0xffff)
                                  : packed | (old[l] & 0xffff0000);
  }
  commit(w, in.destination.index, out.low, w.exec());
}
constexpr Operation shiftAndPackOp(const char *name, Handler handler) {
  return {name,
          handler,
          InstructionClass::Valu,
          ValueType::B32,
          {ValueType::B32, ValueType::B32, ValueType::B32},
          kRawOpSel};
}

constexpr auto lerp = [](u32 a, u32 b, u32 round) {
  u32 out = 0;
  for (unsigned i = 0; i < 4; ++i)
    out |= ((byteOf(a, i) + byteOf(b, i) + (byteOf(round, i) & 1)) >> 1)
           << (8 * i);
  return out;
};

constexpr auto saturatePair = [](u32 v) {
  return saturate<0, 255>(int16_t(v)) | saturate<0, 255>(int16_t(v >> 16)) << 8;
};

/// Float to byte. The manual has f32_to_u8 without its rounding.
Checked<u32> floatToByte(float v) {
  if (v != v)
    return {0, "a NaN as a byte is not documented"};
  if (v <= 0)
    return {0};
  if (v >= 255)
    return {255};
  if (v != std::floor(v))
    return {0, "how a fraction rounds to a byte is not documented"};
  return {u32(v)};
}
constexpr auto packByte = [](float v, u32 position, u32 old) {
  Checked<u32> byte = floatToByte(v);
  unsigned shift = 8 * (position & 3);
  byte.value = (old & ~(0xffu << shift)) | byte.value << shift;
  return byte;
};

// V_CUBE*: which of the three coordinates is largest, z before y before x.
enum class Face { X, Y, Z };
Face faceOf(float x, float y, float z) {
  x = std::fabs(x), y = std::fabs(y), z = std::fabs(z);
  return z >= x && z >= y ? Face::Z : y >= x ? Face::Y : Face::X;
}
constexpr auto cubeId = [](float x, float y, float z) {
  switch (faceOf(x, y, z)) {
  case Face::Z:
    return z < 0 ? 5.0f : 4.0f;
  case Face::Y:
    return y < 0 ? 3.0f : 2.0f;
  default:
    return x < 0 ? 1.0f : 0.0f;
  }
};
constexpr auto cubeS = [](float x, float y, float z) {
  switch (faceOf(x, y, z)) {
  case Face::Z:
    return z < 0 ? -x : x;
  case Face::Y:
    return x;
  default:
    return x < 0 ? z : -z;
  }
};
constexpr auto cubeT = [](float x, float y, float z) {
  return faceOf(x, y, z) == Face::Y ? (y < 0 ? -z : z) : -y;
};
constexpr auto cubeMajor = [](float x, float y, float z) {
  switch (faceOf(x, y, z)) {
  case Face::Z:
    return 2 * z;
  case Face::Y:
    return 2 * y;
  default:
    return 2 * x;
  }
};

/// Normalised 16 bits to within half a unit, as the manual states; where a
/// product rounded to f32 first would give another integer, it is silent.
template <bool Signed> Checked<u16> normalised(float v) {
  if (v != v)
    return {0, "a NaN as a normalised integer is not documented"};
  float unit = std::clamp(v, Signed ? -1.0f : 0.0f, 1.0f);
  constexpr double scale = Signed ? 32767 : 65535;
  double exact = std::nearbyint(double(unit) * scale);
  if (exact != std::nearbyint(double(float(double(unit) * scale))))
    return {0, "a value this close to the middle of two normalised integers "
               "rounds in a way that is not documented"};
  return {u16(i32(exact))};
}
template <bool Signed> Checked<u32> normalisedPair(float a, float b) {
  Checked<u16> low = normalised<Signed>(a), high = normalised<Signed>(b);
  return {u32(high.value) << 16 | low.value,
          low.problem ? low.problem : high.problem};
}
float half(Half h) { return halfToFloat(h.bits); }

/// 2 / pi without its leading "0.", 1201 bits and zeros.
constexpr u64 kTwoOverPi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c,
    0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
    0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08,
    0x56033046fc7b0000};

/// V_TRIG_PREOP_F64: 53 bits of 2 / pi, from `shift` on.
constexpr auto segmentOfTwoOverPi = [](double x, u32 segment) {
  int exponent = int(std::bit_cast<u64>(x) >> 52 & 0x7ff);
  int shift = int(segment & 31) * 53 + std::max(exponent - 1077, 0);
  auto word = [](int i) {
    return i < int(std::size(kTwoOverPi)) ? kTwoOverPi[i] : 0;
  };
  u64 high = word(shift / 64), low = word(shift / 64 + 1);
  int within = shift % 64;
  u64 top = within ? high << within | low >> (64 - within) : high;
  return std::ldexp(double(top >> 11),
                    -53 - shift + (exponent >= 1968 ? 128 : 0));
};

const Operation table[] = {
    vectorOp<[](u32 a, u32 b, u32 c) {
      return sumOfDifferences<true>(a, b, c);
    }>("v_msad_u8"),
    vectorOp<[](u32 a, u32 b, u32 c) {
      return (sumOfDifferences<false>(a, b, 0) << 16) + c;
    }>("v_sad_hi_u8"),
    vectorOp<[](u32 a, u32 b, u32 c) {
      return c + apart(a & 0xffff, b & 0xffff) + apart(a >> 16, b >> 16);
    }>("v_sad_u16"),
    vectorOp<quad<false>>("v_qsad_pk_u16_u8"),
    vectorOp<quad<true>>("v_mqsad_pk_u16_u8"),
    {.name = "v_mqsad_u32_u8",
     .handler = &maskedQuadWide,
     .kind = InstructionClass::Valu,
     .result = ValueType::B32,
     .sources = {ValueType::B64, ValueType::B32, ValueType::B32},
     .resultRegisters = 4,
     .sourceRegisters = {0, 0, 4}},
    vectorOp<lerp>("v_lerp_u8"),
    vectorOp<saturatePair>("v_sat_pk_u8_i16"),
    shiftAndPackOp("v_ashr_pk_i8_i32", &shiftAndPack<-128, 127>),
    shiftAndPackOp("v_ashr_pk_u8_i32", &shiftAndPack<0, 255>),
    vectorOp<[](u32 v) { return v << 1 ^ (v >> 31 ? 197u : 0u); }>(
        "v_prng_b32"),
    vectorOp<segmentOfTwoOverPi>("v_trig_preop_f64"),
    checkedOp<packByte>("v_cvt_pk_u8_f32"),
    vectorOp<[](u32 v) { return float(i32(v << 28) >> 28) / 16; }>(
        "v_cvt_off_f32_i4"),
    vectorOp<cubeId>("v_cubeid_f32"),
    vectorOp<cubeS>("v_cubesc_f32"),
    vectorOp<cubeT>("v_cubetc_f32"),
    vectorOp<cubeMajor>("v_cubema_f32"),
    checkedOp<[](Half v) { return normalised<true>(half(v)); }>(
        "v_cvt_norm_i16_f16"),
    checkedOp<[](Half v) { return normalised<false>(half(v)); }>(
        "v_cvt_norm_u16_f16"),
    checkedOp<[](float a, float b) { return normalisedPair<true>(a, b); }>(
        "v_cvt_pknorm_i16_f32"),
    checkedOp<[](float a, float b) { return normalisedPair<false>(a, b); }>(
        "v_cvt_pknorm_u16_f32"),
    checkedOp<[](Half a, Half b) {
      return normalisedPair<true>(half(a), half(b));
    }>("v_cvt_pknorm_i16_f16"),
    checkedOp<[](Half a, Half b) {
      return normalisedPair<false>(half(a), half(b));
    }>("v_cvt_pknorm_u16_f16"),
};

} // namespace

std::span<const Operation> vectorByteOperations() { return table; }

} // namespace winnow::sim
