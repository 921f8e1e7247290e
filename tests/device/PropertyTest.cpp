// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random shapes, lengths and tables from seeds: what no list of cases thought
// of. A failure names the shape and the seed.
#include "RunDescription.h"

#include <random>

using namespace winnow;
using namespace winnow::test;

namespace {

class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed) {}

  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % (high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }

  Shape shape() {
    Shape shape;
    shape.queryLen = chance(50) ? 1 : between(1, 16);
    shape.heads = between(1, 16 / shape.queryLen);
    shape.blockSize = 32 << between(0, 3);
    shape.keep = chance(40) ? 16 : between(1, 64);
    shape.initBlocks = chance(60) ? 0 : between(1, 4);
    shape.localBlocks = chance(50) ? 1 : between(0, 4);
    shape.tieLowest = chance(30);
    shape.ascending = chance(30);
    shape.tokenMajor = chance(30);
    shape.selectionPad = chance(80) ? -1 : 0;
    shape.pagesPerBlock =
        chance(60) ? shape.blockSize / 16 : int64_t(1) << between(0, 5);
    shape.kvHeads = shape.heads * between(1, 3);
    shape.pagePad = chance(70) ? 0 : -1;
    shape.stores = chance(90);
    shape.remaps = !shape.stores || chance(90);
    shape.maxSeqLen = chance(50) ? between(1, 200) * 64 : 131072;
    return shape;
  }

  std::vector<int32_t> lengths(const Shape &shape) {
    std::vector<int32_t> lengths(between(1, 6));
    const int64_t most = std::min<int64_t>(shape.maxSeqLen, 12000);
    for (int32_t &length : lengths) {
      length = static_cast<int32_t>(between(0, most));
      if (chance(15))
        length = static_cast<int32_t>(between(-3, 20));
      if (chance(20)) // Around the edge of a block.
        length = static_cast<int32_t>(between(0, most / shape.blockSize) *
                                          shape.blockSize +
                                      between(-1, 1));
      length = std::min<int32_t>(length, static_cast<int32_t>(most));
    }
    return lengths;
  }

  /// Makes a few entries of a table negative.
  void unmap(tool::HostTensor &tensor, int64_t requests) {
    auto table = tensor.as<int32_t, 2>();
    for (int64_t request = 0; request < requests; ++request)
      for (int64_t block = 0; block < table.extents[1]; ++block)
        if (chance(3))
          table(request, block) = static_cast<int32_t>(between(-9, -1));
  }

private:
  std::mt19937_64 random;
};

} // namespace

TEST(Property, RandomDescriptionsMatchTheReference) {
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    Generator generator(seed);
    const Shape shape = generator.shape();
    const std::vector<int32_t> lengths = generator.lengths(shape);
    expectRight(shape, lengths, seed, [&](tool::Call &call) {
      if (generator.chance(50))
        return;
      generator.unmap(call.arguments[call.indexer->indexTable],
                      call.requests());
      if (shape.remaps)
        generator.unmap(call.arguments[call.indexer->attnTable],
                        call.requests());
    });
    if (testing::Test::HasFailure())
      break;
  }
}
