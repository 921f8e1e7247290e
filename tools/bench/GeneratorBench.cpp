// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler from inside: description to bundle, and HIP to code object.
#include "winnow/Codegen/Compile.h"
#include "winnow/Runtime/ClangCompiler.h"

#include <benchmark/benchmark.h>

#include <fstream>
#include <sstream>

using namespace winnow;

static std::string exampleText() {
  std::ifstream file(WINNOW_EXAMPLE);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

static void generateInProcess(benchmark::State &state) {
  const std::string text = exampleText();
  for (auto _ : state) {
    Result<runtime::Bundle> bundle = compileDescription(text, WINNOW_EXAMPLE);
    if (!bundle) {
      state.SkipWithError(bundle.message().c_str());
      break;
    }
    benchmark::DoNotOptimize(*bundle);
  }
}
BENCHMARK(generateInProcess)->Unit(benchmark::kMillisecond);

static void compileWithClang(benchmark::State &state) {
  Result<runtime::Bundle> bundle =
      compileDescription(exampleText(), WINNOW_EXAMPLE);
  if (!bundle) {
    state.SkipWithError(bundle.message().c_str());
    return;
  }
  for (auto _ : state) {
    auto compiled =
        runtime::compileWithClang(bundle->sources.front(), "gfx950");
    if (!compiled) {
      state.SkipWithError(compiled.message().c_str());
      break;
    }
    benchmark::DoNotOptimize(*compiled);
  }
}
BENCHMARK(compileWithClang)->Unit(benchmark::kMillisecond)->UseRealTime();
