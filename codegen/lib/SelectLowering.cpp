// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// winnow-select-lowering: which lowering turns each operation into a kernel. A
// lowering takes what meets its contract, so that its reasons to refuse are
// data, and the same texts as everywhere.
#include "winnow/Codegen/Facts.h"
#include "winnow/Codegen/Passes.h"
#include "winnow/Contract/Evaluate.h"
#include "winnow/IR/Winnow.h"

#include "mlir/IR/BuiltinOps.h"

namespace winnow {
#define GEN_PASS_DEF_SELECTLOWERING
#include "winnow/Codegen/Passes.h.inc"
} // namespace winnow

using namespace mlir;
using namespace winnow;

namespace {

struct Lowering {
  StringLiteral name;
  StringLiteral contract;
};

/// The lowerings there are, the best first.
constexpr Lowering kLowerings[] = {{"mfma", "winnow_mfma"}};

struct Refusal {
  const Lowering *lowering;
  std::string reason;
  Location place;
};

/// What is decided about one entry: a lowering or null, and why the better ones
/// were refused.
struct Decision {
  func::FuncOp entry;
  const Lowering *lowering = nullptr;
  SmallVector<Refusal> refusals;
};

/// An entry is planned as a whole, so a lowering has to take each of its
/// indexers.
Decision decide(func::FuncOp entry, StringRef arch) {
  Decision decision{entry, nullptr, {}};
  SmallVector<LocatedFacts> all = collectFacts(entry, arch);
  for (const Lowering &lowering : kLowerings) {
    size_t before = decision.refusals.size();
    const contract::Contract *contract =
        contract::find(lowering.contract.str());
    if (!contract) {
      // The embedded data is bad; say how.
      const Status &status = contract::registryStatus();
      decision.refusals.push_back(
          {&lowering,
           status ? "there is no contract of that name" : status.message(),
           entry.getLoc()});
      continue;
    }
    for (const LocatedFacts &located : all)
      for (const contract::Violation &violation :
           contract::evaluate(*contract, located.facts).violations) {
        Refusal refusal{&lowering, violation.message(),
                        located.placeOf(violation.blamed)};
        auto isSame = [&](const Refusal &other) {
          return other.reason == refusal.reason && other.place == refusal.place;
        };
        if (llvm::none_of(decision.refusals, isSame))
          decision.refusals.push_back(std::move(refusal));
      }
    if (decision.refusals.size() == before) {
      decision.lowering = &lowering;
      return decision;
    }
  }
  return decision;
}

/// `{mfma = ["reason", ...]}`.
DictionaryAttr refusalsAttribute(Builder &builder, const Decision &decision) {
  NamedAttrList lists;
  for (const Lowering &lowering : kLowerings) {
    SmallVector<Attribute> reasons;
    for (const Refusal &refusal : decision.refusals)
      if (refusal.lowering == &lowering)
        reasons.push_back(builder.getStringAttr(refusal.reason));
    if (!reasons.empty())
      lists.append(lowering.name, builder.getArrayAttr(reasons));
  }
  return lists.getDictionary(builder.getContext());
}

struct SelectLoweringPass
    : winnow::impl::SelectLoweringBase<SelectLoweringPass> {
  using SelectLoweringBase::SelectLoweringBase;

  void runOnOperation() override {
    // Everything is decided before anything is written.
    SmallVector<Decision> decisions;
    for (auto entry : getOperation().getOps<func::FuncOp>())
      if (isEntry(entry))
        decisions.push_back(decide(entry, arch));
    bool taken = true;
    for (const Decision &decision : decisions)
      taken &= decision.lowering || (refuse(decision), false);
    if (!taken)
      return signalPassFailure();
    for (const Decision &decision : decisions)
      write(decision);
  }

  void refuse(const Decision &decision) {
    func::FuncOp entry = decision.entry;
    InFlightDiagnostic diagnostic = emitError(entry.getLoc())
                                    << "no lowering takes '"
                                    << entry.getSymName() << "'";
    for (const Refusal &refusal : decision.refusals)
      diagnostic.attachNote(refusal.place)
          << "'" << refusal.lowering->name << "' refuses: " << refusal.reason;
  }

  void write(const Decision &decision) {
    func::FuncOp entry = decision.entry;
    Builder builder(entry.getContext());
    DictionaryAttr refusals = refusalsAttribute(builder, decision);
    entry.walk([&](Operation *op) {
      if (!isa_and_present<WinnowDialect>(op->getDialect()))
        return;
      op->setAttr(kLoweringAttr,
                  builder.getStringAttr(decision.lowering->name));
      if (!refusals.empty())
        op->setAttr(kRefusalsAttr, refusals);
    });
  }
};

} // namespace
