// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device's 64-bit address space: allocations with guard gaps. Every global
// access of a wave goes through MemoryPort, which is where checks belong.
#ifndef WINNOW_SIM_MEMORY_H
#define WINNOW_SIM_MEMORY_H

#include "winnow/Runtime/Result.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace winnow::sim {

struct Allocation {
  uint64_t base = 0;
  uint64_t size = 0;
  std::unique_ptr<uint8_t[]> bytes;
  std::string label;
  bool isLive = true;

  bool contains(uint64_t address, uint64_t length) const {
    return address >= base && length <= size && address - base <= size - length;
  }
};

class Memory {
public:
  explicit Memory(uint32_t poison) : poison(poison) {}

  Result<Allocation *> alloc(uint64_t bytes, std::string_view label);
  Status free(uint64_t address);
  /// Frees and forgets, so that a later access is not reported as use after
  /// free: for the device's own short-lived segments.
  void drop(uint64_t address);

  /// The live allocation that holds all of [address, address + size), or null.
  Allocation *find(uint64_t address, uint64_t size);
  const Allocation *find(uint64_t address, uint64_t size) const {
    return const_cast<Memory *>(this)->find(address, size);
  }
  /// What lies at or near `address`, for an error's text.
  std::string describeNear(uint64_t address) const;

  Status check(const char *what, uint64_t address, uint64_t size) const;

private:
  // Freed ones stay, without their bytes, to name a use after free.
  std::map<uint64_t, Allocation> allocations;
  uint64_t next = 0x7e1000000000ull;
  uint32_t poison;
};

/// A wave's way to global memory; remembers the last allocation it met.
class MemoryPort {
public:
  explicit MemoryPort(Memory &memory) : memory(&memory) {}

  /// Host bytes of [address, address + size), or null when no live allocation
  /// holds it all.
  uint8_t *resolve(uint64_t address, uint64_t size) {
    if (last && last->contains(address, size))
      return last->bytes.get() + (address - last->base);
    Allocation *found = memory->find(address, size);
    if (!found)
      return nullptr;
    last = found;
    return found->bytes.get() + (address - found->base);
  }
  const Memory &all() const { return *memory; }

private:
  Memory *memory;
  Allocation *last = nullptr;
};

} // namespace winnow::sim

#endif // WINNOW_SIM_MEMORY_H
