// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The subcommands of `winnow`: each adds itself to the command line and then
// runs. They print results to stdout and errors to stderr.
#ifndef WINNOW_TOOL_COMMANDS_H
#define WINNOW_TOOL_COMMANDS_H

#include "CommandLine.h"

#include "winnow/Runtime/Result.h"

#include <functional>
#include <string>
#include <vector>

namespace winnow::tool {

/// What the chosen subcommand does; empty until one is parsed.
using Action = std::function<int()>;

void addCheckCommand(CLI::App &app, Action &action);
void addEmitCommand(CLI::App &app, Action &action);
void addBuildCommand(CLI::App &app, Action &action);
void addRunCommand(CLI::App &app, Action &action);
void addSimCommand(CLI::App &app, Action &action);
void addExplainCommand(CLI::App &app, Action &action);
void addCacheCommand(CLI::App &app, Action &action);
void addTuneCommand(CLI::App &app, Action &action);

/// The option --prefer of the commands that lower a description.
void addPreferOption(CLI::App &command, std::string &prefer);

/// The option --schedule of those that make kernels.
void addScheduleOption(CLI::App &command, std::string &schedule);

/// Names between commas, each once.
Result<std::vector<std::string>> parseArchs(const std::string &list);

/// Descriptions are lowered for a processor, with whatever features
/// ("gfx950:sramecc+:xnack-"); these only matter to the compiler.
std::string processorOf(const std::string &arch);

/// The option --arch: of several, which parseArchs() reads, or of one alone.
void addArchsOption(CLI::App &command, std::string &list,
                    const std::string &text);
CLI::Option *addArchOption(CLI::App &command, std::string &arch);

/// Prints an error and answers with `code`. Diagnostics of the compiler are
/// printed as they are; other errors get the tool's name in front.
int report(const Error &error, int code = kFailed);
int reportDiagnostics(const Error &error);

} // namespace winnow::tool

#endif // WINNOW_TOOL_COMMANDS_H
