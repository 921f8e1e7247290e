// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Judge.h"

#include "Verify.h"

#include <bit>
#include <fmt/format.h>

using namespace winnow;
using namespace winnow::test;

namespace {

std::optional<Failure>
wrong(const char *stage, const std::optional<reference::Comparison> &found) {
  if (!found || found->ok())
    return std::nullopt;
  return Failure{stage, found->text()};
}

/// What a rank handed on, bit for bit what follows from the scores that it was
/// given.
reference::Comparison compareCandidates(const tool::Call &after) {
  const tool::Indexer &indexer = *after.indexer;
  const reference::Rows rows = after.rows();
  const auto scores = after.workspace[indexer.scores].as<float, 3>();
  const auto ids = after.arguments[indexer.candidateIds].as<int32_t, 3>();
  const auto best = after.arguments[indexer.candidateScores].as<float, 3>();
  const std::array<int64_t, 3> extents{indexer.heads, rows.rows(),
                                       indexer.keep};
  std::vector<int32_t> kept(indexer.heads * rows.rows() * indexer.keep);
  std::vector<int32_t> wantedIds(kept.size());
  std::vector<float> wantedBest(kept.size());
  reference::Comparison comparison;
  reference::Problem problem =
      reference::topk(rows, scores, indexer.topk, {kept.data(), extents});
  if (!problem)
    problem = reference::storeCandidates(rows, scores, {kept.data(), extents},
                                         {wantedIds.data(), extents},
                                         {wantedBest.data(), extents});
  if (problem)
    comparison.add(
        {"candidates", *problem, "scores that can be selected from"});
  size_t i = 0;
  for (int64_t h = 0; h < extents[0]; ++h)
    for (int64_t n = 0; n < extents[1]; ++n)
      for (int64_t k = 0; k < extents[2]; ++k, ++i) {
        ++comparison.checked;
        const auto got = std::bit_cast<uint32_t>(best(h, n, k));
        const auto wanted = std::bit_cast<uint32_t>(wantedBest[i]);
        if (ids(h, n, k) != wantedIds[i] || got != wanted)
          comparison.add(
              {fmt::format("candidate [{}, {}, {}]", h, n, k),
               fmt::format("block {} with score {:#x}", ids(h, n, k), got),
               fmt::format("block {} with score {:#x}", wantedIds[i], wanted)});
      }
  return comparison;
}

/// All that a verdict has; of given scores, what follows from them.
std::optional<Failure> verdictOf(const tool::Call &before,
                                 const tool::Call &after, bool scoresGiven) {
  const tool::Indexer &indexer = *after.indexer;
  Result<tool::Verdict> verdict = tool::verify(before, after);
  if (!verdict)
    return Failure{"reference", verdict.message()};
  if (auto failure = wrong("untouched", verdict->untouched))
    return failure;
  if (auto failure = wrong("steps", verdict->steps))
    return failure;
  if (!indexer.selects())
    return std::nullopt;
  if (scoresGiven) {
    if (after.workspace[indexer.scores].bytes !=
        before.workspace[indexer.scores].bytes)
      return Failure{"untouched", "scores were written to while selecting"};
    if (indexer.selection >= 0) {
      const std::vector<int32_t> kept = tool::plainSelection(after);
      const reference::Rows rows = after.rows();
      verdict->selection = reference::compareTopK(
          rows, after.workspace[indexer.scores].as<float, 3>(), indexer.topk,
          {kept.data(), {indexer.heads, rows.rows(), indexer.keep}});
    }
  } else if (auto failure = wrong("scores", verdict->scores)) {
    return failure;
  } else if (auto failure = wrong("candidates", verdict->candidates)) {
    return failure;
  }
  if (scoresGiven && indexer.candidateIds >= 0)
    verdict->candidates = compareCandidates(after);
  if (auto failure = wrong("candidates", verdict->candidates))
    return failure;
  if (auto failure = wrong("selection", verdict->selection))
    return failure;
  return wrong("pages", verdict->pages);
}

} // namespace

Result<MadeCall> MadeCall::make(const tool::Indexer &indexer,
                                const Inputs &inputs) {
  Result<tool::Call> call = makeCall(indexer, inputs);
  if (!call)
    return call.takeError();
  MadeCall made;
  made.before = std::move(*call);
  // Selecting has to be a launch of its own.
  made.scoresGiven = inputs.scores != Scores::Computed && indexer.scores >= 0 &&
                     indexer.steps.empty() &&
                     indexer.entry->launches.size() > 1;
  if (made.scoresGiven)
    fillScores(made.before, inputs);
  made.given = deviceCall(made.before, inputs);
  return made;
}

std::optional<Failure> test::judge(const MadeCall &made, tool::Call after) {
  const tool::Indexer &indexer = *made.before.indexer;
  if (indexer.selects())
    for (int argument : {indexer.lens, indexer.cuSeqlens})
      if (argument >= 0) {
        if (after.arguments[argument].bytes !=
            made.given.arguments[argument].bytes)
          return Failure{"untouched", "lengths or offsets were written to"};
        // The reference knows no bound and no rows without a request; to it
        // these mean the same.
        after.arguments[argument] = made.before.arguments[argument];
      }
  return verdictOf(made.before, after, made.scoresGiven);
}
