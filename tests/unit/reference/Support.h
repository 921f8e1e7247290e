// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small owning tensors, so that a test reads as numbers.
#ifndef WINNOW_TESTS_UNIT_REFERENCE_SUPPORT_H
#define WINNOW_TESTS_UNIT_REFERENCE_SUPPORT_H

#include "winnow/Reference/Operations.h"

#include <concepts>
#include <limits>
#include <vector>

namespace winnow::reference {

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

template <typename T, int Rank> struct Tensor {
  std::array<int64_t, Rank> extents;
  std::vector<T> values;

  Tensor(std::array<int64_t, Rank> extents, std::vector<T> values)
      : extents(extents), values(std::move(values)) {}
  // A template, so that {0} means a list of one and never a fill.
  template <std::same_as<T> Fill>
  Tensor(std::array<int64_t, Rank> extents, Fill fill) : extents(extents) {
    int64_t count = 1;
    for (int64_t extent : extents)
      count *= extent;
    values.assign(count, fill);
  }

  View<T, Rank> view() { return {values.data(), extents}; }
  View<const T, Rank> view() const { return {values.data(), extents}; }
};

struct Lengths {
  std::vector<int32_t> values;
  Rows rows(int64_t queryLen, int64_t blockSize) const {
    return {View<const int32_t, 1>(values.data(),
                                   {static_cast<int64_t>(values.size())}),
            queryLen, blockSize};
  }
};

} // namespace winnow::reference

#endif // WINNOW_TESTS_UNIT_REFERENCE_SUPPORT_H
