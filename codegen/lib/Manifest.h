// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the runtime has to know of a scheduled entry.
#ifndef WINNOW_CODEGEN_MANIFEST_H
#define WINNOW_CODEGEN_MANIFEST_H

#include "winnow/Runtime/Manifest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace winnow {

/// The manifest of a scheduled entry whose kernels stand in source number
/// `source` of the bundle. Fails with a diagnostic on an argument that no stage
/// uses, or on two arguments of one role.
mlir::FailureOr<runtime::Entry> describeEntry(mlir::func::FuncOp entry,
                                              uint32_t source);

} // namespace winnow

#endif // WINNOW_CODEGEN_MANIFEST_H
