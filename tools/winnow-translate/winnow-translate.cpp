// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes descriptions, or plans that winnow-opt has scheduled, as HIP source.
#include "winnow/Codegen/EmitHip.h"
#include "winnow/Codegen/ParserLimits.h"
#include "winnow/Codegen/Passes.h"
#include "winnow/IR/Winnow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

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

namespace cl = llvm::cl;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::OptionCategory category("winnow-translate");
  cl::opt<std::string> input(cl::Positional, cl::init("-"),
                             cl::desc("<description, or scheduled plan>"),
                             cl::cat(category));
  cl::opt<std::string> output("o", cl::init("-"), cl::value_desc("file"),
                              cl::desc("where to write"), cl::cat(category));
  cl::opt<std::string> arch("arch", cl::init("gfx950"),
                            cl::desc("architecture that the kernels are for"),
                            cl::cat(category));
  cl::opt<bool> toHip("winnow-to-hip", cl::desc("write HIP source"),
                      cl::cat(category));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Winnow's translator\n");
  if (!toHip) {
    llvm::errs() << "nothing to translate to; known: --winnow-to-hip\n";
    return 2;
  }

  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> text = openInputFile(input, &error);
  std::unique_ptr<llvm::ToolOutputFile> file =
      text ? openOutputFile(output, &error) : nullptr;
  if (!file) {
    llvm::errs() << error << "\n";
    return 1;
  }
  if (auto problem = winnow::findTooDeep(text->getBuffer())) {
    llvm::errs() << input << ':' << *problem;
    return 1;
  }

  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<arith::ArithDialect, func::FuncDialect,
                      winnow::WinnowDialect>();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(text), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module || failed(writeHip(*module, arch, file->os())))
    return 1;
  // Until here the file was to be removed again.
  file->keep();
  return 0;
}
