// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How keys are asked for, at random.
#ifndef WINNOW_TESTS_PROPERTY_RANDOMSCHEDULE_H
#define WINNOW_TESTS_PROPERTY_RANDOMSCHEDULE_H

#include "Random.h"
#include "Shape.h"

#include <string>

namespace winnow::test {

/// Values that the score kernel of a shape can have in a matrix lowering,
/// "mfma" or "mma", as Shape::schedule has them; empty where it has another.
std::string randomSchedule(const Shape &shape, const std::string &lowering,
                           Random &random);

} // namespace winnow::test

#endif // WINNOW_TESTS_PROPERTY_RANDOMSCHEDULE_H
