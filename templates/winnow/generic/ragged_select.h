// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which row of ragged rows a workgroup of the generic selection works on.
// Grid: (rows, kHeads).
//
// A shape states what select_row.h needs, except kQueryLen.
#pragma once

#include "winnow/generic/ragged_rows.h"
#include "winnow/generic/select_row.h"

namespace winnow::generic {

/// A row that no request has, such as those past the last one's, is padding: it
/// sees nothing.
template <class Select>
WINNOW_DEVICE SelectRow select_ragged_row(const i32 *seq_lens,
                                          const i32 *cu_seqlens, i64 requests) {
  SelectRow row{};
  row.row = workgroup_x();
  row.head = workgroup_y();
  const i32 request_count = static_cast<i32>(requests);
  const i32 request =
      count_begun(request_count, row.row,
                  [&](i32 r) WINNOW_INLINE { return cu_seqlens[r]; });
  if (request == request_count)
    return row;
  const i32 begin = cu_seqlens[request], end = cu_seqlens[request + 1];
  if (begin < 0 || row.row < begin || row.row >= end)
    return row;
  row.request = request;
  row.visible =
      causal_length<Select>(seq_lens[request], end - begin, row.row - begin);
  row.block_count = block_count<Select>(row.visible);
  return row;
}

} // namespace winnow::generic
