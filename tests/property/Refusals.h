// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a description may be refused for, decided from its shape alone: a second
// opinion on what contracts and passes say.
#ifndef WINNOW_TESTS_PROPERTY_REFUSALS_H
#define WINNOW_TESTS_PROPERTY_REFUSALS_H

#include "Shape.h"

#include <string>
#include <string_view>
#include <vector>

namespace winnow::test {

/// A limit that a text of the compiler names.
struct NamedLimit {
  std::string contract, limit;
  std::string text() const { return contract + "/" + limit; }
};

/// Every `contract '..', limit '..'` of a text, each once.
std::vector<NamedLimit> limitsIn(std::string_view text);

/// Whether the shape breaks that limit; false for one that nothing here makes.
bool breaks(const Shape &shape, const NamedLimit &limit);

/// Whether the MFMA lowering owes kernels for scoring, and for selecting.
bool mfmaScores(const Shape &shape);
bool mfmaSelects(const Shape &shape);

/// Whether scoring and selecting are sure to have a form in one launch.
bool joins(const Shape &shape);

} // namespace winnow::test

#endif // WINNOW_TESTS_PROPERTY_REFUSALS_H
