// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole commands in fresh processes, as a person waits for them.
#include <benchmark/benchmark.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

/// Times `winnow` with these arguments; a failing command is an error.
static void timeCommand(benchmark::State &state, const std::string &arguments) {
  const std::string command =
      std::string("'" WINNOW_TOOL "' ") + arguments + " >/dev/null";
  for (auto _ : state)
    if (std::system(command.c_str()) != 0) {
      state.SkipWithError("the command failed");
      break;
    }
}

static void emitInFreshProcess(benchmark::State &state) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() /
      ("winnow-bench-" + std::to_string(::getpid()));
  timeCommand(state, "emit '" WINNOW_EXAMPLE "' -o '" + folder.string() + "'");
  std::filesystem::remove_all(folder);
}
BENCHMARK(emitInFreshProcess)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Generate, compile, run and check: 4 requests of up to 4096 tokens.
static void runInFreshProcess(benchmark::State &state) {
  timeCommand(state,
              "run '" WINNOW_EXAMPLE "' --requests 4 --context 4096 --check");
}
BENCHMARK(runInFreshProcess)->Unit(benchmark::kMillisecond)->UseRealTime();
