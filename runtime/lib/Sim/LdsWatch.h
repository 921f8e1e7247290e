// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who wrote and read each byte of LDS since the last barrier, and which bytes
// were written at all.
#ifndef WINNOW_SIM_LDSWATCH_H
#define WINNOW_SIM_LDSWATCH_H

#include "Effects.h"
#include "WaveOrder.h"

#include <string>
#include <vector>

namespace winnow::sim {

class LdsWatch {
public:
  void start(size_t bytes);
  void passBarrier() { ++epoch; }

  struct Problems {
    std::string race, uninitialised;
  };
  /// What is wrong with an access of [address, address + size) by a wave goes
  /// to `problems`. Bytes outside LDS are left to the access itself. A store
  /// gives its `value`: storing what `memory`, the LDS, holds already changes
  /// nothing, whoever wrote it.
  void access(unsigned wave, AccessKind kind, uint32_t address, unsigned size,
              unsigned lane, const WaveOrder &order, Problems &problems,
              const uint8_t *memory, const uint8_t *value = nullptr);

private:
  struct Byte {
    /// Of the accesses that it remembers; older ones do not count.
    uint32_t epoch = 0;
    /// Workgroup in which it was written last.
    uint32_t generation = 0;
    /// The writer's when it wrote, and that of the last reader.
    uint32_t clock = 0;
    uint32_t readClock = 0;
    /// Waves that read it, and the one that wrote it plus one.
    uint16_t readers = 0;
    uint8_t writer = 0;
    uint8_t lastReader = 0;
    bool byAtomic = false;
  };
  std::vector<Byte> bytes;
  uint32_t epoch = 0, generation = 0;
};

/// Clocks that the lanes' LDS accesses take: lanes go in groups that move 128
/// bytes, each group once more for every further dword of its busiest bank.
struct LdsCycles {
  uint64_t cycles = 0;
  uint64_t conflicts = 0;
};
LdsCycles ldsCycles(const uint32_t *addresses, uint64_t exec, uint32_t offset,
                    unsigned size);

} // namespace winnow::sim

#endif // WINNOW_SIM_LDSWATCH_H
