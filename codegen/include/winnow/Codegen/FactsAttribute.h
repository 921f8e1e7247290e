// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Facts of a description as an attribute. Scheduling replaces the operations
// that the facts come from, so they travel with the entry from then on.
#ifndef WINNOW_CODEGEN_FACTSATTRIBUTE_H
#define WINNOW_CODEGEN_FACTSATTRIBUTE_H

#include "winnow/Contract/Facts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace winnow {

/// The value of `winnow.facts`.
mlir::DictionaryAttr factsToAttribute(mlir::MLIRContext *context,
                                      const contract::Facts &facts);

/// The facts of a scheduled entry; none if it has not been scheduled.
contract::Facts factsOf(mlir::func::FuncOp entry);

} // namespace winnow

#endif // WINNOW_CODEGEN_FACTSATTRIBUTE_H
