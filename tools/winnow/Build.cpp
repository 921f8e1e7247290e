// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `winnow build`: a bundle with its code objects, ready to ship.
#include "Commands.h"
#include "Load.h"
#include "Report.h"

#include "winnow/Runtime/Bundle.h"
#include "winnow/Runtime/Files.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

using namespace winnow;
using namespace winnow::tool;

namespace {

struct BuildOptions {
  std::string file, output;
  std::string arch = "gfx950";
  std::string prefer;
  bool verbose = false;
  runtime::ClangOptions clang;
};

int build(const BuildOptions &options) {
  Result<Loaded> loaded = load(options.file, options.arch, options.prefer);
  if (!loaded)
    return reportDiagnostics(loaded.takeError());
  // A bundle may be built anew in its place; a description would be lost.
  std::error_code ignored;
  if (loaded->fromDescription &&
      std::filesystem::equivalent(options.file, options.output, ignored))
    return report(Error{"cannot write '" + options.output +
                        "': it is the description itself; --output has to "
                        "name another file"},
                  kUsage);
  // A pipe or a device may be the standard output: nothing else goes there.
  const auto target = std::filesystem::status(options.output, ignored);
  std::FILE *log = std::filesystem::is_other(target) ? stderr : stdout;
  runtime::Bundle &bundle = loaded->bundle;
  // Compiled afresh: what was in a bundle may be an older compiler's.
  std::erase_if(bundle.codeObjects, [&](const runtime::CodeObject &object) {
    return object.arch == options.arch;
  });
  for (uint32_t source = 0; source < bundle.sources.size(); ++source) {
    Result<LoadedCode> code =
        compileSource(bundle, source, options.arch, options.clang);
    if (!code)
      return report(code.takeError());
    if (options.verbose) {
      fmt::print(log, "{}: generated in {}, compiled in {}\n",
                 bundle.sources[source].name, timeText(loaded->time),
                 timeText(code->time));
      fmt::print(log, "{}", resourceText(*code));
    }
    bundle.codeObjects.push_back(
        {source, options.arch, std::move(code->bytes)});
  }
  Result<std::vector<std::byte>> bytes = runtime::writeBundle(bundle);
  if (!bytes)
    return report(bytes.takeError());
  if (Status status = runtime::writeFileAtomically(options.output, *bytes);
      !status)
    return report(status.takeError());
  fmt::print(log, "{}: {} bytes\n", options.output, bytes->size());
  return kFine;
}

} // namespace

void tool::addBuildCommand(CLI::App &app, Action &action) {
  auto options = std::make_shared<BuildOptions>();
  CLI::App *command = app.add_subcommand(
      "build", "Write a bundle: HIP, manifest, code objects");
  command->add_option("FILE", options->file, "A description, or a bundle")
      ->required();
  command->add_option("-o,--output", options->output, "The bundle to write")
      ->required();
  command->add_option("--arch", options->arch, "The architecture to build for")
      ->capture_default_str();
  addPreferOption(*command, options->prefer);
  command->add_option(
      "--clang", options->clang.clang,
      "The clang to compile with (default: " + runtime::defaultClang() + ")");
  command->add_flag("-v,--verbose", options->verbose,
                    "Print times, and registers, LDS, spills and code size of "
                    "each kernel");
  command->callback(
      [options, &action] { action = [options] { return build(*options); }; });
}
