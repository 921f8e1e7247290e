// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Count.h"

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define WINNOW_COUNTS 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define WINNOW_COUNTS 0 // sanitizers replace malloc themselves
#endif
#endif
#ifndef WINNOW_COUNTS
#define WINNOW_COUNTS 1
#endif

namespace {
thread_local uint64_t allocations = 0, locks = 0;
} // namespace

uint64_t winnow::test::allocationsOfThisThread() { return allocations; }
uint64_t winnow::test::locksOfThisThread() { return locks; }

#if WINNOW_COUNTS
// glibc's own names for what these replace.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier)
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
// NOLINTEND(bugprone-reserved-identifier)

void *malloc(size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}
void *realloc(void *old, size_t bytes) {
  ++allocations;
  return __libc_realloc(old, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  ++allocations;
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void **to, size_t alignment, size_t bytes) {
  ++allocations;
  *to = __libc_memalign(alignment, bytes);
  return *to ? 0 : 12; // ENOMEM
}
int pthread_mutex_lock(pthread_mutex_t *mutex) noexcept {
  ++locks;
  using Lock = int(pthread_mutex_t *);
  static std::atomic<Lock *> own = nullptr; // no guard: that might lock
  Lock *lock = own.load(std::memory_order_relaxed);
  if (!lock)
    own = lock =
        reinterpret_cast<Lock *>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  return lock(mutex);
}
}

namespace {

// The counters would prove nothing if they did not count.
TEST(Count, CountsAllocationsAndLocks) {
  const uint64_t before = allocations, lockedBefore = locks;
  auto some = std::make_unique<int[]>(100);
  some[3] = 1;
  volatile int *kept = some.get(); // not optimised away
  EXPECT_EQ(kept[3], 1);
  EXPECT_EQ(allocations, before + 1);
  std::mutex mutex;
  {
    std::lock_guard<std::mutex> guard(mutex);
  }
  EXPECT_EQ(locks, lockedBefore + 1);
}

} // namespace
#endif
