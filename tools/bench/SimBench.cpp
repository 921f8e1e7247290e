// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The simulated device's speed in wave instructions a second, on one thread:
// the kernels of a decode, without and with every check.
#include "Execute.h"
#include "Inputs.h"
#include "Load.h"

#include "winnow/Runtime/ClangCompiler.h"

#include <benchmark/benchmark.h>

using namespace winnow;

namespace {

struct Example {
  tool::Loaded loaded;
  tool::Indexer indexer;
  std::vector<tool::LoadedCode> codes;
};

Result<Example> loadExample() {
  Example example;
  Result<tool::Loaded> loaded = tool::load(WINNOW_EXAMPLE, "gfx950");
  if (!loaded)
    return loaded.takeError();
  example.loaded = std::move(*loaded);
  Result<const runtime::Entry *> entry = example.loaded.bundle.find("");
  if (!entry)
    return entry.takeError();
  Result<tool::Indexer> indexer = tool::Indexer::of(**entry);
  if (!indexer)
    return indexer.takeError();
  example.indexer = *indexer;
  Result<tool::Compiler> compiler = tool::Compiler::make({});
  if (!compiler)
    return compiler.takeError();
  Result<std::vector<tool::LoadedCode>> codes =
      tool::loadCode(example.loaded.bundle, **entry, "gfx950", *compiler);
  if (!codes)
    return codes.takeError();
  example.codes = std::move(*codes);
  return example;
}

void decode(benchmark::State &state, sim::CheckAction action) {
  Result<Example> example = loadExample();
  if (!example)
    return state.SkipWithError(example.message().c_str());
  Result<tool::Call> call = tool::randomCall(
      example->indexer,
      {std::vector<int32_t>(size_t(state.range(0)), int32_t(state.range(1))),
       {}},
      /*seed=*/1);
  if (!call)
    return state.SkipWithError(call.message().c_str());
  tool::SimRun run;
  run.checks = sim::Checks::all(action);
  uint64_t instructions = 0;
  double processorSeconds = 0;
  for (auto _ : state) {
    // Only launches count; inputs travel to the device outside of them.
    Result<std::vector<tool::LaunchRecord>> records =
        tool::runOnSim(*call, example->codes, run);
    if (!records)
      return state.SkipWithError(records.message().c_str());
    double seconds = 0;
    for (const tool::LaunchRecord &record : *records) {
      instructions += record.stats.instructions;
      seconds += 1e-6 * double(record.time.count());
      processorSeconds += 1e-6 * double(record.processorTime.count());
    }
    state.SetIterationTime(seconds);
  }
  state.counters["wave_instructions"] =
      benchmark::Counter(double(instructions), benchmark::Counter::kIsRate);
  // Of one core that is not shared.
  state.counters["per_core_second"] = double(instructions) / processorSeconds;
}

} // namespace

// Requests, tokens of each.
BENCHMARK_CAPTURE(decode, unchecked, sim::CheckAction::Off)
    ->Args({8, 16384})
    ->Args({32, 32768})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decode, every_check, sim::CheckAction::Stop)
    ->Args({8, 16384})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
