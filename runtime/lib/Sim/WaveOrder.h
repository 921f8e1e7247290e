// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which accesses of a workgroup's waves come before which: barriers order all
// of them, an atomic those before it and those after a later one at the same
// place.
#ifndef WINNOW_SIM_WAVEORDER_H
#define WINNOW_SIM_WAVEORDER_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>

namespace winnow::sim {

/// Waves of a workgroup of 1024 work items.
constexpr unsigned kMostWaves = 16;

/// For each wave, how far its accesses are known.
using WaveClocks = std::array<uint32_t, kMostWaves>;

class WaveOrder {
public:
  void start() {
    lds.clear();
    for (WaveClocks &clocks : seen)
      clocks.fill(0);
    barrierClocks.fill(0);
    barriers = 0;
    advanceAll();
  }
  void passBarrier() {
    ++barriers;
    WaveClocks all{};
    for (const WaveClocks &clocks : seen)
      merge(all, clocks);
    seen.fill(all);
    advanceAll();
  }

  uint32_t clock(unsigned wave) const { return seen[wave][wave]; }
  uint32_t barrierCount() const { return barriers; }
  /// What `other` did at `clock` comes before what `wave` does now.
  bool isAfter(unsigned wave, unsigned other, uint32_t clock) const {
    return seen[wave][other] >= clock;
  }
  /// The waves have synchronised since the last barrier.
  bool hasMet(unsigned wave, unsigned other) const {
    return seen[wave][other] >= barrierClocks[other];
  }

  /// An atomic reads a place (takes), or updates it (gives).
  void synchronise(unsigned wave, WaveClocks &place, bool takes, bool gives) {
    if (takes)
      merge(seen[wave], place);
    if (gives)
      merge(place, seen[wave]);
  }
  /// The same where only waves of other workgroups are known to have been:
  /// every wave of this one is taken to be.
  void meetAll(unsigned wave) {
    for (unsigned other = 0; other < kMostWaves; ++other)
      seen[wave][other] = std::max(seen[wave][other], clock(other));
  }
  /// After an instruction that gave: what follows is later.
  void advance(unsigned wave) { ++seen[wave][wave]; }

  WaveClocks &ofLds(uint32_t address) { return lds[address]; }

private:
  static void merge(WaveClocks &to, const WaveClocks &from) {
    for (unsigned i = 0; i < kMostWaves; ++i)
      to[i] = std::max(to[i], from[i]);
  }
  void advanceAll() {
    for (unsigned wave = 0; wave < kMostWaves; ++wave)
      barrierClocks[wave] = ++seen[wave][wave];
  }

  std::array<WaveClocks, kMostWaves> seen{};
  WaveClocks barrierClocks{};
  uint32_t barriers = 0;
  std::unordered_map<uint32_t, WaveClocks> lds;
};

} // namespace winnow::sim

#endif // WINNOW_SIM_WAVEORDER_H
