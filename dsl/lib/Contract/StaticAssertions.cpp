// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Limits as static assertions over the constants of generated kernels: whoever
// edits a constant by hand hears the contract's own words from the compiler.
#include "winnow/Contract/Evaluate.h"
#include "winnow/Contract/Render.h"

#include "Vocabulary.h"

#include <algorithm>

namespace winnow::contract {

namespace {

/// The fact as an expression over one struct's constants: its own constant, or
/// the quotient that it is derived from.
std::optional<std::string> expression(const FactInfo *fact,
                                      std::string_view deviceStruct) {
  if (!fact)
    return std::nullopt;
  for (const auto &[name, constant] : fact->constants)
    if (name == deviceStruct)
      return qualified(name, constant);
  if (fact->derivation != FactInfo::Derivation::FloorDiv)
    return std::nullopt;
  auto dividend = expression(findFact(fact->dividend), deviceStruct);
  auto divisor = expression(findFact(fact->divisor), deviceStruct);
  if (!dividend || !divisor)
    return std::nullopt;
  return *dividend + " / " + *divisor;
}

std::string compare(const std::string &left, const char *op,
                    const std::string &right) {
  return left + " " + op + " " + right;
}

/// The text as C++ string literals, one a line, that stand under the condition
/// and keep within 80 columns where words allow. Facts come from outside, so
/// anything but printable ASCII becomes '?'.
std::string literals(const std::string &text) {
  constexpr size_t columns = 62; // 80 less indent, quotes and the end
  const std::string indent(14, ' ');
  std::string result, line, word;
  auto endWord = [&] {
    if (!line.empty() && line.size() + word.size() > columns) {
      result += "\n" + indent + "\"" + line + "\"";
      line.clear();
    }
    line += word;
    word.clear();
  };
  for (char c : text) {
    if (c == '"' || c == '\\')
      word += '\\';
    word += c >= ' ' && c <= '~' ? c : '?';
    if (c == ' ')
      endWord();
  }
  endWord();
  return result + "\n" + indent + "\"" + line + "\"";
}

/// The conditions of several structs as one: on one line if it fits, else one a
/// line.
std::string joined(const std::vector<std::string> &conditions) {
  constexpr size_t columns = 65; // 80 less "static_assert(" and ","
  std::string flat, tall;
  for (const std::string &each : conditions) {
    // The structs are edited apart, so each has to hold.
    bool choice = conditions.size() > 1 && each.find("||") != std::string::npos;
    std::string part = choice ? "(" + each + ")" : each;
    flat += (flat.empty() ? "" : " && ") + part;
    tall += (tall.empty() ? "" : " &&\n                  ") + part;
  }
  return flat.size() <= columns ? flat : tall;
}

} // namespace

const std::vector<std::string> &deviceStructs() {
  static const std::vector<std::string> none;
  const Result<Vocabulary> &embedded = embeddedVocabulary();
  return embedded ? (*embedded).structs : none;
}

std::optional<std::string> condition(const Limit &limit,
                                     std::string_view deviceStruct) {
  if (!limit.asserted)
    return std::nullopt;
  std::string left;
  for (const std::string &name : limit.facts) {
    const FactInfo *fact = findFact(name);
    auto factor = expression(fact, deviceStruct);
    if (!factor)
      return std::nullopt;
    // A quotient among factors keeps its own value.
    bool quotient =
        limit.facts.size() > 1 && factor->find(" / ") != std::string::npos;
    left += (left.empty() ? "" : " * ") +
            (quotient ? "(" + *factor + ")" : *factor);
  }
  std::vector<std::string> right;
  if (!limit.other.empty()) {
    auto other = expression(findFact(limit.other), deviceStruct);
    if (!other)
      return std::nullopt;
    right.push_back(*other);
  }
  for (const Value &value : limit.values)
    right.push_back(valueText(value));

  switch (limit.relation) {
  case Relation::Equals:
    return compare(left, "==", right[0]);
  case Relation::AtMost:
    return compare(left, "<=", right[0]);
  case Relation::AtLeast:
    return compare(left, ">=", right[0]);
  case Relation::Between:
    return compare(left, ">=", right[0]) + " && " +
           compare(left, "<=", right[1]);
  case Relation::OneOf:
    break;
  case Relation::MultipleOf: {
    // A divisor of zero is no constant expression; this says why instead.
    std::string text = compare(left, ">", "0") + " && ";
    if (!limit.other.empty())
      text += compare(right[0], ">", "0") + " && ";
    bool plain = left.find(' ') == std::string::npos;
    text += (plain ? left : "(" + left + ")") + " % ";
    return text +
           (right[0].find(' ') == std::string::npos ? right[0]
                                                    : "(" + right[0] + ")") +
           " == 0";
  }
  }
  std::string any;
  for (const std::string &each : right)
    any += (any.empty() ? "" : " || ") + compare(left, "==", each);
  return any;
}

std::vector<std::string>
staticAssertions(const Contract &contract, const Facts &facts,
                 const std::vector<std::string> &structs) {
  Facts complete = withDerived(facts);
  Report report = evaluate(contract, complete);
  std::vector<std::string> result;
  for (const Limit &limit : contract.limits()) {
    bool applies = std::all_of(
        limit.when.begin(), limit.when.end(), [&](const auto &condition) {
          auto it = complete.find(condition.first);
          return it != complete.end() && it->second == condition.second;
        });
    bool deferred = std::any_of(
        report.deferred.begin(), report.deferred.end(),
        [&](const Deferred &each) { return each.limit == limit.id; });
    if (!applies || deferred)
      continue;
    auto broken = std::find_if(
        report.violations.begin(), report.violations.end(),
        [&](const Violation &each) { return each.limit == limit.id; });
    std::string text = broken == report.violations.end()
                           ? requirement(contract, limit)
                           : broken->message();
    std::vector<std::string> conditions;
    for (const std::string &name : structs)
      if (auto each = condition(limit, name))
        conditions.push_back(*each);
    if (!conditions.empty())
      result.push_back("static_assert(" + joined(conditions) + "," +
                       literals(text) + ");");
  }
  return result;
}

} // namespace winnow::contract
