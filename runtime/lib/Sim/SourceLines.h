// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DWARF line information behind an interface without LLVM types.
#ifndef WINNOW_SIM_SOURCELINES_H
#define WINNOW_SIM_SOURCELINES_H

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace winnow::sim {

/// Not thread-safe. Copies what it needs of the file.
class SourceLines {
public:
  explicit SourceLines(std::span<const uint8_t> elf);
  ~SourceLines();

  /// "file.hip:42" of a code object address; empty when it is not known.
  std::string at(uint64_t address) const;

private:
  struct Impl;
  std::unique_ptr<Impl> state;
};

} // namespace winnow::sim

#endif // WINNOW_SIM_SOURCELINES_H
