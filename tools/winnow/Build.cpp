// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `winnow build`: a bundle with its code objects, ready to ship.
#include "Commands.h"
#include "Load.h"
#include "Print.h"
#include "Report.h"

#include "winnow/Runtime/Bundle.h"
#include "winnow/Runtime/Files.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include <unistd.h>

using namespace winnow;
using namespace winnow::tool;

namespace {

struct BuildOptions {
  std::string file, output;
  std::string archList = "gfx950";
  std::vector<std::string> archs;
  std::string prefer, schedule;
  bool verbose = false;
  CompilerOptions compiler;
};

/// One source to compile for one architecture.
struct Job {
  uint32_t source;
  std::string arch;
  Result<LoadedCode> code = Error{};
};

/// A line on a terminal that says how far it is, or a line for each that is
/// done. Alone, and not on a terminal, one needs no company.
class Progress {
public:
  explicit Progress(size_t total)
      : total(total), terminal(::isatty(STDERR_FILENO) == 1) {}

  void done(const std::string &name, const LoadedCode &code) {
    std::lock_guard lock(mutex);
    ++count;
    const std::string text = fmt::format(
        "[{}/{}] {} for {}: {} bytes {}", count, total, name, code.arch,
        code.bytes.size(),
        code.cached ? "from the cache" : "in " + timeText(code.time));
    if (terminal)
      fmt::print(stderr, "\r\033[K{}", runtime::visible(text));
    else if (total > 1)
      say(stderr, "{}\n", text);
    std::fflush(stderr);
  }
  ~Progress() {
    if (terminal && count != 0)
      fmt::print(stderr, "\r\033[K");
  }

private:
  const size_t total;
  const bool terminal;
  size_t count = 0;
  std::mutex mutex;
};

/// Compiles all jobs, several at once; after a failure no further one starts.
void compileAll(const runtime::Bundle &bundle, std::vector<Job> &jobs,
                Compiler &compiler) {
  Progress progress(jobs.size());
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  auto work = [&] {
    for (size_t i; !failed && (i = next++) < jobs.size();) {
      Job &job = jobs[i];
      job.code = compileSource(bundle, job.source, job.arch, compiler);
      if (job.code)
        progress.done(bundle.sources[job.source].name, *job.code);
      else
        failed = true;
    }
  };
  const size_t hands = std::clamp<size_t>(std::thread::hardware_concurrency(),
                                          1, std::max<size_t>(jobs.size(), 1));
  std::vector<std::thread> threads;
  for (size_t i = 1; i < hands; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
}

/// The description for every architecture in one bundle.
Result<Loaded> loadAll(const BuildOptions &options) {
  CompileOptions compile;
  compile.prefer = options.prefer;
  compile.schedule = options.schedule;
  std::vector<std::string> processors;
  processors.reserve(options.archs.size());
  for (const std::string &arch : options.archs)
    processors.push_back(processorOf(arch));
  return loadVariants(options.file, processors, compile);
}

/// Every source for those of the architectures that it is for.
Result<std::vector<Job>> jobsOf(const runtime::Bundle &bundle,
                                const BuildOptions &options) {
  std::vector<Job> jobs;
  for (const std::string &arch : options.archs) {
    const size_t before = jobs.size();
    std::string known;
    for (uint32_t i = 0; i < bundle.sources.size(); ++i) {
      for (const std::string &each : bundle.sources[i].archs) {
        known += (known.empty() ? "" : ", ") + each;
        if (each == processorOf(arch)) {
          jobs.push_back({i, arch});
          break;
        }
      }
    }
    if (jobs.size() == before)
      return Error{fmt::format("no source of '{}' is for {}; there are those "
                               "for {}",
                               options.file, arch, known)};
  }
  return jobs;
}

int build(const BuildOptions &options) {
  Result<Compiler> compiler = Compiler::make(options.compiler);
  if (!compiler)
    return report(compiler.takeError());
  compiler->prepare(options.archs.front());
  Result<Loaded> loaded = loadAll(options);
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
  Result<std::vector<Job>> jobs = jobsOf(bundle, options);
  if (!jobs)
    return report(jobs.takeError());
  compileAll(bundle, *jobs, *compiler);
  // Those that were never begun have no text.
  for (const Job &job : *jobs)
    if (!job.code && !job.code.message().empty())
      return report(Error{job.code.message()});

  // Compiled afresh: what was in a bundle may be an older compiler's.
  std::erase_if(bundle.codeObjects, [&](const runtime::CodeObject &object) {
    return std::find(options.archs.begin(), options.archs.end(), object.arch) !=
           options.archs.end();
  });
  for (Job &job : *jobs) {
    if (options.verbose) {
      say(log, "{}{}: generated in {}, compiled in {}\n",
          bundle.sources[job.source].name,
          options.archs.size() > 1 ? " for " + job.arch : "",
          timeText(loaded->time), timeText(job.code->time));
      say(log, "{}", resourceText(*job.code));
    }
    bundle.codeObjects.push_back(
        {job.source, job.arch, std::move(job.code->bytes)});
  }
  Result<std::vector<std::byte>> bytes = runtime::writeBundle(bundle);
  if (!bytes)
    return report(bytes.takeError());
  if (Status status = runtime::writeFileAtomically(options.output, *bytes);
      !status)
    return report(status.takeError());
  say(log, "{}: {} bytes\n", options.output, bytes->size());
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
  addArchsOption(*command, options->archList,
                 "The architectures to build for, e.g. gfx950,gfx942,gfx90a");
  addPreferOption(*command, options->prefer);
  addScheduleOption(*command, options->schedule);
  addCompilerOptions(*command, options->compiler);
  command->add_flag("-v,--verbose", options->verbose,
                    "Print times, and registers, LDS, spills and code size of "
                    "each kernel");
  command->callback([options, &action] {
    options->archs = *parseArchs(options->archList);
    action = [options] { return build(*options); };
  });
}
