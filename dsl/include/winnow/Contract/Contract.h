// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A contract: a named table of limits on facts, read from JSON. The contracts
// in dsl/contracts are embedded in this library; a bundle carries the ones that
// it was built against.
//
// Everything here may be called from several threads at once; no exception
// leaves the library.
#ifndef WINNOW_CONTRACT_CONTRACT_H
#define WINNOW_CONTRACT_CONTRACT_H

#include "winnow/Contract/Facts.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace winnow::contract {

enum class Relation { Equals, OneOf, AtMost, AtLeast, Between, MultipleOf };

/// "equals", "one_of", ...: the spelling in the JSON.
std::string_view relationName(Relation relation);

/// One row of a contract.
struct Limit {
  /// Unique in its contract: lower case letters, digits, underscores.
  std::string id;
  /// What a person calls the thing that is limited: "sparse block size".
  std::string subject;
  /// Singular noun that its number counts, or empty.
  std::string unit;
  /// The fact that is limited, or the factors of a product of integers.
  std::vector<std::string> facts;
  Relation relation = Relation::Equals;
  /// What it is compared with: one literal, two for Between (both ends
  /// included), at least one for OneOf; none if `other` is set.
  std::vector<Value> values;
  /// The fact it is compared with instead of literals, or empty.
  std::string other;
  /// The limit holds only where all these facts have these values.
  std::vector<std::pair<std::string, Value>> when;
  /// Facts that the message shows beside the found value.
  std::vector<std::string> given;
  /// The fact whose place in a description is to blame.
  std::string blamed;
  /// The operations that it is about ("block_score", "topk"); empty: all.
  std::vector<std::string> operations;
  /// Why the limit exists, in one line.
  std::string reason;
  /// False for a limit that generated kernels do not assert even though their
  /// constants could state it.
  bool asserted = true;

  bool operator==(const Limit &) const = default;
};

class Contract {
public:
  /// Reads one contract. Every field is checked: an unknown, doubled, missing
  /// or ill-typed one, and a fact that facts.json does not know, are errors
  /// that name `source` (a file name, or "the bundle"), the limit and the
  /// field.
  static Result<Contract> parse(std::string_view text, std::string_view source);

  /// The contract as JSON that parse accepts and that stands alone: subjects
  /// and units are written out. One line.
  std::string toJson() const;

  const std::string &name() const { return contractName; }
  /// A heading, and one sentence.
  const std::string &title() const { return titleText; }
  const std::string &about() const { return aboutText; }
  const std::vector<Limit> &limits() const { return table; }
  const Limit *find(std::string_view id) const;

  /// What this contract asks of these operations: the limits that are about one
  /// of them or about all.
  Contract about(const std::vector<std::string> &operations) const;

  /// The same, but where it lets a fact have one of several values, that value
  /// alone. Limits that tie the fact to another stay as they are.
  Contract narrowed(std::string_view fact, const Value &value) const;

  /// The limits of several contracts as one. Of limits that are the same but
  /// for their id and reason one stays; an id that is there already gets the
  /// other contract's name in front.
  static Contract join(std::string name, std::string title, std::string about,
                       const std::vector<Contract> &parts);

  bool operator==(const Contract &) const = default;

private:
  std::string contractName, titleText, aboutText;
  std::vector<Limit> table;
};

/// The embedded contract of that name, or null. It lives as long as the
/// program.
const Contract *find(std::string_view name);

/// The operations that a limit may name, as facts.json lists them.
const std::vector<std::string> &operations();

/// The names of the embedded contracts, sorted.
const std::vector<std::string> &names();

/// An error if an embedded file is bad (its limits are then not served): a
/// build whose tests pass never has one.
const Status &registryStatus();

} // namespace winnow::contract

#endif // WINNOW_CONTRACT_CONTRACT_H
