// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes and inputs that the generic lowering is tried with, whether a request
// has as many rows as the next or not.
#ifndef WINNOW_TESTS_DEVICE_GENERICSHAPES_H
#define WINNOW_TESTS_DEVICE_GENERICSHAPES_H

#include "RunDescription.h"

#include <array>
#include <string>

namespace winnow::test {

/// A shape that only the generic lowering scores, small enough to simulate.
inline Shape smallGeneric() {
  Shape shape;
  shape.headDim = 40;
  shape.blockSize = 48;
  shape.pagesPerBlock = 3;
  shape.heads = 2;
  shape.kvHeads = 2;
  shape.maxSeqLen = 4096;
  return shape;
}

/// The most blocks kept, of more than the matrix lowerings' 32768.
inline void keepTwoThousand(Shape &shape) {
  shape.heads = 1;
  shape.kvHeads = 1;
  shape.headDim = 8;
  shape.blockSize = 16;
  shape.pagesPerBlock = 1;
  shape.keep = 2048;
  shape.maxSeqLen = 16 * 40000;
}

/// A selection that is scored by another lowering and too large for it.
inline void keepMany(Shape &shape, int64_t keep) {
  shape.blockSize = 32;
  shape.pagesPerBlock = 2;
  shape.keep = keep;
  shape.ascending = keep == 100;
  shape.tieLowest = keep == 512;
}
inline constexpr std::array<int64_t, 3> kManyKept = {65, 100, 512};

/// Initial and local blocks: none, some, all.
struct Forced {
  int64_t init, local;
};
inline constexpr std::array<Forced, 3> kForced = {
    Forced{0, 0}, {3, 3}, {1000000, 2147483647}};
inline void force(Shape &shape, const Forced &forced) {
  shape.keep = 8;
  shape.initBlocks = forced.init;
  shape.localBlocks = forced.local;
  shape.prefer = "generic";
}

/// Blocks without a page, of three requests of 1000, 3000 and 144 tokens.
inline void unmapSome(tool::Call &call) {
  auto table = call.arguments[call.indexer->indexTable].as<int32_t, 2>();
  table(0, 2) = -1;
  table(1, 0) = -2147483647; // the initial block
  table(1, 62) = -7;         // the local block
  for (int block = 0; block < 3; ++block)
    table(2, block) = -1; // all of a request
  auto attn = call.arguments[call.indexer->attnTable].as<int32_t, 2>();
  attn(0, 20) = -1; // the tail
  for (int block = 0; block < 60; block += 3)
    attn(1, block) = -1 - block;
}

/// Four ways of heads, layouts, pads and outputs, `way` from 0 on.
inline void useLayout(Shape &shape, int way) {
  shape.prefer = "generic";
  shape.heads = way == 0 ? 1 : 2;
  shape.kvHeads = shape.heads * (way + 1);
  shape.tokenMajor = way % 2;
  shape.ascending = way > 1;
  shape.tieLowest = way == 2;
  shape.pagePad = way == 1 ? -1 : 0;
  shape.selectionPad = way == 3 ? 0 : -1;
  shape.stores = way != 2;
  shape.remaps = way != 3;
}

/// The lowering that a shape gets: "generic-mfma".
inline std::string loweringOf(const Shape &shape) {
  std::shared_ptr<const Kernels> kernels = compile(shape);
  return kernels ? kernels->bundle.entries.front().lowering : "none";
}

} // namespace winnow::test

#endif // WINNOW_TESTS_DEVICE_GENERICSHAPES_H
