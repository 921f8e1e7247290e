// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the whole compiler on a description that is in memory.
#include "winnow/Codegen/Compile.h"

#include "Manifest.h"
#include "winnow/Codegen/EmitHip.h"
#include "winnow/Codegen/Passes.h"
#include "winnow/IR/Winnow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace winnow;

Result<runtime::Bundle>
winnow::compileDescription(std::string_view text, std::string_view name,
                           const CompileOptions &options) {
  // Threads would cost more to start than a description takes to compile.
  MLIRContext context(MLIRContext::Threading::DISABLED);
  // The operation that a diagnostic is about stands in the text it points to.
  context.printOpOnDiagnostic(false);
  context.loadDialect<arith::ArithDialect, func::FuncDialect, WinnowDialect>();

  std::string diagnostics;
  llvm::raw_string_ostream stream(diagnostics);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(StringRef(text.data(), text.size()),
                                           StringRef(name.data(), name.size())),
      llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context, stream);
  auto failed = [&]() -> Error { return {std::move(diagnostics)}; };

  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module)
    return failed();
  PassManager manager(&context);
  buildPlanPipeline(manager, options.arch);
  if (mlir::failed(manager.run(*module)))
    return failed();

  runtime::Bundle bundle;
  bundle.generator = "winnow " WINNOW_VERSION;
  for (auto entry : module->getOps<func::FuncOp>()) {
    if (!winnow::isEntry(entry))
      continue;
    FailureOr<std::string> source = emitHip(entry);
    FailureOr<runtime::Entry> manifest =
        describeEntry(entry, bundle.sources.size());
    if (mlir::failed(source) || mlir::failed(manifest))
      return failed();
    bundle.sources.push_back({entry.getSymName().str() + ".hip",
                              "mfma",
                              {options.arch},
                              std::move(*source)});
    bundle.entries.push_back(std::move(*manifest));
  }
  if (bundle.entries.empty())
    return Error{std::string(name) +
                 ": error: no function has the attribute 'winnow.entry', so "
                 "there is nothing to compile\n"};
  if (Status valid = runtime::validate(bundle); !valid)
    return Error{std::string(name) + ": error: " + valid.message() + "\n"};
  return bundle;
}
