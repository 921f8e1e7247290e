// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contracts of an entry held against the device and the call at hand: the
// same data, evaluator and texts as at compile time, with what only now is
// known.
#ifndef WINNOW_RUNTIME_CONTRACTANSWER_H
#define WINNOW_RUNTIME_CONTRACTANSWER_H

#include "winnow/Contract/Evaluate.h"
#include "winnow/Runtime/Launch.h"

#include <span>
#include <string>
#include <vector>

namespace winnow::runtime {

/// What kernels are to run on.
struct Target {
  std::string platform = "rocm";
  std::string arch; ///< "gfx950"
};

/// One contract's verdict.
struct ContractAnswer {
  std::string contract; ///< its name
  contract::Report report;
};

/// The facts of an entry with those of the target in their place and, where
/// `arguments` are given (in the manifest's order), those that tensors state:
/// layouts and row counts.
contract::Facts callFacts(const Entry &entry, const Target &target,
                          std::span<const TensorView> arguments = {});

/// The description's contract, if it names one, then the lowering's. An error
/// is a contract in the bundle that cannot be read; a broken limit is part of
/// the answer. Thread-safe.
Result<std::vector<ContractAnswer>>
answerContracts(const Entry &entry, const Target &target,
                std::span<const TensorView> arguments = {});

} // namespace winnow::runtime

#endif // WINNOW_RUNTIME_CONTRACTANSWER_H
