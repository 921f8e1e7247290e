// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// winnow-verify-contract: every limit of the named contract that an entry
// breaks, in the contract's own words, at the place that fixes the value.
#include "winnow/Codegen/Facts.h"
#include "winnow/Codegen/Passes.h"
#include "winnow/Contract/Evaluate.h"
#include "winnow/IR/Winnow.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

namespace winnow {
#define GEN_PASS_DEF_VERIFYCONTRACT
#include "winnow/Codegen/Passes.h.inc"
} // namespace winnow

using namespace mlir;
using namespace winnow;

namespace {

struct VerifyContractPass
    : winnow::impl::VerifyContractBase<VerifyContractPass> {
  using VerifyContractBase::VerifyContractBase;

  void runOnOperation() override {
    bool met = succeeded(refuseNested());
    for (auto entry : getOperation().getOps<func::FuncOp>())
      if (isEntry(entry))
        met &= succeeded(verify(entry));
    if (!met)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

  /// Passes look at the functions of the outermost module; an entry further in
  /// would be passed over in silence. Not the verifier's to say: the parser
  /// puts a module around a file's own while it verifies that.
  LogicalResult refuseNested() {
    LogicalResult result = success();
    getOperation().walk([&](func::FuncOp func) {
      if (!isEntry(func) || func->getParentOp() == getOperation())
        return;
      func.emitError() << "'" << kEntryAttr << "' on a function inside '"
                       << func->getParentOp()->getName()
                       << "'; entries stand in the outermost module";
      result = failure();
    });
    return result;
  }

  LogicalResult verify(func::FuncOp entry) {
    std::optional<StringRef> name = getContractName(entry);
    if (!name)
      return success();
    const contract::Contract *contract = contract::find(name->str());
    if (!contract)
      return entry.emitOpError()
             << "names the contract '" << *name << "', known: " << known();
    // Two indexers of an entry may share what breaks a limit.
    std::set<std::pair<const void *, std::string>> said;
    for (const LocatedFacts &located : collectFacts(entry, arch))
      for (const contract::Violation &violation :
           contract::evaluate(*contract, located.facts).violations) {
        Location place = located.placeOf(violation.blamed);
        if (!said.emplace(place.getAsOpaquePointer(), violation.message())
                 .second)
          continue;
        InFlightDiagnostic diagnostic = emitError(place) << violation.message();
        if (said.size() == 1 && place != entry.getLoc())
          diagnostic.attachNote(entry.getLoc())
              << "'" << entry.getSymName() << "' is held to the contract here";
      }
    return success(said.empty());
  }

  static std::string known() {
    if (const Status &status = contract::registryStatus(); !status)
      return status.message();
    return llvm::join(contract::names(), ", ");
  }
};

} // namespace
