// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The opaque values of a description. Their parameters are integer facts, all
// parsed, printed and checked alike.
#include "winnow/IR/Winnow.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace winnow;

#define GET_TYPEDEF_CLASSES
#include "winnow/IR/WinnowTypes.cpp.inc"

void WinnowDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "winnow/IR/WinnowTypes.cpp.inc"
      >();
}

/// Parses `<name = value, ...>` into the values, in the order of the specs.
static FailureOr<SmallVector<int64_t>>
parseFacts(AsmParser &parser, StringRef mnemonic, ArrayRef<OptionSpec> specs) {
  NamedAttrList facts;
  std::string subject = ("'!winnow." + mnemonic + "'").str();
  // Optional, as a missing option is the better error; every type has some.
  if (parseOptionList(parser, subject, specs,
                      AsmParser::Delimiter::OptionalLessGreater, facts,
                      /*discardable=*/nullptr))
    return failure();
  SmallVector<int64_t> values;
  for (const OptionSpec &spec : specs)
    values.push_back(cast<IntegerAttr>(facts.get(spec.name)).getInt());
  return values;
}

static void printFacts(AsmPrinter &printer, ArrayRef<OptionSpec> specs,
                       ArrayRef<int64_t> values) {
  printer << '<';
  llvm::interleaveComma(llvm::zip_equal(specs, values), printer, [&](auto it) {
    auto [spec, value] = it;
    if (value == 0 && !spec.word.empty())
      printer << spec.word;
    else
      printer << spec.name << " = " << value;
  });
  printer << '>';
}

static LogicalResult verifyFacts(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef mnemonic, ArrayRef<OptionSpec> specs,
                                 ArrayRef<int64_t> values) {
  for (auto [spec, value] : llvm::zip_equal(specs, values))
    if (!spec.accepts(value))
      return emitError() << "option '" << spec.name << "' of '!winnow."
                         << mnemonic << "' has to be " << spec.describe()
                         << ", found " << value;
  return success();
}

Type RowsType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  FailureOr<SmallVector<int64_t>> facts =
      parseFacts(parser, getMnemonic(), getOptionSpecs());
  if (failed(facts))
    return {};
  return parser.getChecked<RowsType>(loc, parser.getContext(), (*facts)[0]);
}

void RowsType::print(AsmPrinter &printer) const {
  printFacts(printer, getOptionSpecs(), {getQueryLen()});
}

LogicalResult RowsType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t queryLen) {
  return verifyFacts(emitError, getMnemonic(), getOptionSpecs(), {queryLen});
}

Type ScoresType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  FailureOr<SmallVector<int64_t>> facts =
      parseFacts(parser, getMnemonic(), getOptionSpecs());
  if (failed(facts))
    return {};
  return parser.getChecked<ScoresType>(loc, parser.getContext(), (*facts)[0],
                                       (*facts)[1], (*facts)[2]);
}

void ScoresType::print(AsmPrinter &printer) const {
  printFacts(printer, getOptionSpecs(),
             {getQueryLen(), getHeads(), getBlockSize()});
}

LogicalResult ScoresType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t queryLen, int64_t heads,
                                 int64_t blockSize) {
  return verifyFacts(emitError, getMnemonic(), getOptionSpecs(),
                     {queryLen, heads, blockSize});
}

Type SelectionType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  FailureOr<SmallVector<int64_t>> facts =
      parseFacts(parser, getMnemonic(), getOptionSpecs());
  if (failed(facts))
    return {};
  return parser.getChecked<SelectionType>(loc, parser.getContext(), (*facts)[0],
                                          (*facts)[1], (*facts)[2],
                                          (*facts)[3]);
}

void SelectionType::print(AsmPrinter &printer) const {
  printFacts(printer, getOptionSpecs(),
             {getQueryLen(), getHeads(), getBlockSize(), getK()});
}

LogicalResult
SelectionType::verify(function_ref<InFlightDiagnostic()> emitError,
                      int64_t queryLen, int64_t heads, int64_t blockSize,
                      int64_t k) {
  return verifyFacts(emitError, getMnemonic(), getOptionSpecs(),
                     {queryLen, heads, blockSize, k});
}
