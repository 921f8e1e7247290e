// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asks for the decisions of winnow-select-lowering and the limits of
// winnow-verify-contract without stopping at what they refuse.
#include "winnow/Codegen/Explain.h"

#include "LoweringDecision.h"
#include "winnow/Codegen/ParserLimits.h"
#include "winnow/Contract/Evaluate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <algorithm>

using namespace mlir;
using namespace winnow;

bool EntryExplanation::taken() const {
  return faults.empty() && std::all_of(operations.begin(), operations.end(),
                                       [](const OperationChoice &choice) {
                                         return !choice.lowering.empty();
                                       });
}

static OperationChoice explain(Operation *op, const LoweringDecisions &all) {
  OperationChoice choice;
  choice.operation = op->getName().getStringRef().str();
  if (auto place = dyn_cast<FileLineColLoc>(op->getLoc())) {
    choice.line = static_cast<int>(place.getLine());
    choice.column = static_cast<int>(place.getColumn());
  }
  const Decision *decision = all.about(op);
  if (!decision)
    return choice;
  if (decision->lowering)
    choice.lowering = decision->lowering->name.str();
  for (const Lowering *lowering : all.order)
    if (std::vector<std::string> reasons = decision->reasons(*lowering, op);
        !reasons.empty())
      choice.refused.push_back({lowering->name.str(), std::move(reasons)});
  return choice;
}

static EntryExplanation explain(func::FuncOp entry,
                                const CompileOptions &options) {
  EntryExplanation explanation;
  explanation.entry = entry.getSymName().str();
  if (std::optional<StringRef> name = getContractName(entry)) {
    explanation.contract = name->str();
    if (const contract::Contract *contract = contract::find(name->str()))
      for (const LocatedFacts &located : collectFacts(entry, options.arch))
        for (const contract::Violation &violation :
             contract::evaluate(*contract, located.facts).violations)
          if (std::string text = violation.message();
              !llvm::is_contained(explanation.broken, text))
            explanation.broken.push_back(std::move(text));
  }
  LoweringDecisions all(entry, options.arch, options.prefer);
  for (const Fault &fault : all.faults)
    explanation.faults.push_back(fault.text);
  for (Operation &op : entry.getBody().front())
    if (isa_and_present<WinnowDialect>(op.getDialect()) && !makesRows(&op))
      explanation.operations.push_back(explain(&op, all));
  return explanation;
}

Result<std::vector<EntryExplanation>>
winnow::explainDescription(std::string_view text, std::string_view name,
                           const CompileOptions &options) {
  if (!options.prefer.empty() && !findLowering(options.prefer))
    return Error{std::string(name) +
                 ": error: option 'prefer' names the "
                 "lowering '" +
                 options.prefer + "'; known: " + loweringNames() + "\n"};
  // Bytecode is read without recursion.
  if (!text.starts_with("ML\xefR"))
    if (std::optional<std::string> problem = findTooDeep(text))
      return Error{std::string(name) + ':' + *problem};
  MLIRContext context(MLIRContext::Threading::DISABLED);
  // As everywhere, the operation stands in the text that is pointed to.
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
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module)
    return Error{std::move(diagnostics)};
  std::vector<EntryExplanation> explanations;
  for (auto entry : module->getOps<func::FuncOp>())
    if (isEntry(entry))
      explanations.push_back(explain(entry, options));
  if (explanations.empty())
    return Error{std::string(name) +
                 ": error: no function has the attribute 'winnow.entry', so "
                 "there is nothing to explain\n"};
  return explanations;
}
