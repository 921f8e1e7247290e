// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the whole compiler on a description that is in memory.
#include "winnow/Codegen/Compile.h"

#include "Manifest.h"
#include "Schedule.h"
#include "winnow/Codegen/EmitHip.h"
#include "winnow/Codegen/Lowerings.h"
#include "winnow/Codegen/ParserLimits.h"
#include "winnow/Codegen/Passes.h"
#include "winnow/Codegen/Tuning.h"
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

namespace {

/// A description in memory, and what is said about it.
class Source {
public:
  Source(std::string_view text, std::string_view name)
      : name(name), context(MLIRContext::Threading::DISABLED),
        stream(diagnostics), handler(sources, &context, stream) {
    // The operation that a diagnostic is about stands in the text it points to.
    context.printOpOnDiagnostic(false);
    // What is wrong with an option is at no place of the text. Of handlers the
    // last one is asked first.
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      auto at = dyn_cast<NameLoc>(diagnostic.getLocation());
      if (!at || at.getName() != kScheduleOption)
        return failure();
      stream << at.getName().getValue() << ": error: " << diagnostic << "\n";
      return success();
    });
    context
        .loadDialect<arith::ArithDialect, func::FuncDialect, WinnowDialect>();
    sources.AddNewSourceBuffer(
        llvm::MemoryBuffer::getMemBufferCopy(
            StringRef(text.data(), text.size()), StringRef(this->name)),
        llvm::SMLoc());
    // MLIR's bytecode, which may be given instead, is read without recursion.
    const bool bytecode = text.starts_with("ML\xefR");
    if (std::optional<std::string> problem =
            bytecode ? std::nullopt : findTooDeep(text))
      stream << this->name << ':' << *problem;
    else
      module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  }

  /// Runs passes; false after an error in them or in the text.
  bool run(llvm::function_ref<void(PassManager &)> addPasses) {
    if (!module)
      return false;
    PassManager manager(&context);
    addPasses(manager);
    return succeeded(manager.run(*module));
  }

  Error failed() { return {std::move(diagnostics)}; }
  Error failed(const std::string &what) const {
    return {name + ": error: " + what + "\n"};
  }

  /// A bundle of what `add` makes of each entry.
  Result<runtime::Bundle> bundle(
      llvm::function_ref<LogicalResult(func::FuncOp, runtime::Bundle &)> add) {
    runtime::Bundle bundle;
    bundle.generator = "winnow " WINNOW_VERSION;
    for (auto entry : module->getOps<func::FuncOp>())
      if (winnow::isEntry(entry) && mlir::failed(add(entry, bundle)))
        return failed();
    if (bundle.entries.empty())
      return failed("no function has the attribute 'winnow.entry', so there is "
                    "nothing to compile");
    return bundle;
  }

  /// What there is to tune once lowerings are selected.
  Result<std::vector<TunableEntry>> tuning(const CompileOptions &options) {
    FailureOr<std::vector<winnow::Description>> descriptions =
        resolveDescriptions(*module, options.arch, options.schedule,
                            options.scheduleFrom, options.ignoreOwnSchedule);
    if (mlir::failed(descriptions))
      return failed();
    std::vector<TunableEntry> entries;
    for (winnow::Description &description : *descriptions)
      if (description.rowsOp())
        entries.push_back(tunableEntry(description));
    return entries;
  }

private:
  std::string name, diagnostics;
  // Threads would cost more to start than a description takes to compile.
  MLIRContext context;
  llvm::raw_string_ostream stream;
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler;
  OwningOpRef<ModuleOp> module;
};

} // namespace

Result<runtime::Bundle>
winnow::compileDescription(std::string_view text, std::string_view name,
                           const CompileOptions &options) {
  Source description(text, name);
  if (!description.run(
          [&](PassManager &manager) { buildPlanPipeline(manager, options); }))
    return description.failed();
  Result<runtime::Bundle> bundle = description.bundle(
      [&](func::FuncOp entry, runtime::Bundle &bundle) -> LogicalResult {
        FailureOr<std::string> source = emitHip(entry);
        FailureOr<runtime::Entry> manifest =
            describeEntry(entry, bundle.sources.size());
        if (failed(source) || failed(manifest))
          return failure();
        bundle.sources.push_back({entry.getSymName().str() + ".hip",
                                  loweringOf(entry), archsOf(entry),
                                  std::move(*source)});
        bundle.entries.push_back(std::move(*manifest));
        return success();
      });
  if (bundle)
    if (Status valid = runtime::validate(*bundle); !valid)
      return description.failed(valid.message());
  return bundle;
}

Result<std::vector<TunableEntry>>
winnow::describeTuning(std::string_view text, std::string_view name,
                       const CompileOptions &options) {
  Source source(text, name);
  if (!source.run([&](PassManager &manager) {
        manager.addPass(
            createVerifyContract(VerifyContractOptions{options.arch}));
        manager.addPass(createSelectLowering(
            SelectLoweringOptions{options.arch, options.prefer}));
      }))
    return source.failed();
  return source.tuning(options);
}

Result<runtime::Bundle>
winnow::describeDescription(std::string_view text, std::string_view name,
                            const CompileOptions &options) {
  Source description(text, name);
  if (!description.run([&](PassManager &manager) {
        manager.addPass(
            createVerifyContract(VerifyContractOptions{options.arch}));
      }))
    return description.failed();
  return description.bundle(
      [&](func::FuncOp entry, runtime::Bundle &bundle) -> LogicalResult {
        FailureOr<runtime::Entry> manifest = describeUnscheduled(entry);
        if (succeeded(manifest))
          bundle.entries.push_back(std::move(*manifest));
        return manifest;
      });
}
