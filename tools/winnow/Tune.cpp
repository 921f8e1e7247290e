// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `winnow tune`: candidate schedules on a device, a table of what they took,
// and a bundle with the fastest.
#include "Commands.h"
#include "Load.h"
#include "Observe.h"
#include "Print.h"
#include "Report.h"
#include "Tuner.h"

#include "winnow/Runtime/Bundle.h"
#include "winnow/Runtime/Files.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>

#include <unistd.h>

using namespace winnow;
using namespace winnow::tool;
using Json = nlohmann::ordered_json;

namespace {

// A description is a page of text; this only keeps /dev/zero out.
constexpr uint64_t kMaxDescriptionBytes = uint64_t(16) << 20;

struct Options {
  std::string file, output, device = "sim:gfx950", date;
  std::vector<std::string> shapes;
  TuneOptions tune;
  unsigned repeats = 15;
  bool json = false;
  CompilerOptions compiler;
};

/// Of today, or of SOURCE_DATE_EPOCH, which builds that are to be the same
/// every time set.
Result<std::string> today() {
  constexpr std::time_t most = 253402300799; // the last second of 9999
  std::time_t now = std::time(nullptr);
  if (const char *epoch = std::getenv("SOURCE_DATE_EPOCH")) {
    const char *end = epoch + std::char_traits<char>::length(epoch);
    const auto [next, code] = std::from_chars(epoch, end, now);
    if (code != std::errc() || next != end || now < 0 || now > most)
      return Error{fmt::format("SOURCE_DATE_EPOCH is '{}', wanted seconds "
                               "since 1970 from 0 to {}",
                               epoch, most)};
  }
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(now));
}

Result<std::string> readDescription(const std::string &path) {
  Result<std::vector<std::byte>> bytes =
      runtime::readFile(path, kMaxDescriptionBytes);
  if (!bytes)
    return bytes.takeError();
  if (runtime::looksLikeBundle(*bytes))
    return Error{path + ": a bundle, whose kernels are made; wanted the "
                        "description"};
  return std::string(reinterpret_cast<const char *>(bytes->data()),
                     bytes->size());
}

std::string timesText(double seconds) {
  return seconds > 0 ? fmt::format("{:.2f}", seconds * 1e6) : "-";
}

void printTable(const TunedEntry &entry) {
  std::string shapes;
  for (const TuneShape &shape : entry.shapes)
    shapes += (shapes.empty() ? "" : ", ") + shape.text();
  say("{}: {} programs, shapes {}\n", entry.name, entry.programs, shapes);
  size_t width = 8;
  for (const TunedCandidate &each : entry.candidates)
    width = std::max(width, each.schedule.size());
  say("  {:<17} {:<{}} {:>9} {:>7} {:>9} {:>9}\n", "kernel", "schedule", width,
      "us", "spread", "to model", "predicted");
  for (const TunedCandidate &each : entry.candidates) {
    if (!each.refused.empty()) {
      // The first line; the whole is in the JSON.
      const std::string reason =
          each.refused.substr(0, each.refused.find('\n'));
      say("  {:<17} {:<{}} refused: {}\n", each.kernel, each.schedule, width,
          runtime::visible(reason));
      continue;
    }
    double model = 0;
    for (const TunedCandidate &other : entry.candidates)
      if (other.kernel == each.kernel && other.isModel)
        model = other.seconds;
    say("  {:<17} {:<{}} {:>9} {:>6.1f}% {:>9} {:>9}{}{}\n", each.kernel,
        each.schedule, width, timesText(each.seconds), each.spread * 100,
        model > 0 && each.seconds > 0
            ? fmt::format("{:.2f}", each.seconds / model)
            : "-",
        timesText(each.predicted), each.isModel ? "  model" : "",
        each.isWinner ? "  fastest" : "");
  }
  if (entry.winner.empty())
    say("  the model's choice stays: {} us\n", timesText(entry.modelSeconds));
  else
    say("  {}: {} us, the model's choice {} us\n", entry.winner,
        timesText(entry.winnerSeconds), timesText(entry.modelSeconds));
}

