// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `winnow run`: a description or bundle on the simulated device, or by the
// reference, with inputs of its own or from a file.
#include "Commands.h"
#include "Dump.h"
#include "Inputs.h"
#include "Load.h"
#include "Observe.h"
#include "Print.h"
#include "Report.h"

#include "winnow/Runtime/Files.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

using namespace winnow;
using namespace winnow::tool;
using Clock = std::chrono::steady_clock;

namespace {

// What the simulated device is.
constexpr const char *kArch = "gfx950";

// The random inputs that nobody asked to be otherwise.
constexpr int64_t kUsualRequests = 4, kUsualContext = 4096;

struct RunOptions {
  std::string file, entry, prefer, schedule;
  std::string device = "sim";
  std::optional<int64_t> requests, context;
  std::string lengthList, newTokenList; ///< as given: "4096,0,17"
  std::vector<int32_t> lengths, newTokens;
  int64_t queryLen = 0; ///< 0: not asked for
  uint64_t seed = 1;
  std::string input, dump, keep;
  int64_t showRequest = 0;
  bool json = false, check = false;
  unsigned threads = 0;
  CompilerOptions compiler;
  ObserveOptions observe;
};

class Runner {
public:
  explicit Runner(const RunOptions &options) : options(options) {}

  int run() {
    if (options.device == "host" && (!options.observe.profile.empty() ||
                                     options.observe.checksText != "off"))
      return failed(Error{"--checks and --profile look into kernels, and "
                          "--device host runs none"},
                    kUsage);
    CompileOptions compile;
    compile.arch = kArch;
    compile.prefer = options.prefer;
    compile.schedule = options.schedule;
    Result<Loaded> found = load(options.file, compile,
                                /*orReference=*/options.device == "host");
    if (!found)
      return failed(found.takeError(), kFailed, /*diagnostics=*/true);
    loaded = std::move(*found);
    Result<const runtime::Entry *> named = loaded.bundle.find(options.entry);
    if (!named)
      return failed(named.takeError(), kUsage);
    entry = variantFor(**named);
    // Another entry of the bundle may have it.
    if (!loaded.fromDescription && !options.prefer.empty() &&
        entry->lowering != options.prefer)
      return failed(
          Error{fmt::format("{}: '{}' has no lowering '{}'; it has: {}",
                            options.file, entry->name, options.prefer,
                            loaded.bundle.loweringNames(entry->name))});
    Result<Indexer> described = Indexer::of(*entry);
    if (!described)
      return failed(described.takeError());
    indexer = *described;
    if (!options.newTokens.empty() && !indexer.ragged())
      return failed(
          Error{fmt::format("--new-tokens does not fit: the rows of '{}' are "
                            "uniform, query_len {}",
                            entry->name, indexer.queryLen)},
          kUsage);
    if (options.queryLen != 0 && indexer.ragged())
      return failed(
          Error{fmt::format("--query-len {} does not fit: the rows of '{}' are "
                            "ragged (--new-tokens gives them)",
                            options.queryLen, entry->name)},
          kUsage);
    if (options.queryLen != 0 && options.queryLen != indexer.queryLen)
      return failed(
          Error{fmt::format("--query-len {} does not fit: '{}' has query_len "
                            "{}, which its description fixes",
                            options.queryLen, entry->name, indexer.queryLen)},
          kUsage);
    return withInputs();
  }

private:
  /// The first variant of an entry, in the same lowering if one was asked for,
  /// whose sources are for the simulated device; the entry where none is.
  const runtime::Entry *variantFor(const runtime::Entry &first) const {
    for (const runtime::Entry *variant : loaded.bundle.variants(first.name)) {
      const bool fits = std::all_of(
          variant->launches.begin(), variant->launches.end(),
          [&](const runtime::Launch &launch) {
            const auto &archs = loaded.bundle.sources[launch.source].archs;
            return std::find(archs.begin(), archs.end(), kArch) != archs.end();
          });
      if (fits &&
          (options.prefer.empty() || variant->lowering == first.lowering))
        return variant;
    }
    return &first;
  }

  int failed(const Error &error, int code = kFailed, bool diagnostics = false) {
    if (options.json) {
      using Json = nlohmann::ordered_json;
      const Json json{{"error", error.message}};
      say("{}\n", jsonText(json));
    }
    return diagnostics ? reportDiagnostics(error) : report(error, code);
  }

