// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// winnow-device-cases: runs a folder of cases on a device and holds every
// result against the reference. It needs the runtime, the reference and a
// driver, no compiler, so it runs where there is a GPU and nothing else.
#include "CaseFolder.h"
#include "CommandLine.h"
#include "DeviceRun.h"

#include "winnow/Runtime/Bundle.h"
#include "winnow/Runtime/Visible.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <set>
#include <thread>

using namespace winnow;
using namespace winnow::test;

namespace {

struct Options {
  std::string folder, device = "cuda:0";
  runtime::DeviceOptions libraries;
  DeviceRunOptions run;
  unsigned jobs = 4;
  size_t first = 0, limit = 0; ///< 0: all
  std::set<uint64_t> seeds;
  int failures = 20;
  bool verbose = false;
};

class Session {
public:
  Session(const Options &options, const CaseFolder &folder,
          std::shared_ptr<runtime::Device> device)
      : options(options), folder(folder), device(std::move(device)) {}

  int run() {
    const auto start = std::chrono::steady_clock::now();
    size_t end = folder.cases.size();
    if (options.limit)
      end = std::min(end, options.first + options.limit);
    next = options.first;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::max(options.jobs, 1u); ++i)
      threads.emplace_back([&] { work(end); });
    for (std::thread &thread : threads)
      thread.join();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
    std::printf("%s (%s, %s): %zu descriptions, %zu calls of %d copies%s, %d "
                "failures, %.1f s%s\n",
                device->info().name.c_str(), device->info().product.c_str(),
                device->info().arch.c_str(), descriptions.load(), calls.load(),
                options.run.copies,
                options.run.again ? " and more runs of each" : "", failed,
                seconds, isStopped ? "; stopped early" : "");
    // A run of nothing has shown nothing.
    return failed || calls == 0 ? 1 : 0;
  }

private:
  void work(size_t end) {
    auto runner = DeviceRunner::make(device, options.run);
    if (!runner) {
      report("streams", {"device", runner.message()});
      return;
    }
    for (size_t i; !isStopped && (i = next++) < end;) {
      const FolderCase &one = folder.cases[i];
      if (options.seeds.empty() || options.seeds.count(one.seed))
        runCase(one, *runner);
    }
  }

  void runCase(const FolderCase &one, DeviceRunner &runner) {
    const std::string name = "seed " + std::to_string(one.seed) + " variant " +
                             std::to_string(one.variant) + " (" +
                             runtime::visible(one.lowering) + ")";
    auto bundle = runtime::readBundleFile(options.folder + "/" + one.bundle);
    if (!bundle)
      return report(name, {"bundle", bundle.message()});
    auto indexer = tool::Indexer::of(bundle->entries.front());
    if (!indexer)
      return report(name, {"bundle", indexer.message()});
    auto kernels = DeviceKernels::load(*bundle, device);
    if (!kernels)
      return report(name, {"device", kernels.message()});
    ++descriptions;
    for (size_t i = 0; i < one.inputs.size() && !isStopped; ++i) {
      auto made = MadeCall::make(*indexer, one.inputs[i]);
      const std::string what = name + " inputs " + std::to_string(i);
      if (!made) {
        report(what, {"inputs", made.message()});
        continue;
      }
      ++calls;
      if (options.verbose) {
        std::lock_guard guard(printing);
        std::printf("%s: %s; %s\n", what.c_str(),
                    runtime::visible(one.shape).c_str(),
                    one.inputs[i].text().c_str());
        std::fflush(stdout);
      }
      if (auto failure = runner.run(*made, *kernels))
        report(what, *failure,
               runtime::visible(one.shape) + "; " + one.inputs[i].text());
    }
  }

  void report(const std::string &what, const Failure &failure,
              const std::string &about = "") {
    std::string text = runtime::visibleLines(failure.text);
    // One line a failure.
    for (char &c : text)
      if (c == '\n')
        c = ' ';
    std::lock_guard guard(printing);
    ++failed;
    std::printf("FAILED %s: %s: %.600s%s%s\n", what.c_str(),
                failure.stage.c_str(), text.c_str(), about.empty() ? "" : " | ",
                about.c_str());
    std::fflush(stdout);
    // A fault leaves the context of no use.
    if (failure.stage == "device" || failed >= options.failures)
      isStopped = true;
  }

  const Options &options;
  const CaseFolder &folder;
  std::shared_ptr<runtime::Device> device;
  std::atomic<size_t> next{0}, descriptions{0}, calls{0};
  std::atomic<bool> isStopped{false};
  std::mutex printing;
  int failed = 0;
};

int run(const Options &options) {
  auto folder = CaseFolder::read(options.folder);
  if (!folder) {
    std::fprintf(stderr, "winnow-device-cases: %s\n",
                 runtime::visible(folder.message()).c_str());
    return 2;
  }
  auto device = runtime::openDevice(options.device, options.libraries);
  if (!device) {
    std::fprintf(stderr, "winnow-device-cases: %s\n", device.message().c_str());
    return 2;
  }
  return Session(options, *folder, *device).run();
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Runs a folder of cases, which winnow-export-cases wrote, on a "
               "device, each several times at once and again, and holds every "
               "result against the reference. Exit code 1: something failed, "
               "or no call was made; 2: nothing could be run, or wrong usage.");
  app.add_option("FOLDER", options.folder)->required();
  app.add_option("--device", options.device, "cuda:N, hip:N or sim:gfx950")
      ->check(tool::deviceText)
      ->capture_default_str();
  app.add_option("--hip", options.libraries.hipLibrary,
                 "The HIP library to load");
  app.add_option("--cuda", options.libraries.cudaLibrary,
                 "The CUDA driver library to load");
  app.add_option("--sim", options.libraries.simLibrary,
                 "The simulated HIP library to load");
  app.add_option("--jobs", options.jobs, "Threads, each with its own case")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--first", options.first, "The first case, from 0")
      ->check(CLI::Range(0, INT32_MAX))
      ->capture_default_str();
  app.add_option("--limit", options.limit, "How many cases; 0: all")
      ->check(CLI::Range(0, INT32_MAX))
      ->capture_default_str();
  app.add_option("--seeds", options.seeds, "Cases of these seeds alone")
      ->delimiter(',')
      ->check(tool::seedText);
  app.add_option("--copies", options.run.copies,
                 "Copies of a call that run at the same time")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_flag("!--once", options.run.again, "No further runs");
  app.add_option("--replays", options.run.replays,
                 "How often the graph is launched, one after the other")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--guard", options.run.guard,
                 "Bytes around each tensor that have to stay untouched")
      ->check(CLI::Range(0, 1 << 30))
      ->capture_default_str();
  app.add_option("--failures", options.failures, "Stop after so many")
      ->check(CLI::Range(1, INT32_MAX))
      ->capture_default_str();
  app.add_flag("--bare", options.run.bare,
               "Leave outputs and workspace uninitialised and judge nothing: "
               "for a checker that looks for reads of such memory");
  app.add_flag("--spoil", options.run.spoil,
               "Change a byte of each result: it has to be found");
  app.add_flag("--verbose", options.verbose, "A line before each call");
  if (auto code = tool::parseCommandLine(app, argc, argv))
    return *code;
  return run(options);
}
