// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of the passes, and their registration with the tools.
#include "winnow/Codegen/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

void winnow::buildPlanPipeline(OpPassManager &manager, llvm::StringRef arch,
                               llvm::StringRef prefer) {
  std::string target = arch.str();
  manager.addPass(createVerifyContract(VerifyContractOptions{target}));
  manager.addPass(
      createSelectLowering(SelectLoweringOptions{target, prefer.str()}));
  manager.addPass(createSchedule(ScheduleOptions{target}));
}

void winnow::registerCodegenPasses() {
  registerVerifyContract();
  registerSelectLowering();
  registerSchedule();
  PassPipelineRegistration<>(
      "winnow-plan", "from descriptions to kernel plans for gfx950",
      [](OpPassManager &manager) { buildPlanPipeline(manager, "gfx950"); });
}
