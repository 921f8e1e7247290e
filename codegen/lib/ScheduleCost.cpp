// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost model. Its clocks were read off profiles of the generated kernels on
// the simulated gfx950 (docs/tuning.md says how well it agrees with them);
// other machines are taken to need as many for the same work.
#include "winnow/Codegen/ScheduleCost.h"

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace winnow;
using Kind = KernelProblem::Kind;

static double divideUp(double a, double b) { return std::ceil(a / b); }

namespace {

/// One launch, as workgroups that are alike.
struct Launch {
  double groups = 1;     ///< that have something to do
  double idleGroups = 0; ///< that only find out that they have nothing
  double waves = 1;      ///< of each
  double registers = 64; ///< of a lane
  /// What the largest such kernel needs; with less the compiler spills.
  double mostRegisters = 0;
  double localBytes = 0;
  double groupClocks = 0; ///< its slowest wave, alone
  double idleClocks = 0;
  double issueClocks = 0; ///< of all waves of all groups
  double bytes = 0;
};

} // namespace

/// What every wave does: it asks for its arguments and lengths, which come
/// through the scalar cache, then for its table entries or scores.
static double setupClocks(const Machine &machine) {
  return (2 * kCacheSeconds + kMemorySeconds) * machine.clockHz + 430;
}
static constexpr double kIdleIssueClocks = 204;

/// A kernel that keeps registers in memory is several times as long.
static constexpr double kSpills = 4;

static double secondsOf(const Launch &launch, const Machine &machine) {
  const double waves = std::clamp<double>(
      std::floor(double(machine.registers) / std::max(launch.registers, 8.0)),
      1, double(machine.wavesOfSimd));
  double places = std::min(std::floor(waves * machine.simds / launch.waves),
                           double(machine.groupsOfUnit));
  if (launch.localBytes > 0)
    places = std::min(
        places, std::floor(double(machine.localBytes) / launch.localBytes));
  places = std::max(places, 1.0) * machine.units;

  const double all = launch.groups + launch.idleGroups;
  const double started = all * launch.waves / kWavesStartedPerClock;
  // Groups that are alike end together, those that have nothing in between.
  const double rounds = divideUp(launch.groups, places);
  const double crowd = (launch.groupClocks * launch.groups +
                        launch.idleClocks * launch.idleGroups) /
                       places;
  const double before = std::max(
      {started, launch.groupClocks * (rounds - 1), crowd - launch.groupClocks});
  const double walk = before + launch.groupClocks;
  const double units = std::min(all, machine.units);
  const double issue = launch.issueClocks / (units * machine.simds);
  const double wavesOfSimd = std::ceil(launch.waves / machine.simds);
  const bool spills =
      launch.mostRegisters * wavesOfSimd > double(machine.registers);
  return kLaunchSeconds + (spills ? kSpills : 1) *
                              std::max(std::max(walk, issue) / machine.clockHz,
                                       launch.bytes / machine.bytesPerSecond);
}

/// Uniform rows: a wave walks its share of a request's blocks, and waits for
/// each of them, as the next is asked for when its scores are there.
static Launch scoreLaunch(const KernelProblem &problem, const Machine &machine,
                          const KernelSchedule &s, const Workload &workload) {
  const double blockBytes =
      double(problem.blockSize * problem.headDim * problem.elementBytes);
  // The waves of a team share a block.
  const bool copies = problem.copyBytes != 0;
  const int64_t wholeTeams =
      std::max<int64_t>(s.waves / wavesOfBlock(problem, s), 1);
  const auto teams = double(wholeTeams);
  const double shared = blockBytes * teams / double(s.waves); // of one wave
  const double slices = divideUp(
      double(s.keyTiles), double(copies ? sliceTiles(problem, s) : s.prefetch));
  const auto pages = double(std::max<int64_t>(s.pagesInFlight, 1));
  const double heldBytes =
      shared / double(s.keyTiles) * double(s.prefetch) * pages;
  const double slots = divideUp(double(problem.queries), 4);
  // A line a clock and as much for the matrix unit; maxima for each register
  // of results, their exchange between lanes, and the loop.
  const double blockClocks = shared / 32 + slices * 140 * slots + 140;
  // What is asked for and not yet here hides what asking takes.
  const double latency = kMemorySeconds * machine.clockHz;
  const double work = blockClocks - shared / 64;
  const double blocks = double(workload.places), waves = double(s.waves),
               chunks = double(s.chunks);
  const double active = std::min(chunks, divideUp(blocks, teams));
  const double requests = double(workload.requests);
  Launch launch;
  launch.groups = requests * active;
  launch.idleGroups = requests * (chunks - active);
  launch.waves = waves;
  launch.registers =
      copies ? 64 : 32 + heldBytes / 4 / double(problem.waveLanes);
  if (copies)
    launch.localBytes = waves * heldBytes;
  else // Queries, products and maxima of up to 16 columns, for 150 in all of
       // bf16 with 64 of keys, and 90 of fp8.
    launch.mostRegisters =
        launch.registers + (problem.elementBytes > 1 ? 64 : 16);
  launch.idleClocks = kCacheSeconds * 2 * machine.clockHz + kIdleIssueClocks;
  const double own = divideUp(blocks, chunks * teams);
  launch.groupClocks = setupClocks(machine) + own * work +
                       divideUp(own, pages) * slices * latency;
  launch.issueClocks =
      requests * (blocks * blockClocks * waves / teams + active * waves * 430 +
                  (chunks - active) * waves * kIdleIssueClocks);
  launch.bytes = requests * blocks * blockBytes;
  return launch;
}

