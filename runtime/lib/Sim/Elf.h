// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A reader of 64-bit little-endian ELF files that trusts nothing: a code object
// may come from a cache, a bundle or a fuzzer.
#ifndef WINNOW_SIM_ELF_H
#define WINNOW_SIM_ELF_H

#include "winnow/Runtime/Result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::sim {

struct ElfSegment {
  uint32_t type = 0;
  uint32_t flags = 0;
  uint64_t offset = 0;
  uint64_t address = 0;
  uint64_t fileSize = 0;
  uint64_t memorySize = 0;
  bool isExecutable() const { return flags & 1; }
};

struct ElfSymbol {
  std::string_view name;
  uint64_t address = 0;
  uint64_t size = 0;
  uint8_t type = 0;
  bool isDefined = false;
};

struct ElfRelocation {
  uint64_t address = 0;
  uint32_t type = 0;
  uint32_t symbol = 0;
  int64_t addend = 0;
};

/// Views into `bytes`, which has to outlive it.
struct ElfFile {
  std::span<const uint8_t> bytes;
  uint16_t type = 0;
  uint16_t machine = 0;
  uint8_t osAbi = 0;
  uint8_t abiVersion = 0;
  uint32_t flags = 0;
  std::vector<ElfSegment> segments;
  /// .dynsym, which the relocations index, and then .symtab.
  std::vector<ElfSymbol> dynamicSymbols;
  std::vector<ElfSymbol> staticSymbols;
  std::vector<ElfRelocation> relocations;

  static Result<ElfFile> parse(std::span<const uint8_t> bytes);
};

/// Reads a little-endian integer; the caller has checked the range.
template <typename T> T readLittle(const uint8_t *from) {
  T value = 0;
  for (unsigned i = 0; i < sizeof(T); ++i)
    value = T(value | (T(from[i]) << (8 * i)));
  return value;
}

std::string hex(uint64_t value);

} // namespace winnow::sim

#endif // WINNOW_SIM_ELF_H
