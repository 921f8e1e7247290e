// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether an entry's score and select kernel may be one launch, and whether
// they are better off as one.
#include "Schedule.h"

using namespace mlir;
using namespace winnow;
using Kind = KernelProblem::Kind;

/// What is fixed of a parameter of the selection, or nothing.
static std::optional<int64_t> fixedOfSelect(Description &description,
                                            StringRef name) {
  const ScheduleParameter *parameter =
      findScheduleParameter(ScheduledKernel::Select, name);
  const ScheduleOverride *fixed =
      parameter ? description.schedule.request.find(*parameter) : nullptr;
  return fixed ? std::optional<int64_t>(fixed->value) : std::nullopt;
}

// Scores that a lane selects from at most (templates/winnow/select_row.h).
static constexpr int64_t kMostSlots = 32;

std::optional<int64_t> winnow::leastWavesOfOneLaunch(Description &description) {
  const EntrySchedule &schedule = description.schedule;
  if (schedule.request.launches != 1 ||
      schedule.selectProblem.kind != Kind::Select)
    return std::nullopt;
  if (std::optional<int64_t> waves = fixedOfSelect(description, "waves"))
    return waves;
  const int64_t held =
      fixedOfSelect(description, "slots").value_or(kMostSlots) *
      schedule.selectProblem.waveLanes;
  const auto least = static_cast<int64_t>(
      llvm::PowerOf2Ceil(llvm::divideCeil(description.shardBlocks(), held)));
  const ScheduleParameter *waves =
      findScheduleParameter(ScheduledKernel::Score, "waves");
  return least <= waves->max ? std::optional(least) : std::nullopt;
}

/// The same of the matrix lowering, whose selection holds a row in registers.
static std::optional<std::string> whyTwoInRegisters(Description &description) {
  int64_t waves = description.schedule.score.waves;
  int64_t selectWaves = fixedOfSelect(description, "waves").value_or(waves);
  if (selectWaves != waves)
    return "scoring has " + std::to_string(waves) + " waves, selecting " +
           std::to_string(selectWaves);
  int64_t slots = fixedOfSelect(description, "slots").value_or(kMostSlots);
  int64_t lanes = description.schedule.selectProblem.waveLanes;
  int64_t places = waves * lanes * slots;
  if (description.shardBlocks() > places)
    return "a row has up to " + std::to_string(description.shardBlocks()) +
           " blocks, but a workgroup of " + std::to_string(waves) +
           " waves selects from at most " + std::to_string(places);
  return std::nullopt;
}

/// The same of the generic lowering, whose ScoreStorage and SelectStorage
/// (templates/winnow/generic) lie side by side in local memory.
static std::optional<std::string>
whyTwoInLocalMemory(Description &description) {
  constexpr int64_t mostBytes = 65536, threads = 256, bins = 256,
                    bookkeeping = 256;
  const EntrySchedule &schedule = description.schedule;
  int64_t keep = description.selection().getK();
  int64_t bytes = schedule.score.queryGroup *
                      (schedule.scoreProblem.headDim + threads) * 4 +
                  static_cast<int64_t>(llvm::PowerOf2Ceil(keep)) * 8 +
                  (bins + threads + keep) * 4 + bookkeeping;
  if (bytes <= mostBytes)
    return std::nullopt;
  return "scoring and selecting take " + std::to_string(bytes) +
         " bytes of local memory together, needed at most " +
         std::to_string(mostBytes);
}

/// Why what scores and what selects cannot be one launch, or nothing.
static std::optional<std::string> whyTwo(Description &description) {
  // One workgroup selects for every row of a request, one after the other.
  constexpr int64_t mostQueries = 16;
  if (description.merge)
    return "a merge scores nothing";
  if (description.isRagged())
    return "workgroups are counted by their request, and rows are ragged";
  if (description.scoreLowering() != description.selectLowering())
    return ("scoring has the lowering '" + description.scoreLowering() +
            "', selecting '" + description.selectLowering() + "'")
        .str();
  int64_t queries = description.heads() * description.queryLen();
  if (queries > mostQueries)
    return "index heads x query_len is " + std::to_string(queries) +
           ", needed at most " + std::to_string(mostQueries);
  return description.schedule.selectProblem.kind == Kind::Select
             ? whyTwoInRegisters(description)
             : whyTwoInLocalMemory(description);
}

/// Whether one launch is the faster form, as far as the bounds tell. The rows
/// of a request are selected one after the other in one launch, side by side in
/// two, and a row takes about as long as a launch.
static bool prefersOne(Description &description) {
  return description.heads() * description.queryLen() == 1;
}

LogicalResult winnow::decideLaunches(Description &description) {
  EntrySchedule &schedule = description.schedule;
  std::optional<std::string> reason = whyTwo(description);
  std::optional<int64_t> wanted = schedule.request.launches;
  if (wanted == 1 && reason)
    return description.entry.emitOpError("cannot have '")
           << StringRef(kLaunchesParameter) << "' = 1, needed " << kMaxLaunches
           << ": " << *reason;
  bool isOne = wanted ? *wanted == 1 : !reason && prefersOne(description);
  schedule.launches = isOne ? 1 : kMaxLaunches;
  return success();
}
