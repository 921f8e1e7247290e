// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running a call as machine code on the simulated device.
#ifndef WINNOW_TOOL_EXECUTE_H
#define WINNOW_TOOL_EXECUTE_H

#include "HostCall.h"

#include "winnow/Sim/Device.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace winnow::tool {

/// A code object ready to run, and where it came from.
struct LoadedCode {
  uint32_t source = 0; ///< index of Bundle::sources
  std::string arch;
  bool prebuilt = false;             ///< came with the bundle
  bool cached = false;               ///< came from a cache folder
  std::chrono::microseconds time{0}; ///< of the compiler or the cache, if not
  std::vector<std::byte> bytes;
  std::shared_ptr<const sim::CodeObject> object; ///< null unless for gfx950
};

/// What one launch did.
struct LaunchRecord {
  runtime::ResolvedLaunch launch;
  sim::LaunchStats stats;
  std::chrono::microseconds time{0};
  /// Of the process: what a busy machine leaves unchanged.
  std::chrono::microseconds processorTime{0};
};

/// How launches are simulated, each as in sim::LaunchOptions, and which.
struct SimRun {
  unsigned threads = 1;
  sim::Checks checks;
  bool profile = false;
  uint64_t shuffle = 0;
  std::string only = {}; ///< the one kernel to launch; all if empty
};

/// Runs launches of the entry on a simulated gfx950 and brings every tensor,
/// inputs too, back from it. `codes` holds the code object of every source that
/// the launches name.
Result<std::vector<LaunchRecord>>
runOnSim(Call &call, const std::vector<LoadedCode> &codes, const SimRun &run);
inline Result<std::vector<LaunchRecord>>
runOnSim(Call &call, const std::vector<LoadedCode> &codes, unsigned threads) {
  return runOnSim(call, codes, SimRun{threads, {}, false, 0, {}});
}

} // namespace winnow::tool

#endif // WINNOW_TOOL_EXECUTE_H
