// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one workgroup of the generic scoring does, and the queries it does it
// for. A group is kQueryGroup consecutive queries of a request, where query
// t * kHeads + h is head h of row t; a chunk takes every kChunks-th run of
// blocks. Grid of uniform rows: (kChunks * kQueryGroups, requests); that of
// ragged ones is in ragged_task.h.
//
// A shape states, besides what rows.h needs:
//   kHeads, kHeadDim   index heads; elements of a query, a multiple of 8
//   kFormat            how elements are stored (number_formats.h)
//   kChunks            workgroups that share the blocks of a request
//   kQueryGroup        queries of a workgroup
//   kQueryGroups       groups of a request, where rows are uniform
//   kThreads           lanes of a workgroup
// and what shard.h needs: the blocks in question are those of the shard.
#pragma once

#include "winnow/generic/number_formats.h"
#include "winnow/rows.h"
#include "winnow/shard.h"

namespace winnow::generic {

template <class Score>
inline constexpr i32 kQueries = Score::kQueryLen * Score::kHeads;

/// Lanes that share a block, each with every kBlockLanes-th token of it, and
/// blocks that a workgroup scores at once.
template <class Score>
inline constexpr i32 kBlockLanes = min(Score::kBlockSize, Score::kThreads);
template <class Score>
inline constexpr i32 kRun = Score::kThreads / kBlockLanes<Score>;

/// The same in all lanes.
template <class Score> struct ScoreTask {
  i32 request;
  i32 chunk;
  i64 first_row;   ///< of the request, in the whole batch
  i32 rows;        ///< of the request
  i32 first_query; ///< of the group, in the request
  i32 queries;     ///< of this group that exist; not above 0 if there are none
  i32 length;      ///< of the request, as it was given
  /// c(n) of each query's row; 0 for the queries that do not exist.
  i32 visible[Score::kQueryGroup];
  /// c(n) of the row that sees most, and how many of the shard's blocks it
  /// sees.
  i32 longest;
  i32 columns;
};

/// Local memory of the workgroup.
template <class Score> struct ScoreStorage {
  float query[Score::kQueryGroup][Score::kHeadDim];
  float partial[Score::kQueryGroup][Score::kThreads];
};

/// Completes a task from its queries, rows and length: what each query sees.
template <class Score> WINNOW_DEVICE void find_visible(ScoreTask<Score> &task) {
  static_assert(Score::kHeadDim % kVector == 0, "whole vectors are loaded");
  static_assert(sizeof(ScoreStorage<Score>) <= 64 * 1024,
                "every target has 64 KiB of local memory for a workgroup");
  task.longest = 0;
#pragma unroll
  for (i32 i = 0; i < Score::kQueryGroup; ++i) {
    const i32 t = (task.first_query + i) / Score::kHeads;
    task.visible[i] =
        i < task.queries ? causal_length<Score>(task.length, task.rows, t) : 0;
    task.longest = max(task.longest, task.visible[i]);
  }
  task.columns = columns_of_blocks<Score>(block_count<Score>(task.longest));
}

template <class Score>
WINNOW_DEVICE ScoreTask<Score> score_task(const i32 *seq_lens) {
  static_assert(Score::kQueryGroup * Score::kQueryGroups >= kQueries<Score>,
                "the groups have to hold every query");
  ScoreTask<Score> task;
  task.request = workgroup_y();
  task.chunk = workgroup_x() % Score::kChunks;
  task.first_row = i64(task.request) * Score::kQueryLen;
  task.rows = Score::kQueryLen;
  task.first_query = workgroup_x() / Score::kChunks * Score::kQueryGroup;
  task.queries = min(kQueries<Score> - task.first_query, Score::kQueryGroup);
  task.length = seq_lens[task.request];
  find_visible(task);
  return task;
}

/// Decodes the group's queries into local memory; zeros where there is none.
/// Strides in elements. A group that sees no block reads nothing.
template <class Score>
WINNOW_DEVICE void load_queries(const void *q, i64 q_row_stride,
                                i64 q_head_stride, const ScoreTask<Score> &task,
                                ScoreStorage<Score> &storage) {
  constexpr i32 vectors = Score::kHeadDim / kVector;
  if (task.columns == 0)
    return;
  for (i32 i = thread_index(); i < Score::kQueryGroup * vectors;
       i += Score::kThreads) {
    const i32 own = i / vectors, d = i % vectors * kVector;
    const i32 query = task.first_query + own;
    float values[kVector] = {};
    if (own < task.queries) {
      const i64 row = task.first_row + query / Score::kHeads;
      const i64 element =
          row * q_row_stride + query % Score::kHeads * q_head_stride + d;
      load_vector<Score::kFormat>(static_cast<const u8 *>(q) +
                                      element * kBytes<Score::kFormat>,
                                  values);
    }
#pragma unroll
    for (i32 j = 0; j < kVector; ++j)
      storage.query[own][d + j] = values[j];
  }
  local_barrier();
}

} // namespace winnow::generic
