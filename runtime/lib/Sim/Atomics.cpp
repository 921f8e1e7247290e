// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Flat, global and buffer atomics. Lanes take effect in ascending order.
#include "AtomicMath.h"
#include "FloatFormats.h"
#include "Lanes.h"
#include "MemoryAccess.h"

#include <deque>
#include <string>

namespace winnow::sim {
namespace {

template <typename T> T dataOf(const uint32_t *row, unsigned lane) {
  LaneView view{row, row + kLanes};
  return laneValue<T>(view, lane);
}

template <typename T>
bool isAligned(Wave &w, const Instruction &in, const LaneAddresses &a,
               unsigned lane) {
  if (a.at[lane] % sizeof(T) == 0)
    return true;
  w.stop(in, "an atomic at an address that is not a multiple of " +
                 std::to_string(sizeof(T)));
  return false;
}

template <typename T>
void finish(Wave &w, const Instruction &in, const LaneBuffer &old) {
  if (!in.returnsValue || w.state == WaveState::Stopped)
    return;
  commit(w, in.destination.index, old.low, w.exec());
  if (sizeof(T) == 8)
    commit(w, in.destination.index + 1, old.high, w.exec());
}

/// The manual has f32 sums flush denormals, LLVM has gfx942 and later keep
/// them: with one among them nothing is known.
template <typename T, auto Fn>
bool isKnown(Wave &w, const Instruction &in, T old, T operand) {
  if constexpr (std::is_same_v<T, float>) {
    if (std::fpclassify(old) == FP_SUBNORMAL ||
        std::fpclassify(operand) == FP_SUBNORMAL ||
        std::fpclassify(Fn(old, operand)) == FP_SUBNORMAL) {
      w.stop(in, "a denormal in a float atomic: whether it is flushed is not "
                 "documented");
      return false;
    }
  }
  return true;
}

template <typename T, auto Fn>
void atomicUpdate(Wave &w, const Instruction &in) {
  LaneAddresses addresses;
  if (!laneAddresses(w, in, sizeof(T), addresses))
    return;
  const uint32_t *data = w.row(in.source[1].index);
  LaneBuffer old{};
  forLanes(w, in, addresses, sizeof(T), AccessKind::Atomic,
           [&](unsigned l, uint8_t *bytes) {
             if (!isAligned<T>(w, in, addresses, l))
               return;
             T operand = dataOf<T>(data, l);
             T before = atomic::update<T, Fn>(bytes, operand);
             if (isKnown<T, Fn>(w, in, before, operand))
               setLane(old, l, before);
           });
  finish<T>(w, in, old);
}

/// Data is the new value, then the expected one.
template <typename T> void compareSwap(Wave &w, const Instruction &in) {
  LaneAddresses addresses;
  if (!laneAddresses(w, in, sizeof(T), addresses))
    return;
  const uint32_t *data = w.row(in.source[1].index);
  const uint32_t *expected = data + sizeof(T) / 4 * kLanes;
  LaneBuffer old{};
  forLanes(w, in, addresses, sizeof(T), AccessKind::Atomic,
           [&](unsigned l, uint8_t *bytes) {
             if (isAligned<T>(w, in, addresses, l))
               setLane(old, l,
                       atomic::compareExchange<T>(bytes, dataOf<T>(expected, l),
                                                  dataOf<T>(data, l)));
           });
  finish<T>(w, in, old);
}

class Table {
public:
  Table() {
    for (const char *prefix :
         {"flat_atomic_", "global_atomic_", "buffer_atomic_"}) {
      integers<uint32_t, int32_t>(prefix, "");
      integers<uint64_t, int64_t>(prefix, "_x2");
      row<float>(prefix, "add_f32", "", &atomicUpdate<float, atomic::add>, 1);
      row<double>(prefix, "add_f64", "", &atomicUpdate<double, atomic::add>, 1);
      row<double>(prefix, "min_f64", "",
                  &atomicUpdate<double, atomic::floatMinimum>, 1);
      row<double>(prefix, "max_f64", "",
                  &atomicUpdate<double, atomic::floatMaximum>, 1);
      row<uint32_t>(prefix, "pk_add_f16", "",
                    &atomicUpdate<uint32_t, atomic::addHalves>, 1);
      row<uint32_t>(prefix, "pk_add_bf16", "",
                    &atomicUpdate<uint32_t, atomic::addBfloats>, 1);
    }
  }
  std::vector<Operation> rows;

private:
  template <typename T>
  void row(const char *prefix, const char *what, const char *suffix,
           Handler handler, unsigned operands) {
    Operation op{
        names.emplace_back(std::string(prefix) + what + suffix).c_str(),
        handler, InstructionClass::VectorAtomic};
    op.sources[0] = op.sources[1] = ValueType::B32;
    op.resultRegisters = sizeof(T) / 4;
    op.dataRegisters = uint8_t(operands * sizeof(T) / 4);
    rows.push_back(op);
  }
  template <typename U, typename S>
  void integers(const char *prefix, const char *suffix) {
    row<U>(prefix, "swap", suffix, &atomicUpdate<U, atomic::exchange>, 1);
    row<U>(prefix, "cmpswap", suffix, &compareSwap<U>, 2);
    row<U>(prefix, "add", suffix, &atomicUpdate<U, atomic::add>, 1);
    row<U>(prefix, "sub", suffix, &atomicUpdate<U, atomic::sub>, 1);
    row<U>(prefix, "smin", suffix, &atomicUpdate<S, atomic::minimum>, 1);
    row<U>(prefix, "umin", suffix, &atomicUpdate<U, atomic::minimum>, 1);
    row<U>(prefix, "smax", suffix, &atomicUpdate<S, atomic::maximum>, 1);
    row<U>(prefix, "umax", suffix, &atomicUpdate<U, atomic::maximum>, 1);
    row<U>(prefix, "and", suffix, &atomicUpdate<U, atomic::bitAnd>, 1);
    row<U>(prefix, "or", suffix, &atomicUpdate<U, atomic::bitOr>, 1);
    row<U>(prefix, "xor", suffix, &atomicUpdate<U, atomic::bitXor>, 1);
    row<U>(prefix, "inc", suffix, &atomicUpdate<U, atomic::increment>, 1);
    row<U>(prefix, "dec", suffix, &atomicUpdate<U, atomic::decrement>, 1);
  }
  std::deque<std::string> names;
};

} // namespace

std::span<const Operation> atomicOperations() {
  static const Table table;
  return table.rows;
}

} // namespace winnow::sim
