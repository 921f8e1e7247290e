// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `winnow emit`: the HIP of a description as files to read.
#include "Commands.h"
#include "Load.h"

#include "winnow/Runtime/Bundle.h"
#include "winnow/Runtime/Files.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

using namespace winnow;
using namespace winnow::tool;

namespace {

struct EmitOptions {
  std::string file, folder;
  std::string arch = "gfx950";
  std::string prefer;
};

int emit(const EmitOptions &options) {
  Result<Loaded> loaded = load(options.file, options.arch, options.prefer);
  if (!loaded)
    return reportDiagnostics(loaded.takeError());
  // What a bundle was built to is not written, so the manifest lists none.
  loaded->bundle.codeObjects.clear();
  Result<std::string> manifest = runtime::manifestText(loaded->bundle);
  if (!manifest)
    return report(manifest.takeError());
  if (Status status = runtime::makeFolders(options.folder); !status)
    return report(status.takeError());
  auto write = [&](const std::string &name, const std::string &text) {
    const std::string path = options.folder + "/" + name;
    Status status = runtime::writeFileAtomically(path, text);
    if (status)
      fmt::print("{}\n", path);
    return status;
  };
  for (const runtime::Source &source : loaded->bundle.sources)
    if (Status status = write(source.name, source.text); !status)
      return report(status.takeError());
  if (Status status = write("manifest.json", *manifest + "\n"); !status)
    return report(status.takeError());
  return kFine;
}

} // namespace

void tool::addEmitCommand(CLI::App &app, Action &action) {
  auto options = std::make_shared<EmitOptions>();
  CLI::App *command = app.add_subcommand(
      "emit", "Write the HIP source and the manifest, and name the files");
  command->add_option("FILE", options->file, "A description, or a bundle")
      ->required();
  command
      ->add_option("-o,--output", options->folder, "The folder to write into")
      ->required();
  command->add_option("--arch", options->arch, "The architecture it is for")
      ->capture_default_str();
  addPreferOption(*command, options->prefer);
  command->callback(
      [options, &action] { action = [options] { return emit(*options); }; });
}
