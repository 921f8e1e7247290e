// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A description's kernels on the simulated gfx950, one launch at a time, with
// every instruction counted.
#ifndef WINNOW_BENCH_COUNT_MACHINE_H
#define WINNOW_BENCH_COUNT_MACHINE_H

#include "Compilers.h"
#include "Describe.h"
#include "Execute.h"
#include "Inputs.h"

#include <functional>
#include <memory>
#include <string>

namespace winnow::bench {

/// Sums over all waves; differences and fractions of them are what is reported.
struct Counts {
  double all = 0, mfma = 0, valu = 0, salu = 0, loads = 0, branches = 0;
  double nops = 0, waitStates = 0; ///< s_nop, and the wait states they give
  double waits = 0;                ///< s_waitcnt and barriers
  double bytes = 0;     ///< of global memory: the different ones of each access
  double lineBytes = 0; ///< of the 64-byte lines of each access
  double distinctBytes = 0; ///< of the launch

  Counts operator-(const Counts &other) const;
  Counts operator*(double factor) const;
};

struct KernelRun {
  Counts counts;
  double waves = 0;
  uint32_t wavesOfGroup = 0;
  uint32_t grid[3] = {1, 1, 1};
};

/// A compiled description. Not movable: parts point at one another.
struct Program {
  static Result<std::unique_ptr<Program>> build(const IndexerShape &shape,
                                                tool::Compiler &compiler);
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  runtime::Bundle bundle;
  const runtime::Entry *entry = nullptr;
  tool::Indexer indexer;
  std::vector<tool::LoadedCode> codes;

  /// The launch whose kernel's name ends so, "_score" or "_select".
  Result<const runtime::Launch *> launch(const std::string &suffix) const;
  Result<const sim::KernelInfo *> kernel(const std::string &suffix) const;

private:
  Program() = default;
};

/// Runs that launch alone, on a new device, on the call's tensors.
Result<KernelRun> runKernel(const Program &program, tool::Call call,
                            const std::string &suffix);

/// A call with random inputs; see tool::randomCall.
Result<tool::Call> makeCall(const Program &program,
                            const tool::Lengths &lengths);

/// Waves that a SIMD of gfx950 can hold of such a kernel, its workgroups being
/// of `wavesOfGroup` waves.
double occupancy(uint32_t vectorRegisters, uint64_t ldsBytes,
                 uint32_t wavesOfGroup);

} // namespace winnow::bench

#endif // WINNOW_BENCH_COUNT_MACHINE_H
