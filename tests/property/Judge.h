// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether what came back from a device is right. No LLVM in here: it is part of
// a program that runs where there is none.
#ifndef WINNOW_TESTS_PROPERTY_JUDGE_H
#define WINNOW_TESTS_PROPERTY_JUDGE_H

#include "RandomInputs.h"

#include <optional>
#include <string>

namespace winnow::test {

/// What is wrong with a run. Two failures of one stage are taken for the same.
struct Failure {
  std::string stage; ///< "compile", "simulator", "scores", "selection", ...
  std::string text;
};

/// A call as it is made, and as a device is given it.
struct MadeCall {
  tool::Call before, given;
  /// The scores are in the workspace: only the last launch runs, which selects.
  bool scoresGiven = false;

  static Result<MadeCall> make(const tool::Indexer &indexer,
                               const Inputs &inputs);
};

/// Holds what came back of `made.given` against the reference, and everything
/// around it against what was there before.
std::optional<Failure> judge(const MadeCall &made, tool::Call after);

} // namespace winnow::test

#endif // WINNOW_TESTS_PROPERTY_JUDGE_H
