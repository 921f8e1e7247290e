// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Everything of the dialect, for mlir-tblgen: a new file of types or operations
// is included here and needs no build rule of its own.
#ifndef WINNOW_IR_WINNOW_TD
#define WINNOW_IR_WINNOW_TD

// Descriptions: what an indexer computes.
include "winnow/IR/WinnowAttrs.td"
include "winnow/IR/WinnowTypes.td"
include "winnow/IR/WinnowOps.td"

// Kernel plans: how it is computed (types, then operations).
include "winnow/IR/WinnowPlanTypes.td"
include "winnow/IR/WinnowPlanOps.td"
include "winnow/IR/WinnowStepPlanOps.td"
include "winnow/IR/WinnowGenericPlanOps.td"
include "winnow/IR/WinnowFusedPlanOps.td"
include "winnow/IR/WinnowRaggedPlanOps.td"

#endif // WINNOW_IR_WINNOW_TD
