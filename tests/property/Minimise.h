// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a run that fails to a small one that still does.
#ifndef WINNOW_TESTS_PROPERTY_MINIMISE_H
#define WINNOW_TESTS_PROPERTY_MINIMISE_H

#include "RandomInputs.h"
#include "Shape.h"

#include <functional>

namespace winnow::test {

/// One description on one lowering and one set of inputs.
struct Trial {
  Shape shape;
  Inputs inputs;
};

/// Whether a run fails in the way that is looked for.
using Fails = std::function<bool(const Trial &)>;

struct Minimised {
  Trial trial;
  int attempts = 0;
  bool finished = false; ///< nothing that is tried makes it simpler
};

/// Takes whatever step makes the run simpler and lets it fail still: fewer
/// requests, shorter ones, plainer values, options at their defaults, smaller
/// numbers. Asks `fails` at most `attempts` times; the same run in, the same
/// run out.
Minimised minimise(const Trial &trial, const Fails &fails, int attempts);

} // namespace winnow::test

#endif // WINNOW_TESTS_PROPERTY_MINIMISE_H
