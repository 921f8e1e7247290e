// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parameters of each kind of kernel, and the choice of their values.
#include "winnow/Codegen/ScheduleModel.h"

#include <algorithm>
#include <bit>
#include <numeric>

using namespace winnow;
using Kind = KernelProblem::Kind;

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
      return name == "waves" || name == "chunks" || name == "key_tiles" ||
             name == "prefetch" || name == "non_temporal" ||
             (name == "pages_in_flight" && problem.copyBytes == 0);
    case Kind::RaggedScore:
      return name == "waves" || name == "chunk_blocks" ||
             name == "query_tiles" || name == "prefetch" ||
             name == "non_temporal";
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

bool winnow::isOfMemory(const ScheduleParameter &parameter) {
  return parameter.value == &KernelSchedule::keyTiles ||
         parameter.value == &KernelSchedule::prefetch ||
         parameter.value == &KernelSchedule::pagesInFlight ||
         parameter.value == &KernelSchedule::nonTemporal;
}

std::string_view winnow::whyNone(const KernelProblem &problem,
                                 const ScheduleParameter &parameter) {
  if (!isOfMemory(parameter))
    return "";
  switch (problem.kind) {
  case Kind::Score:
    return "copies run on from one page to the next: 'prefetch' says how far";
  case Kind::RaggedScore:
    return "all waves of a workgroup share each page's keys: 'prefetch' says "
           "how many are on their way";
  case Kind::GenericScore:
    return "a work-item loads the key that it multiplies, when it does";
  default:
    return "";
  }
}

//===----------------------------------------------------------------------===//
// Tiles of keys
//===----------------------------------------------------------------------===//

static constexpr int64_t kTileKeys = 16;

int64_t winnow::tileBytes(const KernelProblem &problem) {
  return kTileKeys * problem.headDim * problem.elementBytes;
}

int64_t winnow::sharedTileBytes(const KernelProblem &problem) {
  return kTileKeys * problem.headDim *
         std::max(problem.elementBytes, problem.sharedElementBytes);
}

/// Tiles in so many bytes, and one at least.
static int64_t tilesIn(const KernelProblem &problem, int64_t bytes) {
  return std::max<int64_t>(bytes / tileBytes(problem), 1);
}

int64_t winnow::blockTiles(const KernelProblem &problem) {
  return std::max<int64_t>(problem.blockSize / kTileKeys, 1);
}

int64_t winnow::wavesOfBlock(const KernelProblem &problem,
                             const KernelSchedule &schedule) {
  return std::max<int64_t>(blockTiles(problem) / schedule.keyTiles, 1);
}

int64_t winnow::sliceTiles(const KernelProblem &problem,
                           const KernelSchedule &schedule) {
  if (problem.kind == Kind::RaggedScore)
    return schedule.prefetch;
  if (problem.copyBytes != 0)
    return std::min({tilesIn(problem, problem.copyBytes), schedule.keyTiles,
                     schedule.prefetch});
  // Of fewer than are loaded at once, each is asked for when one is multiplied,
  // all along what the wave has of the block.
  const int64_t usual =
      std::min(tilesIn(problem, problem.sliceBytes), schedule.keyTiles);
  return schedule.prefetch >= usual ? schedule.prefetch : schedule.keyTiles;
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// How the tiles of a block are asked for, the same for every machine. A wave
/// has a block of its own and asks for as much of it at once as registers
/// should hold. Of bulk copies a wave has one on its way, and as many waves
/// share a block as it has copies.
static void chooseMemory(const KernelProblem &problem,
                         KernelSchedule &schedule) {
  constexpr int64_t usualWaves = 4;
  const int64_t tiles = blockTiles(problem);
  const bool copies = problem.copyBytes != 0;
  int64_t most = std::min(
      tilesIn(problem, copies ? problem.copyBytes : problem.sliceBytes), tiles);
  // Many waves have small copies, so that local memory holds them all.
  while (copies && most > 1 &&
         std::max(schedule.waves, usualWaves) * most * tileBytes(problem) >
             kMostCopiedBytes)
    most /= 2;
  if (schedule.keyTiles == 0) {
    const int64_t waves = schedule.waves != 0 ? schedule.waves : usualWaves;
    schedule.keyTiles = copies ? tiles / std::gcd(tiles / most, waves) : tiles;
  }
  if (schedule.waves == 0) {
    const int64_t shared = wavesOfBlock(problem, schedule);
    if (copies)
      schedule.waves = std::max(usualWaves, shared);
    else if (shared > 1)
      schedule.waves = shared;
  }
  if (schedule.prefetch == 0)
    schedule.prefetch = schedule.pagesInFlight > 1
                            ? schedule.keyTiles
                            : std::min(most, schedule.keyTiles);
  if (schedule.pagesInFlight == 0 && !copies)
    schedule.pagesInFlight = 1;
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
  constexpr int64_t units = 132, blocksPerTeam = 64, blocksAtOnce = 128;
  if (schedule.chunks != 0)
    return;
  const int64_t teams =
      std::max<int64_t>(schedule.waves / wavesOfBlock(problem, schedule), 1);
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
  chooseMemory(problem, schedule);
  if (problem.copyBytes != 0)
    return chooseStream(problem, schedule);
  constexpr int64_t waves = 4, blocksPerWave = 32, mostChunks = 64;
  if (schedule.waves == 0)
    schedule.waves = waves;
  const int64_t teams =
      std::max<int64_t>(schedule.waves / wavesOfBlock(problem, schedule), 1);
  if (schedule.chunks == 0)
    schedule.chunks = std::clamp<int64_t>(
        divideUp(problem.places, teams * blocksPerWave), 1, mostChunks);
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
  if (schedule.prefetch == 0)
    schedule.prefetch = std::min(
        std::max<int64_t>(problem.sliceBytes / sharedTileBytes(problem), 1),
        blockTiles(problem));
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
/// merge's candidates, which are few, 4 a lane are under way together. Rows of
/// prompts fill the device anyway, so that waves which agree on one row only
/// cost it time: with 32 lanes a wave one of 32 slots takes 1024 blocks, 16384
/// such rows in 21 us where two waves of 16 take 38 (H200).
static void chooseSelect(const KernelProblem &problem,
                         KernelSchedule &schedule) {
  constexpr int64_t mostWaves = 16;
  const bool merges = problem.kind == Kind::Merge;
  const bool isOfPrompts = problem.rows > 16 && problem.waveLanes == 32;
  const int64_t wantedSlots = schedule.slots != 0 ? schedule.slots
                              : merges            ? 4
                              : isOfPrompts       ? 32
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
  // Fixed waves that are too few for the row are refused by their number, not
  // by one of slots that nobody asked for.
  const ScheduleParameter &slots =
      *findScheduleParameter(ScheduledKernel::Select, "slots");
  schedule.slots = std::min(schedule.slots, slots.max);
}

KernelSchedule winnow::chooseByRule(const KernelProblem &problem,
                                    const FixedParameter &fixed) {
  KernelSchedule schedule;
  // A wave of uniform scoring is the only one that reads its keys; of a prompt
  // every tile of rows does.
  schedule.nonTemporal = problem.kind == Kind::Score;
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
