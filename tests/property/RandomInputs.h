// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs of a call, as a few choices that can be printed, repeated and made
// simpler one by one.
#ifndef WINNOW_TESTS_PROPERTY_RANDOMINPUTS_H
#define WINNOW_TESTS_PROPERTY_RANDOMINPUTS_H

#include "Inputs.h"

#include <string>

namespace winnow::test {

/// What the elements of keys or queries are like.
enum class Values {
  Bell,        ///< about unit variance
  Integers,    ///< -1, 0 and 1: scores tie without their vectors being equal
  Plateaus,    ///< few vectors, so that most blocks tie
  AllEqual,    ///< one vector
  Clusters,    ///< a vector and its opposite, some last bits flipped
  SignedZeros, ///< +0 and -0
  Denormals,
  Extremes,   ///< the largest that are finite, of either sign
  NaNs,       ///< some of a bell's are NaN, of some blocks all
  Infinities, ///< some are infinite, where the format has that
  Codes,      ///< any bits
};
inline constexpr Values kLastValues = Values::Codes;
const char *nameOf(Values values);

/// What the select kernel is given to select from.
enum class Scores {
  Computed, ///< by the score kernel
  Specials, ///< NaNs, infinities, zeros of both signs, forced scores, denormals
  Ties,     ///< three values
  Bits,     ///< any bits
  LastBits, ///< values that differ in their last bits alone
  Ascending,
  Descending,
  AllEqual,
};
inline constexpr Scores kLastScores = Scores::AllEqual;
const char *nameOf(Scores scores);

struct Inputs {
  uint64_t seed = 1; ///< of elements and tables
  /// As the device is given them: a length may be negative, and past the end of
  /// the last block that the bound allows it counts as that end.
  tool::Lengths lengths;
  Values keys = Values::Bell, queries = Values::Bell;
  int64_t unmapped = 0;     ///< percent of the entries of both tables
  bool sharedPages = false; ///< requests share pages of the index cache
  int64_t paddingRows = 0;  ///< of ragged batches: rows that no request has
  Scores scores = Scores::Computed;

  std::string text() const;
};

/// A call with these inputs, its lengths cut to what they count as. Rows that
/// no request has are those of one more, which is empty.
Result<tool::Call> makeCall(const tool::Indexer &indexer, const Inputs &inputs);

/// What the device is given in place of it: lengths as they are, and nothing of
/// the request that stands for padding.
tool::Call deviceCall(const tool::Call &call, const Inputs &inputs);

/// Fills what the workspace holds of visible scores; not for Computed.
void fillScores(tool::Call &call, const Inputs &inputs);

} // namespace winnow::test

#endif // WINNOW_TESTS_PROPERTY_RANDOMINPUTS_H
