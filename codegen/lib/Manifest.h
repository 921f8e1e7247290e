// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the runtime has to know of an entry.
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

/// The manifest of an entry that has no kernels yet, as far as the reference
/// needs it: no workspace and no launches, its lowering called "reference".
mlir::FailureOr<runtime::Entry> describeUnscheduled(mlir::func::FuncOp entry);

} // namespace winnow

#endif // WINNOW_CODEGEN_MANIFEST_H
