// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The page table that the attention kernel reads, made from a selection.
//
// A shape states, besides what select_row.h needs:
//   kTopK            blocks of a selection
//   kPagesPerBlock   entries a block fills (P)
//   kKvHeads         kv heads (G), a multiple of kHeads: table rows a query row
//   kPagePad         what fills a table row past its last page: 0 or -1
#pragma once

#include "winnow/select_rank.h"

namespace winnow {

/// Fills a block's slot of a table row with `first`, `first + step`, ... Eight
/// entries at a time: the compiler makes wide stores of them where the target
/// has such that need no alignment.
template <class Select>
WINNOW_DEVICE void fill_slot(i32 *slot, i32 first, i32 step) {
  constexpr i32 P = Select::kPagesPerBlock;
#pragma unroll 1
  for (i32 begin = 0; begin < P; begin += 8)
#pragma unroll
    for (i32 page = begin; page < min(begin + 8, P); ++page)
      slot[page] = first + page * step;
}

/// Writes, for each kv head g of the row's index head, kTopK * kPagesPerBlock
/// entries of table row n * kKvHeads + g, and its context length. Full blocks
/// come first, in selection order; the row's last visible block, which may be
/// cut short, takes the slot after them. Blocks that the attention's table
/// does not map are dropped. Every block of the selection, and every place
/// without one, fills a slot.
template <class Select>
WINNOW_DEVICE void emit_pages(const Selection<Select> &selected,
                              const SelectRow &row, const i32 *attn_table,
                              i64 attn_table_stride, i32 *pages,
                              i64 pages_stride, i32 *ctx) {
  constexpr i32 P = Select::kPagesPerBlock, G = Select::kKvHeads;
  constexpr i32 heads_served = G / Select::kHeads;
  static_assert(P >= 1 && P <= Select::kBlockSize,
                "a page holds at least one token");
  static_assert(G >= 1 && G % Select::kHeads == 0,
                "kv heads have to be a multiple of the index heads");
  const i32 *table = attn_table + stride_to(row.request, attn_table_stride);
  const i32 self = row.block_count - 1; // kNoBlock in a padding row

  i32 mapped[kKeptPerLane<Select>];
  LaneMask full[kKeptPerLane<Select>];
  i32 full_count = 0, tail_count = 0;
#pragma unroll
  for (i32 j = 0; j < kKeptPerLane<Select>; ++j) {
    const i32 block = selected.block[j];
    mapped[j] = -1;
    if (block != kNoBlock)
      mapped[j] = element(table, block);
    const LaneMask valid = ballot(mapped[j] >= 0);
    full[j] = valid & ballot(block != self);
    full_count += count_lanes(full[j]);
    tail_count += count_lanes(valid & ~full[j]);
  }
  const i32 slots_used = full_count + tail_count;
  const i32 context = tail_count != 0
                          ? full_count * Select::kBlockSize +
                                (row.visible - self * Select::kBlockSize)
                          : min(full_count * Select::kBlockSize, row.visible);

  for (i32 i = 0; i < heads_served; ++i) {
    const i32 kv_head = row.head * heads_served + i;
    const i32 table_row = row.row * G + kv_head;
    i32 *slots = pages + stride_to(table_row, pages_stride);
    i32 before = 0;
#pragma unroll
    for (i32 j = 0; j < kKeptPerLane<Select>; ++j) {
      const i32 slot = selected.block[j] == self
                           ? full_count
                           : before + count_before(full[j]);
      before += count_lanes(full[j]);
      if (mapped[j] >= 0)
        fill_slot<Select>(&element(slots, slot * P),
                          mapped[j] * (P * G) + kv_head, G);
      const i32 own = j * kWaveLanes + lane_index();
      if (own >= slots_used && own < Select::kTopK)
        fill_slot<Select>(&element(slots, own * P), Select::kPagePad, 0);
    }
    if (lane_index() == 0)
      element(ctx, table_row) = context;
  }
}

} // namespace winnow
