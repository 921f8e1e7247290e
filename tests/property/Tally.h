// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a session of random runs has covered.
#ifndef WINNOW_TESTS_PROPERTY_TALLY_H
#define WINNOW_TESTS_PROPERTY_TALLY_H

#include "CaseRunner.h"

#include <map>
#include <string>

namespace winnow::test {

class Tally {
public:
  void addDescription(const Shape &shape, const Compiled &compiled);
  void addRun(const Shape &shape, const Inputs &inputs,
              const Compiled &compiled);
  void addCase() { ++cases; }
  void add(const Tally &other);

  int64_t runs() const { return runCount; }
  /// Tables for people to read.
  std::string text() const;

  int64_t cases = 0, descriptions = 0, refused = 0;

private:
  using Counts = std::map<std::string, int64_t>;
  int64_t runCount = 0;
  /// "uniform f8E4M3FN max" by the lowering: runs.
  std::map<std::string, Counts> runsOf;
  /// "operations", "keys", "refusals", ...: counts by name.
  std::map<std::string, Counts> lists;
};

} // namespace winnow::test

#endif // WINNOW_TESTS_PROPERTY_TALLY_H
