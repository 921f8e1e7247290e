// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads facts.json: the names that contracts, manifests and the compiler share.
#include "Vocabulary.h"

#include "Json.h"

#include <algorithm>

namespace winnow::contract {

const std::vector<EmbeddedFile> &embeddedFiles() {
  static const std::vector<EmbeddedFile> files = {
#include "ContractFiles.inc"
  };
  return files;
}

namespace {

/// "constants": {"Score": "kHeads"}; structs are held to the file's own list.
void readConstants(Fields &fields, const std::vector<std::string> &structs,
                   FactInfo &fact) {
  const Json *constants = fields.get("constants", false);
  if (!constants)
    return;
  if (!constants->is_object() || fact.kind != Kind::Int) {
    fields.fail("constants", "needs an integer fact and an object of device "
                             "struct to constant name");
    return;
  }
  for (const auto &item : constants->items()) {
    if (std::find(structs.begin(), structs.end(), item.key()) ==
            structs.end() ||
        !item.value().is_string()) {
      fields.fail("constants", "has '" + item.key() +
                                   "': " + describe(item.value()) +
                                   ", needed a device struct and a name");
      return;
    }
  }
  for (const std::string &name : structs)
    if (auto it = constants->find(name); it != constants->end())
      fact.constants.emplace_back(name, it->get<std::string>());
}

/// "derived": {"ceildiv": ["max_seq_len", "block_size"]}.
void readDerivation(Fields &fields, FactInfo &fact) {
  const Json *derived = fields.get("derived", false);
  if (!derived)
    return;
  bool good =
      derived->is_object() && derived->size() == 1 && fact.kind == Kind::Int;
  if (good) {
    const std::string &op = derived->begin().key();
    const Json &operands = derived->begin().value();
    good = (op == "ceildiv" || op == "floordiv") && operands.is_array() &&
           operands.size() == 2 && operands[0].is_string() &&
           operands[1].is_string();
    if (good) {
      fact.derivation = op == "ceildiv" ? FactInfo::Derivation::CeilDiv
                                        : FactInfo::Derivation::FloorDiv;
      fact.dividend = operands[0].get<std::string>();
      fact.divisor = operands[1].get<std::string>();
    }
  }
  if (!good)
    fields.fail("derived", "needs an integer fact and {\"ceildiv\" or "
                           "\"floordiv\": [fact, fact]}");
}

void readValues(Fields &fields, FactInfo &fact) {
  const Json *values = fields.get("values", false);
  if (!values)
    return;
  bool good =
      values->is_array() && !values->empty() && fact.kind == Kind::String;
  for (size_t i = 0; good && i < values->size(); ++i) {
    good = (*values)[i].is_string();
    if (good)
      fact.values.push_back((*values)[i].get<std::string>());
  }
  if (!good)
    fields.fail("values", "needs a string fact and a list of strings");
}

Result<FactInfo> readFact(const Json &json, const Vocabulary &soFar,
                          const std::string &where) {
  FactInfo fact;
  if (json.is_object())
    if (auto it = json.find("name"); it != json.end() && it->is_string())
      fact.name = it->get<std::string>();
  Fields fields(json,
                fact.name.empty() ? where : where + " ('" + fact.name + "')");
  fact.name = fields.identifier("name", true);
  std::string kind = fields.text("kind", true);
  if (kind == "int")
    fact.kind = Kind::Int;
  else if (kind == "bool")
    fact.kind = Kind::Bool;
  else if (kind == "string")
    fact.kind = Kind::String;
  else
    fields.fail("kind", "is \"" + kind + "\", needed int, bool or string");
  fact.subject = fields.text("subject", true);
  fact.unit = fields.text("unit", false);
  fact.found = fields.text("found", true);
  readValues(fields, fact);
  readDerivation(fields, fact);
  readConstants(fields, soFar.structs, fact);
  for (const FactInfo &other : soFar.facts)
    if (other.name == fact.name)
      fields.fail("name", "is there twice");
  if (Status status = fields.finish(); !status)
    return status.takeError();
  return fact;
}

} // namespace

Result<Vocabulary> parseVocabulary(std::string_view text,
                                   std::string_view source) {
  Result<Json> json = parseJson(text, source);
  if (!json)
    return json.takeError();
  std::string where(source);
  Fields fields(*json, where);
  if (std::string format = fields.text("format", true);
      format != "winnow-facts")
    fields.fail("format", "is \"" + format + "\", needed \"winnow-facts\"");
  if (const Json *version = fields.get("version", true);
      version && *version != 1)
    fields.fail("version", "is " + describe(*version) + ", needed 1");
  Vocabulary vocabulary;
  const Json *structs = fields.get("device_structs", true);
  if (fields.get("operations", false))
    vocabulary.operations = fields.identifiers("operations", true);
  const Json *facts = fields.get("facts", true);
  if (structs && !structs->is_array())
    fields.fail("device_structs", "needs a list");
  if (facts && !facts->is_array())
    fields.fail("facts", "needs a list");
  if (Status status = fields.finish(); !status)
    return status.takeError();

  for (const Json &name : *structs) {
    if (!name.is_string())
      return Error{where + ": field 'device_structs' has " + describe(name) +
                   ", needed a string"};
    vocabulary.structs.push_back(name.get<std::string>());
  }
  for (size_t i = 0; i < facts->size(); ++i) {
    Result<FactInfo> fact = readFact((*facts)[i], vocabulary,
                                     where + ": fact " + std::to_string(i + 1));
    if (!fact)
      return fact.takeError();
    vocabulary.facts.push_back(std::move(*fact));
  }
  // A derived fact follows from given ones and from derived ones before it, so
  // one pass completes facts.
  for (auto fact = vocabulary.facts.begin(); fact != vocabulary.facts.end();
       ++fact) {
    if (fact->derivation == FactInfo::Derivation::None)
      continue;
    for (const std::string &name : {fact->dividend, fact->divisor}) {
      auto it = std::find_if(vocabulary.facts.begin(), vocabulary.facts.end(),
                             [&](const FactInfo &f) { return f.name == name; });
      if (it == vocabulary.facts.end() || it->kind != Kind::Int ||
          (it->derivation != FactInfo::Derivation::None && it >= fact))
        return Error{where.append(": fact '").append(fact->name) +
                     "': field 'derived' has '" + name +
                     "', needed an integer fact that is not derived, or one "
                     "that stands before it"};
    }
  }
  return vocabulary;
}

std::string qualified(std::string_view deviceStruct,
                      std::string_view constant) {
  std::string text(deviceStruct);
  text.append("::").append(constant);
  return text;
}

const Result<Vocabulary> &embeddedVocabulary() {
  static const Result<Vocabulary> vocabulary = []() -> Result<Vocabulary> {
    for (const EmbeddedFile &file : embeddedFiles())
      if (std::string_view(file.name) == "facts.json")
        return parseVocabulary(file.text, file.name);
    return Error{"facts.json is not among the embedded contract files"};
  }();
  return vocabulary;
}

} // namespace winnow::contract
