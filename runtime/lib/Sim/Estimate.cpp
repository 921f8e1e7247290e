// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a profiled launch might take on the whole machine: the workgroups dealt
// out to compute units, each as long as its slowest wave.
#include "winnow/Sim/Profile.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>

namespace winnow::sim {

double estimatedSeconds(const KernelProfile &profile,
                        const MachineFigures &machine) {
  double simds = machine.computeUnits * machine.simdsPerComputeUnit;
  double issue = double(profile.total.issueCycles) / simds / machine.clockHz;
  double memory = double(profile.distinctBytes) / machine.bytesPerSecond;
  return std::max(issue, memory);
}

double scheduledSeconds(const KernelProfile &profile,
                        const MachineFigures &machine) {
  const size_t groups = profile.groups.size();
  if (groups == 0)
    return 0;
  const auto places = size_t(std::max<uint64_t>(profile.residentGroups, 1));
  const double wavesOfGroup = double(profile.waves) / double(groups);
  // When each place is free again; the first group that waits takes it.
  std::priority_queue<double, std::vector<double>, std::greater<>> free;
  double last = 0, started = 0;
  // When the last of those that count their arrivals there had come.
  std::unordered_map<uint64_t, double> arrived;
  for (const GroupProfile &group : profile.groups) {
    started += wavesOfGroup / machine.wavesStartedPerClock;
    double begin = started;
    if (free.size() == places) {
      begin = std::max(begin, free.top());
      free.pop();
    }
    double end =
        begin + std::max(double(group.clocks), double(group.issueCycles) /
                                                   machine.simdsPerComputeUnit);
    if (group.counter) {
      // Profiles are of workgroups in their order, so the last one knows when
      // the others came; what it does for all of them begins then.
      double &others = arrived[group.counter];
      const double own = begin + double(group.arrivedAt);
      if (group.isLast)
        end += std::max(others - own, 0.0);
      others = std::max(others, own);
    }
    free.push(end);
    last = std::max(last, end);
  }
  // Units that have no group do not help those that have.
  const double units = std::min(double(groups), machine.computeUnits);
  const double issue =
      double(profile.total.issueCycles) / units / machine.simdsPerComputeUnit;
  return machine.launchSeconds +
         std::max(std::max(last, issue) / machine.clockHz,
                  double(profile.distinctBytes) / machine.bytesPerSecond);
}

} // namespace winnow::sim
