// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a profiled launch counted, by instruction. docs/simulator.md says how
// each figure is made, and what the cycle estimate leaves out.
#ifndef WINNOW_SIM_PROFILE_H
#define WINNOW_SIM_PROFILE_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace winnow::sim {

/// Sums over every execution by every wave of the launch.
struct Counters {
  uint64_t executions = 0;
  /// Lanes that EXEC had switched on.
  uint64_t activeLanes = 0;
  /// Global memory (scalar loads too): what lanes asked for, and the different
  /// 64-byte and 128-byte lines that each instruction touched.
  uint64_t bytesLoaded = 0;
  uint64_t bytesStored = 0;
  /// The different bytes of each instruction: lanes may share them.
  uint64_t differentBytes = 0;
  uint64_t lines64 = 0;
  uint64_t lines128 = 0;
  uint64_t ldsBytes = 0;
  /// LDS cycles beyond what the access takes without a bank conflict.
  uint64_t bankConflictCycles = 0;
  /// Four clocks each.
  uint64_t mfmaPasses = 0;
  /// Multiplications and additions of matrix instructions.
  uint64_t mfmaOperations = 0;
  /// Barriers, and s_waitcnt that found memory operations on their way; and how
  /// many operations those were to wait for.
  uint64_t waits = 0;
  uint64_t waitedOperations = 0;
  /// Clocks that the instructions keep their unit busy.
  uint64_t issueCycles = 0;

  Counters &operator+=(const Counters &other);
  uint64_t bytes() const { return bytesLoaded + bytesStored; }
  /// `differentBytes` over the bytes of the 64-byte lines that hold them, 0 to
  /// 1; 1 when nothing was requested.
  double coalescing() const;
};

struct InstructionProfile {
  /// From the kernel's first byte (negative for functions placed before it).
  int64_t offset = 0;
  std::string text;
  /// "file:line" from DWARF line information, or empty.
  std::string source;
  /// "valu", "salu", "scalar memory", "vector load", "vector store",
  /// "vector atomic", "lds", "mfma", "branch", "wait".
  std::string unit;
  Counters counters;
};

/// One workgroup.
struct GroupProfile {
  uint64_t issueCycles = 0; ///< of all its waves
  /// From its start to its end if it were alone: its slowest wave's
  /// instructions, and what that waits for.
  uint64_t clocks = 0;
  /// Where it told others that it was there: the address of its first atomic
  /// operation after a release to the device. 0 if it told nobody.
  uint64_t counter = 0;
  uint64_t arrivedAt = 0; ///< in its clocks
  /// Whether it then acquired what others had released: it is the last one.
  bool isLast = false;
};

struct KernelProfile {
  std::string kernel;
  uint64_t workgroups = 0;
  uint64_t waves = 0;
  /// Those of the kernel and its functions, in the order of the code.
  std::vector<InstructionProfile> instructions;
  Counters total;
  /// In the order of their numbers.
  std::vector<GroupProfile> groups;
  /// Workgroups that are on all compute units at once, at most.
  uint64_t residentGroups = 1;
  /// Different bytes of global memory that the launch read or wrote, counted in
  /// whole dwords: the fewest that it could move.
  uint64_t distinctBytes = 0;

  /// Bytes of the lines touched over `distinctBytes`, lines of 64 or of 128
  /// bytes; each instruction counts the lines that it touches anew.
  double trafficFactor(unsigned lineBytes) const;
};

/// MI355X, from AMD's data sheet: what the roofline is drawn with.
struct MachineFigures {
  double computeUnits = 256;
  double simdsPerComputeUnit = 4;
  double clockHz = 2.4e9;
  double bytesPerSecond = 8e12;
  /// Dense fp8 matrix operations.
  double matrixOperationsPerSecond = 5.03e15;
  /// Assumed, and the same for every kernel that is compared: waves that are
  /// started a clock (one by each of eight dies), and what a launch takes
  /// before and after its work.
  double wavesStartedPerClock = 8;
  double launchSeconds = 2e-6;
};

/// Seconds that the estimate gives for the whole machine, evenly loaded: the
/// longer one of issue cycles and distinct bytes.
double estimatedSeconds(const KernelProfile &profile,
                        const MachineFigures &machine = {});

/// Seconds of a launch whose workgroups are dealt out to the compute units one
/// by one, each as long as its slowest wave, and which moves its distinct bytes
/// at the memory's rate. It sees what schedules differ in (waves, workgroups,
/// loads under way); contention it does not.
double scheduledSeconds(const KernelProfile &profile,
                        const MachineFigures &machine = {});

/// Sums over the instructions of a unit, or of a source line, in the order of
/// their names.
struct ProfilePart {
  std::string name;
  Counters counters;
  /// Executions by unit, those that have any.
  std::vector<std::pair<std::string, uint64_t>> units;
};
std::vector<ProfilePart> profileByUnit(const KernelProfile &profile);
/// Empty without line information.
std::vector<ProfilePart> profileByLine(const KernelProfile &profile);

/// A table for the terminal: totals, and the instructions with most cycles.
std::string profileText(const KernelProfile &profile, unsigned hottest = 12);
/// One JSON object.
std::string profileJson(const KernelProfile &profile);
/// One self-contained page for the launches of a run.
std::string profileHtml(const std::string &title,
                        const std::vector<const KernelProfile *> &profiles);

} // namespace winnow::sim

#endif // WINNOW_SIM_PROFILE_H
