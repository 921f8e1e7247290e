// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The select kernel alone, on scores of a test's choice.
#ifndef WINNOW_TESTS_DEVICE_SELECTSCORES_H
#define WINNOW_TESTS_DEVICE_SELECTSCORES_H

#include "RunDescription.h"

namespace winnow::test {

/// The score of a row's block.
using ScoreOf = std::function<float(int64_t row, int64_t block)>;

/// Fills every row's visible scores, selects, and holds ids and table against
/// the reference of those very scores, bit for bit.
void expectSelected(const Shape &shape, const std::vector<int32_t> &lengths,
                    const ScoreOf &scoreOf, const char *what);

} // namespace winnow::test

#endif // WINNOW_TESTS_DEVICE_SELECTSCORES_H
