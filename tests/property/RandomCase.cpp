// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RandomCase.h"

#include "Random.h"
#include "RandomSchedule.h"
#include "Refusals.h"

#include <algorithm>
#include <numeric>

using namespace winnow;
using namespace winnow::test;

namespace {

/// What one run may cost: products of elements, which both the reference and
/// the simulated device compute one by one, and scores, which are looked at.
constexpr int64_t kProducts = 3'000'000;
constexpr int64_t kScores = 1 << 19;

class Generator {
public:
  explicit Generator(uint64_t seed)
      : random(seed), launchDice(~seed), scheduleDice(seed ^ 0x7363686564u) {}

  Shape shape() {
    Shape shape;
    shape.selects = random.chance(93);
    if (random.chance(30))
      shape.queryLen = 0;
    if (random.chance(55))
      likeM3(shape);
    else
      anything(shape);
    selection(shape);
    ranks(shape);
    bounds(shape);
    if (!shape.selects || (random.chance(20) && !shape.merges))
      steps(shape);
    entry(shape);
    mend(shape);
    return shape;
  }

  /// Lowerings beside the best: the generic one, and the two that mix; each in
  /// one launch or two where there is a choice, and with any schedule.
  std::vector<Shape> variants(const Shape &shape) {
    std::vector<Shape> all = loweringsOf(shape);
    for (Shape &each : all)
      if (joins(each))
        each.launches = launchDice.pick({0, 1, 1, 2});
    for (Shape &each : all)
      if (each.prefer.empty() && scheduleDice.chance(50))
        each.schedule = randomSchedule(each, "mfma", scheduleDice);
    return all;
  }

  Inputs inputs(const Shape &shape) {
    Inputs inputs;
    inputs.seed = random.next() % 1'000'000;
    lengths(shape, inputs.lengths);
    values(shape, inputs);
    return inputs;
  }

  /// Other lengths and values for as many requests and rows.
  Inputs sameSizes(const Shape &shape, const Inputs &other) {
    Inputs inputs;
    inputs.seed = random.next() % 1'000'000;
    inputs.lengths = other.lengths;
    for (int32_t &length : inputs.lengths.tokens)
      length = random.chance(30) ? 0 : this->length(shape);
    limit(shape, inputs.lengths);
    values(shape, inputs);
    inputs.paddingRows = other.paddingRows;
    return inputs;
  }

private:
  std::vector<Shape> loweringsOf(const Shape &shape) {
    std::vector<Shape> all(2, shape);
    all[1].prefer = "generic";
    if (!shape.selects || shape.merges || !random.chance(30))
      return all;
    all.push_back(shape);
    const bool scoring = random.chance(50);
    all.back().scoreLowering = scoring ? "mfma" : "generic";
    all.back().selectLowering = scoring ? "generic" : "mfma";
    return all;
  }

  /// Near MiniMax-M3: what the matrix cores score, most of the time.
  void likeM3(Shape &shape) {
    shape.dtype = random.pick({"f8E4M3FN", "f8E4M3FN", "bf16", "f16"});
    if (!shape.ragged() && random.chance(50))
      shape.queryLen = random.between(2, 16);
    shape.heads = random.between(
        1, shape.ragged() ? random.pick({1, 4, 16})
                          : 16 / std::max<int64_t>(shape.queryLen, 1));
    shape.blockSize = int64_t(32) << random.between(0, 3);
    // Not quite what they take, now and then.
    if (random.chance(5))
      shape.heads = 17;
    if (random.chance(5))
      shape.headDim = random.pick({64, 120, 136});
    if (random.chance(5))
      shape.strided = true;
  }

  void anything(Shape &shape) {
    shape.dtype = random.pick({"f8E4M3FN", "f8E5M2", "bf16", "f16"});
    shape.reduce = random.pick({"max", "max", "sum", "mean"});
    if (!shape.ragged() && random.chance(50))
      shape.queryLen = random.between(2, random.chance(20) ? 40 : 9);
    shape.heads = random.between(1, random.chance(10) ? 128 : 12);
    shape.headDim = 8 * random.between(1, random.chance(10) ? 80 : 12);
    shape.blockSize = random.chance(20)
                          ? random.pick({1, 2, 7, 255, 256, 257, 512, 600})
                          : random.between(8, 150);
    shape.strided = random.chance(30);
  }

