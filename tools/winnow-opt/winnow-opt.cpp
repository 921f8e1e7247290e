// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs passes over descriptions, one step at a time, for tests and for people
// who want to see what each step decides.
#include "winnow/Codegen/Passes.h"
#include "winnow/IR/Winnow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  winnow::WinnowDialect>();

  // The rewrites that every description may go through, then our own.
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  winnow::registerCodegenPasses();

  return mlir::failed(mlir::MlirOptMain(
      argc, argv, "Winnow's description optimizer\n", registry));
}
