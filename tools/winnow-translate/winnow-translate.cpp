// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes descriptions, or plans that winnow-opt has scheduled, as HIP source.
#include "winnow/Codegen/EmitHip.h"
#include "winnow/Codegen/Passes.h"
#include "winnow/IR/Winnow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"

using namespace mlir;

static LogicalResult writeHip(ModuleOp module, StringRef arch,
                              raw_ostream &output) {
  // A module with kernels has been scheduled by hand already.
  if (module.getOps<winnow::KernelOp>().empty()) {
    PassManager manager(module.getContext());
    winnow::buildPlanPipeline(manager, arch);
    if (failed(manager.run(module)))
      return failure();
  }
  bool any = false;
  for (auto entry : module.getOps<func::FuncOp>()) {
    if (!winnow::isEntry(entry))
      continue;
    FailureOr<std::string> source = winnow::emitHip(entry);
    if (failed(source))
      return failure();
    output << (any ? "\n" : "") << *source;
    any = true;
  }
  if (!any)
    return module.emitError("no function has the attribute 'winnow.entry', so "
                            "there is nothing to write");
  return success();
}

int main(int argc, char **argv) {
  static llvm::cl::opt<std::string> arch(
      "arch", llvm::cl::init("gfx950"),
      llvm::cl::desc("architecture that the kernels are for"));
  TranslateFromMLIRRegistration registration(
      "winnow-to-hip", "a description, or a scheduled plan, to HIP source",
      [](ModuleOp module, raw_ostream &output) {
        return writeHip(module, arch, output);
      },
      [](DialectRegistry &registry) {
        registry.insert<arith::ArithDialect, func::FuncDialect,
                        winnow::WinnowDialect>();
      });
  return failed(mlirTranslateMain(argc, argv, "Winnow's translator\n"));
}
