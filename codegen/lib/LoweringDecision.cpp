// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A lowering takes what meets its contract, so that its reasons to refuse are
// data, and the same texts as everywhere.
#include "LoweringDecision.h"

#include "winnow/Contract/Evaluate.h"

using namespace mlir;
using namespace winnow;

LoweringDecisions::LoweringDecisions(func::FuncOp entry, StringRef arch,
                                     StringRef prefer)
    : entry(entry), facts(collectFacts(entry, arch)) {
  for (const Lowering &lowering : lowerings())
    if (lowering.name == prefer)
      order.push_back(&lowering);
  // Another platform's matrix units are no better lowering that was missed.
  const std::optional<std::string> platform = platformOf(arch);
  for (const Lowering &lowering : lowerings())
    if (lowering.name != prefer && (!lowering.usesMatrixUnits() || !platform ||
                                    lowering.platform == *platform))
      order.push_back(&lowering);
  findFaults();
  group();
  for (Decision &decision : decisions)
    decide(decision);
}

bool LoweringDecisions::complete() const {
  return llvm::all_of(
      decisions, [](const Decision &each) { return each.lowering != nullptr; });
}

const Decision *LoweringDecisions::about(Operation *op) const {
  if (makesRows(op) && !op->use_empty())
    op = *op->user_begin();
  auto it = decisionOf.find(op);
  return it == decisionOf.end() ? nullptr : &decisions[it->second];
}

std::vector<std::string> Decision::reasons(const Lowering &tried,
                                           Operation *op) const {
  std::vector<std::string> own, shared;
  for (const Refusal &refusal : refusals)
    if (refusal.lowering == &tried && refusal.op == op)
      own.push_back(refusal.reason);
  // What holds of every operation of the kernel is not said of each again.
  for (const Refusal &refusal : refusals) {
    if (refusal.lowering != &tried || llvm::is_contained(own, refusal.reason))
      continue;
    std::string text = "shares a kernel with '" +
                       refusal.op->getName().getStringRef().str() +
                       "': " + refusal.reason;
    if (!llvm::is_contained(shared, text))
      shared.push_back(std::move(text));
  }
  own.insert(own.end(), shared.begin(), shared.end());
  return own;
}

/// A topk and what is made of its selection are one kernel, a block_score is
/// another. Rows are computed within the kernels that read them.
void LoweringDecisions::group() {
  entry.walk([&](Operation *op) {
    if (!isa_and_present<WinnowDialect>(op->getDialect()) || makesRows(op))
      return;
    Operation *maker = nullptr;
    for (Value operand : op->getOperands())
      if (isa<SelectionType>(operand.getType()))
        maker = operand.getDefiningOp();
    auto [it, fresh] = decisionOf.try_emplace(op, decisions.size());
    if (auto known = decisionOf.find(maker);
        maker && known != decisionOf.end()) {
      it->second = known->second;
      decisions[known->second].operations.push_back(op);
      return;
    }
    Decision decision;
    decision.operations.push_back(op);
    decisions.push_back(std::move(decision));
  });
}

void LoweringDecisions::findFaults() {
  entry.walk([&](Operation *op) {
    if (op->getNumResults() == 1 && op->use_empty())
      faults.push_back(
          {("'" + op->getName().getStringRef() +
            "' makes a value that nothing reads: store it, emit a page table "
            "of it, or leave the operation out")
               .str(),
           op->getLoc()});
  });
  const contract::Contract *program = contract::find("winnow_program");
  for (const LocatedFacts &located : facts)
    for (const contract::Violation &violation :
         program ? contract::evaluate(*program, located.facts).violations
                 : std::vector<contract::Violation>())
      if (Location place = located.placeOf(violation.blamed);
          llvm::none_of(faults, [&](const Fault &fault) {
            return fault.text == violation.message() && fault.place == place;
          }))
        faults.push_back({violation.message(), place});
}

void LoweringDecisions::decide(Decision &decision) {
  std::optional<StringRef> asked;
  for (Operation *op : decision.operations)
    if (auto name = op->getAttrOfType<StringAttr>(kLoweringAttr))
      asked = name.getValue();
  // One that is asked for says itself what it refuses.
  SmallVector<const Lowering *> tried(order);
  if (const Lowering *wanted = asked ? findLowering(*asked) : nullptr;
      wanted && !llvm::is_contained(order, wanted))
    tried.insert(tried.begin(), wanted);
  for (const Lowering *lowering : tried) {
    size_t before = decision.refusals.size();
    if (asked && *asked != lowering->name)
      decision.refusals.push_back(
          {lowering, decision.operations.front(),
           ("the description asks for '" + *asked + "'").str(),
           decision.operations.front()->getLoc()});
    for (Operation *op : decision.operations)
      ask(*lowering, op, decision);
    if (decision.refusals.size() == before) {
      decision.lowering = lowering;
      return;
    }
  }
  if (asked && !findLowering(*asked))
    faults.push_back(
        {("there is no lowering '" + *asked + "'; known: " + loweringNames())
             .str(),
         decision.operations.front()->getLoc()});
}

/// Notes every limit of the lowering that `op` breaks.
void LoweringDecisions::ask(const Lowering &lowering, Operation *op,
                            Decision &decision) {
  const contract::Contract *whole = contract::find(lowering.contract.str());
  if (!whole) {
    // The embedded data is bad; say how.
    const Status &status = contract::registryStatus();
    decision.refusals.push_back(
        {&lowering, op,
         status ? "there is no contract of that name" : status.message(),
         op->getLoc()});
    return;
  }
  StringRef name = op->getName().stripDialect();
  const contract::Contract limits = whole->about({name.str()});
  // What belongs to no indexer is held to what holds for all: the target.
  bool known = llvm::any_of(facts, [&](const LocatedFacts &located) {
    return llvm::is_contained(located.operations, op);
  });
  for (const LocatedFacts &located : facts) {
    if (known && !llvm::is_contained(located.operations, op))
      continue;
    for (const contract::Violation &violation :
         contract::evaluate(limits, located.facts).violations) {
      Refusal refusal{&lowering, op, violation.message(),
                      located.placeOf(violation.blamed)};
      // Indexers of one entry may share what breaks a limit.
      if (llvm::none_of(decision.refusals, [&](const Refusal &other) {
            return other.op == op && other.lowering == refusal.lowering &&
                   other.reason == refusal.reason &&
                   other.place == refusal.place;
          }))
        decision.refusals.push_back(std::move(refusal));
    }
  }
}
