// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of queries and keys in every number format, rare ones among them.
#ifndef WINNOW_TESTS_PROPERTY_ELEMENTS_H
#define WINNOW_TESTS_PROPERTY_ELEMENTS_H

#include "Random.h"
#include "RandomInputs.h"

#include "winnow/Runtime/Launch.h"

#include <cstddef>
#include <vector>

namespace winnow::test {

/// Writes vectors of `dims` elements of a format, of the chosen kind.
class Elements {
public:
  /// `largest` is an exponent within which sums of products of bf16 numbers
  /// stay within fp32's range. Half of all Extremes and Codes keep to it.
  Elements(runtime::DType dtype, int64_t dims, int largest);

  /// Decides of which kind the vectors are, and what they have in common.
  void choose(Values values, Random &random);
  /// Says that the vectors from here on are of another block.
  void nextBlock(Random &random);
  /// Writes one vector; a bell's is changed where its kind asks for it.
  void vector(std::byte *to, Random &random);
  /// Writes a finite number to element `d` of a vector.
  void put(std::byte *to, int64_t d, float value) const;

private:
  void code(std::byte *to, int64_t d, uint32_t bits) const;
  uint32_t encode(float value) const;
  uint32_t anySign(uint32_t magnitude, Random &random) const;

  runtime::DType dtype;
  int64_t dims, width;
  uint32_t sign, nan, infinity, denormals, most; ///< codes; no infinity: 0
  int largest;
  Values values = Values::Bell;
  std::vector<std::vector<uint32_t>> pool; ///< vectors in common
  bool byBlock = false;                    ///< one of the pool for a block
  size_t current = 0;
  bool limited = false; ///< keeps to `largest`
  bool whole = false;   ///< every element of the block is rare
};

} // namespace winnow::test

#endif // WINNOW_TESTS_PROPERTY_ELEMENTS_H