  void selection(Shape &shape) {
    shape.keep = random.chance(30)   ? 16
                 : random.chance(80) ? random.between(1, 64)
                                     : random.between(65, 300);
    if (random.chance(2))
      shape.keep = random.pick({512, 1000, 2048});
    shape.initBlocks = random.chance(60) ? 0 : random.between(1, 4);
    shape.localBlocks = random.chance(50) ? 1 : random.between(0, 4);
    if (random.chance(3))
      shape.initBlocks = random.pick({1000000, 2147483647});
    if (random.chance(3))
      shape.localBlocks = random.pick({1000000, 2147483647});
    if (random.chance(15)) {
      shape.world = random.between(2, random.chance(10) ? 1024 : 5);
      shape.rank = random.between(0, shape.world - 1);
    }
    shape.tieLowest = random.chance(30);
    shape.ascending = random.chance(30);
    shape.tokenMajor = random.chance(30);
    shape.selectionPad = random.chance(80) ? -1 : 0;
    shape.stores = random.chance(88);
    shape.remaps = !shape.stores || random.chance(80);
    shape.exchanges = random.chance(shape.world > 1 ? 60 : 5);
    // Any divisor of the block size.
    do
      shape.pagesPerBlock =
          random.between(1, std::min<int64_t>(shape.blockSize, 40));
    while (shape.blockSize % shape.pagesPerBlock != 0);
    shape.kvHeads =
        shape.heads * (random.chance(60) ? 1 : random.between(2, 4));
    shape.pagePad = random.chance(70) ? 0 : -1;
  }

  /// What ranks hand on to each other, and what they make of it.
  void ranks(Shape &shape) {
    if (!shape.selects)
      return;
    if (random.chance(8)) {
      shape.merges = random.chance(15) ? -1 : random.between(1, 8);
      if (random.chance(10))
        shape.merges = random.between(9, 200);
      if (random.chance(40))
        shape.rankKeep = shape.keep + random.between(1, 40);
      return;
    }
    shape.exchanges = random.chance(shape.world > 1 ? 70 : 5);
    if (shape.exchanges && random.chance(70))
      shape.stores = shape.remaps = false;
  }

  void bounds(Shape &shape) {
    const int64_t longest = shape.blockSize * random.between(1, 200);
    shape.maxSeqLen =
        random.chance(70)
            ? std::max<int64_t>(1, longest -
                                       random.between(0, shape.blockSize - 1))
            : random.pick({16384, 131072});
    // Score buffers are as wide as the bound asks.
    shape.maxSeqLen = std::min(shape.maxSeqLen, shape.blockSize * 4096);
    if (random.chance(2) && shape.heads == 1) {
      shape.blockSize = 32;
      shape.pagesPerBlock = 2;
      shape.maxSeqLen = 32 * random.pick({32767, 32768, 32769, 40000});
    }
    shape.maxRequests = random.pick({7, 8, 64, 256});
    if (random.chance(2))
      shape.maxRequests = random.pick({65535, 65536});
    shape.maxQueryLen = random.chance(30) ? random.between(1, 200) : 2048;
    if (random.chance(5))
      shape.maxPages =
          random.pick<int64_t>({100000, 100000, 1 << 24, 2147483647});
  }

  void steps(Shape &shape) {
    do {
      shape.rebaseTable = random.chance(50) ? random.between(1, 4) : 0;
      shape.rebaseSlots = random.chance(50) ? random.between(1, 3) : 0;
      // A cache has to be of a format that keys are converted to.
      if (random.chance(50) && shape.dtype != "f8E5M2")
        shape.newKeys = random.pick({"f32", "bf16", "f16"});
    } while (!shape.rebaseTable && !shape.rebaseSlots && shape.newKeys.empty());
    shape.inPlace = random.chance(50);
  }

  void entry(Shape &shape) {
    shape.dense = random.chance(30);
    shape.attention = random.chance(20);
    if (shape.remaps && random.chance(10))
      shape.tableSides = random.between(2, 3);
    if (random.chance(3))
      shape.contract = "aiter_msa";
  }

  int32_t length(const Shape &shape) {
    const int64_t most = std::min<int64_t>(shape.maxSeqLen, 12000);
    if (random.chance(15))
      return static_cast<int32_t>(random.pick<int64_t>(
          {0, 0, 1, -1, -3, -2147483647, most, std::min(most, shape.blockSize),
           std::min(most, shape.queryLen)}));
    if (random.chance(3)) // past the bound, which it counts as
      return static_cast<int32_t>(std::min<int64_t>(
          shape.maxSeqLen + random.pick({1, 1000, 1 << 30}), 2147483647));
    if (random.chance(25)) // around the edge of a block
      return static_cast<int32_t>(std::min(
          most, random.between(0, most / shape.blockSize) * shape.blockSize +
                    random.between(-1, 1)));
    return static_cast<int32_t>(random.between(0, most));
  }

  void lengths(const Shape &shape, tool::Lengths &lengths) {
    lengths.tokens.resize(random.between(1, 6));
    for (int32_t &length : lengths.tokens)
      length = this->length(shape);
    if (shape.selects && shape.ragged())
      for (int32_t length : lengths.tokens) {
        int64_t count = random.pick<int64_t>(
            {0, 1, 1, random.between(0, 40), random.between(0, 150), length});
        count = std::clamp<int64_t>(count, 0,
                                    std::min<int64_t>(shape.maxQueryLen, 300));
        lengths.newTokens.push_back(static_cast<int32_t>(count));
      }
    limit(shape, lengths);
  }

