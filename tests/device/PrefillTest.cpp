// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ragged rows from end to end on the simulated device: prompts, parts of
// prompts, and decoding requests among them.
#include "RunDescription.h"

#include <algorithm>
#include <random>
#include <utility>

using namespace winnow;
using namespace winnow::test;

namespace {

Shape prefill() {
  Shape shape;
  shape.queryLen = 0;
  return shape;
}

/// Tokens and new rows of each request.
tool::Lengths batch(std::vector<int32_t> tokens, std::vector<int32_t> rows) {
  return {std::move(tokens), std::move(rows)};
}

/// The bytes of the request's page for a block.
std::byte *pageOf(tool::Call &call, int64_t request, int64_t block) {
  const tool::Indexer &indexer = *call.indexer;
  int32_t page =
      call.arguments[indexer.indexTable].as<int32_t, 2>()(request, block);
  tool::HostTensor &keys = call.arguments[indexer.keys];
  return keys.bytes.data() + int64_t(page) * keys.view.strides[0] *
                                 runtime::byteWidth(keys.view.dtype);
}

} // namespace

TEST(Prefill, WholePromptsAroundBlocks) {
  for (int32_t length :
       {1, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 256, 257, 300})
    expectRight(prefill(), batch({length}, {length}));
  expectRight(prefill(), batch({2047, 2048, 2049}, {90, 2048, 1}));
}

TEST(Prefill, LengthsAndNewRowsMix) {
  // Prompts, later parts of prompts, requests that decode, that wait and that
  // are padding; more rows than tokens leave the first rows nothing to see.
  expectRight(prefill(),
              batch({0, 1, 127, 128, 129, 2047, 2048, 2049, 0, 3, 700},
                    {0, 1, 127, 0, 2, 1, 0, 300, 4, 5, 700}));
}

TEST(Prefill, RequestsWithoutRowsAroundOthers) {
  expectRight(prefill(), batch({500, 500, 500, 500, 500}, {0, 0, 77, 0, 0}));
  expectRight(prefill(), batch({500, 500}, {0, 0}));
  expectRight(prefill(), batch({0, 0, 0}, {3, 1, 70}));
  expectRight(prefill(), batch({-5, 700, -2147483647}, {3, 1, 2}));
}

TEST(Prefill, ManyRequests) {
  // More requests than a wave has lanes: the search takes two steps.
  Shape shape = prefill();
  shape.maxRequests = 256;
  std::mt19937 random(11);
  std::vector<int32_t> lengths, rows;
  for (int request = 0; request < 200; ++request) {
    rows.push_back(random() % 3 == 0 ? 0 : static_cast<int32_t>(random() % 7));
    lengths.push_back(static_cast<int32_t>(random() % 400));
  }
  expectRight(shape, batch(lengths, rows));
}

TEST(Prefill, DecodingRequestsOnly) {
  expectRight(prefill(),
              batch({1000, 1, 128, 129, 5000, 16384}, {1, 1, 1, 1, 1, 1}));
}

TEST(Prefill, HeadsOneToSixteen) {
  for (int heads = 1; heads <= 16; ++heads) {
    Shape shape = prefill();
    shape.heads = heads;
    shape.kvHeads = heads;
    expectRight(shape, batch({300, 129, 0, 40}, {100, 1, 2, 40}));
  }
}

TEST(Prefill, KvHeadsAndLayouts) {
  Shape shape = prefill();
  shape.heads = 2;
  shape.kvHeads = 4;
  shape.tokenMajor = true;
  shape.keep = 7;
  shape.ascending = true;
  shape.tieLowest = true;
  shape.pagePad = -1;
  expectRight(shape, batch({3000, 700, 20}, {40, 1, 20}));
}

TEST(Prefill, QueryTilesFollowTheLongestPrompt) {
  for (int64_t most : {1, 64, 65, 128, 129}) {
    Shape shape = prefill();
    shape.maxQueryLen = most;
    const auto rows = static_cast<int32_t>(most);
    expectRight(shape, batch({700, 300, rows}, {rows, 1, rows}));
  }
}

TEST(Prefill, BlockSizes) {
  for (int64_t blockSize : {32, 64, 128, 256}) {
    for (const char *dtype : {"f8E4M3FN", "bf16", "f16"}) {
      Shape shape = prefill();
      shape.dtype = dtype;
      shape.blockSize = blockSize;
      shape.pagesPerBlock = blockSize / 16;
      shape.heads = 2;
      shape.kvHeads = 2;
      expectRight(shape, batch({1, 33, 257, 900, 600}, {1, 33, 40, 1, 70}));
    }
  }
}

