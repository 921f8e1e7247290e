// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one workgroup of the generic scoring does where rows are ragged: a group
// of one request's queries against a chunk of its blocks.
// Grid: (rows * kHeads / kQueryGroup + requests, kChunks). Group x belongs to
// the request r for which first_group(r) <= x < first_group(r + 1): every
// request gets at least as many as its queries fill, and how many there are
// follows from the batch's rows and requests alone. A group without queries has
// nothing to do.
//
// A shape states what score_task.h needs, except kQueryLen and kQueryGroups.
#pragma once

#include "winnow/generic/ragged_rows.h"
#include "winnow/generic/score_task.h"

namespace winnow::generic {

/// `rows` is how many rows the queries and scores have. Offsets that are none
/// lead to wrong scores, never to a row outside of those.
template <class Score>
WINNOW_DEVICE ScoreTask<Score> ragged_score_task(const i32 *seq_lens,
                                                 const i32 *cu_seqlens,
                                                 i64 requests, i64 rows) {
  ScoreTask<Score> task{};
  const i64 group = workgroup_x();
  const i32 request_count = static_cast<i32>(requests);
  const auto first_group = [&](i32 request) WINNOW_INLINE {
    return i64(max(cu_seqlens[request], 0)) * Score::kHeads /
               Score::kQueryGroup +
           request;
  };
  task.chunk = workgroup_y();
  task.request = count_begun(request_count, group, first_group);
  if (task.request == request_count)
    return task;
  const i32 begin = cu_seqlens[task.request];
  const i32 end = cu_seqlens[task.request + 1];
  if (begin < 0 || end <= begin)
    return task;
  task.first_row = begin;
  task.rows = end - begin;
  task.length = seq_lens[task.request];
  // Of the request, those that the batch has.
  const i64 queries = (min(i64(end), rows) - begin) * Score::kHeads;
  const i64 first = (group - first_group(task.request)) * Score::kQueryGroup;
  if (first < 0 || first >= queries)
    return task;
  task.first_query = static_cast<i32>(first);
  task.queries =
      static_cast<i32>(min(queries - first, i64(Score::kQueryGroup)));
  find_visible(task);
  // A chunk past what the rows see needs no queries either.
  if (task.chunk * kRun<Score> >= task.columns)
    task.columns = 0;
  return task;
}

} // namespace winnow::generic
