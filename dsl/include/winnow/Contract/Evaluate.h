// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Holding facts against a contract. The compiler's pass, the runtime's answer
// and the static assertions of generated kernels all take their verdict and
// their words from here.
#ifndef WINNOW_CONTRACT_EVALUATE_H
#define WINNOW_CONTRACT_EVALUATE_H

#include "winnow/Contract/Contract.h"

#include <string>
#include <vector>

namespace winnow::contract {

/// One limit that the facts break.
struct Violation {
  std::string contract; // the contract's name
  std::string limit;    // the limit's id
  std::string subject;  // "index heads x query length"
  std::string found;    // "3 x 6 = 18"
  std::string needed;   // "at most 16"
  std::string reason;
  std::string blamed; // the fact whose place is to blame

  /// The one text for it: "contract 'aiter_msa', limit 'columns': index heads x
  /// query length is 3 x 6 = 18, needed at most 16 (...)".
  std::string message() const;
};

/// A limit that cannot be decided yet: facts are missing.
struct Deferred {
  std::string limit;
  std::vector<std::string> missing; // in the limit's order
};

struct Report {
  std::vector<Violation> violations; // every one, in the table's order
  std::vector<Deferred> deferred;    // in the table's order
  /// Nothing is broken; limits may still be deferred.
  bool met() const { return violations.empty(); }
};

/// Holds `facts`, completed by withDerived, against every limit. A value of the
/// wrong kind breaks the limit that reads it. Products saturate instead of
/// overflowing.
Report evaluate(const Contract &contract, const Facts &facts);

/// What one limit asks, without a found value: "sparse block size, needed 128
/// tokens (...)", preceded by the contract and limit as in Violation::message.
std::string requirement(const Contract &contract, const Limit &limit);

/// The "needed" part alone: "at most 16", "a positive multiple of index heads".
std::string neededText(const Limit &limit);

} // namespace winnow::contract

#endif // WINNOW_CONTRACT_EVALUATE_H
