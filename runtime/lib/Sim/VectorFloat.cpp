// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f32, f64 and f16 arithmetic of one lane. The host's arithmetic is IEEE
// round-to-nearest; what differs is said at each function (CDNA4 ISA, chapter
// "Instructions").
#include "FloatMath.h"

#include <cmath>
#include <limits>

namespace winnow::sim {
namespace {

/// The transcendental units take and give no denormals.
float flushed(float v) {
  return std::fabs(v) < std::numeric_limits<float>::min()
             ? std::copysign(0.0f, v)
             : v;
}
float defaultNan() { return std::bit_cast<float>(0x7fc00000u); }
/// Correctly rounded where the hardware has 1 ulp.
template <auto F>
constexpr auto transcendental = [](float x) {
  if (x != x)
    return quiet(x);
  float r = float(F(double(flushed(x))));
  return r != r ? defaultNan() : flushed(r);
};

float fractOf(float x) {
  // Below one, even for tiny negative x (the ISA's clamp).
  return x != x          ? quiet(x)
         : std::isinf(x) ? defaultNan()
                         : std::fmin(x - std::floor(x), 0x1.fffffep-1f);
}
double fractOf(double x) {
  return x != x          ? quiet(x)
         : std::isinf(x) ? std::bit_cast<double>(0x7ff8000000000000ull)
                         : std::fmin(x - std::floor(x), 0x1.fffffffffffffp-1);
}
template <typename T> T fractOf(Rounding r, T x) {
  if (!std::isfinite(x))
    return fractOf(x);
  T belowOne = std::nextafter(T(1), T(0));
  return std::fmin(exact::add(x, T(-std::floor(x)), r), belowOne);
}

template <typename T> int frexpExponent(T x) {
  int e = 0;
  if (std::isfinite(x) && x != 0)
    std::frexp(x, &e);
  return e;
}
template <typename T> T frexpMantissa(T x) {
  int e = 0;
  return std::isfinite(x) ? std::frexp(x, &e) : x != x ? quiet(x) : x;
}

/// v_div_scale: scales one of a division's operands out of the range where the
/// refinement would over- or underflow; VCC says that v_div_fmas scales back.
template <typename T> struct Scaled {
  T value;
  bool flag;
};
template <typename T> Scaled<T> divScale(T s0, T denominator, T numerator) {
  constexpr int step = sizeof(T) == 4 ? 64 : 128;
  constexpr int farApart = sizeof(T) == 4 ? 96 : 768;
  constexpr int smallExponent = sizeof(T) == 4 ? 23 : 53;
  constexpr int bias = sizeof(T) == 4 ? 127 : 1023;
  auto field = [](T v) {
    return std::fpclassify(v) == FP_SUBNORMAL || v == 0 ? 0
                                                        : std::ilogb(v) + bias;
  };
  auto isDenormal = [](T v) { return std::fpclassify(v) == FP_SUBNORMAL; };
  auto same = [](T a, T b) { return a == b; };
  if (numerator == 0 || denominator == 0)
    return {std::bit_cast<T>(BitsOf<T>::kDefaultNan), false};
  if (!std::isfinite(numerator) || !std::isfinite(denominator))
    return {s0, false};
  if (field(numerator) - field(denominator) >= farApart)
    return {same(s0, denominator) ? std::ldexp(s0, step) : s0, true};
  if (isDenormal(denominator))
    return {std::ldexp(s0, step), false};
  bool inverse = isDenormal(T(1) / denominator);
  bool ratio = isDenormal(numerator / denominator);
  // The ISA text scales the denominator up here, which would overflow; down is
  // what makes the sequence's result right.
  if (inverse && ratio)
    return {same(s0, denominator) ? std::ldexp(s0, -step) : s0, true};
  if (inverse)
    return {std::ldexp(s0, -step), false};
  if (ratio)
    return {same(s0, numerator) ? std::ldexp(s0, step) : s0, true};
  if (field(numerator) <= smallExponent)
    return {std::ldexp(s0, step), false};
  return {s0, false};
}

template <typename T> void divScaleHandler(Wave &w, const Instruction &in) {
  LaneBuffer buffers[3], out;
  LaneView a = source<T>(w, in, 0, buffers[0]);
  LaneView b = source<T>(w, in, 1, buffers[1]);
  LaneView c = source<T>(w, in, 2, buffers[2]);
  uint8_t flags[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    Scaled<T> s =
        divScale(laneValue<T>(a, l), laneValue<T>(b, l), laneValue<T>(c, l));
    setLane(out, l, s.value);
    flags[l] = s.flag;
  }
  result<T>(w, in, out);
  w.setPair(in.scalarDestination, packMask(flags) & w.exec());
}
template <typename T> void divFmasHandler(Wave &w, const Instruction &in) {
  constexpr int step = sizeof(T) == 4 ? 64 : 128;
  LaneBuffer buffers[3], out;
  // Its sources keep their denormals in every mode.
  const uint32_t mode = w.mode;
  w.setMode(mode | kModeDenorm32 | kModeDenorm16_64);
  LaneView a = source<T>(w, in, 0, buffers[0]);
  LaneView b = source<T>(w, in, 1, buffers[1]);
  LaneView c = source<T>(w, in, 2, buffers[2]);
  w.setMode(mode);
  uint64_t vcc = w.vcc();
  for (unsigned l = 0; l < kLanes; ++l) {
    T x = laneValue<T>(a, l), y = laneValue<T>(b, l);
    T addend = laneValue<T>(c, l);
    // One rounding, of the scaled sum. The addend is the quotient's estimate:
    // its size says which way it was scaled.
    int scale = !(vcc >> l & 1) ? 0 : std::fabs(addend) >= T(2) ? step : -step;
    setLane(out, l, exact::fma(x, y, addend, roundingOf<T>(w), scale));
  }
  result<T>(w, in, out);
}
template <typename T>
constexpr Operation ternary(const char *name, Handler handler,
                            uint32_t flags = 0) {
  ValueType t = typeOf<T>();
  return {name, handler, InstructionClass::Valu, t, {t, t, t}, flags};
}

/// The same in any rounding mode; see roundedOp.
constexpr auto addRounded = [](Rounding r, auto a, auto b) {
  return exact::add(a, b, r);
};
constexpr auto subRounded = [](Rounding r, float a, float b) {
  return exact::add(a, -b, r);
};
constexpr auto subrevRounded = [](Rounding r, float a, float b) {
  return exact::add(b, -a, r);
};
constexpr auto mulRounded = [](Rounding r, auto a, auto b) {
  return exact::multiply(a, b, r);
};
constexpr auto fmaRounded = [](Rounding r, auto a, auto b, auto c) {
  return exact::fma(a, b, c, r);
};
constexpr auto ldexpRounded = [](Rounding r, auto x, int32_t n) {
  return exact::scale(x, n, r);
};
constexpr auto fractRounded = [](Rounding r, auto x) { return fractOf(r, x); };

constexpr auto addF32 = [](float a, float b) { return addOf(a, b); };
constexpr auto subF32 = [](float a, float b) { return addOf(a, -b); };
constexpr auto subrevF32 = [](float a, float b) { return addOf(b, -a); };
constexpr auto fmaF32 = [](float a, float b, float c) {
  return fmaOf(a, b, c);
};
constexpr auto fmaF64 = [](double a, double b, double c) {
  return fmaOf(a, b, c);
};
template <typename T, bool Ieee>
constexpr auto maxFn = [](T a, T b) { return maxOf<Ieee>(a, b); };
template <typename T, bool Ieee>
constexpr auto minFn = [](T a, T b) { return minOf<Ieee>(a, b); };
template <bool Ieee>
constexpr auto max3Fn =
    [](float a, float b, float c) { return maxOf<Ieee>(maxOf<Ieee>(a, b), c); };
template <bool Ieee>
constexpr auto min3Fn =
    [](float a, float b, float c) { return minOf<Ieee>(minOf<Ieee>(a, b), c); };
template <bool Ieee>
constexpr auto med3Fn =
    [](float a, float b, float c) { return med3Of<Ieee>(a, b, c); };
const Operation table[] = {
    roundedOp<addF32, addRounded>("v_add_f32"),
    roundedOp<subF32, subRounded>("v_sub_f32"),
    roundedOp<subrevF32, subrevRounded>("v_subrev_f32"),
    roundedOp<[](float a, float b) { return mulOf(a, b); }, mulRounded>(
        "v_mul_f32"),
    roundedOp<[](float a, float b) {
      return a == 0 || b == 0 ? 0.0f : mulOf(a, b);
    },
              [](Rounding r, float a, float b) {
                return a == 0 || b == 0 ? 0.0f : exact::multiply(a, b, r);
              }>("v_mul_legacy_f32"),
    roundedOp<fmaF32, fmaRounded>("v_fma_f32"),
    roundedOp<fmaF32, fmaRounded>("v_fmac_f32", kAccumulates),
    roundedOp<fmaF32, fmaRounded>("v_fmamk_f32"),
    roundedOp<fmaF32, fmaRounded>("v_fmaak_f32"),
    ieeeOp<maxFn<float, true>, maxFn<float, false>>("v_max_f32"),
    ieeeOp<minFn<float, true>, minFn<float, false>>("v_min_f32"),
    ieeeOp<max3Fn<true>, max3Fn<false>>("v_max3_f32"),
    ieeeOp<min3Fn<true>, min3Fn<false>>("v_min3_f32"),
    ieeeOp<med3Fn<true>, med3Fn<false>>("v_med3_f32"),
    vectorOp<[](float a, float b, float c) {
      return maximum(maximum(a, b), c);
    }>("v_maximum3_f32"),
    vectorOp<[](float a, float b, float c) {
      return minimum(minimum(a, b), c);
    }>("v_minimum3_f32"),
    vectorOp<[](float x) { return x != x ? quiet(x) : std::trunc(x); }>(
        "v_trunc_f32"),
    vectorOp<[](float x) { return x != x ? quiet(x) : std::ceil(x); }>(
        "v_ceil_f32"),
    vectorOp<[](float x) { return x != x ? quiet(x) : std::nearbyint(x); }>(
        "v_rndne_f32"),
    vectorOp<[](float x) { return x != x ? quiet(x) : std::floor(x); }>(
        "v_floor_f32"),
    roundedOp<[](float x) { return fractOf(x); }, fractRounded>("v_fract_f32"),
    vectorOp<transcendental<[](double x) { return std::exp2(x); }>>(
        "v_exp_f32"),
    vectorOp<transcendental<[](double x) { return std::log2(x); }>>(
        "v_log_f32"),
    vectorOp<transcendental<[](double x) { return 1 / x; }>>("v_rcp_f32"),
    vectorOp<transcendental<[](double x) { return 1 / x; }>>("v_rcp_iflag_f32"),
    vectorOp<transcendental<[](double x) { return 1 / std::sqrt(x); }>>(
        "v_rsq_f32"),
    vectorOp<transcendental<[](double x) { return std::sqrt(x); }>>(
        "v_sqrt_f32"),
    vectorOp<transcendental<[](double x) {
      return std::sin(6.283185307179586476925 * (x - std::floor(x)));
    }>>("v_sin_f32"),
    vectorOp<transcendental<[](double x) {
      return std::cos(6.283185307179586476925 * (x - std::floor(x)));
    }>>("v_cos_f32"),
    vectorOp<[](float x) { return frexpExponent(x); }>("v_frexp_exp_i32_f32"),
    vectorOp<[](float x) { return frexpMantissa(x); }>("v_frexp_mant_f32"),
    roundedOp<[](float x, int32_t n) {
      return x != x ? quiet(x) : std::ldexp(x, n);
    },
              ldexpRounded>("v_ldexp_f32"),
    vectorOp<[](float q, float d, float n) { return divFixup(q, d, n); }>(
        "v_div_fixup_f32"),
    ternary<float>("v_div_scale_f32", divScaleHandler<float>,
                   kScalarDestination),
    ternary<float>("v_div_fmas_f32", divFmasHandler<float>),

    roundedOp<[](double a, double b) { return addOf(a, b); }, addRounded>(
        "v_add_f64"),
    roundedOp<[](double a, double b) { return mulOf(a, b); }, mulRounded>(
        "v_mul_f64"),
    roundedOp<fmaF64, fmaRounded>("v_fma_f64"),
    roundedOp<fmaF64, fmaRounded>("v_fmac_f64", kAccumulates),
    ieeeOp<maxFn<double, true>, maxFn<double, false>>("v_max_f64"),
    ieeeOp<minFn<double, true>, minFn<double, false>>("v_min_f64"),
    vectorOp<[](double x) { return x != x ? quiet(x) : std::trunc(x); }>(
        "v_trunc_f64"),
    vectorOp<[](double x) { return x != x ? quiet(x) : std::ceil(x); }>(
        "v_ceil_f64"),
    vectorOp<[](double x) { return x != x ? quiet(x) : std::nearbyint(x); }>(
        "v_rndne_f64"),
    vectorOp<[](double x) { return x != x ? quiet(x) : std::floor(x); }>(
        "v_floor_f64"),
    roundedOp<[](double x) { return fractOf(x); }, fractRounded>("v_fract_f64"),
    vectorOp<[](double x) { return frexpExponent(x); }>("v_frexp_exp_i32_f64"),
    vectorOp<[](double x) { return frexpMantissa(x); }>("v_frexp_mant_f64"),
    roundedOp<[](double x, int32_t n) {
      return x != x ? quiet(x) : std::ldexp(x, n);
    },
              ldexpRounded>("v_ldexp_f64"),
    vectorOp<[](double q, double d, double n) { return divFixup(q, d, n); }>(
        "v_div_fixup_f64"),
    vectorOp<[](double x) { return x != x ? quiet(x) : 1 / x; }>("v_rcp_f64"),
    vectorOp<[](double x) { return fixNan(std::sqrt(x), x != x); }>(
        "v_sqrt_f64"),
    vectorOp<[](double x) { return fixNan(1 / std::sqrt(x), x != x); }>(
        "v_rsq_f64"),
    ternary<double>("v_div_scale_f64", divScaleHandler<double>,
                    kScalarDestination),
    ternary<double>("v_div_fmas_f64", divFmasHandler<double>),
};

} // namespace

std::span<const Operation> vectorFloatOperations() { return table; }

} // namespace winnow::sim
