// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is counted. Anchors are AITER's MSA kernels, built with clang-22 -O3 for
// gfx950 and counted in the same way, instruction by instruction.
#ifndef WINNOW_BENCH_COUNT_CASES_H
#define WINNOW_BENCH_COUNT_CASES_H

#include "Figures.h"
#include "Machine.h"

#include <vector>

namespace winnow::bench {

using Figures = std::vector<Figure>;

/// fp8 decode with one index head and one row a request.
Status countDecode(tool::Compiler &compiler, Figures &figures);

/// fp8 prefill with one index head; 16 * `queryTiles` rows a wave.
Status countPrefill(tool::Compiler &compiler, int64_t queryTiles,
                    Figures &figures);

/// Selection of 16 blocks, with and without the page table.
Status countSelect(tool::Compiler &compiler, Figures &figures);

/// Registers, local memory, code bytes, spills and occupancy of a kernel,
/// beside those of the anchor's.
struct Resources {
  double vectorRegisters, ldsBytes, codeBytes;
};
void addResources(Figures &figures, const std::string &group,
                  const sim::KernelInfo &kernel, uint32_t wavesOfGroup,
                  const Resources &anchor, uint32_t anchorWavesOfGroup);

} // namespace winnow::bench

#endif // WINNOW_BENCH_COUNT_CASES_H
