// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parameters of each kind of kernel, what they have to agree on, and the
// choice of their values.
#include "winnow/Codegen/ScheduleModel.h"

#include <algorithm>
#include <bit>
#include <numeric>

using namespace winnow;
using Kind = KernelProblem::Kind;

static constexpr int64_t kTileQueries = 16;

static int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The least power of two from `value` up.
static int64_t powerFrom(int64_t value) {
  return static_cast<int64_t>(
      std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(value, 1))));
}

std::vector<const ScheduleParameter *>
winnow::parametersOf(const KernelProblem &problem) {
  const auto has = [&](std::string_view name) {
    switch (problem.kind) {
    case Kind::Score:
      return name == "waves" || name == "chunks";
    case Kind::RaggedScore:
      return name == "waves" || name == "chunk_blocks" || name == "query_tiles";
    case Kind::GenericScore:
      return name == "chunks" || name == "query_group";
    case Kind::Select:
    case Kind::Merge:
      return name == "waves" || name == "slots";
    case Kind::GenericSelect:
      return false;
    }
    return false;
  };
  std::vector<const ScheduleParameter *> parameters;
  for (const ScheduleParameter &parameter : scheduleParameters())
    if (parameter.kernel == problem.kernel() && has(parameter.name))
      parameters.push_back(&parameter);
  return parameters;
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

static int64_t blockBytes(const KernelProblem &problem) {
  return problem.blockSize * problem.headDim * problem.elementBytes;
}

int64_t winnow::wavesOfBlock(const KernelProblem &problem, int64_t waves) {
  const int64_t copies =
      std::max<int64_t>(blockBytes(problem) / problem.copyBytes, 1);
  return std::gcd(copies, waves);
}

/// Bulk copies: two workgroups for each of the 132 multiprocessors of an H200,
/// each with the same share of a request. There, with 4 waves of one copy of 8
/// KiB each, 64 KiB in flight a multiprocessor read memory as fast as anything
/// did; 96 KiB and more took 2 to 8 % longer. A request alone takes one
/// workgroup each: half as many arrivals, 0.3 to 0.4 us less of 5 to 8.
///
/// Of many requests one may come alone, so that no team of waves has more than
/// 64 blocks; up to 128 where all workgroups then run at once, which took 12 %
/// less for 32 requests of 131072 tokens in bf16.
static void chooseStream(const KernelProblem &problem,
                         KernelSchedule &schedule) {
  constexpr int64_t waves = 4, units = 132, blocksPerTeam = 64,
                    blocksAtOnce = 128;
  if (schedule.waves == 0)
    schedule.waves = waves;
  if (schedule.chunks != 0)
    return;
  const int64_t teams = schedule.waves / wavesOfBlock(problem, schedule.waves);
  const int64_t groups = problem.requests == 1 ? units : 2 * units;
  const int64_t share = static_cast<int64_t>(std::bit_floor(
      static_cast<uint64_t>(std::max<int64_t>(groups / problem.requests, 1))));
  const bool isAtOnce = divideUp(problem.places, share * teams) <= blocksAtOnce;
  schedule.chunks = std::clamp<int64_t>(
      share, isAtOnce ? 1 : divideUp(problem.places, teams * blocksPerTeam),
      divideUp(problem.places, teams));
}

/// Keeps the longest sequence at 32 blocks a wave or less, so that one long
/// request fills the device and many short ones launch few idle waves.
static void chooseScore(const KernelProblem &problem,
                        KernelSchedule &schedule) {
  if (problem.copyBytes != 0)
    return chooseStream(problem, schedule);
  constexpr int64_t waves = 4, blocksPerWave = 32, mostChunks = 64;
  if (schedule.waves == 0)
    schedule.waves = waves;
  if (schedule.chunks == 0)
    schedule.chunks = std::clamp<int64_t>(
        divideUp(problem.places, schedule.waves * blocksPerWave), 1,
        mostChunks);
}

/// Up to 4 query tiles a wave read each key once for 64 queries; shorter
/// prompts get fewer, as tiles without queries are computed like others. Chunks
/// of 32 blocks keep the search and the loads of queries to a few hundredths of
/// the work, and still part a context of 32768 tokens eight ways.
static void chooseRaggedScore(const KernelProblem &problem,
                              KernelSchedule &schedule) {
  constexpr int64_t waves = 4, mostGroups = 65535;
  // Lanes of a wave of 32 keep half as many table entries and queries.
  int64_t wantedChunk = problem.waveLanes / 2;
  if (divideUp(problem.places, wantedChunk) > mostGroups)
    wantedChunk = problem.waveLanes;
  if (schedule.waves == 0)
    schedule.waves = waves;
  const int64_t tile = schedule.waves * kTileQueries;
  if (schedule.queryTiles == 0)
    schedule.queryTiles = std::min<int64_t>(problem.queries <= tile       ? 1
                                            : problem.queries <= 2 * tile ? 2
                                                                          : 4,
                                            problem.waveLanes / kTileQueries);
  if (schedule.chunkBlocks == 0)
    schedule.chunkBlocks = std::min(problem.places, wantedChunk);
}

/// As many queries as share a key's load with profit, and at most 32 KiB of
/// them as floats; the groups of queries are made equal. A workgroup takes the
/// longest sequence in 16 runs or more.
static void chooseGenericScore(const KernelProblem &problem,
                               KernelSchedule &schedule) {
  constexpr int64_t mostQueries = 8, mostFloats = 8192, threads = 256,
                    runsPerChunk = 16, mostChunks = 64;
  if (schedule.queryGroup == 0) {
    const int64_t group =
        std::clamp<int64_t>(mostFloats / problem.headDim, 1, mostQueries);
    schedule.queryGroup =
        divideUp(problem.queries, divideUp(problem.queries, group));
  }
  const int64_t run = std::max<int64_t>(threads / problem.blockSize, 1);
  if (schedule.chunks == 0)
    schedule.chunks = std::clamp<int64_t>(
        divideUp(problem.places, run * runsPerChunk), 1, mostChunks);
}

/// Up to 16 scores a lane leave registers for as many waves as a unit holds;
/// past 16 waves (the most that a workgroup has) only more slots are left. Of a
/// merge's candidates, which are few, 4 a lane are under way together.
static void chooseSelect(const KernelProblem &problem,
                         KernelSchedule &schedule) {
  constexpr int64_t mostWaves = 16;
  const bool merges = problem.kind == Kind::Merge;
  const int64_t wantedSlots = schedule.slots != 0 ? schedule.slots
                              : merges            ? 4
                                                  : 16;
  if (schedule.waves == 0)
    schedule.waves = std::min(
        powerFrom(divideUp(problem.places, problem.waveLanes * wantedSlots)),
        mostWaves);
  if (schedule.slots != 0)
    return;
  schedule.slots = std::max<int64_t>(
      divideUp(problem.places, schedule.waves * problem.waveLanes), 1);
  // A group of one slot after whole ones: clang 22 keeps a merge's candidates
  // in local memory then, 24 KiB of it, and not in registers.
  if (merges && schedule.slots > 4)
    schedule.slots = divideUp(schedule.slots, 4) * 4;
}

KernelSchedule winnow::chooseByRule(const KernelProblem &problem,
                                    const FixedParameter &fixed) {
  KernelSchedule schedule;
  for (const ScheduleParameter *parameter : parametersOf(problem))
    if (std::optional<int64_t> value = fixed(*parameter))
      schedule.*parameter->value = *value;
  switch (problem.kind) {
  case Kind::Score:
    chooseScore(problem, schedule);
    break;
  case Kind::RaggedScore:
    chooseRaggedScore(problem, schedule);
    break;
  case Kind::GenericScore:
    chooseGenericScore(problem, schedule);
    break;
  case Kind::Select:
  case Kind::Merge:
    chooseSelect(problem, schedule);
    break;
  case Kind::GenericSelect:
    break;
  }
  return schedule;
}

//===----------------------------------------------------------------------===//
// What does not go together
//===----------------------------------------------------------------------===//

static std::string text(std::string_view name, int64_t value) {
  return std::string(name) + " = " + std::to_string(value);
}

/// The waves of a workgroup bring a slice of keys to local memory, 16 bytes a
/// lane (templates/winnow/ragged_walk.h).
static std::optional<std::string> raggedConflict(const KernelProblem &problem,
                                                 const KernelSchedule &s) {
  constexpr int64_t pieceBytes = 16;
  const int64_t rowPieces = problem.headDim * problem.elementBytes / pieceBytes;
  const int64_t slicePieces =
      std::min(problem.blockSize * rowPieces, problem.sliceBytes / pieceBytes);
  const int64_t threads = s.waves * problem.waveLanes;
  if (slicePieces % threads != 0 && slicePieces > threads)
    return text("waves", s.waves) + " load " + std::to_string(threads) +
           " pieces of keys at once, needed a divisor of " +
           std::to_string(slicePieces) + " (each lane carries as many)";
  if (s.queryTiles * kTileQueries > problem.waveLanes)
    return text("query_tiles", s.queryTiles) + ", needed at most " +
           std::to_string(problem.waveLanes / kTileQueries) +
           " (each lane has the score of one query)";
  if (s.chunkBlocks > problem.waveLanes)
    return text("chunk_blocks", s.chunkBlocks) + ", needed at most " +
           std::to_string(problem.waveLanes) +
           " (the lanes hold a chunk's table entries)";
  if (s.queryTiles == 3)
    return text("query_tiles", s.queryTiles) +
           ", needed 1, 2 or 4 (the lanes of a wave share its tiles evenly)";
  if (s.waves * s.queryTiles * kTileQueries < problem.heads)
    return text("waves", s.waves) + " and " +
           text("query_tiles", s.queryTiles) + " hold no row of " +
           std::to_string(problem.heads) + " heads";
  return std::nullopt;
}

std::optional<std::string> winnow::findConflict(const KernelProblem &problem,
                                                const KernelSchedule &s) {
  switch (problem.kind) {
  case Kind::Score:
    // What of the 48 KiB that a workgroup may have without asking is left
    // beside the copies holds maxima and a selection.
    if (constexpr int64_t mostBytes = 40960;
        problem.copyBytes != 0 &&
        s.waves * std::min(problem.copyBytes, blockBytes(problem)) > mostBytes)
      return text("waves", s.waves) + " have " +
             std::to_string(s.waves *
                            std::min(problem.copyBytes, blockBytes(problem))) +
             " bytes of keys in local memory, needed at most " +
             std::to_string(mostBytes);
    return std::nullopt;
  case Kind::RaggedScore:
    return raggedConflict(problem, s);
  case Kind::GenericScore:
    if (constexpr int64_t mostFloats = 8192;
        s.queryGroup > 1 && s.queryGroup * problem.headDim > mostFloats)
      return text("query_group", s.queryGroup) + " takes " +
             std::to_string(s.queryGroup * problem.headDim) +
             " floats of local memory, needed at most " +
             std::to_string(mostFloats);
    return std::nullopt;
  case Kind::Select:
  case Kind::Merge: {
    const int64_t held = s.waves * s.slots * problem.waveLanes;
    if (held < problem.places)
      return text("waves", s.waves) + " and " + text("slots", s.slots) +
             " hold " + std::to_string(held) + " " +
             (problem.kind == Kind::Merge ? "candidates" : "scores") +
             ", needed at least " + std::to_string(problem.places) +
             " (the longest row)";
    return std::nullopt;
  }
  case Kind::GenericSelect:
    return std::nullopt;
  }
  return std::nullopt;
}
