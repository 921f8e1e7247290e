// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a row of ragged rows sees, for the select kernel.
// Grid: (rows, kHeads), one (row, head) a workgroup.
//
// A shape states what select_row.h needs, except kQueryLen.
#pragma once

#include "winnow/ragged_rows.h"
#include "winnow/select_row.h"

namespace winnow {

/// A row that no request has, such as those past the last one's, is padding: it
/// sees nothing.
template <class Select>
WINNOW_DEVICE SelectRow select_ragged_row(const i32 *seq_lens,
                                          const i32 *cu_seqlens, i64 requests,
                                          i32 n, i32 h) {
  SelectRow row{};
  row.row = n;
  row.head = Select::kHeads == 1 ? 0 : h;
  const i32 request_count = static_cast<i32>(requests);
  const i32 request =
      count_begun(request_count, row.row,
                  [&](i32 r) WINNOW_INLINE { return cu_seqlens[r]; });
  if (request == request_count)
    return row;
  const i32 begin = load_uniform(cu_seqlens, request);
  const i32 end = load_uniform(cu_seqlens, request + 1);
  if (begin < 0 || row.row < begin || row.row >= end)
    return row;
  row.request = request;
  row.visible = causal_length<Select>(load_uniform(seq_lens, request),
                                      end - begin, row.row - begin);
  row.block_count = block_count<Select>(row.visible);
  return row;
}

} // namespace winnow
