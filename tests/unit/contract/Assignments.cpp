// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Assignments.h.
#include "Assignments.h"

#include "winnow/Contract/Evaluate.h"

#include <algorithm>

namespace winnow::contract::test {

namespace {

int64_t number(const Facts &facts, const std::string &name) {
  Facts complete = withDerived(facts);
  auto it = complete.find(name);
  const auto *value =
      it == complete.end() ? nullptr : std::get_if<int64_t>(&it->second);
  return value ? *value : 1;
}

bool isLimited(const Contract &contract, const std::string &fact) {
  return std::any_of(contract.limits().begin(), contract.limits().end(),
                     [&](const Limit &limit) {
                       return std::find(limit.facts.begin(), limit.facts.end(),
                                        fact) != limit.facts.end();
                     });
}

/// The first factor takes the value, the others one.
void assignQuantity(const Contract &contract, Facts &facts, const Limit &limit,
                    const Value &value, size_t factor = 0) {
  for (size_t i = 0; i < limit.facts.size(); ++i)
    assign(contract, facts, limit.facts[i],
           i == factor ? value : Value(int64_t(1)));
}

/// A value that meets the limit.
Value good(const Facts &facts, const Limit &limit) {
  if (!limit.other.empty()) {
    Facts complete = withDerived(facts);
    auto it = complete.find(limit.other);
    return it == complete.end() ? Value(int64_t(1)) : it->second;
  }
  return limit.values.front();
}

/// Values that break the limit, whatever the contract's other limits say.
std::vector<Value> bad(const Facts &facts, const Limit &limit) {
  Value value = good(facts, limit);
  if (const auto *flag = std::get_if<bool>(&value))
    return {!*flag};
  if (std::holds_alternative<std::string>(value)) {
    std::vector<Value> others;
    for (const std::string &spelling : findFact(limit.facts.front())->values)
      if (std::find(limit.values.begin(), limit.values.end(),
                    Value(spelling)) == limit.values.end() &&
          Value(spelling) != value)
        others.emplace_back(spelling);
    others.emplace_back(std::string("unheard_of"));
    return others;
  }
  int64_t first = std::get<int64_t>(value);
  switch (limit.relation) {
  case Relation::Equals:
    return {first + 1, first * 2, first - 1};
  case Relation::AtMost:
    return {first + 1, first * 2 + 1};
  case Relation::AtLeast:
    return {first - 1};
  case Relation::Between:
    return {first - 1, std::get<int64_t>(limit.values[1]) + 1};
  case Relation::MultipleOf:
    return {first * 2 - 1, int64_t(0)};
  case Relation::OneOf: {
    int64_t largest = first;
    for (const Value &each : limit.values)
      largest = std::max(largest, std::get<int64_t>(each));
    return {largest + 1, largest * 2};
  }
  }
  return {};
}

} // namespace

void assign(const Contract &contract, Facts &facts, const std::string &name,
            const Value &value) {
  const FactInfo *fact = findFact(name);
  if (!fact || fact->derivation == FactInfo::Derivation::None ||
      !std::holds_alternative<int64_t>(value)) {
    facts[name] = value;
    return;
  }
  int64_t wanted = std::get<int64_t>(value);
  // Move the source that no other limit holds in place.
  if (isLimited(contract, fact->dividend) && wanted > 0)
    facts[fact->divisor] =
        std::max<int64_t>(1, number(facts, fact->dividend) / wanted);
  else
    assign(contract, facts, fact->dividend,
           wanted * number(facts, fact->divisor));
}

Facts meeting(const Contract &contract, const Limit &limit) {
  Facts facts;
  for (const FactInfo &fact : vocabulary()) {
    if (fact.derivation != FactInfo::Derivation::None)
      continue;
    if (fact.kind == Kind::Int)
      facts[fact.name] = int64_t(1);
    else if (fact.kind == Kind::Bool)
      facts[fact.name] = true;
    else
      facts[fact.name] = fact.values.empty() ? "any" : fact.values.front();
  }
  for (const auto &[name, value] : limit.when)
    facts[name] = value;
  // One repair may break an earlier limit: as many rounds as there are limits.
  for (size_t round = 0; round < contract.limits().size(); ++round)
    for (const Violation &violation : evaluate(contract, facts).violations) {
      const Limit &broken = *contract.find(violation.limit);
      assignQuantity(contract, facts, broken, good(facts, broken));
    }
  return facts;
}

std::vector<Facts> breaking(const Contract &contract, const Limit &limit) {
  std::vector<Facts> result;
  Facts base = meeting(contract, limit);
  // Every number is a multiple of one, so compare with more.
  if (limit.relation == Relation::MultipleOf && !limit.other.empty() &&
      number(base, limit.other) < 2)
    assign(contract, base, limit.other, int64_t(2));
  for (const Value &value : bad(base, limit))
    for (size_t factor = 0; factor < limit.facts.size(); ++factor) {
      Facts facts = base;
      assignQuantity(contract, facts, limit, value, factor);
      // A quotient cannot take every value: keep what does break the limit.
      Facts complete = withDerived(facts);
      if (limit.facts.size() == 1) {
        auto it = complete.find(limit.facts[0]);
        if (it == complete.end() || it->second == good(facts, limit))
          continue;
      }
      result.push_back(std::move(facts));
    }
  return result;
}

std::vector<Facts> onEdge(const Contract &contract, const Limit &limit) {
  Facts base = meeting(contract, limit);
  std::vector<Value> edges = limit.values;
  if (!limit.other.empty())
    edges = {good(base, limit)};
  if (limit.relation == Relation::MultipleOf)
    edges.emplace_back(std::get<int64_t>(edges.front()) * 2);
  std::vector<Facts> result;
  for (const Value &value : edges)
    for (size_t factor = 0; factor < limit.facts.size(); ++factor) {
      result.push_back(base);
      assignQuantity(contract, result.back(), limit, value, factor);
    }
  return result;
}

} // namespace winnow::contract::test
