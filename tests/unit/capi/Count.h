// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a thread did behind a call's back: allocations and locks, counted by
// replacing malloc and pthread_mutex_lock for the whole test program, the
// libraries it loads included.
#ifndef WINNOW_TESTS_UNIT_CAPI_COUNT_H
#define WINNOW_TESTS_UNIT_CAPI_COUNT_H

#include <cstdint>

namespace winnow::test {

/// Of the calling thread since it started.
uint64_t allocationsOfThisThread();
uint64_t locksOfThisThread();

} // namespace winnow::test

#endif // WINNOW_TESTS_UNIT_CAPI_COUNT_H
