// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How every program of ours with a CLI11 command line reads it, and the exit
// codes that they share. CLI11's own codes for wrong usage are 104 and up.
#ifndef WINNOW_TOOL_COMMANDLINE_H
#define WINNOW_TOOL_COMMANDLINE_H

#include "winnow/Runtime/DeviceApi.h"
#include "winnow/Runtime/Visible.h"

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdint>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace winnow::tool {

enum ExitCode {
  kFine = 0,
  kFailed = 1, ///< refused, failed or mismatched
  kUsage = 2,  ///< the command line asks for something that does not exist
};

/// Prints the help that was asked for, or what is wrong with the command line,
/// and answers with the code to exit with. What was given is in the text.
inline ExitCode endOfParse(const CLI::App &app, const CLI::ParseError &error) {
  std::ostringstream out, err;
  const int code = app.exit(error, out, err);
  std::cout << runtime::visibleLines(out.str());
  std::cerr << runtime::visibleLines(err.str());
  return code == 0 ? kFine : kUsage;
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

/// What is wrong with a device's name.
inline std::string deviceText(const std::string &name) {
  const Status status = runtime::checkDeviceName(name);
  return status ? "" : status.message();
}

/// One of some words; CLI11's own check shows no place where nothing stands.
inline CLI::Validator oneOf(const std::vector<std::string> &words) {
  std::string wanted, known;
  for (size_t i = 0; i < words.size(); ++i) {
    wanted += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
    known += (i == 0 ? "" : ",") + words[i];
  }
  return CLI::Validator(
      [words, wanted](const std::string &found) -> std::string {
        for (const std::string &word : words)
          if (word == found)
            return "";
        return "'" + found + "', wanted " + wanted;
      },
      "{" + known + "}");
}

} // namespace winnow::tool

#endif // WINNOW_TOOL_COMMANDLINE_H
