// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What DS instructions share: addresses, alignment, old values.
#ifndef WINNOW_SIM_LDSACCESS_H
#define WINNOW_SIM_LDSACCESS_H

#include "Lanes.h"
#include "MemoryAccess.h"

#include <string>
#include <type_traits>

namespace winnow::sim {

/// Single-address instructions have a 16-bit byte offset in both fields.
inline uint32_t wideOffset(const Instruction &in) {
  return uint32_t(in.immediate | in.immediate2 << 8);
}

template <typename Body>
void forLdsLanes(Wave &w, const Instruction &in, uint32_t offset, unsigned size,
                 AccessKind kind, Body body) {
  const uint32_t *address = w.row(in.source[0].index);
  uint64_t exec = w.exec();
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(exec >> l & 1))
      continue;
    uint8_t *bytes = ldsBytes(w, in, l, address[l] + offset, size, kind);
    if (!bytes)
      return;
    changing(w, kind, bytes, size, [&] { body(l, bytes); });
  }
}

inline bool isAligned(Wave &w, const Instruction &in, const uint8_t *bytes,
                      unsigned size, const char *what = "an LDS atomic") {
  // What lies outside and goes on has a place of its own.
  const uint8_t *lds = w.group->lds.data();
  bool isOutside = bytes < lds || bytes >= lds + w.group->lds.size();
  if (isOutside || uint64_t(bytes - lds) % size == 0)
    return true;
  w.stop(in, std::string(what) + " at an address that is not a multiple of " +
                 std::to_string(size));
  return false;
}

template <typename T>
void returnOld(Wave &w, const Instruction &in, const LaneBuffer &old) {
  if (w.state == WaveState::Stopped)
    return;
  commit(w, in.destination.index, old.low, w.exec());
  if (sizeof(T) == 8)
    commit(w, in.destination.index + 1, old.high, w.exec());
}
template <typename T> T dataOf(Wave &w, const Operand &operand, unsigned lane) {
  const uint32_t *row = w.row(operand.index);
  LaneView view{row, row + kLanes};
  return laneValue<T>(view, lane);
}

/// Fn(old, data) gives the new value, or Fn(wave, old, data) where MODE counts.
template <typename T, auto Fn, bool Returns>
void ldsAtomic(Wave &w, const Instruction &in) {
  LaneBuffer old{};
  forLdsLanes(w, in, wideOffset(in), sizeof(T), AccessKind::Atomic,
              [&](unsigned l, uint8_t *bytes) {
                if (!isAligned(w, in, bytes, sizeof(T)))
                  return;
                // One workgroup runs on one host thread: no atomicity needed.
                T before;
                std::memcpy(&before, bytes, sizeof(T));
                T data = dataOf<T>(w, in.source[1], l), after;
                if constexpr (std::is_invocable_v<decltype(Fn), Wave &, T, T>)
                  after = Fn(w, before, data);
                else
                  after = Fn(before, data);
                std::memcpy(bytes, &after, sizeof(T));
                setLane(old, l, before);
              });
  if (Returns)
    returnOld<T>(w, in, old);
}

} // namespace winnow::sim

#endif // WINNOW_SIM_LDSACCESS_H
