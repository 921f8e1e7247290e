// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The limits that docs/tuning.md names, stated a second time: a schedule that
// keeps them and is refused all the same is a failure.
#include "RandomSchedule.h"

#include "Refusals.h"

#include <algorithm>

using namespace winnow::test;

namespace {

constexpr int64_t kTileTokens = 16;

/// A power of two up to `most`, each as likely.
int64_t powerUpTo(int64_t most, Random &random) {
  int64_t count = 0;
  while ((int64_t(2) << count) <= most)
    ++count;
  return int64_t(1) << random.between(0, count);
}

std::string text(const char *name, int64_t value) {
  return std::string(", ") + name + " = " + std::to_string(value);
}

/// Tiles on their way to the local memory that all waves of a workgroup share.
std::string ofRagged(int64_t tiles, int64_t tileBytes, int64_t localBytes,
                     Random &random) {
  return text("prefetch", powerUpTo(std::min({tiles, int64_t(8),
                                              localBytes / (2 * tileBytes)}),
                                    random));
}

/// Keys in registers.
std::string ofUniform(int64_t tiles, int64_t tileBytes, int64_t leastWaves,
                      Random &random) {
  constexpr int64_t mostBytes = 32768;
  int64_t own = random.chance(50) ? powerUpTo(tiles, random) : tiles;
  if (own < tiles && tiles / own < leastWaves)
    own = tiles;
  const int64_t held = std::min(own, mostBytes / tileBytes);
  if (held == own && random.chance(50)) // of several pages at once
    return text("key_tiles", own) + text("prefetch", own) +
           text("pages_in_flight",
                powerUpTo(std::min<int64_t>(mostBytes / (own * tileBytes), 8),
                          random));
  return text("key_tiles", own) + text("prefetch", powerUpTo(held, random));
}

/// Keys that are copied ahead.
std::string ofCopies(int64_t tiles, int64_t tileBytes, int64_t leastWaves,
                     Random &random) {
  constexpr int64_t mostBytes = 40960;
  const int64_t mostWaves = std::min<int64_t>(mostBytes / tileBytes, 16);
  // Rows so long are not selected in one launch anyway.
  if (leastWaves > mostWaves)
    return text("prefetch", 1);
  int64_t own = powerUpTo(tiles, random);
  while (tiles / own > mostWaves)
    own *= 2;
  int64_t waves = tiles / own;
  while (waves < leastWaves || (waves * 2 <= mostWaves && random.chance(40)))
    waves *= 2;
  const int64_t held = mostBytes / (waves * tileBytes);
  return text("waves", waves) + text("key_tiles", own) +
         text("prefetch", powerUpTo(std::clamp<int64_t>(held, 1, 16), random));
}

} // namespace

std::string winnow::test::randomSchedule(const Shape &shape,
                                         const std::string &lowering,
                                         Random &random) {
  if (!shape.selects || shape.merges || !mfmaScores(shape) ||
      (!shape.scoreLowering.empty() && shape.scoreLowering != lowering))
    return "";
  const bool copies = lowering == "mma";
  const int64_t tiles = shape.blockSize / kTileTokens;
  const int64_t tileBytes =
      kTileTokens * shape.headDim * (shape.dtype == "f8E4M3FN" ? 1 : 2);
  std::string all = text("non_temporal", random.between(0, 1));
  if (shape.ragged()) {
    // On sm_90 shared keys have 16 bits.
    all += ofRagged(tiles, copies ? kTileTokens * shape.headDim * 2 : tileBytes,
                    copies ? 49152 : 65536, random);
  } else {
    // In one launch the waves that score hold a row, 32 scores a lane.
    const int64_t held = (copies ? 32 : 64) * 32;
    const int64_t leastWaves =
        shape.launches == 1 ? (shape.shardBlocks() + held - 1) / held : 1;
    all += copies ? ofCopies(tiles, tileBytes, leastWaves, random)
                  : ofUniform(tiles, tileBytes, leastWaves, random);
  }
  return all.substr(2);
}
