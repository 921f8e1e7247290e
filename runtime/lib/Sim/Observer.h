// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Looks at every instruction before it runs: the checks of a launch, and its
// profile. A launch that asks for neither runs without it.
#ifndef WINNOW_SIM_OBSERVER_H
#define WINNOW_SIM_OBSERVER_H

#include "Findings.h"
#include "GlobalWatch.h"
#include "LdsTransfers.h"
#include "LdsWatch.h"
#include "RegisterWatch.h"
#include "WaveClock.h"

namespace winnow::sim {

/// What is known of one workgroup that is on its way.
struct GroupWatch {
  std::vector<RegisterWatch> registers;
  LdsWatch lds;
  LdsTransfers transfers;
  GroupOrder order;
  std::vector<WaveClock> clocks;
  uint64_t linear = 0;
  bool hasReleased = false; ///< to the device
};

class Observer {
public:
  Observer(const LaunchInput &input, Findings &findings);

  /// `group` is about to start; its waves' registers are set up.
  void startWorkgroup(const Workgroup &group, GroupWatch &watch);
  /// Instructions from now on are those of the workgroup that `watch` is of.
  void resume(GroupWatch &watch) { current = &watch; }
  /// `in`, instruction `index` of the program, is about to run in `w`; it is
  /// stopped when a check says so.
  void before(Wave &w, const Instruction &in, size_t index) {
    before(w, in, index, effects[index]);
  }
  /// The same when VGPR indexing moves the registers that it names.
  void beforeIndexed(Wave &w, const Instruction &moved, size_t index) {
    before(w, moved, index,
           moved.operation && moved.reason < 0 ? effectsOf(moved, 0)
                                               : effects[index]);
  }
  /// Every wave that has not ended waits at a barrier.
  void passBarrier(Workgroup &group);

  /// The profile, when the launch is done.
  void finish(LaunchStats &stats);

private:
  void before(Wave &w, const Instruction &in, size_t index, const Effects &e);
  void look(Wave &w, const Instruction &in, size_t index, const Effects &e);
  void globalAccess(Wave &w, const Instruction &in, const Effects &e,
                    Counters &counters);
  void ldsAccess(Wave &w, const Instruction &in, const Effects &e,
                 Counters &counters);
  void scalarAccess(Wave &w, const Instruction &in, const Effects &e,
                    Counters &counters);
  void loadToLds(Wave &w, const Instruction &in, const Effects &e);
  void laneInLds(Wave &w, const Effects &e, uint32_t address, unsigned lane,
                 LdsWatch::Problems &problems, const uint8_t *value = nullptr);
  void reportLds(Wave &w, const Instruction &in,
                 const LdsWatch::Problems &problems);
  void reportGlobal(Wave &w, const Instruction &in,
                    const GlobalWatch::Problems &problems);

  const LaunchInput &input;
  std::vector<Effects> effects;
  const bool watchesRegisters, watchesLds, watchesGlobal, ordersWaves, profiles;
  Findings &findings;
  GroupWatch *current = nullptr;
  GlobalWatch global;
  std::vector<Counters> counters;
  std::vector<GroupProfile> groups;
};

} // namespace winnow::sim

#endif // WINNOW_SIM_OBSERVER_H
