// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which workgroup of a request arrives last, so that it can go on with what all
// of them stored. docs/one-launch.md says why the memory is ordered.
//
// A shape states:
//   kArrivals   workgroups of a request, 1 to 65535
#pragma once

#include "winnow/arch/portable.h"

namespace winnow {

/// A counter is this mark and, in the lowest 16 bits, how many workgroups have
/// arrived: 0 between launches. Memory that holds anything else is no counter
/// yet, so a workspace needs no preparation, and may have been used for
/// something else since the last launch. As two floats the mark is a NaN that
/// no arithmetic makes, so scores never look like one.
inline constexpr u64 kArrivalMark = 0xffe171c70a5d0000ull;
inline constexpr u64 kArrivalCount = 0xffff;

/// Local memory of the workgroup.
struct ArrivalStorage {
  u32 is_last;
};

template <class Shape> WINNOW_DEVICE bool is_counter(u64 value) {
  return (value & ~kArrivalCount) == kArrivalMark &&
         (value & kArrivalCount) < Shape::kArrivals;
}

/// Counts this workgroup; returns how many had been counted before. One lane of
/// a workgroup calls this.
template <class Shape> WINNOW_DEVICE u32 count_arrival(u64 *counter) {
  u64 before = add_on_device(counter, 1);
  // Not yet a counter: whoever replaces what is there, sums of lost arrivals
  // included, is the first. The others find a counter and are counted by it.
  // Nobody waits for anybody: each failure means that another one got on.
  while (!is_counter<Shape>(before)) {
    const u64 found = load_from_device(counter);
    if (is_counter<Shape>(found))
      before = add_on_device(counter, 1);
    else if (exchange_if_equal(counter, found, kArrivalMark | 1) == found)
      before = kArrivalMark;
  }
  return static_cast<u32>(before & kArrivalCount);
}

/// Whether this is the last of the request's workgroups to come here: then all
/// its lanes see what the others stored before they came. The same in all lanes
/// of a workgroup, all of which have to call it. `arrivals` has two words a
/// request, aligned to 8 bytes.
template <class Shape>
WINNOW_DEVICE bool is_last_arrival(i32 *arrivals, i32 request,
                                   ArrivalStorage &storage) {
  static_assert(Shape::kArrivals >= 1 && Shape::kArrivals <= 65535,
                "a counter counts 1 to 65535 workgroups");
  if constexpr (Shape::kArrivals == 1) { // Nobody else to wait for.
    workgroup_barrier();
    return true;
  }
  // Each wave for what it stored itself: a barrier alone does not wait until
  // stores have left the compute unit.
  release_to_device();
  workgroup_barrier();
  if (thread_index() == 0) {
    u64 *counter = reinterpret_cast<u64 *>(arrivals) + request;
    const bool is_last =
        count_arrival<Shape>(counter) + 1 == u32(Shape::kArrivals);
    if (is_last) // for the next launch
      store_to_device(counter, kArrivalMark);
    storage.is_last = is_last;
  }
  local_barrier();
  const bool is_last = storage.is_last != 0;
  if (is_last)
    acquire_from_device();
  return is_last;
}

} // namespace winnow
