// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Float arithmetic in integers, for the rounding modes that the host's units
// are not set to. Results are exact values rounded once, as MODE asks; the
// usual mode, to nearest even, has the host's own arithmetic instead.
#ifndef WINNOW_SIM_EXACTFLOAT_H
#define WINNOW_SIM_EXACTFLOAT_H

#include <bit>
#include <cstdint>
#include <utility>

namespace winnow::sim {

/// As MODE encodes them (CDNA4 ISA, "MODE Register").
enum class RoundingMode : uint8_t { NearestEven, Up, Down, TowardZero };

struct Rounding {
  RoundingMode mode = RoundingMode::NearestEven;
  /// What overflows becomes the largest number, whatever the mode; infinite
  /// operands stay infinite (FP16_OVFL of MODE).
  bool saturates = false;

  bool isDown() const { return mode == RoundingMode::Down; }
};

/// An f16 by its bits; arithmetic goes through float, double or integers.
struct Half {
  uint16_t bits;
};

namespace exact {

__extension__ typedef unsigned __int128 Wide;

template <typename T> struct Format;
template <> struct Format<Half> {
  using Bits = uint16_t;
  static constexpr int kExponentBits = 5, kFractionBits = 10;
};
template <> struct Format<float> {
  using Bits = uint32_t;
  static constexpr int kExponentBits = 8, kFractionBits = 23;
};
template <> struct Format<double> {
  using Bits = uint64_t;
  static constexpr int kExponentBits = 11, kFractionBits = 52;
};

/// A value taken apart: +-significand * 2^exponent, or no number.
struct Parts {
  bool isNegative = false;
  bool isNan = false;
  bool isInfinite = false;
  int exponent = 0;
  Wide significand = 0;

