// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random descriptions on random inputs, held against the reference, for as long
// as one likes: the property test without its end.
#include "CheckCase.h"
#include "CommandLine.h"

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <mutex>
#include <thread>
#include <unistd.h>

using namespace winnow;
using namespace winnow::test;
using Clock = std::chrono::steady_clock;

namespace {

std::atomic<bool> interrupted = false;

constexpr size_t kMaxJobs = 256;
/// The seed that each job is at, for a crash to be told of; 0: none.
std::array<std::atomic<uint64_t>, kMaxJobs> inFlight;

void onInterrupt(int) { interrupted = true; }

/// Writes with what a signal handler may call, then dies of the signal.
void onCrash(int signal) {
  auto write = [](const char *text, size_t size) {
    [[maybe_unused]] const ssize_t ignored = ::write(2, text, size);
  };
  constexpr char head[] = "\ncrashed; seeds being run:";
  write(head, sizeof head - 1);
  for (const std::atomic<uint64_t> &seed : inFlight) {
    uint64_t value = seed;
    if (value == 0)
      continue;
    char digits[24];
    size_t at = sizeof digits;
    for (; value; value /= 10)
      digits[--at] = static_cast<char>('0' + value % 10);
    digits[--at] = ' ';
    write(digits + at, sizeof digits - at);
  }
  write("\n", 1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

struct Options {
  double minutes = 0.0;
  int64_t cases = 0;
  uint64_t seed = 0;
  unsigned jobs = 0;
  int failures = 10;
  CheckOptions check;
};

class Session {
public:
  explicit Session(const Options &options)
      : options(options), start(Clock::now()), next(options.seed) {}

  /// The exit code.
  int run() {
    std::vector<std::thread> threads;
    threads.reserve(options.jobs);
    for (unsigned job = 0; job < options.jobs; ++job)
      threads.emplace_back([this, job] { work(job); });
    for (std::thread &thread : threads)
      thread.join();
    fmt::print("\n{}", tally.text());
    fmt::print("{} cases from seed {} on, {} descriptions ({} rightly refused),"
               " {} runs in {:.1f} minutes{}; {} failure{}{}\n",
               tally.cases, options.seed, tally.descriptions, tally.refused,
               tally.runs(), minutes(), interrupted ? ", interrupted" : "",
               failed.size(), failed.size() == 1 ? "" : "s",
               failed.empty()
                   ? ""
                   : fmt::format(" of seeds {}", fmt::join(failed, ", ")));
    return failed.empty() ? 0 : 1;
  }

private:
  double minutes() const {
    return std::chrono::duration<double>(Clock::now() - start).count() / 60.0;
  }

  bool done() {
    if (interrupted || static_cast<int>(failed.size()) >= options.failures)
      return true;
    const auto started = static_cast<int64_t>(next - options.seed);
    return options.cases ? started >= options.cases
                         : minutes() >= options.minutes;
  }

  void work(unsigned job) {
    for (;;) {
      uint64_t seed = 0;
      {
        std::lock_guard lock(mutex);
        if (done())
          return;
        seed = next++;
      }
      inFlight[job] = seed;
      Tally own;
      std::optional<CaseFailure> failure = checkCase(seed, options.check, own);
      inFlight[job] = 0;
      std::lock_guard lock(mutex);
      tally.add(own);
      // A compiler that was interrupted with us has failed at nothing.
      if (failure && !interrupted) {
        failed.push_back(seed);
        fmt::print("\n{}\n", failure->text(options.check));
        std::fflush(stdout);
      }
      if (minutes() >= lastSaid + 0.5) {
        lastSaid = minutes();
        fmt::print("{:.1f} minutes: {} cases, {} runs, {} refused, {} failed; "
                   "seed {}\n",
                   minutes(), tally.cases, tally.runs(), tally.refused,
                   failed.size(), seed);
        std::fflush(stdout);
      }
    }
  }

  const Options &options;
  const Clock::time_point start;
  std::mutex mutex; ///< of all below
  uint64_t next;
  Tally tally;
  std::vector<uint64_t> failed;
  double lastSaid = 0.0;
};

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Random descriptions on random inputs: compiled by every "
               "lowering, run on the simulated gfx950, held against the "
               "reference. Exit code 1 if something differs.");
  Options options;
  options.jobs = std::max(1u, std::thread::hardware_concurrency());
  std::string plant;
  auto *minutes =
      app.add_option("--minutes", options.minutes, "how long to go on")
          ->check(CLI::PositiveNumber);
  app.add_option("--cases", options.cases, "how many seeds to run instead")
      ->check(CLI::PositiveNumber)
      ->excludes(minutes);
  auto *seed = app.add_option("--seed", options.seed,
                              "the first seed; without it, one of the clock's")
                   ->check(tool::seedText)
                   ->check(CLI::PositiveNumber);
  app.add_option("--jobs", options.jobs, "threads")
      ->check(CLI::Range(size_t(1), kMaxJobs));
  app.add_option("--inputs", options.check.inputs,
                 "inputs for each description")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--attempts", options.check.attempts,
                 "runs to make a failure simpler")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_option("--failures", options.failures, "failures to stop after")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  std::vector<std::string> names;
  for (const Plant &each : plants())
    names.push_back(each.name);
  app.add_option("--plant", plant,
                 "put a fault in, to see that it is found and made simple")
      ->check(tool::oneOf(names));
  if (auto code = tool::parseCommandLine(app, argc, argv))
    return *code;
  if (!options.minutes && !options.cases)
    options.minutes = 1.0;
  if (!seed->count())
    options.seed = static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::seconds>(
            std::chrono::system_clock::now().time_since_epoch())
            .count());
  for (const Plant &each : plants())
    if (each.name == plant)
      options.check.plant = &each;
  options.check.stopped = [] { return interrupted.load(); };

  std::signal(SIGINT, onInterrupt);
  std::signal(SIGTERM, onInterrupt);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    std::signal(signal, onCrash);
  fmt::print("seeds from {} on, {} at a time\n", options.seed, options.jobs);
  std::fflush(stdout);
  return Session(options).run();
}
