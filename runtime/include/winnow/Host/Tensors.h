// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors of one call in host memory: what inputs are made in, what a device is
// filled from and what its results come back to.
#ifndef WINNOW_HOST_TENSORS_H
#define WINNOW_HOST_TENSORS_H

#include "winnow/Reference/View.h"
#include "winnow/Runtime/Launch.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace winnow::host {

/// Memory starts as this byte. As an f32 it is 3.4e38 and as an i32
/// 2139062143, so a score or page number that should not have been read wins,
/// or leads far outside every buffer; as f8E4M3FN it is NaN.
inline constexpr std::byte kPoison{0x7f};

/// An owning strided tensor. `bytes` ends with the last element.
struct HostTensor {
  std::string name;
  runtime::TensorView view; ///< its address is 0
  std::vector<std::byte> bytes;

  /// A poisoned tensor; an error where it would be larger than kMaxBytes.
  static Result<HostTensor> make(std::string name, runtime::TensorView view);
  static constexpr uint64_t kMaxBytes = uint64_t(16) << 30;

  int64_t extent(int axis) const { return view.extents[axis]; }
  uint64_t hostAddress() const {
    return reinterpret_cast<uint64_t>(bytes.data());
  }

  /// As the reference sees it. T is the element's type; Rank its axes.
  template <typename T, int Rank> reference::View<T, Rank> as() {
    return {reinterpret_cast<T *>(bytes.data()), first<Rank>(view.extents),
            first<Rank>(view.strides)};
  }
  template <typename T, int Rank> reference::View<const T, Rank> as() const {
    return {reinterpret_cast<const T *>(bytes.data()),
            first<Rank>(view.extents), first<Rank>(view.strides)};
  }
  reference::NumberView asNumbers() const;

private:
  template <int Rank>
  static std::array<int64_t, Rank>
  first(const std::array<int64_t, runtime::kMaxRank> &values) {
    std::array<int64_t, Rank> few{};
    for (int axis = 0; axis < Rank; ++axis)
      few[axis] = values[axis];
    return few;
  }
};

} // namespace winnow::host

#endif // WINNOW_HOST_TENSORS_H
