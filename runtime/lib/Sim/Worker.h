// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One host thread of a launch.
#ifndef WINNOW_SIM_WORKER_H
#define WINNOW_SIM_WORKER_H

#include "Dispatcher.h"

namespace winnow::sim {

class Worker {
public:
  Worker(const LaunchInput &input, Dispatcher &dispatcher);

  /// Takes workgroups until there are none left.
  void run();

  void addTo(LaunchStats &stats, Findings &into) const;
  size_t wavesOfGroup() const;

private:
  enum class Outcome : uint8_t { Ended, Stuck, Yielded, Fault };
  Outcome runGroup(Resident &resident);
  template <bool Observed> bool runTurn(Wave &wave, uint64_t turn);
  /// A turn step by step that looks for a state of the wave that comes again
  /// while nothing else changed. False after a fault.
  bool searchTurn(Resident &resident, Wave &wave, uint64_t most);
  bool step(Wave &wave);
  bool endStep(Wave &wave, uint64_t executed);
  /// Instructions whose vector registers M0 moves.
  template <bool Observed>
  void runIndexed(Wave &wave, uint64_t turnEnd, uint64_t &executed);
  static bool isRunnable(const Wave &wave) {
    return wave.state == WaveState::Running ||
           wave.state == WaveState::Indexing;
  }
  /// False after a fault.
  bool passBarrier(Workgroup &group);
  /// The workgroup executed all that it may; false when that is a fault.
  bool reachLimit(Wave &wave);
  /// Ends the workgroup of a loop that does not; false when that is a fault.
  bool stopLoop(Wave &wave, const std::string &what);
  /// A wave that spins without reading memory, or null.
  static Wave *endlessLoop(Resident &resident);
  void giveUp(Workgroup &group);
  void breakDeadlock(std::vector<std::unique_ptr<Resident>> stuck);
  void describeFault(const Wave &wave, const Instruction &in,
                     const std::string &what) {
    faultText = placeOf(input, wave, in) + ": " + what;
  }

  const LaunchInput &input;
  Dispatcher &dispatcher;
  Findings findings;
  const uint64_t instructionLimit;
  std::vector<uint64_t> hits;
  uint64_t bytesLoaded = 0, bytesStored = 0;
  std::string faultText;
  std::unique_ptr<Observer> observer;
  const bool isShuffled;
  const unsigned leastPatience;
  RandomBits random;
  /// Workgroups that ended; their memory serves the next ones.
  std::vector<std::unique_ptr<Resident>> spare;
};

} // namespace winnow::sim

#endif // WINNOW_SIM_WORKER_H
