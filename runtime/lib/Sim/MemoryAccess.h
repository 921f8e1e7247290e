// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The few functions through which lanes reach LDS, scratch and global memory.
// Bounds are checked here, and here is where further checks and counters go.
#ifndef WINNOW_SIM_MEMORYACCESS_H
#define WINNOW_SIM_MEMORYACCESS_H

#include "Wave.h"

#include <concepts>

namespace winnow::sim {

enum class AccessKind : uint8_t { Load, Store, Atomic };

/// Addresses of a vector memory instruction's lanes; only active ones count.
struct LaneAddresses {
  uint64_t at[kLanes];
  bool isScratch = false;
};

/// Computes the addresses of a flat, global or scratch instruction.
void laneAddresses(Wave &w, const Instruction &in, LaneAddresses &out);

/// Host bytes of one lane's access, or null after stopping the wave. Flat
/// addresses in the LDS and scratch windows go there.
uint8_t *laneBytes(Wave &w, const Instruction &in, const LaneAddresses &a,
                   unsigned lane, unsigned size, AccessKind kind);

/// Host bytes of an LDS access, or null after stopping the wave.
uint8_t *ldsBytes(Wave &w, const Instruction &in, unsigned lane,
                  uint32_t address, unsigned size, AccessKind kind);

/// Runs `body(lane, bytes)` for every active lane; false when one faulted.
template <typename Body>
bool forLanes(Wave &w, const Instruction &in, const LaneAddresses &a,
              unsigned size, AccessKind kind, Body body) {
  uint64_t exec = w.exec();
  unsigned count = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(exec >> l & 1))
      continue;
    uint8_t *bytes = a.isScratch ? nullptr : w.memory.resolve(a.at[l], size);
    if (!bytes) [[unlikely]] {
      bytes = laneBytes(w, in, a, l, size, kind);
      if (!bytes)
        return false;
    }
    ++count;
    body(l, bytes);
  }
  uint64_t moved = uint64_t(count) * size;
  if (kind != AccessKind::Store)
    w.group->bytesLoaded += moved;
  if (kind != AccessKind::Load)
    w.group->bytesStored += moved;
  return true;
}

} // namespace winnow::sim

#endif // WINNOW_SIM_MEMORYACCESS_H
