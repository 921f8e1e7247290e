// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DWARF line tables, versions 4 and 5, of a code object. Read here and not by
// LLVM, whose reader trusts the sections of a file that it did not write.
#ifndef WINNOW_SIM_SOURCELINES_H
#define WINNOW_SIM_SOURCELINES_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace winnow::sim {

/// Immutable, thread-safe to share.
class SourceLines {
public:
  /// A file without line tables, or with ones that are damaged, has no lines,
  /// or those before the damage: they are a courtesy to reports.
  explicit SourceLines(std::span<const uint8_t> elf);

  /// "file.hip:42" of a code object address; empty when it is not known.
  std::string at(uint64_t address) const;

private:
  struct Range {
    uint64_t begin, end;
    uint32_t file, line;
  };
  friend class LineProgram;
  /// By their beginning.
  std::vector<Range> ranges;
  std::vector<std::string> files;
};

} // namespace winnow::sim

#endif // WINNOW_SIM_SOURCELINES_H
