// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect's enumerations and the attributes that hold them.
#include "winnow/IR/Winnow.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace winnow;

#include "winnow/IR/WinnowEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "winnow/IR/WinnowAttrs.cpp.inc"

void WinnowDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "winnow/IR/WinnowAttrs.cpp.inc"
      >();
}
