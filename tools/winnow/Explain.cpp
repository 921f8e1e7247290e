// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `winnow explain`: which lowering each operation gets, and every reason for
// which it gets no better one; and the schedules of what comes of it.
#include "Commands.h"
#include "Print.h"

#include "winnow/Codegen/Explain.h"
#include "winnow/Codegen/Tuning.h"
#include "winnow/IR/ScheduleAttribute.h"
#include "winnow/Runtime/Bundle.h"
#include "winnow/Runtime/Files.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

using namespace winnow;
using namespace winnow::tool;
using Json = nlohmann::ordered_json;

namespace {

// A description is a page of text; this only keeps /dev/zero out.
constexpr uint64_t kMaxDescriptionBytes = uint64_t(16) << 20;

struct ExplainOptions {
  std::string file;
  std::string archList = "gfx950";
  std::vector<std::string> archs;
  CompileOptions compile; ///< but for the architecture
  bool json = false;
};

void printText(const EntryExplanation &entry, const std::string &arch) {
  say("{} for {}\n", entry.entry, arch);
  for (const OperationChoice &choice : entry.operations) {
    say("  {} (line {}): {}\n", choice.operation, choice.line,
        choice.lowering.empty() ? "no lowering" : choice.lowering);
    for (const RefusedLowering &refused : choice.refused)
      for (const std::string &reason : refused.reasons)
        say("    not {}: {}\n", refused.lowering, runtime::visible(reason));
  }
  for (const std::string &fault : entry.faults)
    say("  fault: {}\n", runtime::visible(fault));
  if (!entry.broken.empty())
    say("  it names contract '{}' and does not keep it, so it will not "
        "be built:\n",
        entry.contract);
  for (const std::string &broken : entry.broken)
    say("    {}\n", runtime::visible(broken));
}

/// "  schedule of score: waves 8 (fixed), chunks 64, ...", a line a kernel.
void printSchedules(const TunableEntry &entry) {
  for (const TunableKernel &kernel : entry.kernels) {
    std::string text;
    for (const ScheduleParameter *parameter : parametersOf(kernel.problem))
      text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ",
                          parameter->name, kernel.chosen.*parameter->value,
                          kernel.fixed.contains(std::string(parameter->name))
                              ? " (fixed)"
                              : "");
    if (!text.empty())
      say("  schedule of {}: {}\n",
          scheduledKernelName(kernel.problem.kernel()), text);
  }
  if (entry.kernels.size() > 1)
    say("  launches: {}{}\n", entry.launches,
        entry.launchesFixed ? " (fixed)" : "");
}

Json toJson(const TunableEntry &entry) {
  Json json = Json::object();
  if (entry.kernels.size() > 1)
    json["launches"] =
        Json{{"value", entry.launches}, {"fixed", entry.launchesFixed}};
  for (const TunableKernel &kernel : entry.kernels) {
    Json parameters = Json::object();
    for (const ScheduleParameter *parameter : parametersOf(kernel.problem))
      parameters[std::string(parameter->name)] =
          Json{{"value", kernel.chosen.*parameter->value},
               {"fixed", kernel.fixed.contains(std::string(parameter->name))}};
    json[std::string(scheduledKernelName(kernel.problem.kernel()))] =
        std::move(parameters);
  }
  return json;
}

Json toJson(const EntryExplanation &entry) {
  Json operations = Json::array();
  for (const OperationChoice &choice : entry.operations) {
    Json refused = Json::array();
    for (const RefusedLowering &each : choice.refused)
      refused.push_back(
          Json{{"lowering", each.lowering}, {"reasons", each.reasons}});
    operations.push_back(
        Json{{"operation", choice.operation},
             {"line", choice.line},
             {"column", choice.column},
             {"lowering",
              choice.lowering.empty() ? Json(nullptr) : Json(choice.lowering)},
             {"refused", std::move(refused)}});
  }
  return Json{{"entry", entry.entry},
              {"taken", entry.taken()},
              {"operations", std::move(operations)},
              {"faults", entry.faults},
              {"contract",
               entry.contract.empty()
                   ? Json(nullptr)
                   : Json{{"name", entry.contract}, {"broken", entry.broken}}}};
}

