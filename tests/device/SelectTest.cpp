// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The select kernel alone, on scores that a score kernel would hardly write:
// NaN, infinities, signed zeros, plateaus, and rows built against a histogram.
#include "SelectScores.h"

#include <cmath>
#include <random>

using namespace winnow;
using namespace winnow::test;

namespace {

/// Rows of 1, 15, 16, 17, 64, 65, 127, 600 and 1000 blocks.
std::vector<int32_t> rowLengths() {
  return {128,      15 * 128,  16 * 128,  17 * 128,   64 * 128,
          65 * 128, 127 * 128, 600 * 128, 1000 * 128, 0};
}

std::vector<Shape> shapes() {
  Shape plain;
  plain.maxSeqLen = 131072;
  Shape other = plain;
  other.keep = 64;
  other.tieLowest = true;
  other.ascending = true;
  other.heads = 2;
  other.kvHeads = 2;
  Shape one = plain;
  one.keep = 1;
  one.maxSeqLen = 1048576;
  return {plain, other, one};
}

} // namespace

TEST(Select, AllEqualScores) {
  for (const Shape &shape : shapes())
    for (float score : {0.0f, -0.0f, 1.0f, -3.5f, kInfinity, -kInfinity, 1e30f,
                        bits(0x7fc00000), bits(0xffc00000), bits(1)})
      expectSelected(
          shape, rowLengths(), [=](int64_t, int64_t) { return score; },
          "all scores are equal");
}

TEST(Select, NanInfinityAndSignedZeros) {
  for (const Shape &shape : shapes()) {
    std::mt19937 random(7);
    expectSelected(
        shape, rowLengths(),
        [&](int64_t, int64_t) {
          return kSpecialScores[random() % std::size(kSpecialScores)];
        },
        "special values");
    expectSelected(
        shape, rowLengths(),
        [&](int64_t, int64_t block) {
          return block % 2 ? 0.0f : block % 3 ? -0.0f : bits(0x7fc00000);
        },
        "zeros and NaN");
    expectSelected(
        shape, rowLengths(),
        [&](int64_t, int64_t block) { return block == 5 ? -1.0f : -kInfinity; },
        "one finite score among -inf");
  }
}

TEST(Select, RandomBitPatterns) {
  for (const Shape &shape : shapes()) {
    std::mt19937 random(11);
    expectSelected(
        shape, rowLengths(), [&](int64_t, int64_t) { return bits(random()); },
        "random bits");
  }
}

TEST(Select, GaussianClustersAndPlateaus) {
  for (const Shape &shape : shapes()) {
    std::mt19937 random(13);
    std::normal_distribution<float> normal(0.0f, 5.0f);
    expectSelected(
        shape, rowLengths(), [&](int64_t, int64_t) { return normal(random); },
        "gaussian");
    expectSelected(
        shape, rowLengths(),
        [&](int64_t, int64_t block) {
          return (block % 50 == 0 ? 1000.0f : -1000.0f) +
                 normal(random) * 1e-4f;
        },
        "two clusters");
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
    expectSelected(
        shape, rowLengths(),
        [&](int64_t, int64_t block) { return block % 64 < 3 ? 2.0f : 1.0f; },
        "periodic in the lanes");
  }
}

TEST(Select, ForcedScoresBesideOrdinaryOnes) {
  for (const Shape &shape : shapes()) {
    std::mt19937 random(17);
    std::normal_distribution<float> normal;
    expectSelected(
        shape, rowLengths(),
        [&](int64_t, int64_t block) {
          return block < 2 ? 1e30f : block % 97 == 0 ? 1e29f : normal(random);
        },
        "forced scores");
  }
}

