// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vmcnt and lgkmcnt, kept as the numbers of the operations issued and done.
#include "RegisterWatch.h"

#include <algorithm>

namespace winnow::sim {

void RegisterWatch::start(unsigned vectorRows) {
  vector.assign(vectorRows, {});
  std::fill(std::begin(scalar), std::end(scalar), Pending{});
  vmIssued = vmDone = lgkmIssued = lgkmDone = lastUnordered = lastLdsStore = 0;
}

std::string RegisterWatch::describe(const RegisterRange &range, unsigned index,
                                    bool isVm) const {
  return std::string(range.isWritten ? "overwrites " : "reads ") +
         (range.isVector ? "vector register " : "s") + std::to_string(index) +
         ", which a " + (isVm ? "vector memory load" : "load") +
         " issued before is still to write: an s_waitcnt " +
         (isVm ? "vmcnt" : "lgkmcnt") + " is missing";
}

std::string RegisterWatch::conflict(const Effects &effects) const {
  if (vmIssued == vmDone && lgkmIssued == lgkmDone)
    return {};
  for (unsigned i = 0; i < effects.registerCount; ++i) {
    const RegisterRange &range = effects.registers[i];
    const Pending *all = range.isVector ? vector.data() : scalar;
    unsigned end = range.first + range.count;
    for (unsigned r = range.first; r < end; ++r) {
      // Loads of one kind write in the order of their issue.
      bool inOrder = range.isWritten && effects.countsVm &&
                     effects.access == AccessKind::Load && !effects.isUnordered;
      if (all[r].vm > vmDone && !inOrder)
        return describe(range, r, true);
      bool ldsInOrder = range.isWritten && effects.space == Space::Lds &&
                        all[r].lgkm > lastUnordered;
      if (all[r].lgkm > lgkmDone && !ldsInOrder)
        return describe(range, r, false);
    }
  }
  if (effects.isBarrier && lastLdsStore > lgkmDone)
    return "passes a barrier with an LDS store on its way, which other waves "
           "may not see: an s_waitcnt lgkmcnt(0) is missing";
  return {};
}

unsigned RegisterWatch::issue(const Effects &effects) {
  if (effects.isWait) {
    const uint32_t before = vmDone + lgkmDone;
    if (effects.waitVm < 63 && vmIssued - vmDone > effects.waitVm)
      vmDone = vmIssued - effects.waitVm;
    // With operations on their way that complete in any order, only waiting
    // for all says something.
    bool isOrdered = lastUnordered <= lgkmDone;
    if (effects.waitLgkm < 15 && lgkmIssued - lgkmDone > effects.waitLgkm &&
        (effects.waitLgkm == 0 || isOrdered))
      lgkmDone = lgkmIssued - effects.waitLgkm;
    return vmDone + lgkmDone - before;
  }
  if (!effects.countsVm && !effects.countsLgkm)
    return 0;
  vmIssued += effects.countsVm;
  lgkmIssued += effects.countsLgkm;
  if (effects.isUnordered)
    lastUnordered = lgkmIssued;
  if (effects.space == Space::Lds && effects.access != AccessKind::Load)
    lastLdsStore = lgkmIssued;
  for (unsigned i = 0; i < effects.registerCount; ++i) {
    const RegisterRange &range = effects.registers[i];
    if (!range.isWritten)
      continue;
    Pending *all = range.isVector ? vector.data() : scalar;
    for (unsigned r = range.first; r < range.first + range.count; ++r) {
      if (effects.countsVm)
        all[r].vm = vmIssued;
      if (effects.countsLgkm)
        all[r].lgkm = lgkmIssued;
    }
  }
  return 0;
}

} // namespace winnow::sim
