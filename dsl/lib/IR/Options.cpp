// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parsing, printing and checking of named options (see Options.h).
#include "winnow/IR/Options.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace winnow;

bool winnow::isOptionInteger(Attribute attr) {
  auto integer = dyn_cast_if_present<IntegerAttr>(attr);
  return integer && integer.getType().isSignlessInteger(64);
}

bool OptionSpec::accepts(Attribute value) const {
  if (!isInteger())
    return !spellKeyword(value).empty();
  if (!isOptionInteger(value))
    return false;
  return accepts(cast<IntegerAttr>(value).getInt());
}

std::string OptionSpec::describe() const {
  if (!isInteger()) {
    std::string text = "one of ";
    for (unsigned i = 0; !keywordAt(i).empty(); ++i)
      text += ((i ? ", " : "") + keywordAt(i)).str();
    return text;
  }
  if (max == min + 1)
    return (Twine(min) + " or " + Twine(max)).str();
  std::string range =
      ("an integer from " + Twine(min) + " to " + Twine(max)).str();
  return word.empty() ? range : range + ", or '" + word.str() + "' alone";
}

static const OptionSpec *findSpec(ArrayRef<OptionSpec> specs, StringRef name) {
  const auto *it = llvm::find_if(
      specs, [&](const OptionSpec &spec) { return spec.name == name; });
  return it == specs.end() ? nullptr : it;
}

static std::string joinNames(ArrayRef<OptionSpec> specs) {
  std::string text;
  for (const OptionSpec &spec : specs) {
    text += ((text.empty() ? "" : ", ") + spec.name).str();
    if (!spec.word.empty())
      text += (" or " + spec.word).str();
  }
  return text.empty() ? "none" : text;
}

/// Parses one value. What is of another kind is still parsed, so that the
/// error can show it.
static ParseResult parseValue(AsmParser &parser, StringRef subject,
                              const OptionSpec &spec, Attribute &value) {
  SMLoc loc = parser.getCurrentLocation();
  auto refuse = [&](const Twine &found) -> ParseResult {
    return parser.emitError(loc)
           << "option '" << spec.name << "' of " << subject << " has to be "
           << spec.describe() << ", found " << found.str();
  };

  APInt integer;
  OptionalParseResult isInteger = parser.parseOptionalInteger(integer);
  if (isInteger.has_value()) {
    if (failed(*isInteger))
      return failure();
    // A literal may have any width; 64 bits hold every option's range.
    if (!spec.isInteger() || !integer.isSignedIntN(64) ||
        integer.getSExtValue() < spec.min || integer.getSExtValue() > spec.max)
      return refuse(llvm::toString(integer, 10, /*Signed=*/true));
    value = parser.getBuilder().getI64IntegerAttr(integer.getSExtValue());
    return success();
  }

  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword))) {
    if (!spec.isInteger())
      value = spec.parseKeyword(parser.getContext(), keyword);
    return value ? ParseResult(success()) : refuse("'" + keyword + "'");
  }

  Attribute other;
  OptionalParseResult isOther = parser.parseOptionalAttribute(other);
  if (!isOther.has_value())
    return refuse("no value");
  if (failed(*isOther))
    return failure();
  std::string text;
  llvm::raw_string_ostream(text) << other;
  return refuse("'" + text + "'");
}