TEST(Select, LongestRows) {
  Shape shape;
  shape.maxSeqLen = 1048576;
  const std::vector<int32_t> lengths = {1048576, 8191 * 128, 4096 * 128 + 1};
  std::mt19937 random(19);
  std::normal_distribution<float> normal;
  expectSelected(
      shape, lengths, [&](int64_t, int64_t) { return normal(random); },
      "gaussian");
  expectSelected(
      shape, lengths, [&](int64_t, int64_t) { return 4.0f; }, "all equal");
  expectSelected(
      shape, lengths,
      [&](int64_t, int64_t) { return static_cast<float>(random() % 2); },
      "two values");
}

namespace {

/// Both tie rules: rows that one wave holds, and rows that take several.
std::vector<Shape> tieShapes() {
  Shape one;
  one.maxSeqLen = 131072;
  Shape several = one;
  several.maxSeqLen = 524288;
  Shape lowest = several;
  lowest.tieLowest = true;
  return {one, several, lowest};
}

/// The longest row, one that ends within a slot, and one within a wave's share.
std::vector<int32_t> tieLengths(const Shape &shape) {
  auto blocks = static_cast<int32_t>(shape.maxBlocks());
  return {blocks * 128, (blocks - 3) * 128, (blocks / 2 + 37) * 128};
}

} // namespace

TEST(Select, PlateausAtTheEdgeOfWhatIsKept) {
  // So many are above the plateau that it decides about none, one, or all but
  // one of the 16 that are kept.
  for (const Shape &shape : tieShapes())
    for (int64_t above : {0, 15, 16, 17})
      expectSelected(
          shape, tieLengths(shape),
          [=](int64_t row, int64_t block) {
            const int64_t place = (block * 7 + row) % 211;
            return block < 211 && place < above
                       ? 3.0f + static_cast<float>(place)
                   : block % 2 ? 2.0f
                               : 1.0f;
          },
          "a plateau under a few larger scores");
}

TEST(Select, AsManyTiesAsThereIsRoomForCandidates) {
  for (const Shape &shape : tieShapes())
    for (int64_t ties : {16, 63, 64, 65, 129})
      expectSelected(
          shape, tieLengths(shape),
          [=](int64_t row, int64_t block) {
            // From the start, the middle or across the end of a wave's share.
            const int64_t begin = row == 0 ? 0 : row == 1 ? 300 : 1000 - ties;
            return block >= begin && block < begin + ties
                       ? 5.0f
                       : -static_cast<float>(block);
          },
          "a run of equal scores");
}

TEST(Select, LargeScoresInFewLanes) {
  // The groups that give the pivot hold many more large scores than are kept.
  for (const Shape &shape : tieShapes()) {
    std::mt19937 random(23);
    expectSelected(
        shape, tieLengths(shape),
        [&](int64_t, int64_t block) {
          return block % 64 < 15 ? 2.0f + static_cast<float>(random() % 1000)
                                 : 1.0f;
        },
        "different scores in 15 of 64 lanes");
    expectSelected(
        shape, tieLengths(shape),
        [](int64_t, int64_t block) {
          return block % 64 == 7 ? 2.0f : block % 64 == 40 ? 1.5f : 1.0f;
        },
        "a plateau in one lane");
  }
}

TEST(Select, NothingButNan) {
  for (const Shape &shape : tieShapes()) {
    expectSelected(
        shape, tieLengths(shape),
        [](int64_t row, int64_t) {
          return bits(row % 2 ? 0x7f800001 : 0xffc00000);
        },
        "NaN");
    expectSelected(
        shape, tieLengths(shape),
        [](int64_t, int64_t block) {
          return block == 70 ? -1e30f
                 : block % 3 ? bits(0x7fc00001)
                             : -kInfinity;
        },
        "NaN, -inf and one number");
  }
}

TEST(Select, TwoClusters) {
  for (const Shape &shape : tieShapes())
    for (uint32_t large : {1u, 50u}) {
      std::mt19937 random(29);
      std::normal_distribution<float> normal;
      expectSelected(
          shape, tieLengths(shape),
          [&](int64_t, int64_t) {
            return (random() % 100 < large ? 80.0f : -80.0f) + normal(random);
          },
          "two clusters");
    }
}
