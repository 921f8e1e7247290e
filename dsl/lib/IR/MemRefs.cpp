// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layout questions about memrefs (see MemRefs.h).
#include "winnow/IR/MemRefs.h"

#include "llvm/Support/MathExtras.h"

#include <cstdlib>

using namespace mlir;
using namespace winnow;

bool winnow::isRowMemRef(Type type, int64_t rank) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref || memref.getRank() != rank || memref.getMemorySpace())
    return false;
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(memref.getStridesAndOffset(strides, offset)) &&
         strides.back() == 1;
}

bool winnow::isContiguous(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  int64_t wanted = 1;
  for (int64_t axis = type.getRank() - 1; axis >= 0; --axis) {
    int64_t extent = type.getDimSize(axis);
    if (extent != 1 && strides[axis] != wanted)
      return false;
    // Only the outermost axis may be of unknown extent.
    if (axis > 0 && ShapedType::isDynamic(extent))
      return false;
    // The step past the outermost axis is never asked for.
    if (axis > 0 && llvm::MulOverflow(wanted, extent, wanted))
      return false;
  }
  return true;
}

std::string winnow::extentText(int64_t extent) {
  return ShapedType::isDynamic(extent) ? "?" : std::to_string(extent);
}

std::optional<OverlappingAxis> winnow::findOverlappingAxis(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  int64_t rowExtent = type.getShape().back();
  if (ShapedType::isDynamic(rowExtent))
    return std::nullopt;
  for (unsigned axis = 0, e = type.getRank() - 1; axis < e; ++axis) {
    int64_t stride = strides[axis];
    if (ShapedType::isDynamic(stride) || type.getDimSize(axis) == 1)
      continue;
    if (std::abs(stride) < rowExtent)
      return OverlappingAxis{axis, stride, rowExtent};
  }
  return std::nullopt;
}