  /// Shortens what is longest until a run is short enough.
  void limit(const Shape &shape, tool::Lengths &lengths) {
    auto rowsOf = [&](size_t i) -> int64_t {
      return lengths.newTokens.empty() ? shape.queryLen : lengths.newTokens[i];
    };
    auto products = [&](size_t i) -> int64_t {
      const int64_t tokens =
          std::clamp<int64_t>(lengths.tokens[i], 0, shape.maxSeqLen);
      // A token that few rows see has to be made all the same.
      if (shape.merges) // the places of its rows, each of some work
        return rowsOf(i) * shape.heads * std::abs(shape.merges) *
               std::max(shape.rankKeep, shape.keep) * 100;
      return (rowsOf(i) * shape.heads + 4) * tokens * shape.headDim;
    };
    while (shape.selects) {
      int64_t sum = 0, rows = 0;
      size_t largest = 0, mostRows = 0;
      for (size_t i = 0; i < lengths.tokens.size(); ++i) {
        sum += products(i);
        rows += rowsOf(i);
        if (products(i) > products(largest))
          largest = i;
        if (rowsOf(i) > rowsOf(mostRows))
          mostRows = i;
      }
      if ((rows * shape.heads * shape.maxBlocks() > kScores ||
           (shape.merges && sum > kProducts)) &&
          !lengths.newTokens.empty() && lengths.newTokens[mostRows] > 1)
        lengths.newTokens[mostRows] /= 2;
      else if (shape.merges && sum > kProducts && lengths.tokens.size() > 1)
        lengths.tokens.pop_back(),
            lengths.newTokens.empty() ? void() : lengths.newTokens.pop_back();
      else if (shape.merges)
        return;
      else if (sum > kProducts)
        lengths.tokens[largest] =
            std::min<int32_t>(lengths.tokens[largest],
                              static_cast<int32_t>(shape.maxSeqLen)) /
            2;
      else
        return;
    }
  }

  void values(const Shape &shape, Inputs &inputs) {
    auto any = [&] {
      return static_cast<Values>(
          random.between(0, static_cast<int64_t>(kLastValues)));
    };
    inputs.keys = random.chance(30) ? Values::Bell : any();
    inputs.queries = random.chance(60) ? Values::Bell : any();
    if (random.chance(40))
      inputs.unmapped = random.pick({3, 3, 30, 100});
    inputs.sharedPages = random.chance(20);
    if (shape.selects && shape.ragged() && random.chance(20))
      inputs.paddingRows =
          std::min<int64_t>(random.pick({1, 5, 70}), shape.maxQueryLen);
    if (shape.selects && random.chance(30))
      inputs.scores = static_cast<Scores>(
          random.between(1, static_cast<int64_t>(kLastScores)));
  }

  Random random;
  // So that the rest of a seed's case is what it was.
  Random launchDice, scheduleDice;
};

} // namespace

void test::mend(Shape &shape) {
  shape.kvHeads =
      std::max(shape.heads, shape.kvHeads / shape.heads * shape.heads);
  shape.rank = std::min(shape.rank, shape.world - 1);
  shape.pagesPerBlock = std::gcd(shape.pagesPerBlock, shape.blockSize);
  if (shape.dtype == "f8E5M2")
    shape.newKeys.clear();
  if (!shape.selects && !shape.rebaseTable && !shape.rebaseSlots &&
      shape.newKeys.empty())
    shape.rebaseTable = 2;
  if (shape.merges) {
    // Descriptions of merges say nothing of these.
    shape.exchanges = shape.dense = shape.attention = false;
    shape.contract.clear();
    shape.newKeys.clear();
    shape.maxPages = shape.rebaseTable = shape.rebaseSlots = 0;
    shape.tableSides = shape.world = 1;
  }
  if (shape.launches == 1 && !joins(shape))
    shape.launches = 0;
  if (!shape.stores && !shape.exchanges)
    shape.remaps = true;
  if (shape.rankKeep)
    shape.rankKeep = std::max(shape.rankKeep, shape.keep);
  // Numbers of scaled tables and slots are the dialect's own business.
  int64_t factor = 1;
  const int64_t sides =
      shape.tableSides * std::max<int64_t>(shape.rebaseTable, 1);
  if (shape.rebaseTable)
    factor = sides;
  if (shape.rebaseSlots)
    factor = std::max(factor, shape.blockSize * shape.rebaseSlots);
  if (shape.selects && shape.remaps && sides > 1)
    factor = std::max(factor, sides * shape.pagesPerBlock * shape.kvHeads);
  if (factor > 1)
    shape.maxPages = std::min(shape.maxPages, (int64_t(1) << 31) / factor);
}

Case test::randomCase(uint64_t seed, int inputs) {
  Generator generator(seed);
  Case made;
  made.seed = seed;
  made.shape = generator.shape();
  made.variants = generator.variants(made.shape);
  for (int i = 0; i < inputs; ++i)
    made.inputs.push_back(
        i == 1 ? generator.sameSizes(made.shape, made.inputs.front())
               : generator.inputs(made.shape));
  return made;
}