TEST(Prefill, ContextsOfSeveralChunks) {
  for (const char *dtype : {"f8E4M3FN", "bf16"}) {
    Shape shape = prefill();
    shape.dtype = dtype;
    shape.maxSeqLen = 1048576;
    expectRight(shape, batch({20000, 8192, 4097}, {33, 1, 130}));
  }
}

TEST(Prefill, InitAndLocalBlocksOverlap) {
  for (auto [init, local] : {std::pair(0, 0), std::pair(1, 2), std::pair(3, 3),
                             std::pair(1000000, 0)}) {
    Shape shape = prefill();
    shape.initBlocks = init;
    shape.localBlocks = local;
    expectRight(shape, batch({1, 512, 769, 4000}, {1, 200, 3, 40}));
  }
}

TEST(Prefill, UnmappedBlocksScoreNothingAndAreNotRead) {
  Shape shape = prefill();
  shape.initBlocks = 1;
  expectRight(
      shape, batch({1000, 3000, 300}, {300, 3, 300}), 1, [](tool::Call &call) {
        auto table = call.arguments[call.indexer->indexTable].as<int32_t, 2>();
        table(0, 2) = -1;
        table(0, 7) = -1;          // the last block
        table(1, 0) = -2147483647; // the initial block
        table(1, 23) = -7;         // the local block
        for (int block = 0; block < 3; ++block)
          table(2, block) = -1; // all of a request
      });
}

TEST(Prefill, BlocksThatTheAttentionDoesNotMapAreDropped) {
  expectRight(
      prefill(), batch({1000, 3000}, {300, 2}), 1, [](tool::Call &call) {
        auto table = call.arguments[call.indexer->attnTable].as<int32_t, 2>();
        table(0, 7) = -1;
        for (int block = 0; block < 24; block += 3)
          table(1, block) = -1 - block;
      });
}

TEST(Prefill, NanKeysNeverWin) {
  expectRight(prefill(), batch({1000, 700, 129}, {600, 100, 129}), 3,
              [](tool::Call &call) {
                std::byte *some = pageOf(call, 0, 1);
                for (int token = 0; token < 128; token += 3)
                  some[token * 128 + token % 128] = std::byte(0x7f);
                std::fill_n(pageOf(call, 0, 2), 128 * 128, std::byte(0xff));
                for (int block = 0; block < 6; ++block)
                  std::fill_n(pageOf(call, 1, block), 128 * 128,
                              std::byte(0x7f));
              });
}

TEST(Prefill, NanQueriesScoreMinusInfinity) {
  expectRight(prefill(), batch({1000, 700}, {70, 3}), 3, [](tool::Call &call) {
    call.arguments[call.indexer->query].bytes[5] = std::byte(0x7f);
    call.arguments[call.indexer->query].bytes[33 * 128 + 99] = std::byte(0xff);
  });
}

TEST(Prefill, InfinitiesTakePart) {
  for (uint16_t infinity : {0x7f80, 0x7c00}) {
    Shape shape = prefill();
    shape.dtype = infinity == 0x7f80 ? "bf16" : "f16";
    expectRight(shape, batch({500}, {200}), 4, [&](tool::Call &call) {
      auto set = [&](int block, int token, int dim, int bits) {
        auto *page = reinterpret_cast<uint16_t *>(pageOf(call, 0, block));
        page[token * 128 + dim] = static_cast<uint16_t>(bits);
      };
      set(1, 5, 17, infinity);
      for (int token = 0; token < 128; ++token)
        set(2, token, token, infinity | 0x8000);
      set(3, 9, 1, infinity); // of both signs: a NaN or an infinity
      set(3, 9, 2, infinity | 0x8000);
      set(3, 115, 2, infinity); // seen by the last rows alone
    });
  }
}

TEST(Prefill, GeometryNeverReadsLengths) {
  Shape shape = prefill();
  shape.maxSeqLen = 1048576;
  // As many requests and rows each time, of other lengths and other shares.
  expectSameGeometry(shape, {batch({300, 100, 0}, {300, 1, 0}),
                             batch({65536, 9000, 128}, {1, 299, 1}),
                             batch({0, 0, 0}, {100, 100, 101})});
}
