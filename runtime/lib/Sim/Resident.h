// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A workgroup that is on the device: its state outlives a turn on a host thread
// when it waits for others.
#ifndef WINNOW_SIM_RESIDENT_H
#define WINNOW_SIM_RESIDENT_H

#include "Observer.h"

namespace winnow::sim {

/// What a wave that spins asks for again and again.
struct Poll {
  /// Null when it spins without reading memory.
  const Instruction *at = nullptr;
  uint64_t address = 0;
  unsigned lane = 0;
  bool isLds = false;
  bool isSpinning = false;
};

struct Resident {
  Resident(const LaunchInput &input, Findings &findings);
  Resident(const Resident &) = delete;
  Resident &operator=(const Resident &) = delete;

  /// Workgroup `linear` begins here, `place` in the order in which they start;
  /// what was before is over.
  void start(const LaunchInput &input, uint64_t linear, uint64_t place);

  Workgroup group;
  GroupWatch watch;
  /// Of each wave, once it was found to spin.
  std::vector<Poll> polls;
  uint64_t place = 0;
  /// Rounds in which nothing changed, and how many make it worth a search for
  /// waves that spin.
  unsigned quiet = 0, patience = 1;
  /// The state of memory (Dispatcher::version) in which it cannot go on.
  uint64_t stuckAt = 0;
  /// Changes of its own that the dispatcher knows of.
  uint64_t published = 0;
};

/// How many workgroups the device holds at once.
uint64_t mostResident(const LaunchInput &input);

} // namespace winnow::sim

#endif // WINNOW_SIM_RESIDENT_H