  /// What the options ask for beyond the entry's bounds, or nothing.
  Status checkBounds() const {
    auto over = [&](const std::string &what, const char *bound, int64_t most) {
      return Error{fmt::format("{} is over the bound of '{}', {} = {}", what,
                               entry->name, bound, most)};
    };
    if (options.requests.value_or(0) > entry->maxRequests)
      return over(fmt::format("--requests {}", *options.requests),
                  "max_requests", entry->maxRequests);
    if (options.context.value_or(0) > entry->maxSeqLen)
      return over(fmt::format("--context {}", *options.context), "max_seq_len",
                  entry->maxSeqLen);
    if (static_cast<int64_t>(options.lengths.size()) > entry->maxRequests)
      return over(
          fmt::format("--lengths of {} requests", options.lengths.size()),
          "max_requests", entry->maxRequests);
    for (int32_t length : options.lengths)
      if (length > entry->maxSeqLen)
        return over(fmt::format("--lengths {}", length), "max_seq_len",
                    entry->maxSeqLen);
    int64_t rows = 0;
    for (int32_t count : options.newTokens) {
      if (count < 0)
        return Error{fmt::format("--new-tokens {}, wanted at least 0", count)};
      if (count > entry->maxQueryLen)
        return over(fmt::format("--new-tokens {}", count), "max_query_len",
                    entry->maxQueryLen);
      rows += count;
    }
    if (rows > entry->maxRows && !options.newTokens.empty())
      return over(fmt::format("--new-tokens of {} rows in all", rows),
                  "max_rows", entry->maxRows);
    return {};
  }

  /// The lengths that were asked for; what was not is small and within bounds.
  std::vector<int32_t> lengths() const {
    if (!options.lengths.empty())
      return options.lengths;
    return raggedLengths(
        options.requests.value_or(indexer.fixedRequests().value_or(
            std::min(kUsualRequests, entry->maxRequests))),
        options.context.value_or(std::min(kUsualContext, entry->maxSeqLen)),
        options.seed);
  }

  int withInputs() {
    if (Status status = checkBounds(); !status)
      return failed(status.takeError(), kUsage);
    const std::vector<int32_t> tokens = lengths();
    if (!options.newTokens.empty() && options.newTokens.size() != tokens.size())
      return failed(Error{fmt::format("--new-tokens of {} requests, there are "
                                      "{}",
                                      options.newTokens.size(), tokens.size())},
                    kUsage);
    Result<Call> made =
        !options.input.empty()
            ? callFromFile(indexer, options.input)
            : randomCall(indexer, {tokens, options.newTokens}, options.seed);
    if (!made)
      return failed(made.takeError());
    if (options.showRequest >= made->requests() && made->requests() > 0)
      return failed(
          Error{fmt::format("--show-request {}: there are {} requests",
                            options.showRequest, made->requests())},
          kUsage);
    const Call before = std::move(*made);
    Call after = before;
    RunReport report{loaded.bundle, after};
    report.file = options.file;
    report.device = options.device;
    report.seed = options.seed;
    report.fromFile = !options.input.empty();
    report.fromDescription = loaded.fromDescription;
    report.generateTime = loaded.time;
    report.shownRequest = options.showRequest;

    // The tensors are part of the answer: layouts, a table row a request.
    Result<std::vector<runtime::ContractAnswer>> answers =
        runtime::answerContracts(*entry, {.arch = kArch}, before.hostViews());
    if (!answers)
      return failed(answers.takeError());
    report.contracts = std::move(*answers);
    for (const runtime::ContractAnswer &answer : report.contracts)
      if (!answer.report.met())
        return failed(Error{"refused: contract " + contractText(answer)});
    if (Status status = keepSources(report); !status)
      return failed(status.takeError());
    if (Status status = execute(after, report); !status)
      return failed(status.takeError());
    return finish(before, after, report);
  }

  Status keepSources(RunReport &report) {
    if (options.keep.empty())
      return {};
    if (Status status = runtime::makeFolders(options.keep); !status)
      return status;
    for (const runtime::Source &source : loaded.bundle.sources)
      if (Status status = runtime::writeFileAtomically(
              options.keep + "/" + source.name, source.text);
          !status)
        return status;
    report.hip = options.keep;
    return {};
  }

  Status execute(Call &call, RunReport &report) {
    if (options.device == "host") {
      const auto start = Clock::now();
      Status status = runOnHost(call);
      report.hostTime = std::chrono::duration_cast<std::chrono::microseconds>(
          Clock::now() - start);
      return status;
    }
    Result<Compiler> compiler = Compiler::make(options.compiler);
    if (!compiler)
      return compiler.takeError();
    Result<std::vector<LoadedCode>> codes =
        loadCode(loaded.bundle, *entry, kArch, *compiler);
    if (!codes)
      return codes.takeError();
    report.codes = std::move(*codes);
    Result<std::vector<LaunchRecord>> launches = runOnSim(
        call, report.codes,
        SimRun{options.threads, options.observe.checks,
               !options.observe.profile.empty(), options.observe.shuffle});
    if (!launches)
      return launches.takeError();
    report.launches = std::move(*launches);
    return {};
  }

  int finish(const Call &before, const Call &after, RunReport &report) {
    if (options.check) {
      Result<Verdict> verdict = verify(before, after);
      if (!verdict)
        return failed(verdict.takeError());
      report.verdict = std::move(*verdict);
    }
    if (!options.dump.empty()) {
      Result<std::vector<runtime::ResolvedLaunch>> launches =
          launchesOnHost(after);
      if (!launches)
        return failed(launches.takeError());
      if (Status status = writeDump(options.dump,
                                    {loaded.bundle, before, after, report.codes,
                                     std::move(*launches), options.device});
          !status)
        return failed(status.takeError());
    }
    say("{}", options.json ? jsonReport(report) : textReport(report));
    Result<bool> isClean = showObservations(report);
    if (!isClean)
      return failed(isClean.takeError());
    return (!report.verdict || report.verdict->ok()) && *isClean ? kFine
                                                                 : kFailed;
  }

