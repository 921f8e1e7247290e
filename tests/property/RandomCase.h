// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A description and inputs for it, all from one seed.
#ifndef WINNOW_TESTS_PROPERTY_RANDOMCASE_H
#define WINNOW_TESTS_PROPERTY_RANDOMCASE_H

#include "RandomInputs.h"
#include "Shape.h"

#include <vector>

namespace winnow::test {

struct Case {
  uint64_t seed = 0;
  Shape shape;
  /// Which lowerings to ask for: the shape as it is, and others of it.
  std::vector<Shape> variants;
  /// The first two have as many requests and rows, so that geometry compares.
  std::vector<Inputs> inputs;
};

/// A valid description of any operation, small enough to be simulated in
/// milliseconds, and `inputs` inputs for it.
Case randomCase(uint64_t seed, int inputs);

/// Mends what has to agree between the choices of a shape after one of them
/// was changed, so that the dialect accepts it.
void mend(Shape &shape);

} // namespace winnow::test

#endif // WINNOW_TESTS_PROPERTY_RANDOMCASE_H
