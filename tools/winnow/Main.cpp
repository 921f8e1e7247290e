// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `winnow`: descriptions checked, turned into HIP, built and run.
#include "Commands.h"
#include "Print.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

using namespace winnow;
using namespace winnow::tool;

int tool::report(const Error &error, int code) {
  std::fflush(stdout);
  say(stderr, "winnow: error: {}\n", error.message);
  return code;
}

int tool::reportDiagnostics(const Error &error) {
  std::fflush(stdout);
  // Diagnostics start with file:line:column; a path that cannot be read has
  // no place of its own.
  if (error.message.starts_with("cannot "))
    return report(error);
  say(stderr, "{}{}", error.message, error.message.ends_with('\n') ? "" : "\n");
  return kFailed;
}

/// The names of all subcommands.
static std::string known(const CLI::App &app) {
  std::string names;
  for (const CLI::App *command : app.get_subcommands({}))
    names += (names.empty() ? "" : ", ") + command->get_name();
  return names;
}

static int runMain(int argc, char **argv) {
  CLI::App app("Winnow generates block-sparse attention indexer kernels from "
               "descriptions (.mlir) and runs them.");
  app.name("winnow");
  app.set_version_flag("--version", "winnow " WINNOW_VERSION);
  app.require_subcommand(1);
  app.footer("Exit codes: 0 fine; 1 refused by a contract, failed, or "
             "different from the reference; 2 wrong usage.");
  Action action;
  addCheckCommand(app, action);
  addEmitCommand(app, action);
  addBuildCommand(app, action);
  addRunCommand(app, action);
  addSimCommand(app, action);
  addExplainCommand(app, action);
  addTuneCommand(app, action);
  addCacheCommand(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // CLI11 would only say that a subcommand is missing.
    const std::vector<std::string> unknown = app.remaining();
    if (app.get_subcommands().empty() && !unknown.empty() &&
        error.get_exit_code() != 0)
      return report(Error{"'" + unknown.front() +
                          "' is no subcommand; known: " + known(app)},
                    kUsage);
    return endOfParse(app, error);
  }
  const int code = action();
  // A full disk or a closed pipe shows up only when stdout is flushed.
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    std::perror("winnow: error: cannot write to the standard output");
    return kFailed;
  }
  return code;
}

int main(int argc, char **argv) {
  std::signal(SIGPIPE, SIG_IGN); // an error of the write, with a text
  try {
    return runMain(argc, argv);
  } catch (const std::exception &exception) {
    return tool::report(Error{exception.what()});
  }
}