/// Ragged rows: the waves of a workgroup share a block's keys through local
/// memory, where the next slice arrives while this one is multiplied.
static Launch raggedLaunch(const KernelProblem &problem, const Machine &machine,
                           const KernelSchedule &s, const Workload &workload) {
  const double blockBytes =
      double(problem.blockSize * problem.headDim * problem.elementBytes);
  const double slices =
      divideUp(double(blockTiles(problem)), double(s.prefetch));
  const double waves = double(s.waves), tiles = double(s.queryTiles),
               blocks = double(workload.places);
  const double waveClocks =
      tiles * (blockBytes / 64 + slices * 260) + slices * 400;
  const double shared = waveClocks * std::max(waves / machine.simds, 1.0);
  const double latency = kMemorySeconds * machine.clockHz;
  const double blockClocks = std::max(shared, slices * latency) + slices * 60;
  const double queries = double(workload.rows * problem.heads);
  const double rowGroups = divideUp(queries, waves * tiles * 16);
  const double chunks = divideUp(blocks, double(s.chunkBlocks));
  const double allChunks =
      divideUp(double(problem.places), double(s.chunkBlocks));
  Launch launch;
  launch.groups = double(workload.requests) * rowGroups * chunks;
  launch.idleGroups =
      double(workload.requests) *
      (rowGroups * (allChunks - chunks) + allChunks); // a tile more a request
  launch.waves = waves;
  launch.registers = 48 + tiles * 16;
  launch.localBytes = 2 * blockBytes / slices;
  launch.groupClocks = 1.5 * setupClocks(machine) +
                       std::min(double(s.chunkBlocks), blocks) * blockClocks;
  launch.idleClocks = kCacheSeconds * 3 * machine.clockHz + kIdleIssueClocks;
  launch.issueClocks =
      launch.groups * waves *
          (std::min(double(s.chunkBlocks), blocks) * waveClocks + 1200) +
      launch.idleGroups * waves * kIdleIssueClocks;
  // Every tile of rows reads the keys, most of the time from a cache.
  launch.bytes = double(workload.requests) * blocks * blockBytes *
                 (1 + (rowGroups - 1) / 8);
  return launch;
}

/// Portable scoring: a work-item multiplies one key with a group of queries.
static Launch genericLaunch(const KernelProblem &problem,
                            const Machine &machine, const KernelSchedule &s,
                            const Workload &workload) {
  const double blocks = double(workload.places), chunks = double(s.chunks);
  const double queries = double(problem.queries), group = double(s.queryGroup);
  const double groups = divideUp(queries, group);
  const double rounds = divideUp(double(problem.blockSize), 256);
  const double blockClocks = rounds * double(problem.headDim) * (8 + 4 * group);
  const double active = std::min(chunks, blocks);
  Launch launch;
  launch.groups = double(workload.requests) * active * groups;
  launch.idleGroups = double(workload.requests) * (chunks - active) * groups;
  launch.waves = 4;
  launch.localBytes = group * double(problem.headDim) * 4;
  const double wait =
      blockClocks + rounds * 2 * kMemorySeconds * machine.clockHz;
  launch.groupClocks = setupClocks(machine) + divideUp(blocks, chunks) * wait;
  launch.idleClocks = kCacheSeconds * 2 * machine.clockHz + kIdleIssueClocks;
  launch.issueClocks =
      4 * (launch.groups * 800 + launch.idleGroups * kIdleIssueClocks) +
      4 * double(workload.requests) * groups * blocks * blockClocks;
  launch.bytes =
      double(workload.requests) * groups * blocks *
      double(problem.blockSize * problem.headDim * problem.elementBytes);
  return launch;
}

