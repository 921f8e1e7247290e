// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes from a description to kernel plans and the pipeline that runs
// them.
#ifndef WINNOW_CODEGEN_PASSES_H
#define WINNOW_CODEGEN_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace winnow {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "winnow/Codegen/Passes.h.inc"

struct CompileOptions;

/// verify-contract, select-lowering, schedule, fuse.
void buildPlanPipeline(mlir::OpPassManager &manager,
                       const CompileOptions &options);
/// The same for `arch` (e.g. "gfx950") with nothing else chosen.
void buildPlanPipeline(mlir::OpPassManager &manager, llvm::StringRef arch);

/// Registers the passes and the pipeline `winnow-plan` with the tools.
void registerCodegenPasses();

} // namespace winnow

#endif // WINNOW_CODEGEN_PASSES_H