ParseResult winnow::parseOptionList(AsmParser &parser, StringRef subject,
                                    ArrayRef<OptionSpec> specs,
                                    AsmParser::Delimiter delimiter,
                                    NamedAttrList &options,
                                    NamedAttrList *discardable) {
  SMLoc end = parser.getCurrentLocation();
  auto parseEntry = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    std::string name;
    if (failed(parser.parseOptionalKeywordOrString(&name)))
      return parser.emitError(loc)
             << "expected the name of an option of " << subject
             << "; known: " << joinNames(specs);

    bool dotted = StringRef(name).contains('.');
    const OptionSpec *spec = findSpec(specs, name);
    const auto *worded = llvm::find_if(specs, [&](const OptionSpec &each) {
      return !each.word.empty() && each.word == name;
    });
    bool isWord = worded != specs.end();
    if (isWord) {
      spec = worded;
      name = spec->name.str();
    }
    if (!spec && !(dotted && discardable))
      return parser.emitError(loc)
             << "unknown option '" << name << "' of " << subject
             << "; known: " << joinNames(specs);
    NamedAttrList &list = spec ? options : *discardable;
    if (list.get(name))
      return parser.emitError(loc)
             << (spec ? "option '" : "attribute '") << name << "' of "
             << subject << " is given twice";

    Attribute value;
    if (isWord) {
      value = parser.getBuilder().getI64IntegerAttr(0);
    } else if (spec) {
      if (parser.parseEqual() || parseValue(parser, subject, *spec, value))
        return failure();
    } else if (succeeded(parser.parseOptionalEqual())) {
      if (parser.parseAttribute(value))
        return failure();
    } else {
      value = parser.getBuilder().getUnitAttr();
    }
    list.append(name, value);
    end = parser.getCurrentLocation();
    return success();
  };
  if (parser.parseCommaSeparatedList(delimiter, parseEntry))
    return failure();

  for (const OptionSpec &spec : specs)
    if (spec.required && !options.get(spec.name))
      return parser.emitError(end) << "missing option '" << spec.name << "' of "
                                   << subject << " (" << spec.describe() << ")";
  return success();
}

void winnow::printOptionList(OpAsmPrinter &printer, ArrayRef<OptionSpec> specs,
                             DictionaryAttr attributes) {
  bool first = true;
  auto begin = [&](StringRef name) {
    printer << (first ? "{" : ", ");
    printer.printKeywordOrString(name);
    first = false;
  };
  for (const OptionSpec &spec : specs) {
    Attribute value = attributes.get(spec.name);
    if (!value)
      continue;
    begin(spec.name);
    printer << " = ";
    if (spec.isInteger())
      printer.printAttributeWithoutType(value);
    else
      printer << spec.spellKeyword(value);
  }
  for (NamedAttribute attr : attributes) {
    if (findSpec(specs, attr.getName()))
      continue;
    begin(attr.getName());
    if (!isa<UnitAttr>(attr.getValue()))
      printer << " = " << attr.getValue();
  }
  if (!first)
    printer << '}';
}

LogicalResult winnow::verifyOptions(Operation *op, ArrayRef<OptionSpec> specs) {
  for (NamedAttribute attr : op->getDiscardableAttrs())
    if (!attr.getName().getValue().contains('.'))
      return op->emitError()
             << "unknown option '" << attr.getName().getValue() << "' of '"
             << op->getName() << "'; known: " << joinNames(specs);
  for (const OptionSpec &spec : specs) {
    // The keywords and kinds are checked by what mlir-tblgen makes.
    auto value = dyn_cast_if_present<IntegerAttr>(op->getAttr(spec.name));
    if (value && !spec.accepts(value))
      return op->emitError() << "option '" << spec.name << "' of '"
                             << op->getName() << "' has to be "
                             << spec.describe() << ", found " << value.getInt();
  }
  return success();
}

LogicalResult winnow::verifyOptionDictionary(Operation *op,
                                             NamedAttribute attribute,
                                             ArrayRef<OptionSpec> specs) {
  StringRef subject = attribute.getName().getValue();
  auto dictionary = dyn_cast<DictionaryAttr>(attribute.getValue());
  if (!dictionary)
    return op->emitError() << "attribute '" << subject
                           << "' has to be a dictionary of " << joinNames(specs)
                           << ", found " << attribute.getValue();
  for (NamedAttribute entry : dictionary)
    if (!findSpec(specs, entry.getName()))
      return op->emitError()
             << "unknown option '" << entry.getName().getValue() << "' of '"
             << subject << "'; known: " << joinNames(specs);
  for (const OptionSpec &spec : specs) {
    Attribute value = dictionary.get(spec.name);
    if (!value && spec.required)
      return op->emitError() << "missing option '" << spec.name << "' of '"
                             << subject << "' (" << spec.describe() << ")";
    if (value && !spec.accepts(value))
      return op->emitError()
             << "option '" << spec.name << "' of '" << subject << "' has to be "
             << spec.describe() << ", found " << value;
  }
  return success();
}
