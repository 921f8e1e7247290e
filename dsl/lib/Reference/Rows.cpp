// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which request a row belongs to and how much of it the row may see.
#include "winnow/Reference/Operations.h"

#include <algorithm>

using namespace winnow::reference;

int64_t UniformRows::causalLength(int64_t row) const {
  int64_t length = lengths(request(row));
  // A request without tokens is padding whatever the formula would give; with
  // Q > 1 the earlier rows of a short request fall to 0 by themselves.
  if (length <= 0)
    return 0;
  int64_t position = row % queryLen;
  return std::max<int64_t>(length - queryLen + position + 1, 0);
}

int64_t UniformRows::visibleBlocks(int64_t row) const {
  return (causalLength(row) + blockSize - 1) / blockSize;
}

int64_t UniformRows::mostVisibleBlocks() const {
  int64_t most = 0;
  // The last row of a request sees the most of it.
  for (int64_t request = 0; request < requests(); ++request)
    most = std::max(most, visibleBlocks(request * queryLen + queryLen - 1));
  return most;
}

Problem UniformRows::verify() const {
  if (queryLen < 1)
    return "query_len is " + std::to_string(queryLen) + ", wanted at least 1";
  if (blockSize < 1)
    return "block_size is " + std::to_string(blockSize) + ", wanted at least 1";
  if (requests() < 0)
    return "seq_lens has " + std::to_string(requests()) +
           " entries, wanted at least 0";
  return std::nullopt;
}
