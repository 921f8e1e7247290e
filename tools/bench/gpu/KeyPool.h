// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The key cache that is read: far larger than the device's caches, of random
// numbers that the host can make again, a page at a time.
#ifndef WINNOW_BENCH_GPU_KEYPOOL_H
#define WINNOW_BENCH_GPU_KEYPOOL_H

#include "Session.h"

#include "winnow/Runtime/Manifest.h"

namespace winnow::bench {

/// Random numbers of either sign, of magnitude 1/8 to 1/2, as bf16 or fp8
/// e4m3: word `first` on of a sequence that has no end.
void makeNumbers(runtime::DType dtype, uint64_t first,
                 std::span<uint64_t> words);

class KeyPool {
public:
  /// `bytes` of the device's memory.
  static Result<std::unique_ptr<KeyPool>> make(Session &session,
                                               uint64_t bytes);

  /// Fills all of it with numbers of that type, and deals its pages anew.
  Status fill(runtime::DType dtype);

  uint64_t address() const { return memory; }
  uint64_t bytes() const { return size; }
  uint64_t pageBytes() const;
  int64_t pages() const { return int64_t(size / pageBytes()); }
  /// The next of all pages in a random order; after the last, the first again.
  int32_t nextPage();
  /// What a page holds.
  void readPage(int32_t page, std::span<std::byte> bytes) const;

private:
  explicit KeyPool(Session &session) : session(session) {}
  Session &session;
  uint64_t memory = 0, size = 0;
  runtime::DType dtype = runtime::DType::BF16;
  std::vector<int32_t> order;
  size_t dealt = 0;
};

} // namespace winnow::bench

#endif // WINNOW_BENCH_GPU_KEYPOOL_H
