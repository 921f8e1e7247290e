// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which lowering each operation of a description gets, and why, without
// compiling it. Free of MLIR and LLVM headers, so that tools need none.
#ifndef WINNOW_CODEGEN_EXPLAIN_H
#define WINNOW_CODEGEN_EXPLAIN_H

#include "winnow/Codegen/Compile.h"

#include <string>
#include <string_view>
#include <vector>

namespace winnow {

/// Why one lowering did not get an operation.
struct RefusedLowering {
  std::string lowering;
  std::vector<std::string> reasons;
};

/// One operation, rows excepted: they are part of every kernel.
struct OperationChoice {
  std::string operation;    ///< "winnow.block_score"
  int line = 0, column = 0; ///< in the description
  std::string lowering;     ///< empty: none takes it
  std::vector<RefusedLowering> refused;
};

struct EntryExplanation {
  std::string entry;
  /// The contract that the description names, and the limits of it that it
  /// breaks: a build is refused then, whatever the lowerings say.
  std::string contract;
  std::vector<std::string> broken;
  /// What is wrong with the entry as a whole.
  std::vector<std::string> faults;
  std::vector<OperationChoice> operations;

  /// Whether some lowering takes each operation and nothing is at fault.
  bool taken() const;
  /// Whether a build is not refused: it is taken, and keeps the contract that
  /// it names.
  bool builds() const { return taken() && broken.empty(); }
};

/// One for each entry of the description. The error is every diagnostic of a
/// text that is no valid description, or says that it has no entry.
Result<std::vector<EntryExplanation>>
explainDescription(std::string_view text, std::string_view name,
                   const CompileOptions &options = {});

} // namespace winnow

#endif // WINNOW_CODEGEN_EXPLAIN_H
