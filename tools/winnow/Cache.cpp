// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `winnow cache`: what a cache folder holds, whether it is sound, and less of
// it.
#include "Commands.h"
#include "Print.h"

#include "winnow/Runtime/KernelCache.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ctime>
#include <memory>

using namespace winnow;
using namespace winnow::tool;
using Json = nlohmann::ordered_json;

namespace {

struct CacheCommand {
  std::string folder;
  uint64_t maxBytes = 0;
  bool json = false;
  bool setAside = false;
};

/// The folder of the command, or the error that it cannot be used.
Result<std::unique_ptr<runtime::KernelCache>>
openCache(const CacheCommand &command) {
  runtime::CacheOptions options;
  options.folder = command.folder;
  std::string problem;
  options.logger = [&](runtime::LogLevel, const std::string &line) {
    problem = line;
  };
  auto cache = std::make_unique<runtime::KernelCache>(options);
  if (cache->folder().empty())
    return Error{problem};
  return cache;
}

Json entryJson(const runtime::CacheEntryInfo &entry) {
  Json json{{"file", entry.file},
            {"bytes", entry.bytes},
            {"last_used", entry.lastUsed}};
  if (!entry.problem.empty()) {
    json["problem"] = entry.problem;
    return json;
  }
  json["key"] = entry.key;
  json["source"] = entry.source;
  json["arch"] = entry.arch;
  json["compiler"] = entry.compiler;
  json["kernels"] = entry.kernels;
  return json;
}

void printJson(const Json &json) { say("{}\n", jsonText(json)); }

std::string timeOf(int64_t seconds) {
  return fmt::format("{:%Y-%m-%d %H:%M}",
                     fmt::gmtime(static_cast<std::time_t>(seconds)));
}

/// A compiler's name without its options: up to the first.
std::string shortName(const std::string &identity) {
  return identity.substr(0, identity.find(" -"));
}

int list(const CacheCommand &command, bool onlyProblems) {
  Result<std::unique_ptr<runtime::KernelCache>> cache = openCache(command);
  if (!cache)
    return report(cache.takeError());
  Result<std::vector<runtime::CacheEntryInfo>> entries =
      (*cache)->list(command.setAside);
  if (!entries)
    return report(entries.takeError());
  uint64_t bytes = 0, damaged = 0;
  Json listed = Json::array();
  for (const runtime::CacheEntryInfo &entry : *entries) {
    bytes += entry.bytes;
    damaged += !entry.problem.empty();
    if (command.json) {
      if (!onlyProblems || !entry.problem.empty())
        listed.push_back(entryJson(entry));
    } else if (!entry.problem.empty()) {
      say("{}: damaged: {}{}\n", runtime::visible(entry.file),
          runtime::visible(entry.problem),
          command.setAside ? "; set aside" : "");
    } else if (!onlyProblems) {
      say("{}  {} for {}  {} bytes  used {}  by {}\n",
          runtime::visible(entry.key.substr(0, 16)),
          runtime::visible(entry.source), runtime::visible(entry.arch),
          entry.bytes, timeOf(entry.lastUsed),
          runtime::visible(shortName(entry.compiler)));
    }
  }
  if (command.json)
    printJson(Json{{"folder", (*cache)->folder()},
                   {"entries", entries->size()},
                   {"bytes", bytes},
                   {"damaged", damaged},
                   {onlyProblems ? "problems" : "list", listed}});
  else
    say("{}: {} entries, {} bytes, {} damaged\n", (*cache)->folder(),
        entries->size(), bytes, damaged);
  return onlyProblems && damaged != 0 ? kFailed : kFine;
}

int prune(const CacheCommand &command) {
  Result<std::unique_ptr<runtime::KernelCache>> cache = openCache(command);
  if (!cache)
    return report(cache.takeError());
  Result<runtime::PruneResult> result = (*cache)->prune(command.maxBytes);
  if (!result)
    return report(result.takeError());
  if (command.json)
    printJson(Json{{"folder", (*cache)->folder()},
                   {"removed", result->entries},
                   {"removed_bytes", result->bytes},
                   {"left", result->leftEntries},
                   {"left_bytes", result->leftBytes}});
  else
    say("{}: {} files of {} bytes removed, {} entries of {} bytes left\n",
        (*cache)->folder(), result->entries, result->bytes, result->leftEntries,
        result->leftBytes);
  return kFine;
}

} // namespace

void tool::addCacheCommand(CLI::App &app, Action &action) {
  auto options = std::make_shared<CacheCommand>();
  CLI::App *command = app.add_subcommand(
      "cache", "List, verify or prune a folder of compiled code");
  command->require_subcommand(1);
  auto add = [&](const char *name, const char *text) {
    CLI::App *each = command->add_subcommand(name, text);
    each->add_option(
        "--folder", options->folder,
        "The cache folder (default: " + runtime::defaultCacheFolder() + ")");
    each->add_flag("--json", options->json, "Print one JSON object instead");
    return each;
  };
  CLI::App *listing = add("list", "Print every entry: key, source, "
                                  "architecture, size, last use, compiler");
  CLI::App *verifying =
      add("verify", "Read every entry whole and print the damaged; exit code 1 "
                    "if there are any");
  verifying->add_flag("--set-aside", options->setAside,
                      "Move the damaged out of the way");
  CLI::App *pruning =
      add("prune", "Remove the least recently used entries, what was set aside "
                   "and what killed processes left");
  pruning
      ->add_option("--max-bytes", options->maxBytes,
                   "What entries may take afterwards")
      ->check([](const std::string &text) {
        return text.find_first_not_of("0123456789") == text.npos
                   ? std::string()
                   : "'" + text + "', wanted a number of bytes";
      })
      ->capture_default_str();
  listing->callback([options, &action] {
    action = [options] { return list(*options, /*onlyProblems=*/false); };
  });
  verifying->callback([options, &action] {
    action = [options] { return list(*options, /*onlyProblems=*/true); };
  });
  pruning->callback(
      [options, &action] { action = [options] { return prune(*options); }; });
}
