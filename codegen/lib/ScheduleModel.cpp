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

/// What of the 48 KiB of local memory that a workgroup may have without asking
/// is left beside the copies holds maxima and a selection.
static constexpr int64_t kMostCopiedBytes = 40960;

int64_t winnow::tileBytes(const KernelProblem &problem) {
  return kTileKeys * problem.headDim * problem.elementBytes;
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
    schedule.prefetch =
        std::min(tilesIn(problem, problem.sliceBytes), blockTiles(problem));
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

//===----------------------------------------------------------------------===//
// What does not go together
//===----------------------------------------------------------------------===//

static std::string text(std::string_view name, int64_t value) {
  return std::string(name) + " = " + std::to_string(value);
}

/// That tiles are parted evenly: `of` of them, as `text` says.
static std::optional<std::string> unevenTiles(std::string_view name,
                                              int64_t value, int64_t of,
                                              std::string_view what) {
  if (of % value == 0)
    return std::nullopt;
  return text(name, value) + ", needed a divisor of " + std::to_string(of) +
         " (" + std::string(what) + ")";
}

/// Uniform rows: what a wave has in registers, or all waves in local memory.
static std::optional<std::string> scoreConflict(const KernelProblem &problem,
                                                const KernelSchedule &s) {
  if (auto uneven = unevenTiles("key_tiles", s.keyTiles, blockTiles(problem),
                                "the tiles of a block"))
    return uneven;
  const int64_t shared = wavesOfBlock(problem, s);
  const auto sharing = [&] {
    return text("key_tiles", s.keyTiles) + " has " + std::to_string(shared) +
           " waves share a block, ";
  };
  const int64_t bytes = s.prefetch * tileBytes(problem);
  if (problem.copyBytes != 0) {
    if (s.waves % shared != 0)
      return sharing() + text("waves", s.waves) + ", needed a multiple of " +
             std::to_string(shared);
    const int64_t copy = sliceTiles(problem, s);
    if (s.keyTiles % copy != 0 || s.prefetch % copy != 0)
      return text("prefetch", s.prefetch) + " and " +
             text("key_tiles", s.keyTiles) +
             ", needed both to be multiples of " + std::to_string(copy) +
             " (the tiles of a copy)";
    if (s.waves * bytes > kMostCopiedBytes)
      return text("waves", s.waves) + " and " + text("prefetch", s.prefetch) +
             " have " + std::to_string(s.waves * bytes) +
             " bytes of keys in local memory, needed at most " +
             std::to_string(kMostCopiedBytes);
    return std::nullopt;
  }
  if (shared > 1 && s.waves != shared)
    return sharing() + text("waves", s.waves) + ", needed " +
           std::to_string(shared) +
           " (barriers are of whole workgroups, so that all of one share)";
  if (auto uneven = unevenTiles("prefetch", s.prefetch, s.keyTiles,
                                "the tiles of a block that a wave takes"))
    return uneven;
  if (s.pagesInFlight > 1 && s.prefetch != s.keyTiles)
    return text("pages_in_flight", s.pagesInFlight) + " and " +
           text("prefetch", s.prefetch) +
           ", needed prefetch = " + std::to_string(s.keyTiles) +
           " (all tiles of a page are asked for before the next page's)";
  if (problem.waveLanes % s.pagesInFlight != 0)
    return text("pages_in_flight", s.pagesInFlight) + ", needed a divisor of " +
           std::to_string(problem.waveLanes) +
           " (the lanes hold the table entries of the pages)";
  if (constexpr int64_t mostBytes = 32768; s.pagesInFlight * bytes > mostBytes)
    return text("pages_in_flight", s.pagesInFlight) + " and " +
           text("prefetch", s.prefetch) + " have " +
           std::to_string(s.pagesInFlight * bytes) +
           " bytes of keys in a wave's registers, needed at most " +
           std::to_string(mostBytes);
  return std::nullopt;
}

/// The waves of a workgroup bring a slice of keys to local memory, 16 bytes a
/// lane (templates/winnow/ragged_walk.h).
static std::optional<std::string> raggedConflict(const KernelProblem &problem,
                                                 const KernelSchedule &s) {
  if (auto uneven = unevenTiles("prefetch", s.prefetch, blockTiles(problem),
                                "the tiles of a block"))
    return uneven;
  // Two buffers; local memory of 64 KiB, or of 48 where a workgroup may not
  // have more without asking. The bits of a lane's hidden tokens are a word.
  const int64_t mostBytes = problem.waveLanes == 32 ? 49152 : 65536;
  if (2 * s.prefetch * tileBytes(problem) > mostBytes)
    return text("prefetch", s.prefetch) + " takes " +
           std::to_string(2 * s.prefetch * tileBytes(problem)) +
           " bytes of local memory, needed at most " +
           std::to_string(mostBytes);
  if (constexpr int64_t mostTiles = 8; s.prefetch > mostTiles)
    return text("prefetch", s.prefetch) + ", needed at most " +
           std::to_string(mostTiles) +
           " (one word has a bit for each of a lane's tokens)";
  constexpr int64_t pieceBytes = 16;
  const int64_t slicePieces = s.prefetch * tileBytes(problem) / pieceBytes;
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
    return scoreConflict(problem, s);
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
