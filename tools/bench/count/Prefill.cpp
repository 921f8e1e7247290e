// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prefill: instructions a page and wave. Whole workgroups of rows before
// different contexts give a page that all of them see; a workgroup of which
// only one wave has rows gives what the others do for it, and the page that it
// sees in part.
#include "Cases.h"

using namespace winnow;
using namespace winnow::bench;

namespace {

/// One request of `rows` new tokens after `before` ones.
Result<Counts> score(const Program &program, int64_t before, int64_t rows) {
  Result<tool::Call> call =
      makeCall(program, tool::Lengths(std::vector{int32_t(before + rows)},
                                      std::vector{int32_t(rows)}));
  if (!call)
    return call.takeError();
  Result<KernelRun> run = runKernel(program, *call, "_score");
  if (!run)
    return run.takeError();
  return run->counts;
}

} // namespace

Status bench::countPrefill(tool::Compiler &compiler, int64_t queryTiles,
                           Figures &figures) {
  const bool isWide = queryTiles == 4;
  const std::string group =
      isWide ? "prefill fp8 H1 Q4, score" : "prefill fp8 H1 Q1, score";
  const int64_t waves = 4, waveRows = 16 * queryTiles, rows = waves * waveRows;
  // The bounds make the schedule: prompts that fill four tiles, or one.
  auto program = Program::build({.queryLen = 0,
                                 .localBlocks = 0,
                                 .maxQueryLen = isWide ? 16384 : rows,
                                 .maxRows = 16384},
                                compiler);
  if (!program)
    return program.takeError();

  // Within a workgroup's share of the blocks, so that it starts once.
  constexpr int64_t few = 4, many = 20, between = many - few;
  Result<Counts> less = score(**program, few * kBlockSize, rows);
  Result<Counts> more = score(**program, many * kBlockSize, rows);
  Result<Counts> alone = score(**program, few * kBlockSize, waveRows);
  Result<Counts> aloneMore = score(**program, many * kBlockSize, waveRows);
  // The wave's rows end within a page, or straddle two.
  Result<Counts> within =
      score(**program, few * kBlockSize + kBlockSize - waveRows - 1, waveRows);
  Result<Counts> straddle =
      score(**program, few * kBlockSize + kBlockSize - waveRows / 2, waveRows);
  for (Result<Counts> *run :
       {&less, &more, &alone, &aloneMore, &within, &straddle})
    if (!*run)
      return run->takeError();
  const Counts page = (*more - *less) * (1.0 / double(between * waves));
  const Counts skipped =
      ((*aloneMore - *alone) * (1.0 / double(between)) - page) *
      (1.0 / double(waves - 1));
  const Counts masked = *straddle - *within - skipped * double(waves - 1);

  auto add = [&](const char *name, double ours, std::optional<double> anchor,
                 std::optional<double> goal = {}) {
    figures.push_back({group, name, ours, anchor, goal});
  };
  auto ifWide = [&](double value) {
    return isWide ? std::optional(value) : std::nullopt;
  };
  add("instructions a page and wave, unmasked", page.all, isWide ? 528 : 171,
      ifWide(330));
  add("unmasked: MFMA", page.mfma, ifWide(32));
  add("unmasked: VALU", page.valu, ifWide(203));
  add("unmasked: SALU", page.salu, ifWide(128));
  add("unmasked: branches", page.branches, ifWide(88));
  add("unmasked: s_nop wait states", page.waitStates, ifWide(326), ifWide(60));
  add("instructions a page and wave, masked", masked.all, isWide ? 1048 : 309,
      ifWide(400));
  add("masked: VALU", masked.valu, ifWide(559));
  add("masked: branches", masked.branches, ifWide(152));
  add("masked: s_nop wait states", masked.waitStates, ifWide(442), ifWide(60));
  add("instructions a page for a wave that has no rows", skipped.all, {});

  // Bytes: a workgroup's rows at the end of 32768 tokens of context.
  constexpr int64_t tokens = 32768;
  Result<tool::Call> call =
      makeCall(**program, tool::Lengths(std::vector{int32_t(tokens)},
                                        std::vector{int32_t(rows)}));
  if (!call)
    return call.takeError();
  Result<KernelRun> run = runKernel(**program, *call, "_score");
  if (!run)
    return run.takeError();
  // Words: table entries of the context's blocks, scores of each row's.
  int64_t words = tokens / kBlockSize;
  for (int64_t row = 0; row < rows; ++row)
    words += (tokens - rows + row + kBlockSize) / kBlockSize;
  const auto fewest =
      double(tokens * kHeadDim + rows * kHeadDim + 12 + 4 * words);
  figures.push_back({group,
                     "global bytes asked for over the fewest possible",
                     run->counts.bytes / fewest,
                     {},
                     1.02,
                     false,
                     4});
  // What is left where queries that several workgroups read come from a cache.
  figures.push_back({group,
                     "different bytes of the launch over the fewest",
                     run->counts.distinctBytes / fewest,
                     {},
                     {},
                     false,
                     4});
  Result<const sim::KernelInfo *> kernel = (*program)->kernel("_score");
  if (!kernel)
    return kernel.takeError();
  addResources(
      figures, group, **kernel, run->wavesOfGroup,
      isWide ? Resources{118, 36864, 7404} : Resources{66, 36864, 2904}, 4);
  return {};
}
