// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options of `run` and `sim` that look into simulated launches, and what
// they print.
#ifndef WINNOW_TOOL_OBSERVE_H
#define WINNOW_TOOL_OBSERVE_H

#include "winnow/Runtime/Result.h"
#include "winnow/Sim/Device.h"

#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace winnow::tool {

struct ObserveOptions {
  /// As --checks has it, for `checks`.
  std::string checksText = "off";
  sim::Checks checks;
  /// Empty, "table" or "html".
  std::string profile;
  std::string profileOut = "winnow-profile.html";
  /// As in sim::LaunchOptions.
  uint64_t shuffle = 0;
};

void addObserveOptions(CLI::App &command, ObserveOptions &options);

/// "stop", or "lds-race=stop,missing-wait=warn": an action for every check, or
/// for one by name; later ones win.
Result<sim::Checks> parseChecks(const std::string &text);

/// What the checks of a launch found, a line each; empty for nothing.
std::string findingsText(const sim::LaunchStats &stats);

/// The tables of the profiles, or the page written and a line that says where.
Result<std::string>
showProfiles(const ObserveOptions &options, const std::string &title,
             const std::vector<const sim::LaunchStats *> &launches);

} // namespace winnow::tool

#endif // WINNOW_TOOL_OBSERVE_H
