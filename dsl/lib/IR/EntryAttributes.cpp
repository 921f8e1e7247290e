// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The discardable `winnow.*` attributes: where each may stand and what it
// holds.
#include "winnow/IR/Entry.h"
#include "winnow/IR/ScheduleAttribute.h"
#include "winnow/IR/Winnow.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace winnow;

namespace {
enum class Place { Function, Operation, FunctionOrKernel };

struct KnownAttribute {
  StringRef name;
  Place place;
  LogicalResult (*verify)(Operation *op, NamedAttribute attribute);
};
} // namespace

static LogicalResult verifyUnit(Operation *op, NamedAttribute attribute) {
  if (isa<UnitAttr>(attribute.getValue()))
    return success();
  return op->emitError() << "attribute '" << attribute.getName().getValue()
                         << "' has no value, found " << attribute.getValue();
}

static LogicalResult verifyContract(Operation *op, NamedAttribute attribute) {
  auto name = dyn_cast<StringAttr>(attribute.getValue());
  if (name && isKnownContract(name.getValue()))
    return success();
  InFlightDiagnostic diag = op->emitError();
  diag << "attribute '" << attribute.getName().getValue()
       << "' has to name a contract, found " << attribute.getValue()
       << "; known: ";
  llvm::interleaveComma(getKnownContracts(), diag);
  return diag;
}

static LogicalResult verifyBounds(Operation *op, NamedAttribute attribute) {
  static const OptionSpec specs[] = {
      OptionSpec::integer("max_seq_len", 1, 2147483647, /*required=*/true),
      OptionSpec::integer("max_requests", 1, 2147483647, /*required=*/true),
      OptionSpec::integer("max_pages", 1, 2147483647, /*required=*/false),
      OptionSpec::integer("max_query_len", 1, 2147483647, /*required=*/false),
      OptionSpec::integer("max_rows", 1, 2147483647, /*required=*/false)};
  return verifyOptionDictionary(op, attribute, specs);
}

static LogicalResult verifyAttention(Operation *op, NamedAttribute attribute) {
  static const OptionSpec specs[] = {
      OptionSpec::integer("kv_heads", 1, 65536, /*required=*/true),
      OptionSpec::integer("page_size", 1, 65536, /*required=*/true),
      OptionSpec::integer("block_pages", 1, 67108864, /*required=*/false)};
  return verifyOptionDictionary(op, attribute, specs);
}

/// What passes set is theirs to define.
static LogicalResult verifyAnything(Operation *, NamedAttribute) {
  return success();
}

static ArrayRef<KnownAttribute> getKnownAttributes() {
  static const KnownAttribute known[] = {
      {kEntryAttr, Place::Function, verifyUnit},
      {kContractAttr, Place::Function, verifyContract},
      {kBoundsAttr, Place::Function, verifyBounds},
      {kAttentionAttr, Place::Function, verifyAttention},
      {kLoweringAttr, Place::Operation, verifyAnything},
      {kRefusalsAttr, Place::Operation, verifyAnything},
      {kArchAttr, Place::Operation, verifyAnything},
      {kFactsAttr, Place::Function, verifyAnything},
      {kScheduleAttr, Place::FunctionOrKernel, verifySchedule},
      {kScheduleFromAttr, Place::Operation, verifyAnything},
      {kJoinAttr, Place::Operation, verifyUnit},
  };
  return known;
}

static InFlightDiagnostic refuseUnknown(Operation *op, StringRef name,
                                        const Twine &where) {
  InFlightDiagnostic diag = op->emitError();
  diag << "unknown attribute '" << name << "' on " << where << "; known: ";
  llvm::interleaveComma(
      getKnownAttributes(), diag,
      [&](const KnownAttribute &known) { diag << known.name; });
  return diag;
}

LogicalResult
WinnowDialect::verifyOperationAttribute(Operation *op,
                                        NamedAttribute attribute) {
  StringRef name = attribute.getName().getValue();
  const auto *known =
      llvm::find_if(getKnownAttributes(), [&](const KnownAttribute &candidate) {
        return candidate.name == name;
      });
  if (known == getKnownAttributes().end())
    return refuseUnknown(op, name, "'" + op->getName().getStringRef() + "'");

  auto func = dyn_cast<func::FuncOp>(op);
  bool inPlace = known->place == Place::Operation
                     ? isa_and_present<WinnowDialect>(op->getDialect())
                     : func || (known->place == Place::FunctionOrKernel &&
                                isa<KernelOp>(op));
  if (!inPlace)
    return op->emitError() << "attribute '" << name << "' belongs on "
                           << (known->place == Place::Operation
                                   ? "an operation of the winnow dialect"
                                   : "'func.func'")
                           << ", found on '" << op->getName() << "'";
  if (failed(known->verify(op, attribute)))
    return failure();
  if (func && known->place != Place::Operation && !func->hasAttr(kEntryAttr))
    return op->emitError() << "attribute '" << name << "' needs '" << kEntryAttr
                           << "' on the same function";
  if (name != kEntryAttr)
    return success();

  // The attributes of an operation are verified before the operation is, and
  // verifyEntry reads all of it. The other attributes have had their turn: they
  // come in alphabetical order.
  if (failed(op->getName().verifyInvariants(op)))
    return failure();
  for (Region &region : op->getRegions())
    for (Operation &nested : region.getOps())
      if (failed(mlir::verify(&nested)))
        return failure();
  return verifyEntry(func);
}

LogicalResult WinnowDialect::verifyRegionArgAttribute(
    Operation *op, unsigned, unsigned argIndex, NamedAttribute attribute) {
  return refuseUnknown(op, attribute.getName().getValue(),
                       "argument #" + Twine(argIndex));
}

LogicalResult WinnowDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned resultIndex, NamedAttribute attribute) {
  return refuseUnknown(op, attribute.getName().getValue(),
                       "result #" + Twine(resultIndex));
}
