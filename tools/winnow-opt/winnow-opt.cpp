// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs passes over descriptions, one step at a time, for tests and for people
// who want to see what each step decides.
#include "winnow/Codegen/ParserLimits.h"
#include "winnow/Codegen/Passes.h"
#include "winnow/IR/Winnow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  winnow::WinnowDialect>();

  // The rewrites that every description may go through, then our own.
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  winnow::registerCodegenPasses();

  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "Winnow's description optimizer\n", registry);
  llvm::InitLLVM init(argc, argv);
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects())
    return mlir::failed(mlir::MlirOptMain(argc, argv, input, output, registry));

  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> text = mlir::openInputFile(input, &error);
  std::unique_ptr<llvm::ToolOutputFile> file =
      text ? mlir::openOutputFile(output, &error) : nullptr;
  if (!file) {
    llvm::errs() << error << "\n";
    return 1;
  }
  if (auto problem = winnow::findTooDeep(text->getBuffer())) {
    llvm::errs() << input << ':' << *problem;
    return 1;
  }
  if (mlir::failed(
          mlir::MlirOptMain(file->os(), std::move(text), registry, config)))
    return 1;
  // Until here the file was to be removed again.
  file->keep();
  return 0;
}
