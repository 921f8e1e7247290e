// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Searches the schedules of a description for the fastest on one target. What
// does not agree with the reference is an error, never a winner.
#ifndef WINNOW_TOOL_TUNER_H
#define WINNOW_TOOL_TUNER_H

#include "Compilers.h"
#include "TuneTarget.h"

#include "winnow/Codegen/Tuning.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace winnow::tool {

/// Requests alike: what a schedule is timed with.
struct TuneShape {
  int64_t requests = 1;
  int64_t context = 1;   ///< tokens of each
  int64_t newTokens = 1; ///< of each, where rows are ragged
  bool operator==(const TuneShape &) const = default;
  std::string text() const; ///< "4x32768", "4x32768:512"
};

/// "4x32768", where rows are ragged "4x32768:512".
Result<TuneShape> parseTuneShape(const std::string &text);

/// Shapes that a plan within the entry's bounds may meet and that are timed in
/// a second or two on the simulated device: one long request and several.
std::vector<TuneShape> usualShapes(const runtime::Entry &entry);

struct TuneOptions {
  std::string entry; ///< empty: all that have an indexer
  CompileOptions compile;
  std::vector<TuneShape> shapes; ///< empty: the usual ones
  uint64_t seed = 1;
  size_t most = 16; ///< schedules of a kernel, the model's own among them
  /// Keys that the reference scores at most to check the winner on one shape:
  /// of a prompt with more, only the last new tokens are checked. About a
  /// second's work; all keys of a long prompt take it minutes.
  int64_t keysToCheck = int64_t(1) << 23;
};

/// One schedule of one kernel.
struct TunedCandidate {
  std::string kernel;   ///< "score", "select", "score and select"
  std::string schedule; ///< "score.chunks=64,score.waves=8"
  double predicted = 0; ///< seconds, by the model; 0 where it says nothing
  double seconds = 0;   ///< measured: the geometric mean over shapes
  double spread = 0;    ///< the largest over shapes
  bool isModel = false; ///< what the model chooses
  bool isWinner = false;
  std::string refused; ///< why it cannot be compiled; then nothing else counts
};

struct TunedEntry {
  std::string name;
  std::vector<TuneShape> shapes;
  std::vector<TunedCandidate> candidates; ///< those of a kernel together
  /// What to fix, as an option has it; empty where the model's choice stays.
  std::string winner;
  double modelSeconds = 0, winnerSeconds = 0; ///< of all launches
  size_t programs = 0; ///< that were compiled, run and checked
};

/// Tunes the entries of a description. `progress` gets a line now and then.
Result<std::vector<TunedEntry>>
tune(const std::string &text, const std::string &name,
     const TuneOptions &options, TuneTarget &target, Compiler &compiler,
     const std::function<void(const std::string &)> &progress);

} // namespace winnow::tool

#endif // WINNOW_TOOL_TUNER_H
