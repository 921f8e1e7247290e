// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One seed from start to end: made, run on every lowering, and, if it fails,
// minimised and reported.
#ifndef WINNOW_TESTS_PROPERTY_CHECKCASE_H
#define WINNOW_TESTS_PROPERTY_CHECKCASE_H

#include "Minimise.h"
#include "RandomCase.h"
#include "Tally.h"

#include <functional>
#include <optional>

namespace winnow::test {

struct CheckOptions {
  int inputs = 4;                ///< of each description
  int attempts = 400;            ///< to make a failure simpler
  const Plant *plant = nullptr;  ///< null: no fault
  std::function<bool()> stopped; ///< asked between runs; may be empty
};

struct CaseFailure {
  uint64_t seed = 0;
  Failure failure;     ///< of the run as it was made
  Trial found;         ///< that run
  Minimised minimised; ///< and the simplest that fails in the same stage
  Failure simplest;    ///< how that fails

  /// The minimal description, its inputs, what is wrong and how to repeat it.
  std::string text(const CheckOptions &options) const;
};

/// The first failure of a seed's case, if it has one.
std::optional<CaseFailure> checkCase(uint64_t seed, const CheckOptions &options,
                                     Tally &tally);

} // namespace winnow::test

#endif // WINNOW_TESTS_PROPERTY_CHECKCASE_H