/// What is said of one architecture; as JSON into `list`.
Result<int> explainFor(std::string_view text, const std::string &arch,
                       const ExplainOptions &options, Json &list) {
  CompileOptions compile = options.compile;
  compile.arch = processorOf(arch);
  Result<std::vector<EntryExplanation>> entries =
      explainDescription(text, options.file, compile);
  if (!entries)
    return entries.takeError();
  const bool isBuilt =
      std::all_of(entries->begin(), entries->end(),
                  [](const EntryExplanation &entry) { return entry.builds(); });
  std::vector<TunableEntry> scheduled;
  if (isBuilt) {
    Result<std::vector<TunableEntry>> all =
        describeTuning(text, options.file, compile);
    if (!all)
      return all.takeError();
    scheduled = std::move(*all);
  }
  for (const EntryExplanation &entry : *entries) {
    const auto schedule = std::find_if(
        scheduled.begin(), scheduled.end(),
        [&](const TunableEntry &each) { return each.name == entry.entry; });
    const bool hasSchedule = schedule != scheduled.end();
    if (options.json) {
      list.push_back(toJson(entry));
      list.back()["schedule"] = hasSchedule ? toJson(*schedule) : Json();
      continue;
    }
    printText(entry, arch);
    if (hasSchedule)
      printSchedules(*schedule);
  }
  return isBuilt ? kFine : kFailed;
}

int explain(const ExplainOptions &options) {
  Result<std::vector<std::byte>> bytes =
      runtime::readFile(options.file, kMaxDescriptionBytes);
  if (!bytes)
    return reportDiagnostics(bytes.takeError());
  if (runtime::looksLikeBundle(*bytes))
    return report(Error{options.file + ": a bundle is lowered already; explain "
                                       "takes a description"});
  const std::string_view text(reinterpret_cast<const char *>(bytes->data()),
                              bytes->size());
  int code = kFine;
  Json all = Json::array();
  for (const std::string &arch : options.archs) {
    Json list = Json::array();
    Result<int> each = explainFor(text, arch, options, list);
    if (!each)
      return reportDiagnostics(each.takeError());
    code = std::max(code, *each);
    all.push_back(Json{{"arch", arch}, {"entries", std::move(list)}});
  }
  if (!options.json)
    return code;
  // One answer stands by itself.
  Json json{{"file", options.file}};
  if (all.size() == 1)
    json.update(all.front());
  else
    json["architectures"] = std::move(all);
  say("{}\n", jsonText(json));
  return code;
}

} // namespace

void tool::addExplainCommand(CLI::App &app, Action &action) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App *command = app.add_subcommand(
      "explain",
      "Say which lowering each operation gets, and why no better one, and the "
      "schedules of the kernels; exit code 0 if every entry would be built for "
      "every architecture");
  command->add_option("FILE", options->file, "A description")->required();
  addArchsOption(*command, options->archList,
                 "The architectures it is for, e.g. gfx950,sm_90");
  addPreferOption(*command, options->compile.prefer);
  addScheduleOption(*command, options->compile.schedule);
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &action] {
    options->archs = *parseArchs(options->archList);
    action = [options] { return explain(*options); };
  });
}

void tool::addScheduleOption(CLI::App &command, std::string &schedule) {
  // Which entries and kernels there are is the description's to say; what no
  // description could take is wrong usage.
  auto faultOf = [](const std::string &given) {
    llvm::SmallVector<llvm::StringRef> parts;
    llvm::StringRef(given).split(parts, ';');
    ScheduleRequest ignored;
    std::string error;
    for (llvm::StringRef part : parts)
      if (!given.empty() && !parseSchedule(part.substr(part.find(':') + 1),
                                           "option", ignored, error))
        break;
    return error;
  };
  command
      .add_option("--schedule", schedule,
                  "Parameters of schedules to fix, as winnow.schedule of a "
                  "description does: score.waves=8,chunks=4")
      ->check(faultOf);
}

/// What is wrong with the name of a lowering, or of two that an entry mixes.
static std::string preferText(const std::string &name) {
  for (size_t at = 0; at <= name.size();) {
    const size_t dash = std::min(name.find('-', at), name.size());
    const std::string part = name.substr(at, dash - at);
    if (part != "mfma" && part != "mma" && part != "generic")
      return "lowering '" + name +
             "', wanted mfma, mma or generic, or of a bundle those of an "
             "entry, such as mfma-generic";
    at = dash + 1;
  }
  return "";
}

void tool::addPreferOption(CLI::App &command, std::string &prefer) {
  command
      .add_option("--prefer", prefer,
                  "A lowering to try before the others: mfma, mma or generic; "
                  "of a bundle, what the whole entry has, as mfma-generic")
      ->check(preferText);
}
