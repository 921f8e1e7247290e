// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Orders of workgroups and lengths of turns drawn from a seed: what a device
// may do with a launch, as opposed to what it does when nothing is in its way.
#ifndef WINNOW_SIM_SHUFFLE_H
#define WINNOW_SIM_SHUFFLE_H

#include <algorithm>
#include <bit>
#include <cstdint>

namespace winnow::sim {

/// SplitMix64 (Steele, Lea, Flood 2014): small, and any seed will do.
class RandomBits {
public:
  explicit RandomBits(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  /// From 0 to `count` - 1.
  uint64_t below(uint64_t count) { return next() % count; }
  /// A length of up to 2^bits, short ones as likely as long ones.
  uint64_t length(unsigned bits) {
    const uint64_t most = uint64_t(1) << below(bits + 1);
    return 1 + below(most);
  }

private:
  uint64_t state;
};

/// A permutation of [0, count) in no memory: four rounds of a Feistel network
/// over the next power of four, walked until the number is one of them.
class Permutation {
public:
  Permutation(uint64_t count, uint64_t seed) : count(count) {
    halfBits =
        (unsigned(std::bit_width(std::max<uint64_t>(count, 2) - 1)) + 1) / 2;
    RandomBits bits(seed);
    for (uint64_t &key : keys)
      key = bits.next();
  }
  uint64_t operator()(uint64_t place) const {
    do
      place = walk(place);
    while (place >= count);
    return place;
  }

private:
  uint64_t walk(uint64_t place) const {
    const uint64_t mask = (uint64_t(1) << halfBits) - 1;
    uint64_t low = place & mask, high = place >> halfBits;
    for (uint64_t key : keys) {
      const uint64_t mixed = RandomBits(low ^ key).next() & mask;
      const uint64_t swapped = high ^ mixed;
      high = low;
      low = swapped;
    }
    return high << halfBits | low;
  }

  uint64_t count;
  unsigned halfBits;
  uint64_t keys[4];
};

} // namespace winnow::sim

#endif // WINNOW_SIM_SHUFFLE_H
