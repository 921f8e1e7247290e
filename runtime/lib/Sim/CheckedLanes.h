// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lane functions that have no answer for some operands: what no manual settles
// stops the launch, in active lanes only.
#ifndef WINNOW_SIM_CHECKEDLANES_H
#define WINNOW_SIM_CHECKEDLANES_H

#include "Lanes.h"

namespace winnow::sim {

/// A result, or why there is none.
template <typename T> struct Checked {
  T value{};
  const char *problem = nullptr;
};

/// Floats here are summed and rounded to nearest even; any other MODE stops.
inline bool roundsToNearest(Wave &w, const Instruction &in) {
  if (w.plainRounding)
    return true;
  w.stop(in, "rounding other than to nearest even, and overflow other than to "
             "infinity, is not simulated for this instruction");
  return false;
}

template <typename R> struct CheckedResult;
template <typename T> struct CheckedResult<Checked<T>> {
  using Type = T;
};

/// As lanes<Fn>, for an Fn that returns a Checked.
template <auto Fn> void checkedLanes(Wave &w, const Instruction &in) {
  Signature<decltype(Fn)>::with([&]<typename R, typename... A>() {
    using T = typename CheckedResult<R>::Type;
    if ((isFloat(typeOf<T>()) || (isFloat(typeOf<A>()) || ...)) &&
        !roundsToNearest(w, in))
      return;
    LaneBuffer buffers[sizeof...(A)];
    LaneBuffer out{};
    [&]<size_t... I>(std::index_sequence<I...>) {
      LaneView views[] = {source<A>(w, in, I, buffers[I])...};
      uint64_t exec = w.exec();
      for (unsigned l = 0; l < kLanes; ++l) {
        if (!(exec >> l & 1))
          continue;
        R r = Fn(laneValue<A>(views[I], l)...);
        if (r.problem)
          return w.stop(in, std::string(r.problem) + " (lane " +
                                std::to_string(l) + ")");
        setLane<T>(out, l, r.value);
      }
    }(std::index_sequence_for<A...>());
    if (w.state != WaveState::Stopped)
      result<T>(w, in, out);
  });
}
template <auto Fn>
constexpr Operation checkedOp(const char *name, uint32_t flags = 0) {
  Operation op{name, &checkedLanes<Fn>, InstructionClass::Valu};
  op.flags = flags;
  Signature<decltype(Fn)>::with([&]<typename R, typename... A>() {
    op.result = typeOf<typename CheckedResult<R>::Type>();
    unsigned i = 0;
    ((op.sources[i++] = typeOf<A>()), ...);
  });
  return op;
}

} // namespace winnow::sim

#endif // WINNOW_SIM_CHECKEDLANES_H
