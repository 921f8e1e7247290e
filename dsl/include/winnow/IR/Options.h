// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one parser, printer and verifier of named options: the braces of an
// operation (`{k = 16, ties = highest_block}`) and the angle brackets of a type
// (`<query_len = 1>`), so that every option behaves alike everywhere.
#ifndef WINNOW_IR_OPTIONS_H
#define WINNOW_IR_OPTIONS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace winnow {

// Specialised for every enumeration by mlir-tblgen.
template <typename EnumT>
std::optional<EnumT> symbolizeEnum(llvm::StringRef text);

/// What an option may hold: an integer of a closed range (stored as a 64-bit
/// IntegerAttr) or one keyword of an enumeration. Made by the TableGen records
/// in WinnowOptions.td; immutable, so free to share between threads.
struct OptionSpec {
  llvm::StringRef name;
  bool required = false;
  int64_t min = 0;
  int64_t max = 0;
  /// Of an integer: may stand alone in the place of `name = value`, and is
  /// stored as 0. Empty for none.
  llvm::StringRef word;
  /// Null for an integer. Otherwise keyword to attribute (null if unknown),
  /// attribute to keyword (empty if of another kind), and keyword by index
  /// (empty past the last).
  mlir::Attribute (*parseKeyword)(mlir::MLIRContext *,
                                  llvm::StringRef) = nullptr;
  llvm::StringRef (*spellKeyword)(mlir::Attribute) = nullptr;
  llvm::StringRef (*keywordAt)(unsigned) = nullptr;

  bool isInteger() const { return !parseKeyword; }

  /// Whether `value` is an integer that the option may hold.
  bool accepts(int64_t value) const {
    return (value >= min && value <= max) || (value == 0 && !word.empty());
  }
  /// Whether `value` is of the right kind and in range.
  bool accepts(mlir::Attribute value) const;

  /// What a value has to be, for people: "an integer from 1 to 2048".
  std::string describe() const;

  static OptionSpec integer(llvm::StringRef name, int64_t min, int64_t max,
                            bool required, llvm::StringRef word = "") {
    OptionSpec spec;
    spec.name = name;
    spec.required = required;
    spec.min = min;
    spec.max = max;
    spec.word = word;
    return spec;
  }

  template <typename EnumAttrT, typename EnumT>
  static OptionSpec keyword(llvm::StringRef name, bool required) {
    OptionSpec spec;
    spec.name = name;
    spec.required = required;
    spec.parseKeyword = [](mlir::MLIRContext *context, llvm::StringRef text) {
      std::optional<EnumT> value = symbolizeEnum<EnumT>(text);
      return value ? mlir::Attribute(EnumAttrT::get(context, *value))
                   : mlir::Attribute();
    };
    spec.spellKeyword = [](mlir::Attribute attr) {
      auto value = llvm::dyn_cast_if_present<EnumAttrT>(attr);
      return value ? stringifyEnum(value.getValue()) : llvm::StringRef();
    };
    spec.keywordAt = [](unsigned index) {
      return stringifyEnum(static_cast<EnumT>(index));
    };
    return spec;
  }
};

/// Whether `attr` is how an integer option is stored: a signless i64.
bool isOptionInteger(mlir::Attribute attr);

/// Parses `name = value` pairs in any order up to the closing delimiter, which
/// is consumed. `subject` is what the diagnostics call the owner, for example
/// `'winnow.topk'`. With `discardable` set, names with a dot are taken as
/// discardable attributes with any MLIR value. Options that were not given are
/// left out of their list. Every error is at the offending token.
mlir::ParseResult parseOptionList(mlir::AsmParser &parser,
                                  llvm::StringRef subject,
                                  llvm::ArrayRef<OptionSpec> specs,
                                  mlir::AsmParser::Delimiter delimiter,
                                  mlir::NamedAttrList &options,
                                  mlir::NamedAttrList *discardable);

/// Prints the options in canonical order, then the discardable attributes of
/// `attributes`, between braces; nothing at all if there is nothing to say.
void printOptionList(mlir::OpAsmPrinter &printer,
                     llvm::ArrayRef<OptionSpec> specs,
                     mlir::DictionaryAttr attributes);

/// Checks what the parser checks, for operations that were built or parsed in
/// generic form: ranges, and that no undotted attribute is unknown.
llvm::LogicalResult verifyOptions(mlir::Operation *op,
                                  llvm::ArrayRef<OptionSpec> specs);

/// Checks a dictionary attribute of `op` whose keys are the options of `specs`.
llvm::LogicalResult verifyOptionDictionary(mlir::Operation *op,
                                           mlir::NamedAttribute attribute,
                                           llvm::ArrayRef<OptionSpec> specs);

/// Names an operation class in its assembly format:
/// `custom<Options>(prop-dict, attr-dict, "optionsOf<TopKOp>()")`.
template <typename OpT> struct OptionsOf {};
template <typename OpT> OptionsOf<OpT> optionsOf() { return {}; }

/// The `custom<Options>` directive.
template <typename OpT>
mlir::ParseResult
parseOptions(mlir::OpAsmParser &parser, mlir::OperationState &state,
             mlir::NamedAttrList &discardable, OptionsOf<OpT>) {
  mlir::NamedAttrList options;
  std::string subject = ("'" + state.name.getStringRef() + "'").str();
  mlir::SMLoc loc = parser.getCurrentLocation();
  if (parseOptionList(parser, subject, OpT::getOptionSpecs(),
                      mlir::AsmParser::Delimiter::OptionalBraces, options,
                      &discardable))
    return mlir::failure();
  auto &properties = state.getOrAddProperties<typename OpT::Properties>();
  if (failed(OpT::setPropertiesFromAttr(
          properties, options.getDictionary(parser.getContext()),
          [&] { return parser.emitError(loc); })))
    return mlir::failure();
  OpT::populateDefaultProperties(state.name, properties);
  return mlir::success();
}

template <typename OpT, typename PropertiesT>
void printOptions(mlir::OpAsmPrinter &printer, OpT op, const PropertiesT &,
                  mlir::DictionaryAttr attributes, OptionsOf<OpT>) {
  printOptionList(printer, OpT::getOptionSpecs(), attributes);
}

} // namespace winnow

#endif // WINNOW_IR_OPTIONS_H
