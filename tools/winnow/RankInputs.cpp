// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RankInputs.h"

#include <algorithm>
#include <limits>
#include <vector>

using namespace winnow;
using namespace winnow::tool;

/// Quarters from -16 to 16, so that there are ties; one in sixteen is special.
static float randomScore(uint64_t bits) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float special[] = {infinity,
                               -infinity,
                               0.0f,
                               -0.0f,
                               reference::kLocalBlockScore,
                               reference::kInitBlockScore,
                               std::numeric_limits<float>::denorm_min(),
                               std::numeric_limits<float>::max()};
  if (bits % 16 == 0)
    return special[bits / 16 % std::size(special)];
  return static_cast<float>(static_cast<int64_t>(bits / 16 % 129) - 64) / 4;
}

void tool::fillRankCandidates(Call &call,
                              const std::function<uint64_t()> &next) {
  const Indexer &indexer = *call.indexer;
  const reference::Rows rows = call.rows();
  auto ids = call.arguments[indexer.rankIds].as<int32_t, 4>();
  auto best = call.arguments[indexer.rankScores].as<float, 4>();
  const int64_t world = ids.extents[0], keep = ids.extents[3];
  const bool highest = indexer.topk.ties == reference::Ties::HighestBlock;
  std::vector<float> scores;
  std::vector<int32_t> blocks;
  for (int64_t head = 0; head < indexer.heads; ++head)
    for (int64_t row = 0; row < rows.rows(); ++row) {
      scores.resize(static_cast<size_t>(rows.visibleBlocks(row)));
      std::generate(scores.begin(), scores.end(),
                    [&] { return randomScore(next()); });
      for (int64_t rank = 0; rank < world; ++rank) {
        blocks.clear();
        for (int64_t block = rank; block < rows.visibleBlocks(row);
             block += world)
          blocks.push_back(static_cast<int32_t>(block));
        std::sort(blocks.begin(), blocks.end(), [&](int32_t a, int32_t b) {
          const uint32_t left = reference::scoreOrder(scores[a]);
          const uint32_t right = reference::scoreOrder(scores[b]);
          if (left != right)
            return left > right;
          return highest ? a > b : a < b;
        });
        for (int64_t slot = 0; slot < keep; ++slot) {
          const bool held = slot < static_cast<int64_t>(blocks.size());
          ids(rank, head, row, slot) = held ? blocks[slot] : -1;
          best(rank, head, row, slot) =
              held ? scores[blocks[slot]]
                   : -std::numeric_limits<float>::infinity();
        }
      }
    }
}
