// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which registers of a wave wait for a load: hardware lets a program read them
// too early, the simulator has their values at once.
#ifndef WINNOW_SIM_REGISTERWATCH_H
#define WINNOW_SIM_REGISTERWATCH_H

#include "Effects.h"

#include <string>
#include <vector>

namespace winnow::sim {

/// One wave's outstanding operations. Vector memory completes in order, LDS
/// too; scalar loads and flat accesses in any (CDNA4 ISA, "Data Dependency
/// Resolution").
class RegisterWatch {
public:
  void start(unsigned vectorRows);

  /// What the instruction does too early, or "" when it waits as it should.
  std::string conflict(const Effects &effects) const;
  /// Takes the instruction's waits and what it issues; how many operations it
  /// waits for.
  unsigned issue(const Effects &effects);
  /// Numbers of the last vector memory operation, and of the last one that the
  /// wave has waited for.
  uint32_t issuedVector() const { return vmIssued; }
  uint32_t doneVector() const { return vmDone; }

private:
  /// The number of the operation that is to write a register; 0 for none.
  struct Pending {
    uint32_t vm = 0;
    uint32_t lgkm = 0;
  };
  std::string describe(const RegisterRange &range, unsigned index,
                       bool isVm) const;

  std::vector<Pending> vector;
  Pending scalar[128];
  uint32_t vmIssued = 0, vmDone = 0;
  uint32_t lgkmIssued = 0, lgkmDone = 0;
  /// The last one that may complete out of order, and the last LDS store.
  uint32_t lastUnordered = 0, lastLdsStore = 0;
};

} // namespace winnow::sim

#endif // WINNOW_SIM_REGISTERWATCH_H
