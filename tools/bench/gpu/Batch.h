// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of one entry in the device's memory, alike but for what they read:
// several sets of queries and page tables over one cache, so that no call finds
// in the device's caches what another one read.
#ifndef WINNOW_BENCH_GPU_BATCH_H
#define WINNOW_BENCH_GPU_BATCH_H

#include "Kernels.h"
#include "KeyPool.h"

namespace winnow::bench {

struct BatchShape {
  int64_t requests = 1;
  int64_t tokens = 0;    ///< of each request's cache, the new ones included
  int64_t newTokens = 0; ///< of each request, where rows are ragged
};

class Batch {
public:
  /// As many sets as touch `coldBytes` of keys, within a sensible number.
  static Result<std::unique_ptr<Batch>> make(Session &session, KeyPool &pool,
                                             const Kernels &kernels,
                                             const BatchShape &shape,
                                             uint64_t coldBytes);
  ~Batch();
  Batch(const Batch &) = delete;
  Batch &operator=(const Batch &) = delete;

  int64_t sets() const { return int64_t(calls.size()); }
  /// Bytes of keys that one call has to read.
  uint64_t keyBytes() const;
  const std::vector<runtime::TensorView> &arguments(int64_t set) const {
    return views[size_t(set)];
  }

  /// The time of one call, every set once a replay.
  Result<Spread> time(Part part);

  /// Holds rows of the first and the last set, `rows` in all, against the
  /// reference. After timing: outputs were poisoned when the batch was made.
  /// `onlyFirst`: of the first set alone, the others were not called.
  Status check(int64_t rows, bool onlyFirst = false);
  /// The same of scores alone, those of the last set.
  Status checkScores(int64_t rows);

private:
  Batch(Session &session, KeyPool &pool, const Kernels &kernels)
      : session(session), pool(pool), kernels(kernels) {}
  Status place();
  Status fillInputs();
  struct Rows;
  Result<Rows> gather(int64_t set, int64_t wanted) const;
  Result<std::vector<int32_t>> readInts(int64_t set, int argument) const;
  int64_t rowsOfRequest() const;

  Session &session;
  KeyPool &pool;
  const Kernels &kernels;
  BatchShape shape;
  uint64_t workspace = 0, workspaceBytes = 0;
  std::vector<uint64_t> memory; // of each argument, all sets
  std::vector<std::vector<runtime::TensorView>> views; // of each set
  std::vector<Kernels::Bound> calls;
  std::vector<int32_t> tables, attentionTables; // all sets, the host's copies
};

} // namespace winnow::bench

#endif // WINNOW_BENCH_GPU_BATCH_H
