// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mismatch reports, and the comparisons that need no knowledge of the
// operation: scores within tolerance, and memory that must be untouched.
#include "winnow/Reference/Compare.h"
#include "Shapes.h"

#include <cmath>
#include <cstdio>

using namespace winnow::reference;

namespace {

std::string number(double value) {
  // Nine digits tell any two floats apart.
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

} // namespace

std::string Mismatch::text() const {
  std::string line = where + ": got " + got + ", wanted " + wanted;
  if (tolerance > 0.0)
    line += " +- " + number(tolerance);
  return line;
}

void Comparison::add(Mismatch mismatch) {
  ++mismatches;
  if (examples.size() < kExamples)
    examples.push_back(std::move(mismatch));
}

void Comparison::add(const Comparison &other) {
  checked += other.checked;
  mismatches += other.mismatches;
  for (const Mismatch &mismatch : other.examples)
    if (examples.size() < kExamples)
      examples.push_back(mismatch);
}

std::string Comparison::text() const {
  std::string lines;
  for (const Mismatch &mismatch : examples)
    lines += mismatch.text() + "\n";
  const int64_t more = mismatches - static_cast<int64_t>(examples.size());
  if (more > 0)
    lines += "... and " + std::to_string(more) + " more\n";
  return lines;
}

Comparison winnow::reference::compareScores(const Rows &rows,
                                            const ExactScores &exact,
                                            View<const float, 3> got) {
  Comparison comparison;
  Problem problem = wantExtent("score", 0, got.extents[0], exact.heads);
  if (!problem)
    problem = wantExtent("score", 1, got.extents[1], exact.rows);
  if (!problem)
    problem = wantAtLeast("score", 2, got.extents[2], exact.blocks);
  if (problem) {
    comparison.add({"shape", *problem, "the shape of the exact scores"});
    return comparison;
  }
  for (int64_t head = 0; head < exact.heads; ++head)
    for (int64_t row = 0; row < exact.rows; ++row)
      for (int64_t block = 0; block < rows.localBlocks(row); ++block) {
        ++comparison.checked;
        const double found = got(head, row, block);
        const double value = exact.value(head, row, block);
        const double tolerance = exact.tolerance(head, row, block);
        // Equality first: the difference of two infinities is NaN.
        if (found == value || std::fabs(found - value) <= tolerance ||
            (std::isnan(found) && (std::isnan(value) || std::isinf(tolerance))))
          continue;
        comparison.add({"score[" + std::to_string(head) + ", " +
                            std::to_string(row) + ", " + std::to_string(block) +
                            "]",
                        number(found), number(value), tolerance});
      }
  return comparison;
}

Comparison winnow::reference::compareUntouched(
    const std::string &name, const void *data, int64_t size, uint8_t poison,
    const std::function<bool(int64_t)> &written) {
  Comparison comparison;
  const auto *bytes = static_cast<const uint8_t *>(data);
  int64_t runStart = -1;
  auto endRun = [&](int64_t end) {
    if (runStart < 0)
      return;
    comparison.add(
        {name + " bytes [" + std::to_string(runStart) + ", " +
             std::to_string(end) + ")",
         "a store (first byte " + std::to_string(bytes[runStart]) + ")",
         "untouched memory (" + std::to_string(poison) + ")"});
    runStart = -1;
  };
  for (int64_t offset = 0; offset < size; ++offset) {
    // The byte is looked at first: `written` is the slow question, and only
    // the answer for changed bytes matters.
    if (bytes[offset] != poison && !written(offset)) {
      if (runStart < 0)
        runStart = offset;
    } else {
      endRun(offset);
    }
    ++comparison.checked;
  }
  endRun(size);
  return comparison;
}