  bool isZero() const { return !isNan && !isInfinite && significand == 0; }
};

template <typename T> Parts partsOf(T value) {
  using F = Format<T>;
  auto bits = std::bit_cast<typename F::Bits>(value);
  constexpr int top = (1 << F::kExponentBits) - 1;
  int field = int(uint64_t(bits) >> F::kFractionBits & top);
  uint64_t fraction = uint64_t(bits) & ((uint64_t(1) << F::kFractionBits) - 1);
  Parts p;
  p.isNegative = uint64_t(bits) >> (F::kExponentBits + F::kFractionBits) & 1;
  if (field == top) {
    p.isNan = fraction != 0;
    p.isInfinite = fraction == 0;
    return p;
  }
  p.significand = field ? fraction | uint64_t(1) << F::kFractionBits : fraction;
  p.exponent = (field ? field : 1) - (top >> 1) - F::kFractionBits;
  return p;
}

template <typename T> T fromCode(bool isNegative, uint64_t magnitude) {
  using F = Format<T>;
  uint64_t sign = uint64_t(isNegative) << (F::kExponentBits + F::kFractionBits);
  return std::bit_cast<T>(typename F::Bits(sign | magnitude));
}
template <typename T> constexpr uint64_t infinityCode() {
  using F = Format<T>;
  return uint64_t((1 << F::kExponentBits) - 1) << F::kFractionBits;
}
template <typename T> T defaultNan() {
  return fromCode<T>(false, infinityCode<T>() |
                                uint64_t(1) << (Format<T>::kFractionBits - 1));
}
/// The NaN operand itself, quiet.
template <typename T> T quieted(T nan) {
  using F = Format<T>;
  auto bits = std::bit_cast<typename F::Bits>(nan);
  return std::bit_cast<T>(typename F::Bits(
      bits | typename F::Bits(uint64_t(1) << (F::kFractionBits - 1))));
}

inline int widthOf(Wide v) {
  uint64_t high = uint64_t(v >> 64), low = uint64_t(v);
  return high ? 128 - std::countl_zero(high) : 64 - std::countl_zero(low);
}
/// v >> count; what falls off stays visible in the lowest bit.
inline Wide shiftSticky(Wide v, int count) {
  if (count <= 0)
    return v;
  if (count >= 128)
    return v != 0;
  Wide kept = v >> count;
  return kept | ((kept << count) != v);
}

/// +-significand * 2^exponent, rounded once. The significand may end in a
/// sticky bit when it has at least two bits more than the format.
template <typename T>
T round(bool isNegative, int exponent, Wide significand, Rounding rounding) {
  using F = Format<T>;
  if (significand == 0)
    return fromCode<T>(isNegative, 0);
  constexpr int bias = (1 << (F::kExponentBits - 1)) - 1;
  int leading = exponent + widthOf(significand) - 1;
  int normal = leading < 1 - bias ? 1 - bias : leading;
  // The weight of the result's last bit.
  int last = normal - F::kFractionBits;
  int drop = last - exponent;
  const RoundingMode mode = rounding.mode;
  const bool isNearest = mode == RoundingMode::NearestEven;
  bool away = mode == RoundingMode::Up     ? !isNegative
              : mode == RoundingMode::Down ? isNegative
                                           : false;
  const uint64_t infinity = infinityCode<T>();
  const uint64_t overflow =
      (isNearest || away) && !rounding.saturates ? infinity : infinity - 1;
  if (normal > bias)
    return fromCode<T>(isNegative, overflow);
  Wide kept;
  bool isInexact = false, isHalf = false, isOverHalf = false;
  if (drop <= 0) {
    // By fewer than 128: what is that large has overflowed above.
    kept = significand << (-drop & 127);
  } else if (drop > 127) {
    kept = 0;
    isInexact = true;
  } else {
    kept = significand >> drop;
    Wide rest = significand - (kept << drop), half = Wide(1) << (drop - 1);
    isInexact = rest != 0;
    isHalf = rest == half;
    isOverHalf = rest > half;
  }
  if (isNearest)
    away = isOverHalf || (isHalf && (kept & 1));
  if (isInexact && away)
    ++kept;
  // The hidden bit adds one to the exponent field, so codes go up by ones from
  // one binade to the next.
  uint64_t code =
      uint64_t(kept) + (uint64_t(normal + bias - 1) << F::kFractionBits);
  if (code >= infinity)
    code = overflow;
  return fromCode<T>(isNegative, code);
}

/// x + y for finite parts of at most 106 bits.
template <typename T> T sum(Parts x, Parts y, Rounding rounding) {
  if (x.isZero() && y.isZero())
    return fromCode<T>(
        x.isNegative == y.isNegative ? x.isNegative : rounding.isDown(), 0);
  // Leading bits side by side at bit 125; a carry still fits.
  auto raise = [](Parts &p) {
    int up = 126 - widthOf(p.significand);
    p.significand <<= up;
    p.exponent -= up;
  };
  if (x.isZero())
    return round<T>(y.isNegative, y.exponent, y.significand, rounding);
  if (y.isZero())
    return round<T>(x.isNegative, x.exponent, x.significand, rounding);
  raise(x);
  raise(y);
  if (y.exponent > x.exponent ||
      (y.exponent == x.exponent && y.significand > x.significand))
    std::swap(x, y);
  // Bits fall off only when the exponents are far apart, and then at most one
  // bit cancels: the sticky bit stays far below the result's last one.
  y.significand = shiftSticky(y.significand, x.exponent - y.exponent);
  if (x.isNegative == y.isNegative)
    return round<T>(x.isNegative, x.exponent, x.significand + y.significand,
                    rounding);
  Wide difference = x.significand - y.significand;
  if (difference == 0)
    return fromCode<T>(rounding.isDown(), 0);
  return round<T>(x.isNegative, x.exponent, difference, rounding);
}

/// a * b + c with one rounding; `scale` multiplies the sum by 2^scale first.
template <typename T> T fma(T a, T b, T c, Rounding rounding, int scale = 0) {
  Parts x = partsOf(a), y = partsOf(b), z = partsOf(c);
  if (x.isNan || y.isNan || z.isNan)
    return quieted(x.isNan ? a : y.isNan ? b : c);
  bool isNegative = x.isNegative != y.isNegative;
  bool isInvalid = (x.isInfinite && y.isZero()) || (x.isZero() && y.isInfinite);
  bool isInfinite = x.isInfinite || y.isInfinite;
  if (isInvalid || (isInfinite && z.isInfinite && z.isNegative != isNegative))
    return defaultNan<T>();
  if (isInfinite)
    return fromCode<T>(isNegative, infinityCode<T>());
  if (z.isInfinite)
    return c;
  Parts product;
  product.isNegative = isNegative;
  product.significand = x.significand * y.significand;
  product.exponent = x.exponent + y.exponent + scale;
  z.exponent += scale;
  return sum<T>(product, z, rounding);
}

template <typename T> T add(T a, T b, Rounding rounding) {
  Parts x = partsOf(a), y = partsOf(b);
  if (x.isNan || y.isNan)
    return quieted(x.isNan ? a : b);
  if (x.isInfinite && y.isInfinite && x.isNegative != y.isNegative)
    return defaultNan<T>();
  if (x.isInfinite || y.isInfinite)
    return x.isInfinite ? a : b;
  return sum<T>(x, y, rounding);
}

template <typename T> T multiply(T a, T b, Rounding rounding) {
  Parts x = partsOf(a), y = partsOf(b);
  if (x.isNan || y.isNan)
    return quieted(x.isNan ? a : b);
  if ((x.isInfinite && y.isZero()) || (x.isZero() && y.isInfinite))
    return defaultNan<T>();
  bool isNegative = x.isNegative != y.isNegative;
  if (x.isInfinite || y.isInfinite)
    return fromCode<T>(isNegative, infinityCode<T>());
  return round<T>(isNegative, x.exponent + y.exponent,
                  x.significand * y.significand, rounding);
}

/// v * 2^n.
template <typename T> T scale(T v, int64_t n, Rounding rounding) {
  Parts x = partsOf(v);
  if (x.isNan)
    return quieted(v);
  if (x.isInfinite)
    return v;
  // Beyond these every exponent of a format has over- or underflown.
  int by = n < -5000 ? -5000 : n > 5000 ? 5000 : int(n);
  return round<T>(x.isNegative, x.exponent + by, x.significand, rounding);
}

/// To another format; a NaN keeps the upper bits of its payload, quiet.
template <typename To, typename From> To convert(From v, Rounding rounding) {
  Parts x = partsOf(v);
  using F = Format<From>;
  using G = Format<To>;
  if (x.isNan) {
    uint64_t bits = std::bit_cast<typename F::Bits>(v);
    uint64_t fraction = bits & ((uint64_t(1) << F::kFractionBits) - 1);
    constexpr int down = F::kFractionBits - G::kFractionBits;
    fraction = down > 0 ? fraction >> (down > 0 ? down : 0)
                        : fraction << (down < 0 ? -down : 0);
    return fromCode<To>(x.isNegative, infinityCode<To>() | fraction |
                                          uint64_t(1)
                                              << (G::kFractionBits - 1));
  }
  if (x.isInfinite)
    return fromCode<To>(x.isNegative, infinityCode<To>());
  return round<To>(x.isNegative, x.exponent, x.significand, rounding);
}

template <typename To> To fromInteger(int64_t v, Rounding rounding) {
  uint64_t magnitude = v < 0 ? uint64_t(0) - uint64_t(v) : uint64_t(v);
  return round<To>(v < 0, 0, magnitude, rounding);
}

} // namespace exact
} // namespace winnow::sim

#endif // WINNOW_SIM_EXACTFLOAT_H
