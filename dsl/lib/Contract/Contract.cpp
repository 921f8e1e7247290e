// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and writes contracts as JSON. The reader is strict, because a limit
// that is silently dropped or misread lets a description through.
#include "winnow/Contract/Contract.h"

#include "Json.h"

#include <algorithm>
#include <array>

namespace winnow::contract {

namespace {

constexpr std::array<std::string_view, 6> kRelationNames = {
    "equals", "one_of", "at_most", "at_least", "between", "multiple_of"};

bool ordersIntegers(Relation relation) {
  return relation != Relation::Equals && relation != Relation::OneOf;
}

const char *kindName(Kind kind) {
  return kind == Kind::Int    ? "an integer"
         : kind == Kind::Bool ? "true or false"
                              : "a string";
}

/// Reads one limit; every helper below notes the first thing wrong in `fields`.
class LimitReader {
public:
  LimitReader(const Json &json, std::string where)
      : fields(json, std::move(where)) {}

  Result<Limit> read() {
    limit.id = fields.identifier("id", true);
    readSubject();
    readRelation();
    readValue();
    readWhen();
    if (fields.get("given", false))
      for (std::string &name : fields.identifiers("given", true))
        if (known("given", name))
          limit.given.push_back(std::move(name));
    limit.blamed = fields.identifier("where", false);
    if (limit.blamed.empty() && !limit.facts.empty())
      limit.blamed = limit.facts.front();
    known("where", limit.blamed);
    if (fields.get("operations", false))
      for (std::string &name : fields.identifiers("operations", true)) {
        const std::vector<std::string> &all = operations();
        if (std::find(all.begin(), all.end(), name) == all.end())
          fields.fail("operations", "names '" + name +
                                        "', which is no operation that "
                                        "facts.json lists");
        limit.operations.push_back(std::move(name));
      }
    limit.reason = fields.text("reason", true);
    limit.asserted = fields.flag("static_assert", true);
    if (Status status = fields.finish(); !status)
      return status.takeError();
    return std::move(limit);
  }

private:
  const FactInfo *known(std::string_view field, const std::string &name) {
    const FactInfo *fact = findFact(name);
    if (!fact && !fields.failed())
      fields.fail(field, "names '" + name + "', which is no fact");
    return fact;
  }

  void readSubject() {
    std::string one = fields.identifier("fact", false);
    bool hasProduct = fields.get("product", false) != nullptr;
    if (hasProduct == !one.empty()) {
      fields.fail("fact", "or 'product' is needed, one of them");
      return;
    }
    limit.facts = hasProduct ? fields.identifiers("product", true)
                             : std::vector<std::string>{one};
    if (hasProduct && (limit.facts.size() < 2 || limit.facts.size() > 4))
      fields.fail("product", "has " + std::to_string(limit.facts.size()) +
                                 " factors, needed 2 to 4");
    std::string subject;
    for (const std::string &name : limit.facts) {
      const FactInfo *fact = known(hasProduct ? "product" : "fact", name);
      if (!fact)
        return;
      if (hasProduct && fact->kind != Kind::Int)
        fields.fail("product", "has '" + name + "', needed integer facts");
      subject += (subject.empty() ? "" : " x ") + fact->subject;
      kind = fact->kind;
      values = &fact->values;
      limit.unit = hasProduct ? "" : fact->unit;
    }
    limit.subject = subject;
    if (fields.get("subject", false))
      limit.subject = fields.text("subject", true);
    if (fields.get("unit", false))
      limit.unit = fields.text("unit", true);
  }

  void readRelation() {
    std::string name = fields.text("relation", true);
    auto it = std::find(kRelationNames.begin(), kRelationNames.end(), name);
    if (it == kRelationNames.end()) {
      std::string all;
      for (std::string_view each : kRelationNames)
        all += (all.empty() ? "" : ", ") + std::string(each);
      fields.fail("relation", "is \"" + name + "\", needed one of " + all);
      return;
    }
    limit.relation = Relation(it - kRelationNames.begin());
    if (ordersIntegers(limit.relation) && kind != Kind::Int)
      fields.fail("relation", "is \"" + name + "\", needed an integer fact");
  }

