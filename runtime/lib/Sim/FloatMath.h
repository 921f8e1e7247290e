// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NaN and zero rules that every float width shares (CDNA4 ISA, chapter
// "Instructions"), and handlers that depend on MODE's IEEE bit.
#ifndef WINNOW_SIM_FLOATMATH_H
#define WINNOW_SIM_FLOATMATH_H

#include "Lanes.h"

#include <cmath>
#include <limits>

namespace winnow::sim {

template <typename T> struct BitsOf;
template <> struct BitsOf<float> {
  using Type = uint32_t;
  static constexpr uint32_t kQuiet = 0x00400000u, kDefaultNan = 0x7fc00000u;
};
template <> struct BitsOf<double> {
  using Type = uint64_t;
  static constexpr uint64_t kQuiet = 0x0008000000000000u,
                            kDefaultNan = 0x7ff8000000000000u;
};

template <typename T> T quiet(T value) {
  using B = BitsOf<T>;
  return std::bit_cast<T>(std::bit_cast<typename B::Type>(value) | B::kQuiet);
}
template <typename T> bool isSignaling(T value) {
  using B = BitsOf<T>;
  return value != value &&
         !(std::bit_cast<typename B::Type>(value) & B::kQuiet);
}
/// An invalid operation gives the positive default NaN; x86 gives the negative.
template <typename T> T fixNan(T result, bool anyNan) {
  return result != result && !anyNan ? std::bit_cast<T>(BitsOf<T>::kDefaultNan)
                                     : result;
}

template <typename T> T addOf(T a, T b) {
  return fixNan(T(a + b), a != a || b != b);
}
template <typename T> T mulOf(T a, T b) {
  return fixNan(T(a * b), a != a || b != b);
}
template <typename T> T fmaOf(T a, T b, T c) {
  return fixNan(T(std::fma(a, b, c)), a != a || b != b || c != c);
}

/// One NaN operand gives the other one. In IEEE mode a signaling NaN wins,
/// quieted. +0 is larger than -0.
template <bool Ieee, typename T> T maxOf(T a, T b) {
  using U = typename BitsOf<T>::Type;
  T equal = std::bit_cast<T>(U(std::bit_cast<U>(a) & std::bit_cast<U>(b)));
  T r = a > b ? a : b > a ? b : equal;
  r = b != b ? a : r;
  r = a != a ? b : r;
  if constexpr (Ieee) {
    r = isSignaling(b) ? quiet(b) : r;
    r = isSignaling(a) ? quiet(a) : r;
  }
  return r;
}
template <bool Ieee, typename T> T minOf(T a, T b) {
  using U = typename BitsOf<T>::Type;
  T equal = std::bit_cast<T>(U(std::bit_cast<U>(a) | std::bit_cast<U>(b)));
  T r = a < b ? a : b < a ? b : equal;
  r = b != b ? a : r;
  r = a != a ? b : r;
  if constexpr (Ieee) {
    r = isSignaling(b) ? quiet(b) : r;
    r = isSignaling(a) ? quiet(a) : r;
  }
  return r;
}
template <bool Ieee> float med3Of(float a, float b, float c) {
  if (a != a || b != b || c != c)
    return minOf<Ieee>(minOf<Ieee>(a, b), c);
  // As the ISA has it, -0 and +0 count as equal: the pick among them is not
  // always the ordered median.
  float largest = maxOf<Ieee>(maxOf<Ieee>(a, b), c);
  return largest == a   ? maxOf<Ieee>(b, c)
         : largest == b ? maxOf<Ieee>(a, c)
                        : maxOf<Ieee>(a, b);
}
/// IEEE 754-2019 maximum: any NaN gives a NaN.
inline float maximum(float a, float b) {
  return a != a ? quiet(a) : b != b ? quiet(b) : maxOf<false>(a, b);
}
inline float minimum(float a, float b) {
  return a != a ? quiet(a) : b != b ? quiet(b) : minOf<false>(a, b);
}

template <auto InIeee, auto InPlain>
void byIeee(Wave &w, const Instruction &in) {
  if (w.mode & kModeIeee)
    lanes<InIeee>(w, in);
  else
    lanes<InPlain>(w, in);
}
template <auto InIeee, auto InPlain>
constexpr Operation ieeeOp(const char *name, uint32_t flags = 0) {
  Operation op = vectorOp<InIeee>(name, flags);
  op.handler = &byIeee<InIeee, InPlain>;
  return op;
}

/// The end of a division: signs, zeros, infinities and NaNs (CDNA4 ISA,
/// V_DIV_FIXUP_F32).
template <typename T> T divFixup(T quotient, T denominator, T numerator) {
  bool sign = std::signbit(denominator) != std::signbit(numerator);
  T zero = sign ? -T(0) : T(0);
  T infinity = std::numeric_limits<T>::infinity();
  if (numerator != numerator)
    return quiet(numerator);
  if (denominator != denominator)
    return quiet(denominator);
  if ((denominator == 0 && numerator == 0) ||
      (std::isinf(denominator) && std::isinf(numerator)))
    // The negative one, unlike other invalid operations.
    return -std::bit_cast<T>(BitsOf<T>::kDefaultNan);
  if (denominator == 0 || std::isinf(numerator))
    return sign ? -infinity : infinity;
  if (std::isinf(denominator) || numerator == 0)
    return zero;
  // Far apart, the refinement itself over- or underflows; so does the result.
  int apart = std::ilogb(numerator) - std::ilogb(denominator);
  if (apart < (sizeof(T) == 4 ? -150 : -1075))
    return zero;
  if (quotient != quotient)
    return apart > 0 ? (sign ? -infinity : infinity) : zero;
  T magnitude = std::fabs(quotient);
  return sign ? -magnitude : magnitude;
}

/// a * b + c in f16 with one rounding.
Half fmaHalf(Half a, Half b, Half c);

} // namespace winnow::sim

#endif // WINNOW_SIM_FLOATMATH_H
