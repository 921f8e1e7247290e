// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CaseRunner.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace winnow;
using namespace winnow::test;

const std::vector<Plant> &test::plants() {
  static const std::vector<Plant> plants = {
      {"ties",
       [](tool::Indexer &indexer) {
         indexer.topk.ties = indexer.topk.ties == reference::Ties::HighestBlock
                                 ? reference::Ties::LowestBlock
                                 : reference::Ties::HighestBlock;
       },
       {}},
      {"page",
       {},
       // One entry of the page table of one row, of batches that have one.
       [](tool::Call &call) {
         if (!call.indexer->selects() || !call.indexer->remap ||
             call.indexer->keep < 3)
           return;
         auto pages = call.arguments[call.indexer->pages].as<int32_t, 2>();
         if (pages.extents[0] > 1)
           pages(1, 2) += 1;
       }},
      {"gap",
       {},
       // A byte just past a row of the selection.
       [](tool::Call &call) {
         if (!call.indexer->selects() || call.indexer->selection < 0)
           return;
         tool::HostTensor &ids = call.arguments[call.indexer->selection];
         const auto end = static_cast<size_t>(ids.extent(2)) * sizeof(int32_t);
         if (ids.view.strides[1] > ids.extent(2) && end < ids.bytes.size())
           ids.bytes[end] = std::byte(0);
       }},
  };
  return plants;
}

namespace {

/// "mfma-generic" as what scores and what selects.
std::pair<std::string, std::string> partsOf(const std::string &lowering) {
  const size_t dash = lowering.find('-');
  if (dash == std::string::npos)
    return {lowering, lowering};
  return {lowering.substr(0, dash), lowering.substr(dash + 1)};
}

/// Whether operations got the lowerings that they should have.
std::optional<Failure> checkLowering(const Shape &shape,
                                     const std::string &lowering) {
  if (!shape.selects || !shape.prefer.empty())
    return std::nullopt;
  const auto [scores, selects] = partsOf(lowering);
  auto wanted = [](const std::string &asked, bool mfma) {
    return !asked.empty() ? asked : std::string(mfma ? "mfma" : "generic");
  };
  const std::string scoresWanted =
      wanted(shape.scoreLowering, mfmaScores(shape));
  const std::string selectsWanted =
      wanted(shape.selectLowering, mfmaSelects(shape));
  if ((scores == scoresWanted || shape.merges) && selects == selectsWanted)
    return std::nullopt;
  return Failure{"lowering",
                 fmt::format("scored by {} and selected by {}, wanted {} and "
                             "{}",
                             scores, selects, scoresWanted, selectsWanted)};
}

/// A refusal names limits, each of which the shape breaks.
std::optional<Failure> checkRefusal(const Shape &shape,
                                    const std::vector<NamedLimit> &limits,
                                    const std::string &text) {
  if (limits.empty())
    return Failure{"compile", text};
  for (const NamedLimit &limit : limits)
    if (!breaks(shape, limit))
      return Failure{"refusal", "'" + limit.text() +
                                    "' is named, which this keeps, or which "
                                    "this test does not know:\n" +
                                    text};
  return std::nullopt;
}

} // namespace

const Compiled &CaseRunner::compile(const Shape &shape) {
  auto [place, fresh] = done.try_emplace(shape.prefer + "|" + shape.describe());
  Compiled &compiled = place->second;
  if (!fresh)
    return compiled;
  Result<runtime::Bundle> bundle = emitKernels(shape);
  if (!bundle) {
    compiled.refused = limitsIn(bundle.message());
    compiled.failure = checkRefusal(shape, compiled.refused, bundle.message());
    return compiled;
  }
  compiled.lowering = bundle->entries.front().lowering;
  for (const runtime::Launch &launch : bundle->entries.front().launches)
    compiled.isShuffled |= launch.kernel.ends_with("_score_select");
  if (shape.launches == 1 && !compiled.isShuffled)
    compiled.failure =
        Failure{"launches", "asked for in one launch, but made in two"};
  compiled.source = bundle->sources.front().text;
  if (!compiled.failure)
    compiled.failure = checkLowering(shape, compiled.lowering);
  if (compiled.failure)
    return compiled;
  // Another way to ask for the same kernels: they are compiled once.
  for (const auto &[key, other] : done)
    if (other.kernels && other.source == compiled.source) {
      compiled.kernels = other.kernels;
      return compiled;
    }
  Result<std::shared_ptr<const Kernels>> kernels =
      compileKernels(std::move(*bundle));
  if (!kernels)
    compiled.failure = Failure{"compile", kernels.message()};
  else
    compiled.kernels = *kernels;
  return compiled;
}

std::optional<Failure> CaseRunner::run(const Shape &shape,
                                       const Inputs &inputs) {
  const Compiled &compiled = compile(shape);
  if (compiled.failure || !compiled.kernels)
    return compiled.failure;
  return simulate(compiled, inputs);
}

std::optional<Failure> CaseRunner::simulate(const Compiled &compiled,
                                            const Inputs &inputs) {
  const Kernels &kernels = *compiled.kernels;
  tool::Indexer indexer = kernels.indexer;
  Result<MadeCall> made = MadeCall::make(indexer, inputs);
  if (!made)
    return Failure{"inputs", made.message()};
  tool::Call after = made->given;

  const sim::Checks checks = sim::Checks::all(sim::CheckAction::Stop);
  if (made->scoresGiven) {
    if (Status status = selectOnSim(after, kernels, checks); !status)
      return Failure{"simulator", status.message()};
  } else {
    tool::SimRun run;
    run.checks = checks;
    // The order of workgroups matters only where one goes on after others.
    run.shuffle = compiled.isShuffled ? inputs.seed + 1 : 0;
    auto records = tool::runOnSim(after, kernels.codes, run);
    if (!records)
      return Failure{"simulator", records.message()};
    std::vector<std::array<uint32_t, 3>> grids;
    for (const tool::LaunchRecord &record : *records)
      grids.push_back(record.launch.grid);
    // What a grid may follow from: requests, rows, and what a step works on.
    std::vector<int64_t> sizes{
        static_cast<int64_t>(inputs.lengths.tokens.size()),
        indexer.selects() ? made->before.rows().rows() : 0};
    for (const tool::StepCall &step : indexer.steps)
      sizes.push_back(made->before.arguments[step.operands.front()].extent(0));
    const auto &known = compiled.grids.try_emplace(sizes, grids).first->second;
    if (known != grids)
      return Failure{"geometry",
                     fmt::format("grids {} of {} (requests, rows, extents of "
                                 "steps) were {} for other lengths",
                                 grids, sizes, known)};
  }
  if (plant && plant->result)
    plant->result(after);
  if (plant && plant->reference)
    plant->reference(indexer);
  return judge(*made, std::move(after));
}
