// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where candidate schedules are run and timed: the simulated gfx950, by what it
// counts, or a real device, by the clock.
#ifndef WINNOW_TOOL_TUNETARGET_H
#define WINNOW_TOOL_TUNETARGET_H

#include "Execute.h"

#include "winnow/Runtime/DeviceApi.h"

#include <memory>
#include <string>
#include <vector>

namespace winnow::tool {

/// The time of one launch.
struct LaunchTime {
  std::string kernel;
  double seconds = 0; ///< the median, where there are several
  double spread = 0;  ///< half of what lies between the quartiles, over it
};

class TuneTarget {
public:
  virtual ~TuneTarget();
  virtual const std::string &arch() const = 0;
  /// "estimated for an MI355X by the simulated gfx950".
  virtual std::string method() const = 0;
  /// Runs the call's launches once; its tensors are brought back.
  virtual Status run(Call &call, const std::vector<LoadedCode> &codes) = 0;
  /// Times each launch of the call, in their order.
  virtual Result<std::vector<LaunchTime>>
  time(const Call &call, const std::vector<LoadedCode> &codes) = 0;
};

/// The simulated device: the same figures in every run.
std::unique_ptr<TuneTarget> tuneOnSim();

struct DeviceTiming {
  unsigned repeats = 15; ///< replays of a graph; the median counts
  size_t launchesOfGraph = 64;
  /// Copies of the arguments are together at least so large that no cache
  /// holds them: several times MI300X's 256 MiB, the largest.
  uint64_t coldBytes = uint64_t(1) << 30;
};

/// A device of the runtime. Each launch is captured into a graph that runs it
/// over and over on rotating copies of the arguments.
Result<std::unique_ptr<TuneTarget>>
tuneOnDevice(std::shared_ptr<runtime::Device> device,
             const DeviceTiming &timing);

/// "sim:gfx950" and "sim", or whatever runtime::openDevice opens that has
/// kernels.
Result<std::unique_ptr<TuneTarget>> makeTuneTarget(const std::string &device,
                                                   unsigned repeats);

} // namespace winnow::tool

#endif // WINNOW_TOOL_TUNETARGET_H
