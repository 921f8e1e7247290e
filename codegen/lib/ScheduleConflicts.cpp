// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the parameters of a schedule have to agree on, and the words for it.
#include "winnow/Codegen/ScheduleModel.h"

#include <algorithm>

using namespace winnow;
using Kind = KernelProblem::Kind;

static std::string text(std::string_view name, int64_t value) {
  return std::string(name) + " = " + std::to_string(value);
}

/// That tiles are parted evenly: `of` of them, as `what` says.
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
  if (const int64_t bytes = 2 * s.prefetch * sharedTileBytes(problem);
      bytes > mostBytes)
    return text("prefetch", s.prefetch) + " takes " + std::to_string(bytes) +
           " bytes of local memory, needed at most " +
           std::to_string(mostBytes);
  if (constexpr int64_t mostTiles = 8; s.prefetch > mostTiles)
    return text("prefetch", s.prefetch) + ", needed at most " +
           std::to_string(mostTiles) +
           " (one word has a bit for each of a lane's tokens)";
  if (s.waves % problem.teamWaves != 0)
    return text("waves", s.waves) + ", needed a multiple of " +
           std::to_string(problem.teamWaves) +
           " (so many multiply a slice of keys together)";
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
