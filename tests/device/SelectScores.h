// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The select kernel alone, on scores of a test's choice.
#ifndef WINNOW_TESTS_DEVICE_SELECTSCORES_H
#define WINNOW_TESTS_DEVICE_SELECTSCORES_H

#include "RunDescription.h"

#include <bit>
#include <limits>

namespace winnow::test {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The float with this bit pattern.
inline float bits(uint32_t pattern) { return std::bit_cast<float>(pattern); }

/// NaN of every kind, infinities, signed zeros, the ends of the range.
inline const float kSpecialScores[] = {0.0f,
                                       -0.0f,
                                       kInfinity,
                                       -kInfinity,
                                       bits(0x7fc00000),
                                       bits(0xffc00000),
                                       bits(0x7f800001), // a signaling NaN
                                       bits(0xffffffff),
                                       std::numeric_limits<float>::max(),
                                       std::numeric_limits<float>::lowest(),
                                       bits(1), // the smallest denormals
                                       bits(0x80000001),
                                       1.0f,
                                       -1.0f};

/// The score of a row's block.
using ScoreOf = std::function<float(int64_t row, int64_t block)>;

/// Fills every row's visible scores, selects, and holds ids and table against
/// the reference of those very scores, bit for bit.
void expectSelected(const Shape &wanted, const std::vector<int32_t> &lengths,
                    const ScoreOf &scoreOf, const char *what);

} // namespace winnow::test

#endif // WINNOW_TESTS_DEVICE_SELECTSCORES_H
