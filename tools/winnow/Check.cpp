// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `winnow check`: does a description hold what it names?
#include "Commands.h"
#include "Print.h"
#include "Report.h"

#include "Load.h"

#include <fmt/format.h>

#include <memory>

using namespace winnow;
using namespace winnow::tool;

namespace {

struct CheckOptions {
  std::string file;
  std::string arch = "gfx950";
};

int check(const CheckOptions &options) {
  Result<Loaded> loaded = load(options.file, options.arch);
  if (!loaded)
    return reportDiagnostics(loaded.takeError());
  int code = kFine;
  for (const runtime::Entry &entry : loaded->bundle.entries) {
    Result<std::vector<runtime::ContractAnswer>> answers =
        runtime::answerContracts(entry, {.arch = options.arch});
    if (!answers)
      return report(answers.takeError());
    say("{}: lowering {}\n", entry.name, entry.lowering);
    for (const runtime::ContractAnswer &answer : *answers) {
      say("  {}\n", contractText(answer));
      if (!answer.report.met())
        code = kFailed;
    }
  }
  return code;
}

} // namespace

void tool::addCheckCommand(CLI::App &app, Action &action) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App *command = app.add_subcommand(
      "check", "Verify a description and hold it against its contract");
  command->add_option("FILE", options->file, "A description, or a bundle")
      ->required();
  addArchOption(*command, options->arch);
  command->callback(
      [options, &action] { action = [options] { return check(*options); }; });
}
