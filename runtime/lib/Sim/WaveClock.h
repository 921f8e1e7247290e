// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long a wave would take if it were alone: its instructions one after the
// other, and what it waits for. Loads take a fixed time and overlap as far as
// the program lets them, which is what schedules differ in.
#ifndef WINNOW_SIM_WAVECLOCK_H
#define WINNOW_SIM_WAVECLOCK_H

#include "Effects.h"

#include <algorithm>
#include <deque>

namespace winnow::sim {

class WaveClock {
public:
  // Clocks at 2.4 GHz. Assumed: 800 ns for a vector access, as of memory under
  // load, 200 ns for a scalar one, as arguments and lengths are in a cache
  // after the first waves, and 128 clocks for LDS.
  static constexpr uint64_t kMemoryClocks = 1920, kScalarClocks = 480,
                            kLdsClocks = 128;

  void start() { *this = WaveClock(); }

  /// An instruction that keeps its unit for `cycles`.
  void step(const Effects &effects, uint64_t cycles) {
    if (effects.isWait) {
      waitUntil(vector, effects.waitVm < 63 ? effects.waitVm : vector.size());
      waitUntil(others,
                effects.waitLgkm < 15 ? effects.waitLgkm : others.size());
    }
    clock += cycles;
    if (effects.countsVm)
      issue(vector, kMemoryClocks);
    if (effects.countsLgkm)
      issue(others, effects.space == Space::Lds ? kLdsClocks : kScalarClocks);
  }

  uint64_t now() const { return clock; }
  /// Leaves a barrier that the last wave reached at `time`.
  void passBarrier(uint64_t time) { clock = std::max(clock, time); }

private:
  /// Operations of a counter are done in the order of their issue.
  void issue(std::deque<uint64_t> &pending, uint64_t latency) {
    const uint64_t done = clock + latency;
    pending.push_back(pending.empty() ? done : std::max(done, pending.back()));
  }
  void waitUntil(std::deque<uint64_t> &pending, size_t left) {
    for (; pending.size() > left; pending.pop_front())
      clock = std::max(clock, pending.front());
  }

  uint64_t clock = 0;
  std::deque<uint64_t> vector, others; ///< when what is under way is done
};

} // namespace winnow::sim

#endif // WINNOW_SIM_WAVECLOCK_H
