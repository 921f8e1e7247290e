// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Facts: what is known of a description or of a call, by name. The names, what
// each means and which device constant carries it come from one data file,
// dsl/contracts/facts.json, so the compiler, the runtime, the generated
// kernels and the documentation speak of the same things.
//
// Everything here may be called from several threads at once.
#ifndef WINNOW_CONTRACT_FACTS_H
#define WINNOW_CONTRACT_FACTS_H

#include "winnow/Runtime/Result.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace winnow::contract {

/// One fact's value. Counts and sizes are int64; enumerations and element types
/// are strings in MLIR's spelling ("f8E4M3FN").
using Value = std::variant<int64_t, bool, std::string>;

/// Facts by name, in name order. A fact that is not there is not known yet.
using Facts = std::map<std::string, Value, std::less<>>;

enum class Kind { Int, Bool, String };

/// What facts.json says of one fact.
struct FactInfo {
  std::string name;
  Kind kind = Kind::Int;
  /// What a person calls it: "sparse block size".
  std::string subject;
  /// Singular noun that a number of it counts, or empty: "token".
  std::string unit;
  /// The spellings a string fact is known to take; others may be found.
  std::vector<std::string> values;
  /// Where the compiler finds it, in words.
  std::string found;
  /// Device struct to the name of its constant, in facts.json's struct order.
  std::vector<std::pair<std::string, std::string>> constants;

  enum class Derivation { None, CeilDiv, FloorDiv };
  /// How it follows from two other facts when it is not given.
  Derivation derivation = Derivation::None;
  std::string dividend, divisor;
};

/// Every fact there is, in facts.json's order; empty if that file is bad (see
/// registryStatus in Contract.h).
const std::vector<FactInfo> &vocabulary();

/// The fact of that name, or null.
const FactInfo *findFact(std::string_view name);

/// `facts` with every derived fact that is not given and whose two sources are
/// known: max_blocks, page_tokens, requests. A divisor below 1 or a negative
/// dividend derives nothing. A fact that is given is never replaced.
Facts withDerived(Facts facts);

/// The value as texts show it: 16, true, f8E4M3FN.
std::string valueText(const Value &value);

/// The same with the fact's unit: "1 token", "128 tokens".
std::string valueText(const Value &value, std::string_view unit);

/// A JSON object of facts, for the manifest. The reader keeps names that it
/// does not know (a newer writer may have more) and refuses a known name with a
/// value of another kind.
std::string factsToJson(const Facts &facts);
Result<Facts> factsFromJson(std::string_view text);

} // namespace winnow::contract

#endif // WINNOW_CONTRACT_FACTS_H
