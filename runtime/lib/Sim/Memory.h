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
#include <vector>

namespace winnow::sim {

struct Allocation {
  uint64_t base = 0;
  uint64_t size = 0;
  std::unique_ptr<uint8_t[]> bytes;
  std::string label;
  bool isLive = true;
  /// Every byte holds what somebody wrote; else `written` has a bit for each
  /// byte, or nothing was written when it is empty.
  bool isWritten = false;
  std::vector<uint64_t> written;

  bool contains(uint64_t address, uint64_t length) const {
    return address >= base && length <= size && address - base <= size - length;
  }

  void markWritten(uint64_t offset, uint64_t length);
  /// Whether all of the range was written.
  bool wasWritten(uint64_t offset, uint64_t length) const;
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
  /// Whether `address` lies in an allocation that was freed.
  bool isFreed(uint64_t address) const;
  /// What lies at or near `address`, for an error's text.
  std::string describeNear(uint64_t address) const;
  /// After a launch that did not keep track of its stores.
  void assumeAllWritten();

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
    Allocation *found = locate(address, size);
    return found ? found->bytes.get() + (address - found->base) : nullptr;
  }
  /// The live allocation that holds all of it, or null.
  Allocation *locate(uint64_t address, uint64_t size) {
    if (last && last->contains(address, size))
      return last;
    Allocation *found = memory->find(address, size);
    if (found)
      last = found;
    return found;
  }
  const Memory &all() const { return *memory; }

private:
  Memory *memory;
  Allocation *last = nullptr;
};

} // namespace winnow::sim

#endif // WINNOW_SIM_MEMORY_H
