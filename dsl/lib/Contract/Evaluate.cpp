// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one evaluator of contracts, and the one place where their texts are made.
#include "winnow/Contract/Evaluate.h"

#include <algorithm>
#include <limits>

namespace winnow::contract {

namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

/// The limited quantity of a limit: a fact's value, or a product of several.
struct Quantity {
  Value value;
  std::string text;
  /// The product does not fit; `value` is saturated and only its side of zero
  /// and its size count.
  bool overflowed = false;
};

Quantity multiply(const std::vector<const Value *> &factors) {
  Quantity result;
  int64_t product = 1;
  bool negative = false;
  bool zero = false;
  for (const Value *factor : factors) {
    result.text += (result.text.empty() ? "" : " x ") + valueText(*factor);
    const auto *number = std::get_if<int64_t>(factor);
    if (!number) { // not an integer: no relation between integers holds
      result.value = std::string("not a number");
      continue;
    }
    zero |= *number == 0;
    negative ^= *number < 0;
    if (__builtin_mul_overflow(product, *number, &product)) {
      result.overflowed = true;
      product = negative ? -kMax : kMax;
    }
  }
  if (!result.value.index()) {
    // A factor of zero after an overflow makes the product exact again.
    result.overflowed &= !zero;
    result.value = zero ? 0 : product;
  }
  if (result.overflowed)
    result.text += negative ? " = less than " : " = more than ";
  else
    result.text += " = ";
  result.text += valueText(result.value);
  return result;
}

bool holds(const Limit &limit, const Quantity &quantity,
           const std::vector<Value> &operands) {
  if (limit.relation == Relation::Equals || limit.relation == Relation::OneOf)
    return !quantity.overflowed && std::find(operands.begin(), operands.end(),
                                             quantity.value) != operands.end();
  const auto *value = std::get_if<int64_t>(&quantity.value);
  std::vector<int64_t> bounds;
  for (const Value &operand : operands)
    if (const auto *number = std::get_if<int64_t>(&operand))
      bounds.push_back(*number);
  if (!value || bounds.size() != operands.size())
    return false;
  // A saturated product lies beyond every literal on its side of zero.
  bool above = quantity.overflowed && *value > 0;
  bool below = quantity.overflowed && *value < 0;
  switch (limit.relation) {
  case Relation::AtMost:
    return !above && (below || *value <= bounds[0]);
  case Relation::AtLeast:
    return !below && (above || *value >= bounds[0]);
  case Relation::Between:
    return !above && !below && bounds[0] <= *value && *value <= bounds[1];
  default: // MultipleOf: of a positive number, and positive itself
    return !quantity.overflowed && bounds[0] > 0 && *value > 0 &&
           *value % bounds[0] == 0;
  }
}

/// "at most " and the like around the operand's text.
std::string needed(const Limit &limit, const Value *other) {
  auto operand = [&](size_t i, bool withUnit) {
    return withUnit ? valueText(limit.values[i], limit.unit)
                    : valueText(limit.values[i]);
  };
  std::string one;
  if (!limit.other.empty()) {
    const FactInfo *fact = findFact(limit.other);
    one = fact ? fact->subject : limit.other;
    if (other)
      one += " = " + valueText(*other);
  } else {
    one = operand(0, true);
  }
  switch (limit.relation) {
  case Relation::Equals:
    return limit.other.empty() ? one : "equal to " + one;
  case Relation::AtMost:
    return "at most " + one;
  case Relation::AtLeast:
    return "at least " + one;
  case Relation::MultipleOf:
    return "a positive multiple of " + one;
  case Relation::Between:
    return operand(0, false) + " to " + operand(1, true);
  case Relation::OneOf:
    break;
  }
  std::string list = "one of ";
  for (size_t i = 0; i < limit.values.size(); ++i)
    list += (i ? ", " : "") + operand(i, i + 1 == limit.values.size());
  return list;
}

std::string prefix(const std::string &contract, const std::string &limit) {
  return "contract '" + contract + "', limit '" + limit + "': ";
}

/// " (longest sequence 1048577 tokens, sparse block size 128 tokens)".
std::string givenText(const Limit &limit, const Facts &facts) {
  std::string text;
  for (const std::string &name : limit.given) {
    auto it = facts.find(name);
    const FactInfo *fact = findFact(name);
    if (it == facts.end() || !fact)
      continue;
    text += (text.empty() ? "" : ", ") + fact->subject + " " +
            valueText(it->second, fact->unit);
  }
  return text.empty() ? text : " (" + text + ")";
}

class Evaluator {
public:
  Evaluator(const Contract &contract, const Facts &facts)
      : contract(contract), facts(facts) {}

  Report run() {
    for (const Limit &limit : contract.limits())
      check(limit);
    return std::move(report);
  }

private:
  /// The fact's value; a missing one is noted once.
  const Value *look(const std::string &name) {
    auto it = facts.find(name);
    if (it != facts.end())
      return &it->second;
    if (std::find(missing.begin(), missing.end(), name) == missing.end())
      missing.push_back(name);
    return nullptr;
  }

  void check(const Limit &limit) {
    missing.clear();
    for (const auto &[name, wanted] : limit.when)
      if (const Value *value = look(name); value && *value != wanted)
        return;
    std::vector<const Value *> factors;
    factors.reserve(limit.facts.size());
    for (const std::string &name : limit.facts)
      factors.push_back(look(name));
    const Value *other = limit.other.empty() ? nullptr : look(limit.other);
    if (!missing.empty()) {
      report.deferred.push_back({limit.id, missing});
      return;
    }
    Quantity quantity;
    if (factors.size() == 1)
      quantity = {*factors[0], valueText(*factors[0], limit.unit), false};
    else
      quantity = multiply(factors);
    if (holds(limit, quantity,
              other ? std::vector<Value>{*other} : limit.values))
      return;
    report.violations.push_back({contract.name(), limit.id, limit.subject,
                                 quantity.text + givenText(limit, facts),
                                 needed(limit, other), limit.reason,
                                 limit.blamed});
  }

  const Contract &contract;
  const Facts &facts;
  std::vector<std::string> missing;
  Report report;
};

} // namespace

std::string Violation::message() const {
  return prefix(contract, limit) + subject + " is " + found + ", needed " +
         needed + " (" + reason + ")";
}

Report evaluate(const Contract &contract, const Facts &facts) {
  Facts complete = withDerived(facts);
  return Evaluator(contract, complete).run();
}

std::string neededText(const Limit &limit) { return needed(limit, nullptr); }

std::string requirement(const Contract &contract, const Limit &limit) {
  return prefix(contract.name(), limit.id) + limit.subject + ", needed " +
         neededText(limit) + " (" + limit.reason + ")";
}

} // namespace winnow::contract
