// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the simulated device looks for while it runs, and what it found.
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
  /// An access outside of every live allocation, of LDS or of scratch. When it
  /// does not stop, loads give the poison and stores go nowhere.
  OutOfBounds,
  /// The same in an allocation that was freed.
  UseAfterFree,
  /// A load of global memory that neither host nor kernel wrote.
  UninitialisedGlobal,
  /// A load of LDS that no wave of the workgroup wrote.
  UninitialisedLds,
  /// Two waves touch the same LDS bytes between two barriers, one of them
  /// writing, not both by atomics, nor both storing the same value.
  LdsRace,
  /// The same of global memory, and of two workgroups of a launch, unless the
  /// earlier one released what it stored and then updated an atomic's location,
  /// and the later one took that and then acquired.
  GlobalRace,
  /// Waves pass a barrier at which others ended, or wait at another one.
  DivergentBarrier,
  /// A register is used before the s_waitcnt that makes a load's result
  /// visible, or overwritten while the load is still to write it.
  MissingWait,
  /// Waves spin on memory that nobody who is left will write, or wait at a
  /// barrier for such waves. When it does not stop, stuck workgroups end.
  Deadlock,
  /// A workgroup executes more than LaunchOptions::instructionLimit. When it
  /// does not stop, the workgroup ends; off, there is no limit.
  RunawayLoop,
  Count
};

/// Whether a check stops a launch unless it is told otherwise. The others are
/// off, as they have to watch every instruction.
constexpr bool stopsByDefault(CheckKind kind) {
  return kind == CheckKind::OutOfBounds || kind == CheckKind::UseAfterFree ||
         kind == CheckKind::Deadlock || kind == CheckKind::RunawayLoop;
}

/// "uninitialised-global", ...: how reports and command lines spell them.
std::string_view nameOf(CheckKind kind);

struct Checks {
  std::array<CheckAction, size_t(CheckKind::Count)> actions{};

  Checks() {
    for (size_t i = 0; i < actions.size(); ++i)
      if (stopsByDefault(CheckKind(i)))
        actions[i] = CheckAction::Stop;
  }
  CheckAction of(CheckKind kind) const { return actions[size_t(kind)]; }
  Checks &set(CheckKind kind, CheckAction action) {
    actions[size_t(kind)] = action;
    return *this;
  }
  /// `action` for all that are off by default; the rest stop as they do.
  static Checks all(CheckAction action) {
    Checks checks;
    for (size_t i = 0; i < checks.actions.size(); ++i)
      if (!stopsByDefault(CheckKind(i)))
        checks.actions[i] = action;
    return checks;
  }
  /// Whether instructions have to be watched one by one.
  bool watches() const {
    for (size_t i = 0; i < actions.size(); ++i)
      if (!stopsByDefault(CheckKind(i)) && actions[i] != CheckAction::Off)
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
