// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Races and uninitialised reads in LDS, byte by byte, and bank conflicts.
#include "LdsWatch.h"

#include <algorithm>
#include <bit>

namespace winnow::sim {

void LdsWatch::start(size_t size) {
  // Epochs only grow, so that the bytes of the last workgroup need no clearing.
  bytes.resize(size);
  ++epoch;
  ++generation;
}

void LdsWatch::access(unsigned wave, AccessKind kind, uint32_t address,
                      unsigned size, unsigned lane, const WaveOrder &order,
                      Problems &problems, const uint8_t *memory,
                      const uint8_t *value) {
  if (size > bytes.size() || address > bytes.size() - size)
    return;
  for (uint32_t at = address; at < address + size; ++at) {
    Byte &b = bytes[at];
    if (b.epoch != epoch) {
      b.epoch = epoch;
      b.readers = 0;
      b.writer = 0;
    }
    auto race = [&](const char *what, unsigned other) {
      if (problems.race.empty())
        problems.race = "LDS byte " + hex(at) + ", which lane " +
                        std::to_string(lane) + " " +
                        (kind == AccessKind::Load ? "reads" : "writes") +
                        ", was " + what + " by wave " + std::to_string(other) +
                        " with no barrier or atomic in between";
    };
    bool isAtomic = kind == AccessKind::Atomic;
    bool isSame = value && value[at - address] == memory[at];
    if (b.writer && b.writer != wave + 1 && !isSame &&
        !(isAtomic && b.byAtomic) &&
        !order.isAfter(wave, b.writer - 1u, b.clock))
      race("written", b.writer - 1u);
    if (kind != AccessKind::Store && b.generation != generation &&
        problems.uninitialised.empty())
      problems.uninitialised = "LDS byte " + hex(at) + ", which lane " +
                               std::to_string(lane) +
                               " reads, was not written by the workgroup";
    if (kind == AccessKind::Load) {
      b.readers |= uint16_t(1u << wave);
      b.lastReader = uint8_t(wave);
      b.readClock = order.clock(wave);
      continue;
    }
    unsigned others = b.readers & ~(1u << wave);
    for (; others; others &= others - 1) {
      unsigned other = unsigned(std::countr_zero(others));
      // Of earlier readers it is only known that they read since the barrier.
      bool isOrdered = other == b.lastReader
                           ? order.isAfter(wave, other, b.readClock)
                           : order.hasMet(wave, other);
      if (!isOrdered)
        race("read", other);
    }
    b.clock = order.clock(wave);
    b.writer = uint8_t(wave + 1);
    b.byAtomic = isAtomic;
    b.generation = generation;
  }
}

LdsCycles ldsCycles(const uint32_t *addresses, uint64_t exec, uint32_t offset,
                    unsigned size) {
  constexpr unsigned banks = 64, bytesPerClock = 128;
  LdsCycles out;
  unsigned dwords = std::max(1u, size / 4);
  unsigned group = bytesPerClock / (4 * dwords);
  // Rounded down to a power of two, so that groups tile the wave (96 bits).
  group = std::bit_floor(std::min(group, kLanes));
  for (unsigned first = 0; first < kLanes; first += group) {
    uint32_t held[128];
    unsigned count = 0;
    for (unsigned l = first; l < first + group; ++l)
      if (exec >> l & 1)
        for (unsigned d = 0; d < dwords && count < 128; ++d)
          held[count++] = (addresses[l] + offset) / 4 + d;
    if (!count)
      continue;
    // The same dword is read once for all lanes.
    std::sort(held, held + count);
    count = unsigned(std::unique(held, held + count) - held);
    uint8_t load[banks] = {};
    unsigned busiest = 0;
    for (unsigned i = 0; i < count; ++i)
      busiest = std::max<unsigned>(busiest, ++load[held[i] % banks]);
    out.cycles += busiest;
    out.conflicts += busiest - 1;
  }
  return out;
}

} // namespace winnow::sim