  /// A literal of the limited fact's kind and, for a string fact whose
  /// spellings are listed, one of them: a misspelt value would never be met.
  void addLiteral(std::string_view field, const Json &json, Kind wanted,
                  const std::vector<std::string> *spellings,
                  std::vector<Value> &out) {
    Value value;
    if (!toValue(json, value) || value.index() != size_t(wanted)) {
      fields.fail(field,
                  "has " + describe(json) + ", needed " + kindName(wanted));
      return;
    }
    if (const auto *text = std::get_if<std::string>(&value)) {
      if (spellings && !spellings->empty() &&
          std::find(spellings->begin(), spellings->end(), *text) ==
              spellings->end())
        fields.fail(field, "has \"" + *text +
                               "\", a spelling that "
                               "facts.json does not list");
    }
    out.push_back(std::move(value));
  }

  void readValue() {
    const Json *json = fields.get("value", true);
    if (!json || fields.failed())
      return;
    if (json->is_object()) {
      readOther(*json);
      return;
    }
    bool list = limit.relation == Relation::OneOf ||
                limit.relation == Relation::Between;
    if (list != json->is_array()) {
      fields.fail("value", "is " + describe(*json) + ", needed " +
                               (list ? "a list" : "one value"));
      return;
    }
    if (!list)
      addLiteral("value", *json, kind, values, limit.values);
    else
      for (const Json &element : *json)
        addLiteral("value", element, kind, values, limit.values);
    if (fields.failed())
      return;
    if (limit.relation == Relation::OneOf && limit.values.empty())
      fields.fail("value", "is an empty list");
    if (limit.relation == Relation::Between &&
        (limit.values.size() != 2 || std::get<int64_t>(limit.values[0]) >
                                         std::get<int64_t>(limit.values[1])))
      fields.fail("value", "needs two integers, the smaller first");
    if (limit.relation == Relation::MultipleOf &&
        std::get<int64_t>(limit.values[0]) < 1)
      fields.fail("value", "is " + describe(*json) + ", needed at least 1");
  }

  void readOther(const Json &json) {
    if (json.size() != 1 || !json.contains("fact") ||
        !json["fact"].is_string()) {
      fields.fail("value", "needs {\"fact\": name}");
      return;
    }
    if (limit.relation == Relation::OneOf ||
        limit.relation == Relation::Between) {
      fields.fail("value", "is a fact, needed a list of literals");
      return;
    }
    limit.other = json["fact"].get<std::string>();
    const FactInfo *fact = known("value", limit.other);
    if (fact && fact->kind != kind)
      fields.fail("value", "names '" + limit.other +
                               "', needed a fact that is " + kindName(kind));
  }

  void readWhen() {
    const Json *when = fields.get("when", false);
    if (!when)
      return;
    if (!when->is_object() || when->empty()) {
      fields.fail("when", "is " + describe(*when) +
                              ", needed an object of facts and values");
      return;
    }
    for (const auto &item : when->items()) {
      const FactInfo *fact = known("when", item.key());
      if (!fact)
        return;
      std::vector<Value> literal;
      addLiteral("when", item.value(), fact->kind, &fact->values, literal);
      if (!literal.empty())
        limit.when.emplace_back(item.key(), std::move(literal.front()));
    }
  }

