// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `winnow emit`: the HIP of a description as files to read.
#include "Commands.h"
#include "Load.h"
#include "Print.h"

#include "winnow/Runtime/Bundle.h"
#include "winnow/Runtime/Files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

using namespace winnow;
using namespace winnow::tool;

namespace {

struct EmitOptions {
  std::string file, folder;
  CompileOptions compile;
  bool isArchGiven = false;
};

/// Leaves of a bundle what compiles for `arch`. What was lowered once cannot be
/// lowered again, so an entry that has nothing for it is an error.
Status keepArch(runtime::Bundle &bundle, const std::string &arch) {
  auto compiles = [&](const runtime::Entry &entry) {
    for (const runtime::Launch &launch : entry.launches) {
      const auto &archs = bundle.sources[launch.source].archs;
      if (std::find(archs.begin(), archs.end(), arch) == archs.end())
        return false;
    }
    return true;
  };
  std::set<std::string> all, kept;
  for (const runtime::Entry &entry : bundle.entries) {
    all.insert(entry.name);
    if (compiles(entry))
      kept.insert(entry.name);
  }
  for (const std::string &name : all)
    if (!kept.contains(name)) {
      std::set<std::string> archs;
      for (const runtime::Entry &entry : bundle.entries)
        if (entry.name == name)
          for (const runtime::Launch &launch : entry.launches)
            archs.insert(bundle.sources[launch.source].archs.begin(),
                         bundle.sources[launch.source].archs.end());
      return Error{fmt::format("the bundle has no source of '{}' for {}, but "
                               "for {}; emit its description for it",
                               name, arch, fmt::join(archs, ", "))};
    }
  std::erase_if(bundle.entries,
                [&](const runtime::Entry &entry) { return !compiles(entry); });
  // The sources that are left are numbered anew.
  std::map<uint32_t, uint32_t> numbers;
  std::vector<runtime::Source> sources;
  for (runtime::Entry &entry : bundle.entries)
    for (runtime::Launch &launch : entry.launches) {
      const auto [at, isNew] = numbers.try_emplace(
          launch.source, static_cast<uint32_t>(sources.size()));
      if (isNew)
        sources.push_back(bundle.sources[launch.source]);
      launch.source = at->second;
    }
  bundle.sources = std::move(sources);
  return {};
}

int emit(const EmitOptions &options) {
  Result<Loaded> loaded = load(options.file, options.compile);
  if (!loaded)
    return reportDiagnostics(loaded.takeError());
  // What a bundle was built to is not written, so the manifest lists none.
  loaded->bundle.codeObjects.clear();
  if (!loaded->fromDescription && options.isArchGiven)
    if (Status status = keepArch(loaded->bundle, options.compile.arch); !status)
      return report(
          Error{fmt::format("{}: {}", options.file, status.message())});
  Result<std::string> manifest = runtime::manifestText(loaded->bundle);
  if (!manifest)
    return report(manifest.takeError());
  if (Status status = runtime::makeFolders(options.folder); !status)
    return report(status.takeError());
  auto write = [&](const std::string &name, const std::string &text) {
    const std::string path = options.folder + "/" + name;
    Status status = runtime::writeFileAtomically(path, text);
    if (status)
      say("{}\n", path);
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
  const CLI::Option *arch = addArchOption(*command, options->compile.arch);
  addPreferOption(*command, options->compile.prefer);
  addScheduleOption(*command, options->compile.schedule);
  command->callback([options, arch, &action] {
    options->isArchGiven = arch->count() > 0;
    action = [options] { return emit(*options); };
  });
}