/// Selection: all waves of a row load and compare their slots, agree on a
/// pivot through local memory, and the first one ranks what is left.
static Launch selectLaunch(const KernelProblem &problem, const Machine &machine,
                           const KernelSchedule &s, const Workload &workload) {
  const double waves = double(s.waves), lanes = double(problem.waveLanes);
  const double slots = std::min(
      double(s.slots), divideUp(double(workload.places), waves * lanes));
  const double slotClocks = 80, waveClocks = 900, rankClocks = 1600;
  const double crowd = std::max(waves / machine.simds, 1.0);
  Launch launch;
  launch.groups = double(workload.requests * workload.rows * problem.heads);
  launch.waves = waves;
  launch.registers = 40 + double(s.slots);
  launch.localBytes = 2048 + waves * lanes * 4;
  launch.groupClocks = setupClocks(machine) + kCacheSeconds * machine.clockHz +
                       crowd * (slots * slotClocks + waveClocks) + rankClocks +
                       60 * waves;
  launch.issueClocks =
      launch.groups * (waves * (slots * slotClocks + waveClocks) + rankClocks);
  launch.bytes = launch.groups * double(workload.places) * 4;
  return launch;
}

double winnow::predictSeconds(const KernelProblem &problem,
                              const Machine &machine,
                              const KernelSchedule &schedule,
                              const Workload &workload) {
  switch (problem.kind) {
  case Kind::Score:
    return secondsOf(scoreLaunch(problem, machine, schedule, workload),
                     machine);
  case Kind::RaggedScore:
    return secondsOf(raggedLaunch(problem, machine, schedule, workload),
                     machine);
  case Kind::GenericScore:
    return secondsOf(genericLaunch(problem, machine, schedule, workload),
                     machine);
  case Kind::Select:
  case Kind::Merge:
    return secondsOf(selectLaunch(problem, machine, schedule, workload),
                     machine);
  case Kind::GenericSelect:
    break;
  }
  return kLaunchSeconds;
}

