// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CheckCase.h"

#include <fmt/format.h>
#include <set>

using namespace winnow;
using namespace winnow::test;

std::string CaseFailure::text(const CheckOptions &options) const {
  const Trial &small = minimised.trial;
  std::string text =
      fmt::format("seed {} fails: {}\n{}", seed, simplest.stage, simplest.text);
  if (text.back() != '\n')
    text += "\n";
  text += fmt::format("--- minimal description ({}{} attempts)\n{}",
                      minimised.finished ? "" : "not minimal after ",
                      minimised.attempts, small.shape.describe());
  if (!small.shape.prefer.empty())
    text += fmt::format("--- with --prefer {}\n", small.shape.prefer);
  text += fmt::format("--- inputs\n{}\n", small.inputs.text());
  text += fmt::format("--- found as\n{}\n{}\n", found.shape.text(),
                      found.inputs.text());
  text += fmt::format("--- repeat\ntools/dev fuzz-semantics --seed {} --cases "
                      "1 --inputs {}{}\n",
                      seed, options.inputs,
                      options.plant ? " --plant " + options.plant->name : "");
  return text;
}

std::optional<CaseFailure>
test::checkCase(uint64_t seed, const CheckOptions &options, Tally &tally) {
  const Case made = randomCase(seed, options.inputs);
  CaseRunner runner(options.plant);
  auto stopped = [&] { return options.stopped && options.stopped(); };
  tally.addCase();
  std::set<const Kernels *> run;
  for (const Shape &shape : made.variants) {
    const Compiled &compiled = runner.compile(shape);
    tally.addDescription(shape, compiled);
    // The generic lowering may be the best there is: it ran already.
    if (compiled.kernels && !run.insert(compiled.kernels.get()).second)
      continue;
    for (const Inputs &inputs : made.inputs) {
      if (stopped())
        return std::nullopt;
      if (compiled.kernels)
        tally.addRun(shape, inputs, compiled);
      std::optional<Failure> failure = runner.run(shape, inputs);
      if (!failure)
        continue;
      CaseFailure report{seed, *failure, {shape, inputs}, {}, *failure};
      auto fails = [&](const Trial &trial) {
        if (stopped())
          return false;
        std::optional<Failure> again = runner.run(trial.shape, trial.inputs);
        if (!again || again->stage != failure->stage)
          return false;
        report.simplest = *again;
        return true;
      };
      report.minimised = minimise(report.found, fails, options.attempts);
      return report;
    }
  }
  return std::nullopt;
}