Json toJson(const TunedEntry &entry) {
  Json shapes = Json::array(), candidates = Json::array();
  for (const TuneShape &shape : entry.shapes)
    shapes.push_back(Json{{"requests", shape.requests},
                          {"context", shape.context},
                          {"new_tokens", shape.newTokens}});
  for (const TunedCandidate &each : entry.candidates)
    candidates.push_back(
        Json{{"kernel", each.kernel},
             {"schedule", each.schedule},
             {"seconds", each.refused.empty() ? Json(each.seconds) : Json()},
             {"spread", each.spread},
             {"predicted", each.predicted},
             {"model", each.isModel},
             {"fastest", each.isWinner},
             {"refused", each.refused.empty() ? Json() : Json(each.refused)}});
  return Json{{"entry", entry.name},
              {"shapes", std::move(shapes)},
              {"programs", entry.programs},
              {"candidates", std::move(candidates)},
              {"winner", entry.winner},
              {"winner_seconds", entry.winnerSeconds},
              {"model_seconds", entry.modelSeconds}};
}

/// The description with the winners in it, compiled for the target.
Status writeTuned(const Options &options, const std::string &text,
                  const std::string &schedule, const std::string &from,
                  const std::string &arch, Compiler &compiler) {
  CompileOptions compile = options.tune.compile;
  compile.schedule += compile.schedule.empty() || schedule.empty() ? "" : ";";
  compile.schedule += schedule;
  compile.scheduleFrom = from;
  Result<runtime::Bundle> bundle =
      compileVariants(text, options.file, {arch}, compile);
  if (!bundle)
    return bundle.takeError();
  for (uint32_t i = 0; i < bundle->sources.size(); ++i) {
    Result<LoadedCode> code = compileSource(*bundle, i, arch, compiler);
    if (!code)
      return code.takeError();
    bundle->codeObjects.push_back({i, arch, std::move(code->bytes)});
  }
  Result<std::vector<std::byte>> bytes = runtime::writeBundle(*bundle);
  if (!bytes)
    return bytes.takeError();
  return runtime::writeFileAtomically(options.output, *bytes);
}

/// `isDiagnostic`: the error may be one of the compiler's.
int fail(const Options &options, const Error &error, int code = kFailed,
         bool isDiagnostic = false) {
  if (options.json)
    say("{}\n", jsonText(Json{{"error", error.message}}));
  if (isDiagnostic)
    (void)reportDiagnostics(error);
  else
    (void)report(error);
  return code;
}

int tuneAll(Options options) {
  Result<std::string> text = readDescription(options.file);
  if (!text)
    return fail(options, text.takeError());
  std::error_code ignored;
  if (!options.output.empty() &&
      std::filesystem::equivalent(options.file, options.output, ignored))
    return fail(options,
                Error{"cannot write '" + options.output +
                      "': it is the description itself; --output has to name "
                      "another file"},
                kUsage);
  // What would lose a long run at its end is found at its beginning.
  if (!options.output.empty())
    if (Status status = runtime::checkWritable(options.output); !status)
      return fail(options, status.takeError());
  if (options.date.empty()) {
    Result<std::string> date = today();
    if (!date)
      return fail(options, date.takeError(), kUsage);
    options.date = *date;
  }
  Result<Compiler> compiler = Compiler::make(options.compiler);
  if (!compiler)
    return fail(options, compiler.takeError());
  Result<std::unique_ptr<TuneTarget>> target =
      makeTuneTarget(options.device, options.repeats);
  if (!target)
    return fail(options, target.takeError());
  options.tune.compile.arch = (*target)->arch();

  const auto start = std::chrono::steady_clock::now();
  const bool isTerminal = ::isatty(STDERR_FILENO) == 1;
  Result<std::vector<TunedEntry>> tuned =
      tune(*text, options.file, options.tune, **target, *compiler,
           [&](const std::string &line) {
             if (isTerminal)
               fmt::print(stderr, "\r\033[K{}", runtime::visible(line));
             std::fflush(stderr);
           });
  if (isTerminal)
    fmt::print(stderr, "\r\033[K");
  if (!tuned)
    return fail(options, tuned.takeError(), kFailed, /*isDiagnostic=*/true);
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - start);

  std::string schedule;
  for (const TunedEntry &entry : *tuned)
    if (!entry.winner.empty())
      schedule +=
          (schedule.empty() ? "" : ";") + entry.name + ":" + entry.winner;
  const std::string from =
      fmt::format("tuned on {} at {}", options.device, options.date);
  if (!options.output.empty())
    if (Status status = writeTuned(options, *text, schedule, from,
                                   (*target)->arch(), *compiler);
        !status)
      return fail(options, status.takeError());

  if (options.json) {
    Json entries = Json::array();
    for (const TunedEntry &entry : *tuned)
      entries.push_back(toJson(entry));
    const Json json{{"file", options.file},
                    {"device", options.device},
                    {"arch", (*target)->arch()},
                    {"method", (*target)->method()},
                    {"seed", options.tune.seed},
                    {"from", from},
                    {"schedule", schedule},
                    {"entries", std::move(entries)},
                    {"bundle", options.output.empty() ? Json(nullptr)
                                                      : Json(options.output)}};
    say("{}\n", jsonText(json));
    return kFine;
  }
  say("{}, in {}\n", (*target)->method(), timeText(took));
  for (const TunedEntry &entry : *tuned)
    printTable(entry);
  if (!options.output.empty())
    say("{}: {}\n", options.output,
        schedule.empty() ? "with the model's choices"
                         : "with the fastest, " + from);
  return kFine;
}

