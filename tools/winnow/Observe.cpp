// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Observe.h"
#include "CommandLine.h"

#include "winnow/Runtime/Files.h"

#include <fmt/format.h>

#include <charconv>

using namespace winnow;
using namespace winnow::tool;

Result<sim::Checks> tool::parseChecks(const std::string &text) {
  sim::Checks checks;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find(',', begin), text.size());
    std::string item = text.substr(begin, end - begin);
    begin = end + 1;
    std::string name;
    if (const size_t equals = item.find('='); equals != item.npos) {
      name = item.substr(0, equals);
      item = item.substr(equals + 1);
    }
    sim::CheckAction action = sim::CheckAction::Off;
    if (item == "warn")
      action = sim::CheckAction::Warn;
    else if (item == "stop")
      action = sim::CheckAction::Stop;
    else if (item != "off")
      return Error{fmt::format("'{}' is no action (off, warn or stop)", item)};
    std::string known;
    bool found = name.empty();
    for (size_t i = 0; i < size_t(sim::CheckKind::Count); ++i) {
      const auto kind = sim::CheckKind(i);
      known += fmt::format("{}{}", i ? ", " : "", sim::nameOf(kind));
      // Faults that stop anyway are changed by name only.
      if (name.empty() ? sim::stopsByDefault(kind) : name != sim::nameOf(kind))
        continue;
      found = true;
      checks.set(kind, action);
    }
    if (!found)
      return Error{fmt::format("'{}' is no check (there are {})", name, known)};
  }
  return checks;
}

void tool::addObserveOptions(CLI::App &command, ObserveOptions &options) {
  command
      .add_option("--checks", options.checksText,
                  "off, warn or stop, or NAME=ACTION,...: what a fault that "
                  "real hardware would not tell does; out-of-bounds, "
                  "use-after-free, deadlock and runaway-loop stop unless "
                  "named")
      ->capture_default_str()
      ->check([&options](const std::string &text) {
        Result<sim::Checks> parsed = parseChecks(text);
        if (!parsed)
          return parsed.message();
        options.checks = *parsed;
        return std::string();
      });
  command
      .add_flag("--profile{table}", options.profile,
                "Count by instruction and print a table; --profile=html "
                "writes a page")
      ->check(oneOf({"table", "html"}));
  command
      .add_option("--profile-out", options.profileOut,
                  "Where --profile=html writes the page")
      ->capture_default_str();
  command
      .add_option("--shuffle", options.shuffle,
                  "A seed for the order in which workgroups start and take "
                  "turns; 0: in order, one after the other")
      ->check(seedText)
      ->capture_default_str();
}

std::string tool::findingsText(const sim::LaunchStats &stats) {
  std::string out;
  for (const sim::Finding &finding : stats.findings)
    out += fmt::format(
        "warning: {}{}\n", finding.message,
        finding.count > 1 ? fmt::format(" ({} times)", finding.count) : "");
  return out;
}

Result<std::string>
tool::showProfiles(const ObserveOptions &options, const std::string &title,
                   const std::vector<const sim::LaunchStats *> &launches) {
  std::string out;
  std::vector<const sim::KernelProfile *> profiles;
  for (const sim::LaunchStats *stats : launches)
    if (stats->profile)
      profiles.push_back(stats->profile.get());
  if (options.profile != "html") {
    for (const sim::KernelProfile *profile : profiles)
      out += "\n" + sim::profileText(*profile);
    return out;
  }
  if (Status status = runtime::writeFileAtomically(
          options.profileOut,
          std::string_view(sim::profileHtml(title, profiles)));
      !status)
    return status.takeError();
  return fmt::format("profile    {}\n", options.profileOut);
}
