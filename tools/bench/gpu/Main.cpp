// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// winnow-gpu-bench: generated kernels and the runtime on a real GPU, beside
// vLLM's Triton indexer. Needs no compiler and no LLVM on the machine.
#include "Cases.h"
#include "CommandLine.h"

#include "winnow/Runtime/Files.h"
#include "winnow/Runtime/Visible.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <ctime>

using namespace winnow;
using namespace winnow::bench;

void Bench::add(const std::string &group, const std::string &name,
                const Spread &spread, std::optional<double> anchor,
                std::optional<double> goal, std::string note) {
  figures.push_back({group, name, spread.median, anchor, goal, false, 2,
                     spread.low, spread.high, std::move(note)});
}

void Bench::judge(const Status &checked, size_t figureCount) {
  if (checked)
    return;
  problems.push_back(checked.message());
  for (size_t i = figures.size() - figureCount; i < figures.size(); ++i)
    figures[i].isWrong = true;
}

namespace {

/// What the driver says of clocks, temperature and power; read, never set.
std::string clockState() {
  std::string text;
  if (FILE *pipe = ::popen( // NOLINT: a command of our own
          "nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,"
          "clocks.max.sm,temperature.gpu,power.draw,"
          "clocks_event_reasons.active --format=csv,noheader 2>/dev/null",
          "r")) {
    char line[512];
    while (std::fgets(line, sizeof line, pipe))
      text += line;
    ::pclose(pipe);
  }
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text.empty() ? "unknown" : text;
}

Status measure(Bench &bench) {
  const GpuOptions &options = bench.options;
  for (const char *dtype : {"bf16", "f8E4M3FN"}) {
    const std::string type = dtypeText(dtype);
    if (!options.wants("decode") && !options.wants("columns") &&
        !options.wants("prefill") && type != "bf16")
      continue;
    const bool isBf16 = type == "bf16";
    if (Status status = bench.pool.fill(isBf16 ? runtime::DType::BF16
                                               : runtime::DType::F8E4M3FN);
        !status)
      return status;
    if (isBf16)
      if (Status status = timeDevice(bench); !status)
        return status;
    if (options.wants("decode"))
      if (Status status = timeDecode(bench, dtype); !status)
        return status;
    if (options.wants("columns"))
      if (Status status = timeColumns(bench, dtype); !status)
        return status;
    if (options.wants("prefill"))
      if (Status status = timePrefill(bench, dtype); !status)
        return status;
    if (isBf16 && options.wants("host"))
      if (Status status = timeHost(bench); !status)
        return status;
  }
  return {};
}

std::string aboutJson(const Bench &bench, const std::string &before,
                      const std::string &after) {
  const runtime::DeviceInfo &info = bench.session.device().info();
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", std::gmtime(&now));
  return nlohmann::ordered_json{{"bench", "gpu"},
                                {"device", info.product},
                                {"arch", info.arch},
                                {"date", date},
                                {"commit", bench.options.commit},
                                {"clocks_before", before},
                                {"clocks_after", after},
                                {"replays", bench.options.replays},
                                {"pool_mib", bench.options.poolMiB},
                                {"cold_mib", bench.options.coldMiB}}
      .dump();
}

int fail(const std::string &text, int code = tool::kFailed) {
  fmt::print(stderr, "winnow-gpu-bench: error: {}\n",
             runtime::visibleLines(text));
  return code;
}

int run(const GpuOptions &options) {
  Result<runtime::Bundle> bundle = runtime::readBundleFile(options.bundle);
  if (!bundle)
    return fail(bundle.message());
  if (!options.json.empty())
    if (Status status = runtime::checkWritable(options.json); !status)
      return fail(status.message());
  auto session = Session::open(options.device, options.replays);
  if (!session)
    return fail(session.message());
  // Before minutes of timing, and before gigabytes of keys are made.
  std::vector<std::string> entries;
  for (const IndexerShape &shape : gpuShapes(options))
    entries.push_back(shape.name);
  if (Status status = Kernels::check(**session, *bundle, entries); !status)
    return fail(status.message());
  auto pool = KeyPool::make(**session, options.poolMiB << 20);
  if (!pool)
    return fail(pool.message());
  Bench bench{options, **session, **pool, *bundle, {}, 0, {}};
  const std::string before = clockState();
  Status status = measure(bench);
  const std::string after = clockState();
  // What was measured before an error is still told.
  fmt::print("{} ({})\nclocks before: {}\nclocks after:  {}\n{}",
             (*session)->device().info().product,
             (*session)->device().info().arch, before, after,
             figuresText(bench.figures));
  if (!options.json.empty())
    if (Status written = runtime::writeFileAtomically(
            options.json, std::string_view(figuresJson(
                              bench.figures, aboutJson(bench, before, after))));
        !written)
      return fail(written.message());
  if (!status)
    return fail(status.message());
  for (const std::string &problem : bench.problems)
    (void)fail("a wrong result: " + problem);
  return bench.problems.empty() ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  GpuOptions options;
  bool describes = false;
  std::string firstResult;
  CLI::App app("Times generated kernels and the runtime on a GPU");
  app.add_flag("--describe", describes,
               "Print the descriptions that the bundle has to be built from, "
               "those of --only");
  app.add_option("--bundle", options.bundle,
                 "Built from them, with code for the device");
  app.add_option("--device", options.device, "cuda:0, hip:0, sim:gfx950")
      ->check(tool::deviceText);
  app.add_option("--json", options.json, "Write the figures there, too");
  app.add_option("--commit", options.commit, "Named in the JSON");
  app.add_option("--worker", options.worker, "The program that compiles");
  app.add_option("--only", options.only, "Some of it, between commas")
      ->delimiter(',')
      ->check(tool::oneOf({"decode", "columns", "prefill", "host"}));
  app.add_option("--pool-mib", options.poolMiB, "Size of the key cache")
      ->capture_default_str()
      ->check(CLI::Range(16, 1 << 20));
  app.add_option("--cold-mib", options.coldMiB,
                 "Keys that calls read before one of them reads a page again")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--replays", options.replays, "Of each graph")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  app.add_option("--processes", options.childRuns,
                 "Started for each cold start")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_flag("--small", options.small,
               "Short sequences, for a simulated device");
  app.add_option(
         "--first-result", firstResult,
         "What a started process does: one result, kernels cached there")
      ->group("");
  if (auto code = tool::parseCommandLine(app, argc, argv))
    return *code;
  if (describes) {
    for (const IndexerShape &shape : gpuShapes(options))
      fmt::print("{}", describe(shape));
    return 0;
  }
  if (options.bundle.empty())
    return fail("--bundle is missing; see --help", tool::kUsage);
  if (!firstResult.empty())
    return runFirstResult(options, firstResult);
  return run(options);
}
