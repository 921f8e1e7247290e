// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the simulated device looks for while it runs, beyond what always stops a
// launch (accesses outside live allocations, unknown instructions, runaway
// loops), and what it found.
#ifndef WINNOW_SIM_CHECKS_H
#define WINNOW_SIM_CHECKS_H

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace winnow::sim {

enum class CheckAction : uint8_t {
  Off,
  /// The launch goes on and reports what it found in LaunchStats::findings.
  Warn,
  /// The first finding ends the launch with an error.
  Stop,
};

enum class CheckKind : uint8_t {
  /// A load of global memory that neither host nor kernel wrote.
  UninitialisedGlobal,
  /// A load of LDS that no wave of the workgroup wrote.
  UninitialisedLds,
  /// Two waves touch the same LDS bytes between two barriers, one of them
  /// writing, not both by atomics, nor both storing the same value.
  LdsRace,
  /// The same of two workgroups of a launch and global memory, unless the later
  /// one took an atomic's location that the earlier one had updated.
  GlobalRace,
  /// Waves pass a barrier at which others ended, or wait at another one.
  DivergentBarrier,
  /// A register is used before the s_waitcnt that makes a load's result
  /// visible, or overwritten while the load is still to write it.
  MissingWait,
  Count
};

/// "uninitialised-global", ...: how reports and command lines spell them.
std::string_view nameOf(CheckKind kind);

struct Checks {
  std::array<CheckAction, size_t(CheckKind::Count)> actions{};

  CheckAction of(CheckKind kind) const { return actions[size_t(kind)]; }
  Checks &set(CheckKind kind, CheckAction action) {
    actions[size_t(kind)] = action;
    return *this;
  }
  static Checks all(CheckAction action) {
    Checks checks;
    checks.actions.fill(action);
    return checks;
  }
  bool any() const {
    for (CheckAction action : actions)
      if (action != CheckAction::Off)
        return true;
    return false;
  }
};

/// One finding; the same one of the same instruction is told once.
struct Finding {
  CheckKind kind = CheckKind::Count;
  /// Kernel, workgroup, wave, instruction, source line, lane and address.
  std::string message;
  /// How often the instruction did it.
  uint64_t count = 0;
};

} // namespace winnow::sim

#endif // WINNOW_SIM_CHECKS_H
