// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The page table that the attention kernel reads, made from a selection.
//
// A shape states, besides what select_row.h needs:
//   kHeads           index heads
//   kTopK            blocks of a selection
//   kPagesPerBlock   entries a block fills (P)
//   kKvHeads         kv heads (G), a multiple of kHeads: table rows a query row
//   kPagePad         what fills a table row past its last page: 0 or -1
#pragma once

#include "winnow/select_rank.h"

namespace winnow {

/// Writes, for each kv head g of the row's index head, kTopK * kPagesPerBlock
/// entries of table row n * kKvHeads + g, and its context length. Full blocks
/// come first, in selection order; the row's last visible block, which may be
/// cut short, takes the slot after them. Blocks that the attention's table
/// does not map are dropped.
template <class Select>
WINNOW_DEVICE void emit_pages(i32 selected, const SelectRow &row,
                              const i32 *attn_table, i64 attn_table_stride,
                              i32 *pages, i64 pages_stride, i32 *ctx) {
  constexpr i32 P = Select::kPagesPerBlock, G = Select::kKvHeads;
  constexpr i32 heads_served = G / Select::kHeads;
  constexpr i32 entries = Select::kTopK * P;
  static_assert(P >= 1 && P <= Select::kBlockSize,
                "a page holds at least one token");
  static_assert(G >= 1 && G % Select::kHeads == 0,
                "kv heads have to be a multiple of the index heads");
  const i32 lane = lane_index();
  const i32 self = row.block_count - 1; // kNoBlock in a padding row

  i32 mapped = -1;
  // kNoBlock is a large number, too.
  if (static_cast<u32>(selected) < static_cast<u32>(row.block_count))
    mapped = attn_table[row.request * attn_table_stride + selected];
  const bool valid = mapped >= 0;
  const LaneMask full = ballot(valid && selected != self);
  const LaneMask tail = ballot(valid && selected == self);
  const i32 full_count = count_lanes(full);
  const bool has_tail = tail != 0;

  // Lane s gets the block of slot s. The lanes without one fill the rest of
  // the permutation.
  const LaneMask rest = ~(full | tail);
  i32 slot = full_count + has_tail + count_before(rest);
  if (valid)
    slot = selected == self ? full_count : count_before(full);
  const i32 block_of_slot = send_to_lane(static_cast<u32>(mapped), slot);

  const i32 context = has_tail
                          ? full_count * Select::kBlockSize +
                                (row.visible - self * Select::kBlockSize)
                          : min(full_count * Select::kBlockSize, row.visible);

  for (i32 i = 0; i < heads_served; ++i) {
    const i32 kv_head = row.head * heads_served + i;
    const i64 table_row = i64(row.row) * G + kv_head;
    i32 *table = pages + table_row * pages_stride;
    for (i32 first = 0; first < entries; first += kWaveLanes) {
      const i32 entry = first + lane;
      const i32 block = fetch_lane(block_of_slot, entry / P);
      const i32 page = block * (P * G) + kv_head + entry % P * G;
      if (entry < entries)
        table[entry] = block >= 0 ? page : Select::kPagePad;
    }
    if (lane == 0)
      ctx[table_row] = context;
  }
}

} // namespace winnow
