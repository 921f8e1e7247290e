// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The generic select kernel alone, on scores built against a radix select and
// a sorting network.
#include "SelectScores.h"

#include <random>

using namespace winnow;
using namespace winnow::test;

namespace {

std::vector<Shape> shapes() {
  Shape plain;
  plain.prefer = "generic";
  plain.maxSeqLen = 131072;
  Shape many = plain; // more than the MFMA family's 64
  many.keep = 300;
  many.tieLowest = true;
  many.heads = 2;
  many.kvHeads = 2;
  Shape ascending = plain;
  ascending.keep = 33;
  ascending.ascending = true;
  Shape one = plain;
  one.keep = 1;
  return {plain, many, ascending, one};
}

/// Rows of 1, 15, 16, 17, 300, 301 and 1000 blocks, and one of none.
std::vector<int32_t> rowLengths() {
  return {128,       15 * 128,  16 * 128,   17 * 128,
          300 * 128, 301 * 128, 1000 * 128, 0};
}

} // namespace

TEST(GenericSelect, AllEqualScores) {
  for (const Shape &shape : shapes())
    for (float score : {0.0f, -0.0f, -3.5f, kInfinity, -kInfinity,
                        bits(0x7fc00000), bits(0xffc00000)})
      expectSelected(
          shape, rowLengths(), [=](int64_t, int64_t) { return score; },
          "all scores are equal");
}

TEST(GenericSelect, NanInfinityAndSignedZeros) {
  for (const Shape &shape : shapes()) {
    std::mt19937 random(7);
    expectSelected(
        shape, rowLengths(),
        [&](int64_t, int64_t) {
          return kSpecialScores[random() % std::size(kSpecialScores)];
        },
        "special values");
  }
}

TEST(GenericSelect, RandomBitsClustersAndPlateaus) {
  for (const Shape &shape : shapes()) {
    std::mt19937 random(13);
    expectSelected(
        shape, rowLengths(), [&](int64_t, int64_t) { return bits(random()); },
        "random bits");
    expectSelected(
        shape, rowLengths(),
        [&](int64_t, int64_t) { return static_cast<float>(random() % 3); },
        "heavy ties");
    expectSelected(
        shape, rowLengths(),
        [&](int64_t, int64_t) { return bits(0x41200000 + random() % 200); },
        "differences in the last bits alone");
    expectSelected(
        shape, rowLengths(),
        [&](int64_t, int64_t block) { return static_cast<float>(block); },
        "ascending");
    expectSelected(
        shape, rowLengths(),
        [&](int64_t, int64_t block) { return -static_cast<float>(block); },
        "descending");
  }
}

TEST(GenericSelect, LongestSelectionOfALongRow) {
  Shape shape;
  shape.blockSize = 16;
  shape.pagesPerBlock = 1;
  shape.keep = 2048;
  shape.maxSeqLen = 16 * 40000;
  const std::vector<int32_t> lengths = {16 * 40000, 16 * 2048, 16 * 2049};
  std::mt19937 random(19);
  for (bool ascending : {false, true}) {
    shape.ascending = ascending;
    expectSelected(
        shape, lengths,
        [&](int64_t, int64_t) { return static_cast<float>(random() % 5); },
        "five values");
  }
}
