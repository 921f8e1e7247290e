// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers the dialect's types, attributes and operations.
#include "winnow/IR/Winnow.h"

#include "winnow/IR/WinnowDialect.cpp.inc"

using namespace winnow;

void WinnowDialect::initialize() {
  registerTypes();
  registerAttributes();
  registerOperations();
}
