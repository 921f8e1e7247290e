// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which workgroup wrote and read each dword of global memory during a launch.
// Workgroups run one after another here and at the same time on hardware:
// what one takes from another is a race unless an atomic orders them.
#ifndef WINNOW_SIM_GLOBALWATCH_H
#define WINNOW_SIM_GLOBALWATCH_H

#include "Effects.h"

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace winnow::sim {

class GlobalWatch {
public:
  GlobalWatch(bool findsRaces, bool findsUninitialised, bool countsDistinct)
      : findsRaces(findsRaces), findsUninitialised(findsUninitialised),
        countsDistinct(countsDistinct) {}

  void start(uint64_t workgroup) {
    current = uint32_t(workgroup);
    ordered.clear();
  }

  struct Problems {
    std::string race, uninitialised;
  };
  /// An access that lies in `allocation`.
  void access(Allocation &allocation, AccessKind kind, bool isCoherent,
              uint64_t address, unsigned size, unsigned lane,
              Problems &problems);

  /// Bytes of the different dwords that were accessed.
  uint64_t distinctBytes() const { return 4 * distinctDwords; }

private:
  /// A workgroup plus one in the high bits (kMany: several), the bytes of the
  /// dword that it accessed, and whether by an atomic.
  struct Cell {
    uint32_t writer;
    uint32_t reader;
  };
  struct Shadow {
    struct Free {
      void operator()(void *p) const;
    };
    /// Zero pages until touched: most buffers are larger than what is used.
    std::unique_ptr<Cell[], Free> cells;
    std::unique_ptr<uint64_t[], Free> touched;
  };
  Shadow &shadowOf(Allocation &allocation);
  bool isOrderedAfter(uint32_t workgroup) const {
    return workgroup / 64 < ordered.size() &&
           ordered[workgroup / 64] >> (workgroup % 64) & 1;
  }
  void synchronise(uint64_t address, bool takes, bool gives);
  void check(Cell &cell, AccessKind kind, bool isAtomic, uint32_t bytes,
             uint64_t address, unsigned lane, const Allocation &allocation,
             Problems &problems);

  bool findsRaces, findsUninitialised, countsDistinct;
  uint32_t current = 0;
  uint64_t distinctDwords = 0;
  Allocation *lastAllocation = nullptr;
  Shadow *lastShadow = nullptr;
  std::map<Allocation *, Shadow> shadows;
  /// Workgroups whose accesses the current one comes after.
  std::vector<uint64_t> ordered;
  /// The same of what was given to a location by atomics.
  std::unordered_map<uint64_t, std::vector<uint64_t>> given;
};

/// What active lanes touch together: different bytes, and the lines they are
/// in.
struct Touched {
  unsigned bytes = 0;
  unsigned lines64 = 0;
  unsigned lines128 = 0;
};
Touched touchedBy(const uint64_t *addresses, uint64_t exec, unsigned size);

} // namespace winnow::sim

#endif // WINNOW_SIM_GLOBALWATCH_H
