// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `winnow` dialect for C++ code that builds, reads or rewrites
// descriptions.
#ifndef WINNOW_IR_WINNOW_H
#define WINNOW_IR_WINNOW_H

#include "winnow/IR/Entry.h"
#include "winnow/IR/MemRefs.h"
#include "winnow/IR/Options.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "winnow/IR/WinnowDialect.h.inc"
#include "winnow/IR/WinnowEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "winnow/IR/WinnowAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "winnow/IR/WinnowTypes.h.inc"

#define GET_OP_CLASSES
#include "winnow/IR/WinnowOps.h.inc"

#endif // WINNOW_IR_WINNOW_H
