// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The schedule of a kernel: every size that is free to choose, by name, with
// the range that any kernel takes. One table, from which descriptions are
// verified, kernel plans printed, overrides parsed and candidates made. Free of
// MLIR, so that tools and models need none.
#ifndef WINNOW_IR_KERNELSCHEDULE_H
#define WINNOW_IR_KERNELSCHEDULE_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace winnow {

/// What may be chosen for one kernel. A kernel has some of these; the others
/// stay 0.
struct KernelSchedule {
  int64_t waves = 0;         ///< waves a workgroup
  int64_t chunks = 0;        ///< workgroups that share the blocks of a request
  int64_t chunkBlocks = 0;   ///< of ragged rows: blocks a workgroup
  int64_t queryTiles = 0;    ///< of ragged rows: tiles of 16 queries a wave
  int64_t keyTiles = 0;      ///< of uniform rows: tiles of a block a wave
  int64_t prefetch = 0;      ///< tiles of 16 keys asked for ahead
  int64_t pagesInFlight = 0; ///< of uniform rows: blocks asked for at once
  int64_t nonTemporal = 0;   ///< 1: keys are not to stay in caches
  int64_t queryGroup = 0;    ///< generic scoring: queries a workgroup
  int64_t slots = 0;         ///< selection: scores a lane
  bool operator==(const KernelSchedule &) const = default;
};

/// The kernels that have one: of each of these an entry has at most one.
enum class ScheduledKernel { Score, Select };

/// "score", "select" (which a merge is, too): what descriptions call them.
std::string_view scheduledKernelName(ScheduledKernel kernel);

/// One parameter of one kernel.
struct ScheduleParameter {
  ScheduledKernel kernel;
  std::string_view name; ///< as descriptions spell it
  int64_t KernelSchedule::*value;
  int64_t min, max;
  std::string_view what;  ///< what it counts
  std::string_view limit; ///< why not more

  /// "an integer from 1 to 16".
  std::string describe() const;
};

/// All there are, those of a kernel together.
std::span<const ScheduleParameter> scheduleParameters();

/// The one of that name, or null.
const ScheduleParameter *findScheduleParameter(ScheduledKernel kernel,
                                               std::string_view name);

/// Whether all of an entry is one launch or two: `launches` of an entry.
inline constexpr std::string_view kLaunchesParameter = "launches";
inline constexpr int64_t kMinLaunches = 1, kMaxLaunches = 2;

} // namespace winnow

#endif // WINNOW_IR_KERNELSCHEDULE_H
