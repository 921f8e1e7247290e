// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// winnow-count-bench: the generated gfx950 kernels by their machine code,
// beside AITER's. Counts do not depend on the machine that counts them.
#include "Cases.h"
#include "CommandLine.h"

#include "winnow/Runtime/Files.h"
#include "winnow/Runtime/Visible.h"

#include <fmt/format.h>

#include <cstdio>
#include <set>
#include <sstream>

using namespace winnow;
using namespace winnow::bench;

namespace {

struct Options {
  std::string json, hold;
  bool decode = false, prefill = false, select = false;
};

Status count(const Options &options, Figures &figures) {
  Result<tool::Compiler> compiler = tool::Compiler::make({});
  if (!compiler)
    return compiler.takeError();
  const bool all = !options.decode && !options.prefill && !options.select;
  if (all || options.decode)
    if (Status status = countDecode(*compiler, figures); !status)
      return status;
  if (all || options.prefill)
    for (int64_t queryTiles : {4, 1})
      if (Status status = countPrefill(*compiler, queryTiles, figures); !status)
        return status;
  if (all || options.select)
    return countSelect(*compiler, figures);
  return {};
}

/// Whether every figure that the file lists, one a line, reaches its goal.
Status hold(const std::string &path, const Figures &figures) {
  Result<std::vector<std::byte>> text = runtime::readFile(path, 1 << 20);
  if (!text)
    return text.takeError();
  std::istringstream lines(
      std::string(reinterpret_cast<const char *>(text->data()), text->size()));
  std::string problems;
  size_t held = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#')
      continue;
    const Figure *found = nullptr;
    for (const Figure &figure : figures)
      if (figure.key() == line)
        found = &figure;
    if (!found)
      problems += fmt::format("no figure is called '{}'\n", line);
    else if (!found->goal)
      problems += fmt::format("'{}' has no goal\n", line);
    else if (!*found->met())
      problems += fmt::format("'{}' is {}, wanted {} {}\n", line, found->ours,
                              found->goalIsLeast ? "at least" : "at most",
                              *found->goal);
    else
      ++held;
  }
  if (!problems.empty())
    return Error{path + ":\n" + problems};
  fmt::print("{} goals of {} are met\n", held, path);
  return {};
}

int fail(const std::string &text) {
  fmt::print(stderr, "winnow-count-bench: error: {}\n",
             runtime::visibleLines(text));
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Counts the instructions of the generated gfx950 kernels on the "
               "simulated device, beside AITER's");
  app.add_option("--json", options.json, "Write the figures there, too");
  app.add_option("--hold", options.hold,
                 "Fail unless every figure named in this file, one "
                 "'group / name' a line, reaches its goal");
  app.add_flag("--decode", options.decode, "Only decode");
  app.add_flag("--prefill", options.prefill, "Only prefill");
  app.add_flag("--select", options.select, "Only the selection");
  if (auto code = tool::parseCommandLine(app, argc, argv))
    return *code;

  if (!options.json.empty())
    if (Status status = runtime::checkWritable(options.json); !status)
      return fail(status.message());
  Figures figures;
  if (Status status = count(options, figures); !status)
    return fail(status.message());
  std::fputs(figuresText(figures).c_str(), stdout);
  if (!options.json.empty())
    if (Status status = runtime::writeFileAtomically(
            options.json,
            std::string_view(figuresJson(
                figures, "{\"bench\": \"count\", \"device\": \"simulated "
                         "gfx950\"}")));
        !status)
      return fail(status.message());
  if (!options.hold.empty())
    if (Status status = hold(options.hold, figures); !status)
      return fail(status.message());
  return 0;
}
