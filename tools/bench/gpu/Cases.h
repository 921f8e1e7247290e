// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is timed on a real device, and the descriptions that it takes. Anchors
// are vLLM's Triton indexer on an H200.
#ifndef WINNOW_BENCH_GPU_CASES_H
#define WINNOW_BENCH_GPU_CASES_H

#include "Batch.h"
#include "Describe.h"
#include "Figures.h"

#include <map>
#include <set>

namespace winnow::bench {

struct GpuOptions {
  std::string device = "auto", bundle, json, commit, worker, nvrtc;
  uint64_t poolMiB = 8192, coldMiB = 512;
  int replays = 21, childRuns = 5;
  bool small = false; ///< shapes that a simulated device gets through
  std::set<std::string> only;

  bool wants(const std::string &what) const {
    return only.empty() || only.contains(what);
  }
};

/// Everything that a case needs, and where its figures go.
struct Bench {
  const GpuOptions &options;
  Session &session;
  KeyPool &pool;
  const runtime::Bundle &bundle;
  std::vector<Figure> figures;
  double copyBytesPerSecond = 0; ///< read and written, counted together

  std::vector<std::string> problems; ///< results that were wrong

  uint64_t coldBytes() const { return options.coldMiB << 20; }
  void add(const std::string &group, const std::string &name,
           const Spread &spread, std::optional<double> anchor = {},
           std::optional<double> goal = {}, std::string note = {});
  /// Marks the last figures as those of a wrong result where `checked` is an
  /// error: they are still told, and reach no goal.
  void judge(const Status &checked, size_t figureCount);
};

/// An entry for each dtype and number of requests of a call, and so on: what
/// the options want to be timed.
std::vector<IndexerShape> gpuShapes(const GpuOptions &options);

/// Copies, reads, an empty kernel: what bounds everything else.
Status timeDevice(Bench &bench);
/// Decode for one type of keys, which the pool holds: all of it, and parts.
Status timeDecode(Bench &bench, const std::string &dtype);
/// Scoring with 1 to 16 query columns.
Status timeColumns(Bench &bench, const std::string &dtype);
Status timePrefill(Bench &bench, const std::string &dtype);

/// The host's time: a launch that is not in a graph, a process that starts.
/// With the C interface.
Status timeHost(Bench &bench);

/// In a process of its own: from nothing to the first result. 0 when all is
/// well.
int runFirstResult(const GpuOptions &options, const std::string &cache);

/// How many requests a decode has.
inline std::vector<int64_t> decodeBatches(const GpuOptions &options) {
  if (options.small)
    return {1, 4};
  return {1, 4, 32, 128};
}

/// How many query columns are scored together.
inline std::vector<int64_t> columnCounts(const GpuOptions &options) {
  if (options.small)
    return {1, 16};
  return {1, 2, 4, 8, 16};
}

/// And for how many requests.
inline std::vector<int64_t> columnBatches(const GpuOptions &options) {
  if (options.small)
    return {2};
  return {32, 128};
}

inline std::string dtypeText(const std::string &dtype) {
  return dtype == "bf16" ? "bf16" : "e4m3";
}

} // namespace winnow::bench

#endif // WINNOW_BENCH_GPU_CASES_H
