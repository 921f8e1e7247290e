// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the operations ask of the memrefs that they read and write.
#ifndef WINNOW_IR_MEMREFS_H
#define WINNOW_IR_MEMREFS_H

#include "mlir/IR/BuiltinTypes.h"
#include <cstdint>
#include <optional>
#include <string>

namespace winnow {

/// Whether `type` is a ranked memref of `rank` axes in the default memory
/// space, strided, and contiguous along its last axis. Kernels move whole
/// vectors along that axis; the other axes may have any stride.
bool isRowMemRef(mlir::Type type, int64_t rank);

/// Whether every element follows the one before it for certain: a stride that
/// is `?` may be anything. The stride of an axis of extent 1 is never used.
bool isContiguous(mlir::MemRefType type);

/// An extent or stride as MLIR writes it: the number, or "?" if it is dynamic.
std::string extentText(int64_t extent);

/// An axis along which neighbouring rows share memory: its static stride is
/// smaller than the last axis. Writing such a memref would be a race.
struct OverlappingAxis {
  unsigned axis = 0;
  int64_t stride = 0;
  int64_t rowExtent = 0;
};

/// The first such axis of a memref that isRowMemRef() accepts, if any. Axes of
/// extent 1 are left out, and so is what is dynamic.
std::optional<OverlappingAxis> findOverlappingAxis(mlir::MemRefType type);

} // namespace winnow

#endif // WINNOW_IR_MEMREFS_H
