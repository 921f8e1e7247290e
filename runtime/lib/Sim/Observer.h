// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Looks at every instruction before it runs: the checks of a launch, and its
// profile. A launch that asks for neither runs without it.
#ifndef WINNOW_SIM_OBSERVER_H
#define WINNOW_SIM_OBSERVER_H

#include "GlobalWatch.h"
#include "Launch.h"
#include "LdsTransfers.h"
#include "LdsWatch.h"
#include "RegisterWatch.h"

#include <map>

namespace winnow::sim {

class Observer {
public:
  explicit Observer(const LaunchInput &input);

  /// `group` is about to start; its waves' registers are set up.
  void startWorkgroup(const Workgroup &group);
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

  /// Findings and profile, when the launch is done.
  void finish(LaunchStats &stats);

private:
  void before(Wave &w, const Instruction &in, size_t index, const Effects &e);
  CheckAction of(CheckKind kind) const { return input.options.checks.of(kind); }
  bool isOn(CheckKind kind) const { return of(kind) != CheckAction::Off; }
  void report(CheckKind kind, Wave &w, const Instruction &in,
              const std::string &what);
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
  const bool watchesRegisters, watchesLds, watchesGlobal, profiles;
  std::vector<RegisterWatch> registers;
  LdsWatch lds;
  LdsTransfers transfers;
  GlobalWatch global;
  std::vector<Counters> counters;
  std::map<std::pair<CheckKind, const Instruction *>, size_t> known;
  std::vector<Finding> findings;
};

} // namespace winnow::sim

#endif // WINNOW_SIM_OBSERVER_H