std::vector<Workload> winnow::usualWorkloads(const KernelProblem &problem) {
  // 4096 tokens of 128: where most requests of a busy server are, or begin.
  constexpr int64_t shortBlocks = 32;
  const int64_t rows = std::max<int64_t>(problem.rows, 1);
  const int64_t most = std::max<int64_t>(problem.requests, 1);
  const int64_t few = problem.kernel() == ScheduledKernel::Score
                          ? std::min(problem.places, shortBlocks)
                          : problem.places;
  std::vector<Workload> loads;
  for (const Workload &load :
       {Workload{1, problem.places, rows}, Workload{most, problem.places, rows},
        Workload{1, few, rows}, Workload{most, few, rows}})
    if (std::find(loads.begin(), loads.end(), load) == loads.end())
      loads.push_back(load);
  return loads;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// Powers of two, and 0 where it is one.
static std::vector<int64_t> rangeOf(const ScheduleParameter &parameter) {
  std::vector<int64_t> values;
  if (parameter.min == 0)
    values.push_back(0);
  for (int64_t value = std::max<int64_t>(parameter.min, 1);
       value <= parameter.max; value *= 2)
    values.push_back(value);
  return values;
}

/// The values of a parameter that are worth trying with those before it.
static std::vector<int64_t> valuesOf(const KernelProblem &problem,
                                     const ScheduleParameter &parameter,
                                     const KernelSchedule &sofar,
                                     const FixedParameter &fixed) {
  // Small pages are asked for together, as long as a wave has no more keys in
  // registers than it has of a large one.
  if (parameter.value == &KernelSchedule::pagesInFlight &&
      sofar.prefetch == sofar.keyTiles) {
    std::vector<int64_t> values = rangeOf(parameter);
    std::erase_if(values, [&](int64_t value) {
      return value > 1 &&
             value * sofar.prefetch * tileBytes(problem) > problem.sliceBytes;
    });
    return values;
  }
  // More slots than hold the longest row are never used; how else keys are
  // asked for is varied on its own.
  if (parameter.value == &KernelSchedule::slots || isOfMemory(parameter)) {
    KernelSchedule chosen = chooseByRule(problem, [&](const auto &each) {
      const int64_t value = sofar.*each.value;
      return value != 0 ? std::optional(value) : fixed(each);
    });
    return {chosen.*parameter.value};
  }
  std::vector<int64_t> values = rangeOf(parameter);
  if (parameter.value == &KernelSchedule::chunks ||
      parameter.value == &KernelSchedule::chunkBlocks)
    std::erase_if(values, [&](int64_t value) {
      return value > 1 && value / 2 >= problem.places;
    });
  // Small chunks of ragged rows search and load queries more than they score.
  if (parameter.value == &KernelSchedule::chunkBlocks)
    std::erase_if(values, [&](int64_t value) {
      return value < 8 && value < problem.places;
    });
  return values;
}

static int64_t wavesOf(const KernelSchedule &schedule) {
  return schedule.waves * std::max<int64_t>(schedule.chunks, 1);
}

std::vector<RankedSchedule>
winnow::rankSchedules(const KernelProblem &problem, const Machine &machine,
                      const FixedParameter &fixed,
                      std::vector<Workload> workloads) {
  if (workloads.empty())
    workloads = usualWorkloads(problem);
  std::vector<KernelSchedule> all(1);
  for (const ScheduleParameter *parameter : parametersOf(problem)) {
    std::vector<KernelSchedule> longer;
    for (const KernelSchedule &sofar : all) {
      const std::optional<int64_t> value = fixed(*parameter);
      for (int64_t each : value ? std::vector{*value}
                                : valuesOf(problem, *parameter, sofar, fixed)) {
        if (each < parameter->min || each > parameter->max)
          continue;
        longer.push_back(sofar);
        longer.back().*parameter->value = each;
      }
    }
    all = std::move(longer);
  }
  std::vector<RankedSchedule> ranked;
  for (const KernelSchedule &schedule : all) {
    if (findConflict(problem, schedule))
      continue;
    double logs = 0;
    for (const Workload &workload : workloads)
      logs += std::log(predictSeconds(problem, machine, schedule, workload));
    ranked.push_back({schedule, std::exp(logs / double(workloads.size()))});
  }
  // In steps of two per cent: the model knows no better. Then fewer waves in
  // all, and one for each SIMD of a unit rather than another number.
  auto place = [](const RankedSchedule &each) {
    const KernelSchedule &s = each.schedule;
    return std::tuple(std::llround(std::log(each.seconds) * 50), wavesOf(s),
                      std::abs(s.waves - 4), s.waves, s.chunkBlocks,
                      s.queryTiles, s.queryGroup);
  };
  std::sort(ranked.begin(), ranked.end(),
            [&](const RankedSchedule &a, const RankedSchedule &b) {
              return place(a) < place(b);
            });
  return ranked;
}

std::vector<KernelSchedule> winnow::variationsOf(const KernelProblem &problem,
                                                 const KernelSchedule &schedule,
                                                 const FixedParameter &fixed) {
  std::vector<KernelSchedule> variations;
  for (const ScheduleParameter *varied : parametersOf(problem)) {
    if (!isOfMemory(*varied) || fixed(*varied))
      continue;
    // Waves that share blocks are as many as have to; workgroups then as many
    // as make the same number of waves.
    const bool shares = varied->value == &KernelSchedule::keyTiles;
    for (int64_t value : rangeOf(*varied)) {
      KernelSchedule other = chooseByRule(
          problem, [&](const auto &each) -> std::optional<int64_t> {
            if (std::optional<int64_t> own = fixed(each))
              return own;
            if (&each == varied)
              return value;
            if (isOfMemory(each) ||
                (shares && each.value == &KernelSchedule::waves &&
                 problem.copyBytes == 0) ||
                (shares && each.value == &KernelSchedule::chunks))
              return std::nullopt;
            return schedule.*each.value;
          });
      const ScheduleParameter *chunks =
          findScheduleParameter(problem.kernel(), "chunks");
      if (shares && chunks && !fixed(*chunks))
        other.chunks = std::clamp<int64_t>(
            wavesOf(schedule) / std::max<int64_t>(other.waves, 1), chunks->min,
            chunks->max);
      if (other != schedule && !findConflict(problem, other) &&
          std::find(variations.begin(), variations.end(), other) ==
              variations.end())
        variations.push_back(other);
    }
  }
  return variations;
}

KernelSchedule winnow::chooseSchedule(const KernelProblem &problem,
                                      const Machine &machine,
                                      const FixedParameter &fixed) {
  // Where bulk copies bring the keys, what was measured on an H200 decides.
  if (problem.kind == Kind::Score && problem.copyBytes == 0)
    if (std::vector<RankedSchedule> ranked =
            rankSchedules(problem, machine, fixed);
        !ranked.empty())
      return ranked.front().schedule;
  return chooseByRule(problem, fixed);
}
