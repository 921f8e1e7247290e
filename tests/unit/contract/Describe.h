// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A description's text written from facts, the way back from what the compiler
// collects.
#ifndef WINNOW_TESTS_UNIT_CONTRACT_DESCRIBE_H
#define WINNOW_TESTS_UNIT_CONTRACT_DESCRIBE_H

#include "winnow/Contract/Facts.h"

#include <string>

namespace winnow::contract::test {

/// An entry `described` that is held to `contract` and says what `facts` say,
/// as far as a description can. Row counts are static extents.
std::string describe(const Facts &facts, const std::string &contract);

/// The same of an entry that merges the candidates of ranks.
std::string describeMerge(const Facts &facts, const std::string &contract);

} // namespace winnow::contract::test

#endif // WINNOW_TESTS_UNIT_CONTRACT_DESCRIBE_H