std::string shapeText(const std::string &text) {
  const Result<TuneShape> shape = parseTuneShape(text);
  return shape ? "" : shape.message();
}

std::string dateText(const std::string &text) {
  // Digits alone between two dashes: from_chars would take a sign.
  bool good = text.size() == 10;
  for (size_t i = 0; good && i < text.size(); ++i)
    good = i == 4 || i == 7 ? text[i] == '-' : text[i] >= '0' && text[i] <= '9';
  const auto number = [&](size_t at) {
    return (text[at] - '0') * 10 + (text[at + 1] - '0');
  };
  if (good && number(5) >= 1 && number(5) <= 12 && number(8) >= 1 &&
      number(8) <= 31)
    return "";
  return "date '" + text + "', wanted one such as 2026-01-31";
}

} // namespace

void tool::addTuneCommand(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "tune", "Time candidate schedules of a description on a device, each "
              "checked against the reference first, and write a bundle with "
              "the fastest");
  command->add_option("FILE", options->file, "A description")->required();
  command
      ->add_option("--device", options->device,
                   "sim:gfx950, by what the simulated device counts; hip:0, "
                   "cuda:0 and so on, by the clock")
      ->check([](const std::string &name) {
        return name == "sim" ? "" : deviceText(name);
      })
      ->capture_default_str();
  command->add_option("--entry", options->tune.entry,
                      "Which entry (default: all that have an indexer)");
  command
      ->add_option("--shape", options->shapes,
                   "Requests x tokens of each to time with, and where rows "
                   "are ragged new tokens of each: 4x32768, 4x32768:512; "
                   "several count alike (default: one long request and "
                   "several)")
      ->check(shapeText);
  command->add_option("-o,--output", options->output,
                      "The bundle to write, compiled for the device");
  command
      ->add_option("--candidates", options->tune.most,
                   "Schedules of each kernel to try, the best by the model")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command
      ->add_option("--repeats", options->repeats,
                   "Graph replays to take the median of, on a real device")
      ->check(CLI::Range(3, 1000))
      ->capture_default_str();
  command->add_option("--seed", options->tune.seed, "Of the random inputs")
      ->check(seedText)
      ->capture_default_str();
  command
      ->add_option("--date", options->date,
                   "What the bundle says of when it was tuned (default: "
                   "today, or the day of $SOURCE_DATE_EPOCH)")
      ->check(dateText);
  addPreferOption(*command, options->tune.compile.prefer);
  addScheduleOption(*command, options->tune.compile.schedule);
  addCompilerOptions(*command, options->compiler);
  command->add_flag("--json", options->json, "Print one JSON object instead");
  command->callback([options, &action] {
    for (const std::string &shape : options->shapes)
      options->tune.shapes.push_back(*parseTuneShape(shape));
    action = [options] { return tuneAll(*options); };
  });
}