  Fields fields;
  Limit limit;
  Kind kind = Kind::Int;
  const std::vector<std::string> *values = nullptr;
};

Json limitToJson(const Limit &limit) {
  Json json = Json::object();
  json["id"] = limit.id;
  json["subject"] = limit.subject;
  if (!limit.unit.empty())
    json["unit"] = limit.unit;
  if (limit.facts.size() == 1)
    json["fact"] = limit.facts.front();
  else
    json["product"] = limit.facts;
  json["relation"] = relationName(limit.relation);
  if (!limit.other.empty()) {
    json["value"] = Json::object({{"fact", limit.other}});
  } else if (limit.relation == Relation::OneOf ||
             limit.relation == Relation::Between) {
    Json list = Json::array();
    for (const Value &value : limit.values)
      list.push_back(fromValue(value));
    json["value"] = std::move(list);
  } else {
    json["value"] = fromValue(limit.values.front());
  }
  for (const auto &[fact, value] : limit.when)
    json["when"][fact] = fromValue(value);
  if (!limit.given.empty())
    json["given"] = limit.given;
  json["where"] = limit.blamed;
  if (!limit.operations.empty())
    json["operations"] = limit.operations;
  json["reason"] = limit.reason;
  if (!limit.asserted)
    json["static_assert"] = false;
  return json;
}

} // namespace

std::string_view relationName(Relation relation) {
  return kRelationNames[size_t(relation)];
}

Result<Contract> Contract::parse(std::string_view text,
                                 std::string_view source) {
  Result<Json> json = parseJson(text, source);
  if (!json)
    return json.takeError();
  Contract contract;
  Fields fields(*json, std::string(source));
  contract.contractName = fields.identifier("contract", true);
  contract.titleText = fields.text("title", true);
  contract.aboutText = fields.text("about", true);
  const Json *limits = fields.get("limits", true);
  if (limits && (!limits->is_array() || limits->empty()))
    fields.fail("limits",
                "is " + describe(*limits) + ", needed a list of limits");
  if (Status status = fields.finish(); !status)
    return status.takeError();

  for (size_t i = 0; i < limits->size(); ++i) {
    const Json &row = (*limits)[i];
    std::string where =
        std::string(source) + ": limit " + std::to_string(i + 1);
    if (row.is_object())
      if (auto id = row.find("id"); id != row.end() && id->is_string())
        where += " ('" + id->get<std::string>() + "')";
    Result<Limit> limit = LimitReader(row, where).read();
    if (!limit)
      return limit.takeError();
    if (contract.find((*limit).id))
      return Error{where + ": field 'id' is there twice"};
    contract.table.push_back(std::move(*limit));
  }
  return contract;
}

std::string Contract::toJson() const {
  Json json = Json::object();
  json["contract"] = contractName;
  json["title"] = titleText;
  json["about"] = aboutText;
  json["limits"] = Json::array();
  for (const Limit &limit : table)
    json["limits"].push_back(limitToJson(limit));
  return json.dump();
}

Contract Contract::about(const std::vector<std::string> &operations) const {
  Contract part = *this;
  std::erase_if(part.table, [&](const Limit &limit) {
    return !limit.operations.empty() &&
           std::find_first_of(limit.operations.begin(), limit.operations.end(),
                              operations.begin(),
                              operations.end()) == limit.operations.end();
  });
  return part;
}

Contract Contract::narrowed(std::string_view fact, const Value &value) const {
  Contract part = *this;
  for (Limit &limit : part.table)
    if (limit.relation == Relation::OneOf && limit.facts.size() == 1 &&
        limit.facts.front() == fact &&
        std::find(limit.values.begin(), limit.values.end(), value) !=
            limit.values.end()) {
      limit.relation = Relation::Equals;
      limit.values = {value};
    }
  return part;
}

Contract Contract::join(std::string name, std::string title, std::string about,
                        const std::vector<Contract> &parts) {
  Contract whole;
  whole.contractName = std::move(name);
  whole.titleText = std::move(title);
  whole.aboutText = std::move(about);
  for (const Contract &part : parts)
    for (Limit limit : part.table) {
      const bool known = std::any_of(whole.table.begin(), whole.table.end(),
                                     [&](const Limit &other) {
                                       Limit same = other;
                                       same.id = limit.id;
                                       same.reason = limit.reason;
                                       same.operations = limit.operations;
                                       return same == limit;
                                     });
      if (known)
        continue;
      if (whole.find(limit.id))
        limit.id = part.contractName + "_" + limit.id;
      whole.table.push_back(std::move(limit));
    }
  return whole;
}

const Limit *Contract::find(std::string_view id) const {
  for (const Limit &limit : table)
    if (limit.id == id)
      return &limit;
  return nullptr;
}

} // namespace winnow::contract
