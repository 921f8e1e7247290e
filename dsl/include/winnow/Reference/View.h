// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Non-owning strided tensors: what the reference reads and writes, so that it
// can check slices and padded buffers exactly as a kernel sees them.
#ifndef WINNOW_REFERENCE_VIEW_H
#define WINNOW_REFERENCE_VIEW_H

#include "winnow/Reference/NumberFormats.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace winnow::reference {

/// Strides of a dense row-major tensor, in elements.
template <int Rank>
std::array<int64_t, Rank>
denseStrides(const std::array<int64_t, Rank> &extents) {
  std::array<int64_t, Rank> strides{};
  int64_t step = 1;
  for (int axis = Rank - 1; axis >= 0; --axis) {
    strides[axis] = step;
    step *= extents[axis];
  }
  return strides;
}

/// A tensor of `Rank` axes over memory of the caller's. Extents are counts and
/// strides are steps, both in elements. Indexing is unchecked.
template <typename T, int Rank> struct View {
  T *data = nullptr;
  std::array<int64_t, Rank> extents{};
  std::array<int64_t, Rank> strides{};

  View() = default;
  View(T *data, std::array<int64_t, Rank> extents)
      : data(data), extents(extents), strides(denseStrides<Rank>(extents)) {}
  View(T *data, std::array<int64_t, Rank> extents,
       std::array<int64_t, Rank> strides)
      : data(data), extents(extents), strides(strides) {}
  /// A view to write through is one to read through.
  operator View<const T, Rank>() const
    requires(!std::is_const_v<T>)
  {
    return {data, extents, strides};
  }

  template <typename... Index> T &operator()(Index... index) const {
    static_assert(sizeof...(Index) == Rank, "one index for each axis");
    int64_t offset = 0;
    int axis = 0;
    ((offset += static_cast<int64_t>(index) * strides[axis++]), ...);
    return data[offset];
  }
};

/// A tensor of three axes whose element format is known at run time only:
/// queries [N, H, D] and key caches [pages, B, D].
struct NumberView {
  const void *data = nullptr;
  NumberFormat format = NumberFormat::F8E4M3FN;
  std::array<int64_t, 3> extents{};
  std::array<int64_t, 3> strides{};

  NumberView() = default;
  NumberView(const void *data, NumberFormat format,
             std::array<int64_t, 3> extents)
      : data(data), format(format), extents(extents),
        strides(denseStrides<3>(extents)) {}
  NumberView(const void *data, NumberFormat format,
             std::array<int64_t, 3> extents, std::array<int64_t, 3> strides)
      : data(data), format(format), extents(extents), strides(strides) {}

  /// The element's value. Unchecked.
  float operator()(int64_t i, int64_t j, int64_t k) const {
    int64_t offset = i * strides[0] + j * strides[1] + k * strides[2];
    const auto *bytes =
        static_cast<const unsigned char *>(data) + offset * byteWidth(format);
    uint16_t half;
    float single;
    switch (format) {
    case NumberFormat::F8E4M3FN:
      return decodeF8E4M3FN(*bytes);
    case NumberFormat::F8E5M2:
      return decodeF8E5M2(*bytes);
    case NumberFormat::BF16:
      std::memcpy(&half, bytes, sizeof half);
      return decodeBF16(half);
    case NumberFormat::F16:
      std::memcpy(&half, bytes, sizeof half);
      return decodeF16(half);
    case NumberFormat::F32:
      std::memcpy(&single, bytes, sizeof single);
      return single;
    }
    return 0.0f;
  }
};

/// The same to write to, in the formats of a key cache: f8E4M3FN, bf16, f16.
struct NumberStore {
  void *data = nullptr;
  NumberFormat format = NumberFormat::F8E4M3FN;
  std::array<int64_t, 3> extents{};
  std::array<int64_t, 3> strides{};

  /// Writes an element, converted as insert_keys says. Unchecked; another
  /// format is left alone.
  void store(int64_t i, int64_t j, int64_t k, float value) const {
    int64_t offset = i * strides[0] + j * strides[1] + k * strides[2];
    auto *bytes =
        static_cast<unsigned char *>(data) + offset * byteWidth(format);
    uint16_t half = 0;
    switch (format) {
    case NumberFormat::F8E4M3FN:
      *bytes = encodeF8E4M3FN(value);
      return;
    case NumberFormat::BF16:
      half = encodeBF16(value);
      break;
    case NumberFormat::F16:
      half = encodeF16(value);
      break;
    case NumberFormat::F8E5M2:
    case NumberFormat::F32:
      return;
    }
    std::memcpy(bytes, &half, sizeof half);
  }
};

} // namespace winnow::reference

#endif // WINNOW_REFERENCE_VIEW_H
