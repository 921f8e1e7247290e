// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random numbers that are the same for a seed everywhere, unlike the
// distributions of the standard library.
#ifndef WINNOW_TESTS_PROPERTY_RANDOM_H
#define WINNOW_TESTS_PROPERTY_RANDOM_H

#include <cstdint>
#include <initializer_list>

namespace winnow::test {

/// splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", 2014): neighbouring seeds give unrelated sequences.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Uniform over both ends and all between; `high` is at least `low`.
  int64_t between(int64_t low, int64_t high) {
    return low +
           static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1));
  }
  bool chance(int64_t percent) { return between(1, 100) <= percent; }
  template <typename T> T pick(std::initializer_list<T> from) {
    return *(from.begin() + between(0, static_cast<int64_t>(from.size()) - 1));
  }

private:
  uint64_t state;
};

} // namespace winnow::test

#endif // WINNOW_TESTS_PROPERTY_RANDOM_H
