// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The page table that the attention kernel reads, made from a selection of any
// size.
//
// A shape states, besides what select_row.h needs:
//   kHeads           index heads
//   kPagesPerBlock   entries a block fills (P)
//   kKvHeads         kv heads (G), a multiple of kHeads: table rows a query row
//   kPagePad         what fills a table row past its last page: 0 or -1
#pragma once

#include "winnow/generic/sort_kept.h"

namespace winnow::generic {

/// The sum of `value` over all lanes before this one; `total` gets that of all.
template <class Select>
WINNOW_DEVICE u32 sum_before(u32 value, SelectStorage<Select> &storage,
                             u32 &total) {
  const i32 lane = thread_index();
  storage.sums[lane] = value;
  local_barrier();
  for (i32 step = 1; step < Select::kThreads; step *= 2) {
    const u32 other = lane >= step ? storage.sums[lane - step] : 0;
    local_barrier();
    storage.sums[lane] += other;
    local_barrier();
  }
  total = storage.sums[Select::kThreads - 1];
  return storage.sums[lane] - value;
}

/// Writes, for each kv head g of the row's index head, kTopK * kPagesPerBlock
/// entries of table row n * kKvHeads + g, and its context length. Full blocks
/// come first, in selection order; the row's last visible block, which may be
/// cut short, takes the slot after them. Blocks that the attention's table
/// does not map are dropped.
template <class Select>
WINNOW_DEVICE void emit_pages(const SelectRow &row,
                              SelectStorage<Select> &storage,
                              const i32 *attn_table, i64 attn_table_stride,
                              i32 *pages, i64 pages_stride, i32 *ctx) {
  constexpr i64 P = Select::kPagesPerBlock, G = Select::kKvHeads;
  constexpr i32 heads_served = Select::kKvHeads / Select::kHeads;
  constexpr i32 entries = Select::kTopK * Select::kPagesPerBlock;
  static_assert(G >= 1 && G % Select::kHeads == 0,
                "kv heads have to be a multiple of the index heads");
  // Each lane looks after neighbouring places, so that sums over lanes count
  // places.
  constexpr i32 places =
      (Select::kTopK + Select::kThreads - 1) / Select::kThreads;
  const i32 *table = attn_table + row.request * attn_table_stride;
  const i32 self = row.block_count - 1, kept = kept_blocks(storage);
  // Places that stay empty are read as well.
  for (i32 place = thread_index(); place < Select::kTopK;
       place += Select::kThreads)
    storage.page[place] = -1;
  if (thread_index() == 0)
    storage.tail = -1;
  local_barrier();

  i32 page[places];
  u32 own = 0;
#pragma unroll
  for (i32 i = 0; i < places; ++i) {
    const i32 place = thread_index() * places + i;
    page[i] = -1;
    if (place >= kept)
      continue;
    const i32 block = selected_block<Select>(storage, place);
    page[i] = table[block];
    if (block == self) {
      storage.tail = page[i];
      page[i] = -1;
    }
    own += page[i] >= 0;
  }
  u32 total;
  u32 slot = sum_before<Select>(own, storage, total);
#pragma unroll
  for (i32 i = 0; i < places; ++i)
    if (page[i] >= 0)
      storage.page[slot++] = page[i];
  local_barrier();

  const i32 full = static_cast<i32>(total), tail = storage.tail;
  const i32 context = tail >= 0 ? full * Select::kBlockSize +
                                      (row.visible - self * Select::kBlockSize)
                                : min(full * Select::kBlockSize, row.visible);
  for (i32 i = 0; i < heads_served; ++i) {
    const i32 kv_head = row.head * heads_served + i;
    const i64 table_row = row.row * G + kv_head;
    i32 *out = pages + table_row * pages_stride;
    for (i32 entry = thread_index(); entry < entries;
         entry += Select::kThreads) {
      const i32 place = entry / Select::kPagesPerBlock;
      const i32 mapped = place == full ? tail : storage.page[place];
      const i64 number =
          mapped * (P * G) + kv_head + entry % Select::kPagesPerBlock * G;
      out[entry] = mapped >= 0 ? static_cast<i32>(number) : Select::kPagePad;
    }
    if (thread_index() == 0)
      ctx[table_row] = context;
  }
}

} // namespace winnow::generic
