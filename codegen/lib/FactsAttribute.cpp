// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Facts to and from a dictionary attribute.
#include "winnow/Codegen/FactsAttribute.h"

#include "winnow/IR/Winnow.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace winnow;

DictionaryAttr winnow::factsToAttribute(MLIRContext *context,
                                        const contract::Facts &facts) {
  Builder builder(context);
  SmallVector<NamedAttribute> entries;
  for (const auto &[name, value] : facts) {
    Attribute attribute;
    if (const auto *number = std::get_if<int64_t>(&value))
      attribute = builder.getI64IntegerAttr(*number);
    else if (const auto *flag = std::get_if<bool>(&value))
      attribute = builder.getBoolAttr(*flag);
    else
      attribute = builder.getStringAttr(std::get<std::string>(value));
    entries.push_back(builder.getNamedAttr(name, attribute));
  }
  return builder.getDictionaryAttr(entries);
}

contract::Facts winnow::factsOf(func::FuncOp entry) {
  contract::Facts facts;
  auto attribute = entry->getAttrOfType<DictionaryAttr>(kFactsAttr);
  if (!attribute)
    return facts;
  for (NamedAttribute fact : attribute) {
    std::string name = fact.getName().str();
    if (auto flag = dyn_cast<BoolAttr>(fact.getValue()))
      facts[name] = flag.getValue();
    else if (auto number = dyn_cast<IntegerAttr>(fact.getValue()))
      facts[name] = number.getInt();
    else if (auto text = dyn_cast<StringAttr>(fact.getValue()))
      facts[name] = text.str();
  }
  return facts;
}
