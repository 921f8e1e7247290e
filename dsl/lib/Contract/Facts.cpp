// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Facts by name: looking them up, completing and spelling them.
#include "winnow/Contract/Facts.h"

#include "Json.h"
#include "Vocabulary.h"
#include "winnow/Contract/Contract.h"

namespace winnow::contract {

const std::vector<FactInfo> &vocabulary() {
  static const std::vector<FactInfo> none;
  const Result<Vocabulary> &embedded = embeddedVocabulary();
  return embedded ? (*embedded).facts : none;
}

const FactInfo *findFact(std::string_view name) {
  for (const FactInfo &fact : vocabulary())
    if (fact.name == name)
      return &fact;
  return nullptr;
}

const std::vector<std::string> &operations() {
  static const std::vector<std::string> none;
  const Result<Vocabulary> &embedded = embeddedVocabulary();
  return embedded ? (*embedded).operations : none;
}

Facts withDerived(Facts facts) {
  auto number = [&](const std::string &name) -> const int64_t * {
    auto it = facts.find(name);
    return it == facts.end() ? nullptr : std::get_if<int64_t>(&it->second);
  };
  for (const FactInfo &fact : vocabulary()) {
    if (fact.derivation == FactInfo::Derivation::None ||
        facts.count(fact.name) != 0)
      continue;
    const int64_t *dividend = number(fact.dividend);
    const int64_t *divisor = number(fact.divisor);
    if (!dividend || !divisor || *dividend < 0 || *divisor < 1)
      continue;
    int64_t quotient = *dividend / *divisor;
    // Not (a + b - 1) / b, which overflows for the largest lengths.
    if (fact.derivation == FactInfo::Derivation::CeilDiv &&
        *dividend % *divisor != 0)
      ++quotient;
    facts.emplace(fact.name, quotient);
  }
  return facts;
}

std::string valueText(const Value &value) {
  if (const auto *number = std::get_if<int64_t>(&value))
    return std::to_string(*number);
  if (const auto *flag = std::get_if<bool>(&value))
    return *flag ? "true" : "false";
  const auto &text = std::get<std::string>(value);
  return text.empty() ? "(empty)" : text;
}

std::string valueText(const Value &value, std::string_view unit) {
  const auto *number = std::get_if<int64_t>(&value);
  if (!number || unit.empty())
    return valueText(value);
  return valueText(value) + " " + std::string(unit) + (*number == 1 ? "" : "s");
}

std::string factsToJson(const Facts &facts) {
  Json json = Json::object();
  for (const auto &[name, value] : facts)
    json[name] = fromValue(value);
  // A fact may hold bytes from outside that are not UTF-8.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Facts> factsFromJson(std::string_view text) {
  Result<Json> json = parseJson(text, "facts");
  if (!json)
    return json.takeError();
  if (!json->is_object())
    return Error{"facts: found " + describe(*json) + ", needed an object"};
  Facts facts;
  for (const auto &item : json->items()) {
    Value value;
    bool good = toValue(item.value(), value);
    std::string wanted = "an integer, true or false, or a string";
    if (const FactInfo *fact = findFact(item.key())) {
      good = good && value.index() == size_t(fact->kind);
      wanted = fact->kind == Kind::Int    ? "an integer"
               : fact->kind == Kind::Bool ? "true or false"
                                          : "a string";
    }
    if (!good)
      return Error{"facts: '" + item.key() + "' is " + describe(item.value()) +
                   ", needed " + wanted};
    facts.emplace(item.key(), std::move(value));
  }
  return facts;
}

} // namespace winnow::contract
