// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The descriptions of what is timed. Each serves sequences of up to 131072
// tokens; the schedule knows that, and how many requests a call has, and no
// more.
#include "Cases.h"

#include <fmt/format.h>

using namespace winnow::bench;

std::vector<IndexerShape> winnow::bench::gpuShapes(const GpuOptions &options) {
  const bool small = options.small;
  const int64_t maxSeqLen = small ? 4096 : 131072;
  std::vector<IndexerShape> shapes;
  for (const char *dtype : {"bf16", "f8E4M3FN"}) {
    const std::string name = dtypeText(dtype);
    for (int64_t requests : decodeBatches(options)) {
      // The host's time is that of the first of them alone.
      if (!options.wants("decode") &&
          !(options.wants("host") && requests == 1 && name == "bf16"))
        continue;
      IndexerShape shape{.name = fmt::format("decode_{}_b{}", name, requests),
                         .dtype = dtype,
                         .maxSeqLen = maxSeqLen,
                         .maxRequests = requests};
      shapes.push_back(shape);
      shape.name += "_two";
      shape.attributes = kTwoLaunches;
      shapes.push_back(shape);
      shape.name = fmt::format("decode_{}_b{}_one", name, requests);
      shape.attributes = kOneLaunch;
      shapes.push_back(shape);
    }
    for (int64_t columns : columnCounts(options)) {
      if (!options.wants("columns"))
        break;
      for (int64_t requests : columnBatches(options))
        shapes.push_back(
            {.name = fmt::format("columns_{}_q{}_b{}", name, columns, requests),
             .dtype = dtype,
             .queryLen = columns,
             .maxSeqLen = maxSeqLen,
             .maxRequests = requests,
             .attributes = kTwoLaunches});
    }
    if (!options.wants("prefill"))
      continue;
    shapes.push_back({.name = fmt::format("prefill_{}", name),
                      .dtype = dtype,
                      .queryLen = 0,
                      .maxSeqLen = maxSeqLen,
                      .maxRequests = 8,
                      .maxQueryLen = small ? 512 : 16384,
                      .maxRows = small ? 512 : 16384});
  }
  return shapes;
}
