// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// remap_pages: from selected blocks to the page table that attention reads.
#include "Shapes.h"

#include <algorithm>
#include <limits>

using namespace winnow::reference;

namespace {

/// A row's valid blocks in slot order, the tail last, and its context length.
struct PackedRow {
  std::vector<int32_t> blocks;
  int64_t context = 0;
};

PackedRow pack(const Rows &rows, View<const int32_t, 3> selection,
               View<const int32_t, 2> table, int64_t head, int64_t row) {
  PackedRow packed;
  const int64_t visible = rows.causalLength(row);
  if (visible == 0)
    return packed;
  const int64_t self = (visible - 1) / rows.blockSize;
  bool tailSelected = false;
  for (int64_t slot = 0; slot < selection.extents[2]; ++slot) {
    const int32_t block = selection(head, row, slot);
    if (block < 0 || block > self || table(rows.request(row), block) < 0)
      continue;
    if (block == self)
      tailSelected = true;
    else
      packed.blocks.push_back(block);
  }
  const int64_t full = static_cast<int64_t>(packed.blocks.size());
  if (tailSelected) {
    packed.blocks.push_back(static_cast<int32_t>(self));
    packed.context = full * rows.blockSize + (visible - self * rows.blockSize);
  } else {
    packed.context = std::min(full * rows.blockSize, visible);
  }
  return packed;
}

Problem verify(const Rows &rows, View<const int32_t, 3> selection,
               View<const int32_t, 2> table, const RemapOptions &options,
               View<int32_t, 2> pages, View<int32_t, 1> contexts) {
  if (Problem problem = rows.verify())
    return problem;
  const int64_t heads = selection.extents[0];
  if (options.pagesPerBlock < 1)
    return "pages_per_block is " + std::to_string(options.pagesPerBlock) +
           ", wanted at least 1";
  if (heads < 1 || options.kvHeads < 1 || options.kvHeads % heads != 0)
    return "kv_heads is " + std::to_string(options.kvHeads) +
           ", wanted a positive multiple of the " + std::to_string(heads) +
           " index heads";
  if (Problem problem = rows.verifyExtent("selection", 1, selection.extents[1]))
    return problem;
  if (Problem problem =
          wantAtLeast("attn_table", 0, table.extents[0], rows.requests()))
    return problem;
  if (Problem problem = wantExtent("pages", 0, pages.extents[0],
                                   rows.rows() * options.kvHeads))
    return problem;
  if (Problem problem =
          wantExtent("pages", 1, pages.extents[1],
                     selection.extents[2] * options.pagesPerBlock))
    return problem;
  if (Problem problem =
          wantExtent("ctx", 0, contexts.extents[0], pages.extents[0]))
    return problem;

  // Only blocks that the formula looks up have to be in the table, and their
  // largest page number has to fit the int32 of the page table.
  const int64_t scale = options.pagesPerBlock * options.kvHeads;
  for (int64_t head = 0; head < heads; ++head)
    for (int64_t row = 0; row < rows.rows(); ++row)
      for (int64_t slot = 0; slot < selection.extents[2]; ++slot) {
        const int32_t block = selection(head, row, slot);
        if (block < 0 || block >= rows.visibleBlocks(row))
          continue;
        if (Problem problem =
                wantAtLeast("attn_table", 1, table.extents[1], block + 1))
          return problem;
        const int64_t page = table(rows.request(row), block);
        if (page >= 0 &&
            page * scale + scale - 1 > std::numeric_limits<int32_t>::max())
          return "attn_table[" + std::to_string(rows.request(row)) + ", " +
                 std::to_string(block) + "] is page " + std::to_string(page) +
                 ": times " + std::to_string(scale) +
                 " it does not fit the page table's int32";
      }
  return std::nullopt;
}

} // namespace

Problem winnow::reference::remapPages(const Rows &rows,
                                      View<const int32_t, 3> selection,
                                      View<const int32_t, 2> table,
                                      const RemapOptions &options,
                                      View<int32_t, 2> pages,
                                      View<int32_t, 1> contexts) {
  if (Problem problem =
          verify(rows, selection, table, options, pages, contexts))
    return problem;

  const int64_t kvHeads = options.kvHeads;
  const int64_t perBlock = options.pagesPerBlock;
  const int64_t kvHeadsPerHead = kvHeads / selection.extents[0];
  for (int64_t row = 0; row < rows.rows(); ++row) {
    for (int64_t kvHead = 0; kvHead < kvHeads; ++kvHead) {
      const PackedRow packed =
          pack(rows, selection, table, kvHead / kvHeadsPerHead, row);
      const int64_t out = row * kvHeads + kvHead;
      for (int64_t entry = 0; entry < pages.extents[1]; ++entry)
        pages(out, entry) = options.pad;
      for (size_t slot = 0; slot < packed.blocks.size(); ++slot) {
        const int64_t page = table(rows.request(row), packed.blocks[slot]);
        for (int64_t j = 0; j < perBlock; ++j)
          pages(out, static_cast<int64_t>(slot) * perBlock + j) =
              static_cast<int32_t>(page * perBlock * kvHeads + kvHead +
                                   j * kvHeads);
      }
      contexts(out) = static_cast<int32_t>(packed.context);
    }
  }
  return std::nullopt;
}
