// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a caller's tensors to packed kernel launches: arguments held against the
// manifest, symbols resolved, workspace sized, kernarg bytes laid out.
//
// Nothing here reads or writes tensor memory, so addresses may be a device's.
// Everything may be called from several threads at once.
#ifndef WINNOW_RUNTIME_LAUNCH_H
#define WINNOW_RUNTIME_LAUNCH_H

#include "winnow/Runtime/Manifest.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace winnow::runtime {

/// A strided tensor at an address. Extents are counts and strides steps, both
/// in elements; only the first `rank` of each count.
struct TensorView {
  uint64_t address = 0;
  DType dtype = DType::F32;
  int rank = 0;
  std::array<int64_t, kMaxRank> extents{};
  std::array<int64_t, kMaxRank> strides{};

  /// A dense row-major tensor; at most kMaxRank extents. Strides that overflow
  /// are 0, which `bindArguments` then refuses.
  static TensorView dense(uint64_t address, DType dtype,
                          std::span<const int64_t> extents);
  static TensorView dense(uint64_t address, DType dtype,
                          std::initializer_list<int64_t> extents) {
    return dense(address, dtype, std::span(extents.begin(), extents.size()));
  }
  /// No element at all.
  bool empty() const;
  /// "[4, 1, 128]".
  std::string shapeText() const;
  std::string stridesText() const;
};

/// Bytes from the first element to the end of the last; 0 for an empty tensor.
/// Negative extents or strides and an overflow are errors.
Result<uint64_t> byteSpan(const TensorView &tensor);

/// Holds `arguments`, in the manifest's order, against the entry and answers
/// with the symbols of this call. An error names the argument, what was found
/// and what was wanted: count, dtype, rank, extents, strides, a null address of
/// a tensor that has elements, alignment (TensorArgument::alignment), rows of
/// an output that overlap, more requests than the bound.
Result<Symbols> bindArguments(const Entry &entry,
                              std::span<const TensorView> arguments);

/// The workspace tensors of a call, dense, in the manifest's order, their
/// addresses 0: the caller allocates `byteSpan` of each, 16-byte aligned.
Result<std::vector<TensorView>> workspaceTensors(const Entry &entry,
                                                 const Symbols &symbols);

/// One kernel argument as packed: 8 bytes at `offset` of the kernarg segment.
struct ResolvedArgument {
  KernelArgument source;
  uint32_t offset = 0;
  uint64_t value = 0; ///< an address, a stride in elements or an extent
};

struct ResolvedLaunch {
  std::string kernel;
  uint32_t source = 0;                       ///< index of Bundle::sources
  std::array<uint32_t, 3> grid = {1, 1, 1};  ///< workgroups
  std::array<uint32_t, 3> block = {1, 1, 1}; ///< work items a workgroup
  uint32_t dynamicLdsBytes = 0;
  std::vector<ResolvedArgument> arguments;
  std::vector<std::byte> kernarg; ///< the explicit arguments, little-endian
};

/// The launches of a call, to be run in order. One whose grid is empty (no
/// requests) is left out. `arguments` are those that `bindArguments` accepted;
/// `workspace` is that of workspaceTensors with addresses.
Result<std::vector<ResolvedLaunch>>
resolveLaunches(const Entry &entry, const Symbols &symbols,
                std::span<const TensorView> arguments,
                std::span<const TensorView> workspace);

} // namespace winnow::runtime

#endif // WINNOW_RUNTIME_LAUNCH_H
