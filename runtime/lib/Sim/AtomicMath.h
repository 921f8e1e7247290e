// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What atomics compute, shared by LDS and global memory: the value stored, from
// the value in memory and the operand.
#ifndef WINNOW_SIM_ATOMICMATH_H
#define WINNOW_SIM_ATOMICMATH_H

#include "FloatFormats.h"
#include "FloatMath.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace winnow::sim::atomic {

constexpr auto add = [](auto old, auto v) { return decltype(old)(old + v); };
constexpr auto sub = [](auto old, auto v) { return decltype(old)(old - v); };
constexpr auto rsub = [](auto old, auto v) { return decltype(old)(v - old); };
constexpr auto increment = [](auto old, auto v) {
  return decltype(old)(old >= v ? 0 : old + 1);
};
constexpr auto decrement = [](auto old, auto v) {
  return decltype(old)(old == 0 || old > v ? v : old - 1);
};
constexpr auto minimum = [](auto old, auto v) { return v < old ? v : old; };
constexpr auto maximum = [](auto old, auto v) { return v > old ? v : old; };
constexpr auto bitAnd = [](auto old, auto v) { return decltype(old)(old & v); };
constexpr auto bitOr = [](auto old, auto v) { return decltype(old)(old | v); };
constexpr auto bitXor = [](auto old, auto v) { return decltype(old)(old ^ v); };
constexpr auto exchange = [](auto, auto v) { return v; };
// A quiet NaN loses to a number, a signaling one wins, and -0 is below +0
// (CDNA4 ISA, "Float Memory Atomics", "NaN Handling").
constexpr auto floatMinimum = [](auto old, auto v) {
  return minOf<true>(old, v);
};
constexpr auto floatMaximum = [](auto old, auto v) {
  return maxOf<true>(old, v);
};

/// Two sums of 16 bits in a dword; denormals are kept.
template <auto Add>
constexpr auto halves = [](uint32_t old, uint32_t v) {
  return uint32_t(Add(uint16_t(old >> 16), uint16_t(v >> 16))) << 16 |
         Add(uint16_t(old), uint16_t(v));
};
constexpr auto addHalves = halves<[](uint16_t a, uint16_t b) {
  return floatToHalf(addOf(halfToFloat(a), halfToFloat(b)));
}>;
constexpr auto addBfloats = halves<[](uint16_t a, uint16_t b) {
  return floatToBfloat(addOf(bfloatToFloat(a), bfloatToFloat(b)));
}>;

/// Applies Fn to the T at `bytes`, atomically among host threads when it is
/// aligned as hardware requires; returns the old value.
template <typename T, auto Fn> T update(uint8_t *bytes, T operand) {
  using U = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  std::atomic_ref<U> cell(*reinterpret_cast<U *>(bytes));
  U old = cell.load(std::memory_order_relaxed), next;
  do
    next = std::bit_cast<U>(T(Fn(std::bit_cast<T>(old), operand)));
  while (!cell.compare_exchange_weak(old, next));
  return std::bit_cast<T>(old);
}

/// Stores `value` when the T at `bytes` equals `expected`; returns the old one.
template <typename T> T compareExchange(uint8_t *bytes, T expected, T value) {
  std::atomic_ref<T> cell(*reinterpret_cast<T *>(bytes));
  cell.compare_exchange_strong(expected, value);
  return expected;
}

} // namespace winnow::sim::atomic

#endif // WINNOW_SIM_ATOMICMATH_H
