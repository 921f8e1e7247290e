// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one workgroup of the score kernel for ragged rows does: a tile of one
// request's rows against a chunk of its blocks.
// Grid: (rows / kTileRows + requests, chunks). Tile x belongs to the request r
// for which cu_seqlens[r] / kTileRows + r <= x < cu_seqlens[r + 1] / kTileRows
// + r + 1: every request gets at least as many as its rows fill, and the number
// of tiles follows from the batch's rows and requests alone. A tile without
// rows has nothing to do.
//
// A query is a pair of a row and a head; query p of a tile is head p % kHeads
// of its row p / kHeads. Wave w has the queries from w * kWaveQueries on,
// sixteen to a query tile.
//
// A shape states, besides what rows.h and shard.h need:
//   kHeads         index heads, 1 to 16
//   kQueryTiles    query tiles a wave: 1, 2 or 4
//   kWaves         waves a workgroup
//   kChunkBlocks   blocks a workgroup, at most as many as a wave has lanes
#pragma once

#include "winnow/arch_slices.h"
#include "winnow/ragged_rows.h"
#include "winnow/rows.h"
#include "winnow/shard.h"

namespace winnow {

template <class Score>
inline constexpr i32 kWaveQueries = Score::kQueryTiles * kMatrixRows;

/// How they and their products lie over the lanes.
template <class Score> using RaggedLayout = ManyQueries<Score::kQueryTiles>;

template <class Score>
inline constexpr i32 kTileRows =
    Score::kWaves * kWaveQueries<Score> / Score::kHeads;

/// Scalar members are the same in all lanes; those of the workgroup the same in
/// all waves.
template <class Score> struct RaggedTask {
  i32 request;      ///< scalar, of the workgroup
  i64 first_query;  ///< scalar: the wave's first query in the whole batch
  i32 query_count;  ///< scalar: the wave's queries; not above 0 if it has none
  i32 first_column; ///< scalar, of the workgroup: the chunk's first column
  i32 last_column;  ///< scalar, of the workgroup: past the chunk's last column
  i32 team_queries; ///< scalar: those of the waves that multiply together
  i32 reach;        ///< scalar: blocks that the last row of those sees
  i32 full_blocks;  ///< scalar: blocks that all of the wave's rows see whole
  /// c(n) of the query in each slot of each query tile.
  i32 visible[Score::kQueryTiles][RaggedLayout<Score>::kSlots];
  /// The row and head whose score this lane ends up with, and nb(n) of the row:
  /// 0 in lanes that store none.
  i32 row;
  i32 head;
  i32 block_count;
};

/// `batch_rows` is how many rows the queries and scores have. Offsets that are
/// none lead to wrong scores, never to a row outside of those.
template <class Score>
WINNOW_DEVICE RaggedTask<Score> ragged_task(const i32 *seq_lens,
                                            const i32 *cu_seqlens, i64 requests,
                                            i64 batch_rows) {
  static_assert(Score::kHeads >= 1 && Score::kHeads <= kMatrixRows,
                "index heads are at most 16");
  static_assert(Score::kChunkBlocks >= 1 && Score::kChunkBlocks <= kWaveLanes,
                "the lanes hold a chunk's table entries");
  static_assert(Score::kWaves >= 1 && Score::kWaves <= 16,
                "a workgroup has 1 to 16 waves");
  static_assert(Score::kWaves % kTeamWaves == 0,
                "waves multiply in whole teams");
  constexpr i32 tile_rows = kTileRows<Score>;
  constexpr i32 team = kTeamWaves * kWaveQueries<Score>;
  RaggedTask<Score> task{};
  const i32 tile = workgroup_x();
  const i32 request_count = static_cast<i32>(requests);
  task.request = count_begun(request_count, tile, [&](i32 r) WINNOW_INLINE {
    return static_cast<i32>(static_cast<u32>(cu_seqlens[r]) / tile_rows) + r;
  });
  if (task.request == request_count)
    return task;
  const i32 begin = load_uniform(cu_seqlens, task.request);
  const i32 end = load_uniform(cu_seqlens, task.request + 1);
  if (begin < 0 || end <= begin)
    return task;
  const i32 rows = end - begin;
  const i32 length = load_uniform(seq_lens, task.request);
  // The tile's first row within the request, and how many rows it has.
  const i32 place = tile - begin / tile_rows - task.request;
  const i32 first = place * tile_rows;
  const i32 tile_count =
      min(min(end, static_cast<i32>(batch_rows)) - begin - first, tile_rows);
  if (place < 0 || tile_count <= 0)
    return task;

  const i32 columns = columns_of_blocks<Score>(block_count<Score>(
      causal_length<Score>(length, rows, first + tile_count - 1)));
  task.first_column = workgroup_y() * Score::kChunkBlocks;
  task.last_column = min(task.first_column + Score::kChunkBlocks, columns);

  const i32 first_query = wave_index() * kWaveQueries<Score>;
  task.first_query = i64(begin + first) * Score::kHeads + first_query;
  task.query_count =
      min(tile_count * Score::kHeads - first_query, kWaveQueries<Score>);
  const auto visible = [&](i32 query) WINNOW_INLINE {
    return causal_length<Score>(length, rows, first + query / Score::kHeads);
  };
  const i32 team_query = wave_index() / kTeamWaves * team;
  task.team_queries = min(tile_count * Score::kHeads - team_query, team);
  task.reach =
      block_count<Score>(visible(team_query + max(task.team_queries, 1) - 1));
  task.full_blocks = read_first_lane(visible(first_query)) / Score::kBlockSize;
  for (i32 q = 0; q < Score::kQueryTiles; ++q)
    for (i32 s = 0; s < RaggedLayout<Score>::kSlots; ++s)
      task.visible[q][s] = visible(first_query + q * kMatrixRows +
                                   RaggedLayout<Score>::query(s));

  const i32 own = RaggedLayout<Score>::own_query();
  task.row = begin + first + (first_query + own) / Score::kHeads;
  task.head = (first_query + own) % Score::kHeads;
  task.block_count = RaggedLayout<Score>::stores() && own < task.query_count
                         ? block_count<Score>(visible(first_query + own))
                         : 0;
  return task;
}

} // namespace winnow
