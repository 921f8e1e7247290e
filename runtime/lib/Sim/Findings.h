// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What checks do with what they find: nothing, a line in the launch's findings,
// or the end of the launch. Findings of several host threads merge to what one
// thread would have found.
#ifndef WINNOW_SIM_FINDINGS_H
#define WINNOW_SIM_FINDINGS_H

#include "Launch.h"

#include <map>

namespace winnow::sim {

class Findings {
public:
  explicit Findings(const LaunchInput &input) : input(&input) {}

  CheckAction of(CheckKind kind) const {
    return input->options.checks.of(kind);
  }
  bool isOn(CheckKind kind) const { return of(kind) != CheckAction::Off; }

  /// `what` happened at `in` of `w`, `count` times; the wave is stopped when
  /// the check says so.
  void report(CheckKind kind, Wave &w, const Instruction &in,
              const std::string &what, uint64_t count = 1);

  /// Takes those of another host thread.
  void merge(const Findings &other);
  /// One of each kind and instruction, by the first workgroup that did it.
  std::vector<Finding> all() const;

private:
  struct Entry {
    Finding finding;
    uint64_t workgroup = 0;
    /// Of the findings of that workgroup.
    uint64_t order = 0;
  };
  const LaunchInput *input;
  /// Instructions by their address: indexed ones have no place of their own.
  std::map<std::pair<CheckKind, uint64_t>, Entry> entries;
};

} // namespace winnow::sim

#endif // WINNOW_SIM_FINDINGS_H
