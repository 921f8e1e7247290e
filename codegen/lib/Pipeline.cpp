// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of the passes, and their registration with the tools.
#include "winnow/Codegen/Compile.h"
#include "winnow/Codegen/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

void winnow::buildPlanPipeline(OpPassManager &manager,
                               const CompileOptions &options) {
  manager.addPass(createVerifyContract(VerifyContractOptions{options.arch}));
  manager.addPass(createSelectLowering(
      SelectLoweringOptions{options.arch, options.prefer}));
  manager.addPass(createSchedule(ScheduleOptions{options.arch, options.schedule,
                                                 options.scheduleFrom,
                                                 options.ignoreOwnSchedule}));
  manager.addPass(createFuse());
}

void winnow::buildPlanPipeline(OpPassManager &manager, llvm::StringRef arch) {
  CompileOptions options;
  options.arch = arch.str();
  buildPlanPipeline(manager, options);
}

void winnow::registerCodegenPasses() {
  registerVerifyContract();
  registerSelectLowering();
  registerSchedule();
  registerFuse();
  PassPipelineRegistration<>(
      "winnow-plan", "from descriptions to kernel plans for gfx950",
      [](OpPassManager &manager) { buildPlanPipeline(manager, "gfx950"); });
}
