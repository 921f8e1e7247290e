// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparisons: one bit a lane into a scalar pair; v_cmpx writes EXEC too.
#include "FloatFormats.h"
#include "Lanes.h"

#include <cmath>
#include <deque>
#include <string>
#include <vector>

namespace winnow::sim {
namespace {

template <typename T> T compared(T v) { return v; }
inline float compared(Half v) { return halfToFloat(v.bits); }

template <typename T, auto Test, bool WritesExec>
void compare(Wave &w, const Instruction &in) {
  LaneBuffer buffers[2];
  LaneView a = source<T>(w, in, 0, buffers[0]);
  LaneView b = source<T>(w, in, 1, buffers[1]);
  alignas(64) uint8_t flags[kLanes];
  for (unsigned l = 0; l < kLanes; ++l)
    flags[l] = Test(compared(laneValue<T>(a, l)), compared(laneValue<T>(b, l)));
  uint64_t mask = packMask(flags) & w.exec();
  w.setPair(in.scalarDestination, mask);
  if (WritesExec)
    w.setPair(kExec, mask);
}

/// Bits of v_cmp_class: sNaN, qNaN, -inf, -normal, -denormal, -0, +0,
/// +denormal, +normal, +inf.
template <typename T> uint32_t classOf(T bits, int exponentBits) {
  int width = int(sizeof(T)) * 8;
  int fractionBits = width - 1 - exponentBits;
  bool sign = bits >> (width - 1) & 1;
  uint64_t exponent =
      uint64_t(bits) >> fractionBits & ((1u << exponentBits) - 1);
  uint64_t fraction = uint64_t(bits) & ((uint64_t(1) << fractionBits) - 1);
  if (exponent == (1u << exponentBits) - 1) {
    if (fraction)
      return fraction >> (fractionBits - 1) & 1 ? 2 : 1;
    return sign ? 1u << 2 : 1u << 9;
  }
  if (exponent)
    return sign ? 1u << 3 : 1u << 8;
  if (fraction)
    return sign ? 1u << 4 : 1u << 7;
  return sign ? 1u << 5 : 1u << 6;
}

template <typename T, typename Bits, int ExponentBits, bool WritesExec>
void compareClass(Wave &w, const Instruction &in) {
  KeepDenormals keep(w);
  LaneBuffer buffers[2];
  LaneView a = source<T>(w, in, 0, buffers[0]);
  LaneView b = source<uint32_t>(w, in, 1, buffers[1]);
  uint8_t flags[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    Bits bits = std::bit_cast<Bits>(laneValue<T>(a, l));
    flags[l] = (classOf(bits, ExponentBits) & b.low[l]) != 0;
  }
  uint64_t mask = packMask(flags) & w.exec();
  w.setPair(in.scalarDestination, mask);
  if (WritesExec)
    w.setPair(kExec, mask);
}

class Table {
public:
  Table() {
    integers<int16_t>("i16");
    integers<uint16_t>("u16");
    integers<int32_t>("i32");
    integers<uint32_t>("u32");
    integers<int64_t>("i64");
    integers<uint64_t>("u64");
    floats<Half>("f16");
    floats<float>("f32");
    floats<double>("f64");
    classes<Half, uint16_t, 5>("f16");
    classes<float, uint32_t, 8>("f32");
    classes<double, uint64_t, 11>("f64");
  }
  std::vector<Operation> rows;

private:
  void row(const char *prefix, const char *what, const char *type,
           Handler handler, ValueType a, ValueType b) {
    std::string &name =
        names.emplace_back(std::string(prefix) + what + "_" + type);
    rows.push_back({name.c_str(),
                    handler,
                    InstructionClass::Valu,
                    ValueType::None,
                    {a, b, ValueType::None}});
  }
  template <typename T, auto Test>
  void both(const char *what, const char *type) {
    ValueType t = typeOf<T>();
    row("v_cmp_", what, type, &compare<T, Test, false>, t, t);
    row("v_cmpx_", what, type, &compare<T, Test, true>, t, t);
  }
  template <typename T> void ordered(const char *type) {
    both<T, [](auto, auto) { return false; }>("f", type);
    both<T, [](auto a, auto b) { return a < b; }>("lt", type);
    both<T, [](auto a, auto b) { return a == b; }>("eq", type);
    both<T, [](auto a, auto b) { return a <= b; }>("le", type);
    both<T, [](auto a, auto b) { return (a > b); }>("gt", type);
    both<T, [](auto a, auto b) { return a >= b; }>("ge", type);
  }
  template <typename T> void integers(const char *type) {
    ordered<T>(type);
    both<T, [](auto a, auto b) { return a != b; }>("ne", type);
    both<T, [](auto, auto) { return true; }>("t", type);
  }
  template <typename T> void floats(const char *type) {
    ordered<T>(type);
    both<T, [](auto a, auto b) { return (a < b || a > b); }>("lg", type);
    both<T, [](auto a, auto b) { return a == a && b == b; }>("o", type);
    both<T, [](auto a, auto b) { return a != a || b != b; }>("u", type);
    both<T, [](auto a, auto b) { return !(a >= b); }>("nge", type);
    both<T, [](auto a, auto b) { return !(a < b || a > b); }>("nlg", type);
    both<T, [](auto a, auto b) { return !(a > b); }>("ngt", type);
    both<T, [](auto a, auto b) { return !(a <= b); }>("nle", type);
    both<T, [](auto a, auto b) { return a != b; }>("neq", type);
    both<T, [](auto a, auto b) { return !(a < b); }>("nlt", type);
    both<T, [](auto, auto) { return true; }>("tru", type);
  }
  template <typename T, typename Bits, int E> void classes(const char *type) {
    ValueType t = typeOf<T>();
    row("v_cmp_", "class", type, &compareClass<T, Bits, E, false>, t,
        ValueType::B32);
    row("v_cmpx_", "class", type, &compareClass<T, Bits, E, true>, t,
        ValueType::B32);
  }

  // A deque keeps the names in place.
  std::deque<std::string> names;
};

} // namespace

std::span<const Operation> vectorCompareOperations() {
  static const Table table;
  return table.rows;
}

} // namespace winnow::sim
