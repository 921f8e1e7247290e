// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The few functions through which lanes reach LDS, scratch and global memory.
// Bounds are checked here, and here is where further checks and counters go.
#ifndef WINNOW_SIM_MEMORYACCESS_H
#define WINNOW_SIM_MEMORYACCESS_H

#include "Wave.h"

#include <concepts>

namespace winnow::sim {

enum class AccessKind : uint8_t { Load, Store, Atomic };

/// Addresses of a vector memory instruction's lanes.
struct LaneAddresses {
  uint64_t at[kLanes];
  /// Lanes that reach memory: EXEC, less lanes out of a buffer's range.
  uint64_t lanes = 0;
  bool isScratch = false;
  /// Buffers: bytes of each such lane's access that are in range.
  uint8_t bytes[kLanes];
};

/// Computes the addresses of an access of `size` bytes a lane; false after
/// stopping the wave, which only a buffer's descriptor makes it do.
bool laneAddresses(Wave &w, const Instruction &in, unsigned size,
                   LaneAddresses &out);
bool bufferAddresses(Wave &w, const Instruction &in, unsigned size,
                     LaneAddresses &out);

/// Where a scalar memory instruction's `size` bytes begin; false after stopping
/// the wave, as above.
bool scalarAddress(Wave &w, const Instruction &in, unsigned size,
                   uint64_t &address);

/// LDS address at which a load to LDS puts the data of a lane, `size` bytes of
/// memory; `base` is M0 and the offset of the instruction.
constexpr uint32_t ldsDestination(uint32_t base, unsigned lane, unsigned size) {
  return base + lane * (size > 4 ? 16 : 4);
}
/// Bytes that it puts there.
constexpr unsigned ldsDestinationBytes(unsigned size) {
  return size > 4 ? size : 4;
}
inline uint32_t ldsDestinationBase(const Wave &w, const Instruction &in) {
  return w.sgpr[kM0] + uint32_t(in.immediate);
}

/// Which check an address outside of every live allocation is a matter of.
inline CheckKind outsideKind(const Wave &w, uint64_t address) {
  return w.memory.all().isFreed(address) ? CheckKind::UseAfterFree
                                         : CheckKind::OutOfBounds;
}

/// Calls `body` on `size` bytes that it may write, and keeps track of whether
/// it changed them. Atomics are compared always, as spinning ones store what is
/// there already.
template <typename Body>
void changing(Wave &w, AccessKind kind, uint8_t *bytes, unsigned size,
              Body body) {
  if (kind == AccessKind::Load)
    return body();
  if (kind == AccessKind::Store && !w.group->comparesStores) [[likely]] {
    ++w.group->changes;
    return body();
  }
  uint8_t before[16];
  std::memcpy(before, bytes, size);
  body();
  w.group->changes += std::memcmp(before, bytes, size) != 0;
}

/// Host bytes of one lane's access, or null after stopping the wave. Flat
/// addresses in the LDS and scratch windows go there.
uint8_t *laneBytes(Wave &w, const Instruction &in, const LaneAddresses &a,
                   unsigned lane, unsigned size, AccessKind kind);

/// Host bytes of an LDS access, or null after stopping the wave.
uint8_t *ldsBytes(Wave &w, const Instruction &in, unsigned lane,
                  uint32_t address, unsigned size, AccessKind kind);

/// Runs `body(lane, bytes)` for every lane that reaches memory; false when one
/// faulted.
template <typename Body>
bool forLanes(Wave &w, const Instruction &in, const LaneAddresses &a,
              unsigned size, AccessKind kind, Body body) {
  uint64_t lanes = a.lanes;
  unsigned count = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1))
      continue;
    uint8_t *bytes = a.isScratch ? nullptr : w.memory.resolve(a.at[l], size);
    if (!bytes) [[unlikely]] {
      bytes = laneBytes(w, in, a, l, size, kind);
      if (!bytes)
        return false;
    }
    ++count;
    changing(w, kind, bytes, size, [&] { body(l, bytes); });
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
