// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From kernel plans to HIP source.
#ifndef WINNOW_CODEGEN_EMITHIP_H
#define WINNOW_CODEGEN_EMITHIP_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace winnow {

/// The HIP source of every kernel that a scheduled `entry` launches: constants,
/// static assertions, the device headers in use, then the kernels. It includes
/// nothing and is the same text for the same plan, whatever file or folder the
/// description came from. Fails, with a diagnostic at the operation, on an
/// entry that has not been scheduled or on a stage that has no leaf function.
mlir::FailureOr<std::string> emitHip(mlir::func::FuncOp entry);

} // namespace winnow

#endif // WINNOW_CODEGEN_EMITHIP_H
