// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of the passes, and their registration with the tools.
#include "winnow/Codegen/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

void winnow::registerCodegenPasses() { registerSchedule(); }