  /// Profiles, and what checks found; false when they found something.
  Result<bool> showObservations(const RunReport &report) {
    std::vector<const sim::LaunchStats *> launches;
    std::string findings;
    for (const LaunchRecord &record : report.launches) {
      launches.push_back(&record.stats);
      findings += findingsText(record.stats);
    }
    // The JSON object has the tables already.
    if (!options.observe.profile.empty() &&
        !(options.json && options.observe.profile == "table")) {
      Result<std::string> text = showProfiles(
          options.observe, entry->name + " of " + options.file, launches);
      if (!text)
        return text.takeError();
      if (!options.json)
        say("{}", *text);
    }
    std::fflush(stdout);
    say(stderr, "{}", findings);
    return findings.empty();
  }

  const RunOptions &options;
  Loaded loaded;
  const runtime::Entry *entry = nullptr;
  Indexer indexer;
};

} // namespace

/// Numbers between commas; CLI11's own lists pass over empty places.
static Result<std::vector<int32_t>> parseList(const std::string &text) {
  std::vector<int32_t> numbers;
  const char *at = text.data(), *const end = at + text.size();
  while (true) {
    int32_t number = 0;
    const auto [next, code] = std::from_chars(at, end, number);
    if (code != std::errc() || (next != end && *next != ','))
      return Error{fmt::format(
          "list '{}': at character {}, wanted a number from -2^31 to 2^31 - 1, "
          "and commas between numbers",
          text, at - text.data() + 1)};
    numbers.push_back(number);
    if (next == end)
      return numbers;
    at = next + 1;
  }
}

static std::string listText(const std::string &text) {
  const Result<std::vector<int32_t>> numbers = parseList(text);
  return numbers ? "" : numbers.message();
}

void tool::addRunCommand(CLI::App &app, Action &action) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *command = app.add_subcommand(
      "run", "Run a description or a bundle, and show what it selected");
  command->add_option("FILE", options->file, "A description, or a bundle")
      ->required();
  command
      ->add_option("--device", options->device,
                   "sim: the compiled kernels on a simulated gfx950; host: "
                   "the reference")
      ->check(oneOf({"sim", "host"}))
      ->capture_default_str();
  command->add_option("--entry", options->entry,
                      "Which entry, if there are several");
  auto *requests =
      command->add_option("--requests", options->requests, "Requests to make")
          ->check(CLI::Range(int64_t(0), int64_t(1) << 20))
          ->default_str("4, or as many as the bounds allow");
  auto *context =
      command
          ->add_option("--context", options->context,
                       "Tokens of the longest request; the others are shorter")
          ->check(CLI::Range(int64_t(0), int64_t(INT32_MAX)))
          ->default_str("4096, or as many as the bounds allow");
  auto *lengths = command
                      ->add_option("--lengths", options->lengthList,
                                   "Tokens of each request, e.g. 4096,0,17")
                      ->check(listText)
                      ->excludes(requests)
                      ->excludes(context);
  auto *newTokens =
      command
          ->add_option("--new-tokens", options->newTokenList,
                       "New tokens of each request, e.g. 512,0,1, where the "
                       "description's rows are ragged (default: random)")
          ->check(listText);
  command
      ->add_option("--query-len", options->queryLen,
                   "Tokens a request; the description fixes it, another value "
                   "is an error")
      ->check(CLI::Range(1, 1 << 20));
  auto *seed =
      command->add_option("--seed", options->seed, "Of the random inputs")
          ->check(seedText)
          ->capture_default_str();
  command
      ->add_option("--input", options->input,
                   "Take the inputs from a .safetensors file; its tensors "
                   "are named as in manifest.json of `emit`: query, keys, "
                   "index_table, ...")
      ->excludes(requests)
      ->excludes(context)
      ->excludes(lengths)
      ->excludes(newTokens)
      ->excludes(seed);
  addPreferOption(*command, options->prefer);
  addScheduleOption(*command, options->schedule);
  command->add_flag("--check", options->check,
                    "Hold scores, selection and page table against the "
                    "reference, and memory around them against its poison");
  command
      ->add_option("--show-request", options->showRequest,
                   "The request whose selection is printed")
      ->check(CLI::Range(int64_t(0), INT64_MAX))
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print one JSON object instead");
  command->add_option("--keep", options->keep,
                      "Write the generated HIP into this folder");
  command->add_option("--dump", options->dump,
                      "Write every tensor, the code object and launch.json "
                      "into this folder");
  command
      ->add_option("--threads", options->threads,
                   "Threads of the simulated device; 0: one a core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  addCompilerOptions(*command, options->compiler);
  addObserveOptions(*command, options->observe);
  command->callback([options, &action] {
    if (!options->lengthList.empty())
      options->lengths = *parseList(options->lengthList);
    if (!options->newTokenList.empty())
      options->newTokens = *parseList(options->newTokenList);
    action = [options] { return Runner(*options).run(); };
  });
}
