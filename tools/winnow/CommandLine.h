// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How every program of ours with a CLI11 command line reads it, and the exit
// codes that they share. CLI11's own codes for wrong usage are 104 and up.
#ifndef WINNOW_TOOL_COMMANDLINE_H
#define WINNOW_TOOL_COMMANDLINE_H

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

namespace winnow::tool {

enum ExitCode {
  kFine = 0,
  kFailed = 1, ///< refused, failed or mismatched
  kUsage = 2,  ///< the command line asks for something that does not exist
};

/// Prints the help that was asked for, or what is wrong with the command line,
/// and answers with the code to exit with.
inline ExitCode endOfParse(const CLI::App &app, const CLI::ParseError &error) {
  return app.exit(error) == 0 ? kFine : kUsage;
}

/// Reads the command line; an exit code where the program is to end at once.
inline std::optional<ExitCode> parseCommandLine(CLI::App &app, int argc,
                                                char **argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return endOfParse(app, error);
  }
  return std::nullopt;
}

/// What is wrong with a seed, as CLI11 asks; empty for nothing. CLI11 wraps
/// negative ones around and clamps those past 64 bits.
inline std::string seedText(const std::string &text) {
  uint64_t seed = 0;
  const auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), seed);
  if (code == std::errc() && end == text.data() + text.size())
    return "";
  return "seed '" + text + "', wanted a number from 0 to 2^64 - 1";
}

} // namespace winnow::tool

#endif // WINNOW_TOOL_COMMANDLINE_H
