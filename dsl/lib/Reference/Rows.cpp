// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which request a row belongs to and how much of it the row may see.
#include "Shapes.h"

#include <algorithm>

using namespace winnow::reference;

int64_t Rows::request(int64_t row) const {
  if (!ragged())
    return row / queryLen;
  // The last request that starts at or before the row; requests without rows
  // start where the next one does, and come before it.
  int64_t low = 0, high = requests();
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (offsets(middle) <= row ? low : high) = middle;
  }
  return low;
}

int64_t Rows::causalLength(int64_t row) const {
  const int64_t owner = request(row);
  const int64_t length = lengths(owner);
  // A request without tokens is padding whatever the formula would give; with
  // several rows the earlier ones of a short request fall to 0 by themselves.
  if (length <= 0)
    return 0;
  const int64_t position = row - firstRow(owner);
  return std::max<int64_t>(length - rowsOf(owner) + position + 1, 0);
}

int64_t Rows::visibleBlocks(int64_t row) const {
  return (causalLength(row) + blockSize - 1) / blockSize;
}

int64_t Rows::tokensSeen(int64_t request) const {
  // The last row of a request sees the most of it.
  return rowsOf(request) == 0 ? 0 : causalLength(firstRow(request + 1) - 1);
}

int64_t Rows::blocksSeen(int64_t request) const {
  return (tokensSeen(request) + blockSize - 1) / blockSize;
}

int64_t Rows::mostVisibleBlocks() const {
  int64_t most = 0;
  for (int64_t request = 0; request < requests(); ++request)
    most = std::max(most, blocksSeen(request));
  return most;
}

Problem Rows::verify() const {
  if (blockSize < 1)
    return "block_size is " + std::to_string(blockSize) + ", wanted at least 1";
  if (requests() < 0)
    return "seq_lens has " + std::to_string(requests()) +
           " entries, wanted at least 0";
  if (world < 1 || rank < 0 || rank >= world)
    return "rank is " + std::to_string(rank) + " of world " +
           std::to_string(world) + ", wanted 0 to world - 1";
  if (!ragged()) {
    if (queryLen < 1)
      return "query_len is " + std::to_string(queryLen) + ", wanted at least 1";
    return std::nullopt;
  }
  if (Problem problem =
          wantExtent("cu_seqlens", 0, offsets.extents[0], requests() + 1))
    return problem;
  if (offsets(0) != 0)
    return "cu_seqlens[0] is " + std::to_string(offsets(0)) + ", wanted 0";
  for (int64_t request = 0; request < requests(); ++request)
    if (offsets(request + 1) < offsets(request))
      return "cu_seqlens[" + std::to_string(request + 1) + "] is " +
             std::to_string(offsets(request + 1)) + ", wanted at least " +
             std::to_string(offsets(request)) + ", that before it";
  return std::nullopt;
}

Problem Rows::verifyExtent(const char *tensor, int axis, int64_t found) const {
  if (!ragged() || found == rows())
    return wantExtent(tensor, axis, found, rows());
  return "cu_seqlens[" + std::to_string(requests()) + "] is " +
         std::to_string(rows()) + ", wanted " + std::to_string(found) +
         ", the rows in axis " + std::to_string(axis) + " of " + tensor;
}
