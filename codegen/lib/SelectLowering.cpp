// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// winnow-select-lowering: writes down which lowering turns each operation into
// a kernel, and why no better one does.
#include "LoweringDecision.h"

#include "winnow/Codegen/Passes.h"
#include "winnow/IR/Winnow.h"

#include "mlir/IR/BuiltinOps.h"

namespace winnow {
#define GEN_PASS_DEF_SELECTLOWERING
#include "winnow/Codegen/Passes.h.inc"
} // namespace winnow

using namespace mlir;
using namespace winnow;

namespace {

/// Everything that keeps an entry from being lowered, in one go.
void report(const LoweringDecisions &all) {
  for (const Fault &fault : all.faults)
    emitError(fault.place) << fault.text;
  if (all.complete())
    return;
  func::FuncOp entry = all.entry;
  InFlightDiagnostic diagnostic = emitError(entry.getLoc())
                                  << "no lowering takes '" << entry.getSymName()
                                  << "'";
  for (const Decision &decision : all.decisions) {
    if (decision.lowering)
      continue;
    // A limit about the target is broken by each operation of a kernel.
    for (const auto &[i, refusal] : llvm::enumerate(decision.refusals))
      if (llvm::none_of(ArrayRef(decision.refusals).take_front(i),
                        [&, &each = refusal](const Refusal &before) {
                          return before.lowering == each.lowering &&
                                 before.reason == each.reason &&
                                 before.place == each.place;
                        }))
        diagnostic.attachNote(refusal.place)
            << "'" << refusal.lowering->name << "' refuses '"
            << refusal.op->getName() << "': " << refusal.reason;
  }
}

/// `winnow.lowering` and `winnow.refusals`, `{mfma = ["reason", ...]}`.
void write(const LoweringDecisions &all) {
  func::FuncOp entry = all.entry;
  Builder builder(entry.getContext());
  entry.walk([&](Operation *op) {
    const Decision *decision = all.about(op);
    if (!decision)
      return;
    op->setAttr(kLoweringAttr, builder.getStringAttr(decision->lowering->name));
    NamedAttrList lists;
    for (const Lowering *lowering : all.order) {
      SmallVector<Attribute> reasons;
      if (!makesRows(op))
        for (const std::string &reason : decision->reasons(*lowering, op))
          reasons.push_back(builder.getStringAttr(reason));
      if (!reasons.empty())
        lists.append(lowering->name, builder.getArrayAttr(reasons));
    }
    if (!lists.empty())
      op->setAttr(kRefusalsAttr, lists.getDictionary(builder.getContext()));
  });
}

struct SelectLoweringPass
    : winnow::impl::SelectLoweringBase<SelectLoweringPass> {
  using SelectLoweringBase::SelectLoweringBase;

  void runOnOperation() override {
    if (!prefer.empty() &&
        llvm::none_of(lowerings(), [&](const Lowering &lowering) {
          return lowering.name == prefer;
        })) {
      getOperation().emitError() << "option 'prefer' names the lowering '"
                                 << prefer << "'; known: " << loweringNames();
      return signalPassFailure();
    }
    // Everything is decided before anything is written.
    std::vector<LoweringDecisions> all;
    for (auto entry : getOperation().getOps<func::FuncOp>())
      if (isEntry(entry))
        all.emplace_back(entry, arch, prefer);
    bool taken = true;
    for (const LoweringDecisions &each : all)
      if (!each.complete() || !each.faults.empty()) {
        report(each);
        taken = false;
      }
    if (!taken)
      return signalPassFailure();
    for (const LoweringDecisions &each : all)
      write(each);
  }
};

} // namespace
