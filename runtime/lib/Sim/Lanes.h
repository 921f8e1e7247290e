// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How vector instructions read and write lanes. `lanes<Fn>` turns a function of
// one lane, its types deduced from its signature, into a handler; operands that
// need no conversion are read in place, everything else (scalars, constants,
// modifiers, DPP, SDWA, 16-bit halves) goes through readLanes and writeLanes.
#ifndef WINNOW_SIM_LANES_H
#define WINNOW_SIM_LANES_H

#include "ExactFloat.h"
#include "Wave.h"

#include <bit>
#include <type_traits>
#include <utility>

namespace winnow::sim {

template <typename T> constexpr ValueType typeOf() {
  if constexpr (std::is_same_v<T, float>)
    return ValueType::F32;
  else if constexpr (std::is_same_v<T, double>)
    return ValueType::F64;
  else if constexpr (std::is_same_v<T, Half>)
    return ValueType::F16;
  else if constexpr (sizeof(T) == 2)
    return ValueType::B16;
  else if constexpr (sizeof(T) == 4)
    return ValueType::B32;
  else
    return ValueType::B64;
}

struct LaneBuffer {
  alignas(64) uint32_t low[kLanes];
  alignas(64) uint32_t high[kLanes];
};
struct LaneView {
  const uint32_t *low;
  const uint32_t *high;
};

/// Fills `buffer` with source `which`, every modifier applied.
LaneView readLanes(Wave &w, const Instruction &in, unsigned which,
                   ValueType type, LaneBuffer &buffer);
/// Writes a result through output modifiers, clamp, SDWA, DPP masks and halves.
void writeLanes(Wave &w, const Instruction &in, ValueType type,
                LaneBuffer &result);
/// The lanes that a DPP instruction writes, within EXEC.
uint64_t dppWriteMask(const Wave &w, const Instruction &in);

template <typename T>
LaneView source(Wave &w, const Instruction &in, unsigned which,
                LaneBuffer &buffer) {
  const Operand &operand = in.source[which];
  constexpr ValueType type = typeOf<T>();
  if (!isFloat(type) || w.plainFloat) [[likely]] {
    if (operand.plain) {
      const uint32_t *low = w.row(operand.index);
      return {low, registersOf(type) == 2 ? low + kLanes : nullptr};
    }
    if (operand.uniform) {
      uint64_t value = registersOf(type) == 2 ? readScalar64(w, operand)
                                              : readScalar32(w, operand);
      for (unsigned l = 0; l < kLanes; ++l)
        buffer.low[l] = uint32_t(value);
      if constexpr (registersOf(type) == 2)
        for (unsigned l = 0; l < kLanes; ++l)
          buffer.high[l] = uint32_t(value >> 32);
      return {buffer.low, buffer.high};
    }
  }
  return readLanes(w, in, which, type, buffer);
}

template <typename T> T laneValue(const LaneView &view, unsigned lane) {
  if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(uint64_t(view.high[lane]) << 32 | view.low[lane]);
  else if constexpr (sizeof(T) == 2)
    return std::bit_cast<T>(uint16_t(view.low[lane]));
  else
    return std::bit_cast<T>(view.low[lane]);
}

template <typename T> void setLane(LaneBuffer &buffer, unsigned lane, T value) {
  if constexpr (sizeof(T) == 8) {
    uint64_t bits = std::bit_cast<uint64_t>(value);
    buffer.low[lane] = uint32_t(bits);
    buffer.high[lane] = uint32_t(bits >> 32);
  } else if constexpr (sizeof(T) == 2) {
    buffer.low[lane] = std::bit_cast<uint16_t>(value);
  } else {
    buffer.low[lane] = std::bit_cast<uint32_t>(value);
  }
}

template <typename T>
void result(Wave &w, const Instruction &in, LaneBuffer &buffer) {
  constexpr ValueType type = typeOf<T>();
  if (in.plainDestination && (!isFloat(type) || w.plainFloat)) [[likely]] {
    commit(w, in.destination.index, buffer.low, w.exec());
    if constexpr (sizeof(T) == 8)
      commit(w, in.destination.index + 1, buffer.high, w.exec());
    return;
  }
  writeLanes(w, in, type, buffer);
}

/// The signature of a lane function.
template <typename F> struct Signature : Signature<decltype(&F::operator())> {};
template <typename C, typename R, typename... A>
struct Signature<R (C::*)(A...) const> {
  using Result = R;
  static constexpr unsigned kArity = sizeof...(A);
  template <typename Body> static auto with(Body body) {
    return body.template operator()<R, A...>();
  }
};

template <auto Fn> void lanes(Wave &w, const Instruction &in) {
  using S = Signature<decltype(Fn)>;
  S::with([&]<typename R, typename... A>() {
    LaneBuffer buffers[sizeof...(A)];
    LaneBuffer out;
    [&]<size_t... I>(std::index_sequence<I...>) {
      LaneView views[] = {source<A>(w, in, I, buffers[I])...};
      for (unsigned l = 0; l < kLanes; ++l)
        setLane<R>(out, l, Fn(laneValue<A>(views[I], l)...));
    }(std::index_sequence_for<A...>());
    result<R>(w, in, out);
  });
}

/// A table row for a lane function.
template <auto Fn>
constexpr Operation vectorOp(const char *name, uint32_t flags = 0) {
  Operation op{name, &lanes<Fn>, InstructionClass::Valu};
  op.flags = flags;
  Signature<decltype(Fn)>::with([&]<typename R, typename... A>() {
    op.result = typeOf<R>();
    unsigned i = 0;
    ((op.sources[i++] = typeOf<A>()), ...);
  });
  return op;
}

/// MODE keeps denormals of this type in sources or in results.
inline bool keepsDenormals(const Wave &w, ValueType type, bool isResult) {
  bool isSingle = type == ValueType::F32 || type == ValueType::PackedF32;
  return w.mode >> (isSingle ? 4 : 6) >> (isResult ? 1 : 0) & 1;
}
/// Instructions that move or test bits see denormals in every mode.
class KeepDenormals {
public:
  explicit KeepDenormals(Wave &w) : wave(w), mode(w.mode) {
    w.setMode(mode | kModeDenorm32 | kModeDenorm16_64);
  }
  ~KeepDenormals() { wave.setMode(mode); }
  KeepDenormals(const KeepDenormals &) = delete;
  KeepDenormals &operator=(const KeepDenormals &) = delete;

private:
  Wave &wave;
  uint32_t mode;
};

/// The clamp bit of a float result.
template <typename T> T clampUnit(const Wave &w, T value) {
  if (value != value)
    return w.mode & kModeDx10Clamp ? T(0) : value;
  return value <= T(0) ? T(0) : value > T(1) ? T(1) : value;
}

/// How MODE rounds results of a type.
template <typename T> Rounding roundingOf(const Wave &w) {
  bool isSingle = std::is_same_v<T, float>;
  return {RoundingMode(w.mode >> (isSingle ? 0 : 2) & 3),
          std::is_same_v<T, Half> && (w.mode & kModeFp16Overflow)};
}

/// Fn does the work in the usual mode, on the host's float units; Rounded, with
/// the rounding before Fn's operands, in every other one.
template <auto Fn, auto Rounded>
void roundedLanes(Wave &w, const Instruction &in) {
  if (w.plainRounding) [[likely]]
    return lanes<Fn>(w, in);
  using S = Signature<decltype(Fn)>;
  S::with([&]<typename R, typename... A>() {
    LaneBuffer buffers[sizeof...(A)];
    LaneBuffer out;
    Rounding rounding = roundingOf<R>(w);
    [&]<size_t... I>(std::index_sequence<I...>) {
      LaneView views[] = {source<A>(w, in, I, buffers[I])...};
      for (unsigned l = 0; l < kLanes; ++l)
        setLane<R>(out, l, R(Rounded(rounding, laneValue<A>(views[I], l)...)));
    }(std::index_sequence_for<A...>());
    result<R>(w, in, out);
  });
}
template <auto Fn, auto Rounded>
constexpr Operation roundedOp(const char *name, uint32_t flags = 0) {
  Operation op = vectorOp<Fn>(name, flags);
  op.handler = &roundedLanes<Fn, Rounded>;
  return op;
}

/// Packs 64 bytes of 0 or 1 into a mask.
inline uint64_t packMask(const uint8_t *flags) {
  uint64_t mask = 0;
  for (unsigned i = 0; i < 8; ++i) {
    uint64_t eight;
    std::memcpy(&eight, flags + 8 * i, 8);
    mask |= (eight * 0x0102040810204080ull >> 56) << (8 * i);
  }
  return mask;
}

} // namespace winnow::sim

#endif // WINNOW_SIM_LANES_H
