// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decode: a page's instructions are the difference of two runs that differ in
// pages alone, what a wave does beside its pages is the rest.
#include "Cases.h"

#include <algorithm>

using namespace winnow;
using namespace winnow::bench;

namespace {

Result<KernelRun> scoreTokens(const Program &program,
                              std::vector<int32_t> tokens) {
  Result<tool::Call> call = makeCall(program, {std::move(tokens)});
  if (!call)
    return call.takeError();
  return runKernel(program, *call, "_score");
}

/// A page that every row sees whole; one of which the row sees half; and what
/// a wave does beside.
struct Pages {
  Counts unmasked, masked;
  double outside = 0, single = 0;
};

Result<Pages> countPages(const Program &program) {
  // Few pages a wave, and three times as many: every wave of the launch has the
  // same number, so nothing depends on how blocks are dealt out.
  Result<KernelRun> one = scoreTokens(program, {int32_t(kBlockSize)});
  if (!one)
    return one.takeError();
  const double waves = one->waves;
  const int64_t most = program.indexer.maxBlocks / int64_t(waves);
  const int64_t few = std::clamp<int64_t>(most / 3, 1, 8), many = 3 * few;
  const int64_t fewPages = few * int64_t(waves),
                manyPages = many * int64_t(waves);
  Result<KernelRun> less =
      scoreTokens(program, {int32_t(fewPages * kBlockSize)});
  Result<KernelRun> more =
      scoreTokens(program, {int32_t(manyPages * kBlockSize)});
  // The same pages, the last of them seen by half.
  Result<KernelRun> half =
      scoreTokens(program, {int32_t(fewPages * kBlockSize - kBlockSize / 2)});
  for (Result<KernelRun> *run : {&less, &more, &half})
    if (!*run)
      return run->takeError();
  Pages pages;
  pages.unmasked =
      (more->counts - less->counts) * (1.0 / double(manyPages - fewPages));
  pages.masked = pages.unmasked - (less->counts - half->counts);
  pages.outside = less->counts.all / waves - double(few) * pages.unmasked.all;
  // What one wave with one page does: the others of the launch have none.
  Result<KernelRun> none = scoreTokens(program, {0});
  if (!none)
    return none.takeError();
  pages.single =
      none->counts.all / waves + (one->counts.all - none->counts.all);
  return pages;
}

} // namespace

Status bench::countDecode(tool::Compiler &compiler, Figures &figures) {
  const std::string group = "decode fp8 H1 W4, score";
  // In two launches, so that scoring can be counted by itself; with the
  // anchor's waves, and so few chunks that requests within the bounds fill them
  // over and over.
  const std::string schedule =
      ", winnow.schedule = {launches = 2, score = {waves = 4, chunks = 8}}";
  auto program = Program::build({.attributes = schedule}, compiler);
  // Without a forced last block a kernel has to score it to know it.
  auto unforced =
      Program::build({.localBlocks = 0, .attributes = schedule}, compiler);
  if (!program || !unforced)
    return program ? unforced.takeError() : program.takeError();
  Result<Pages> pages = countPages(**unforced), forced = countPages(**program);
  if (!pages || !forced)
    return pages ? forced.takeError() : pages.takeError();
  auto add = [&](const char *name, double ours, std::optional<double> anchor,
                 std::optional<double> goal = {}) {
    figures.push_back({group, name, ours, anchor, goal});
  };
  const Counts &page = pages->unmasked, &masked = pages->masked;
  add("instructions a page, unmasked", page.all, 135, 110);
  add("unmasked: MFMA", page.mfma, 8);
  add("unmasked: VALU", page.valu, 47);
  add("unmasked: SALU", page.salu, 30);
  add("unmasked: loads", page.loads, 16);
  add("unmasked: branches", page.branches, 13);
  add("unmasked: s_nop", page.nops, 10);
  add("unmasked: s_nop wait states", page.waitStates, 83, 41.5);
  add("unmasked: waits", page.waits, 8);
  add("instructions a page, masked", masked.all, 273, 150);
  add("masked: MFMA", masked.mfma, 8);
  add("masked: VALU", masked.valu, 144);
  add("masked: branches", masked.branches, 29);
  add("masked: s_nop", masked.nops, 35);
  add("masked: s_nop wait states", masked.waitStates, 104, 52);
  add("instructions a wave outside the loop", pages->outside, 159, 90);
  add("one wave, one unmasked page in all", pages->single, 294);
  // What MiniMax-M3 asks for: the last block is kept whatever it scores.
  add("with a forced last block: unmasked", forced->unmasked.all, 135, 110);
  add("with a forced last block: masked", forced->masked.all, 273, 150);
  add("with a forced last block: outside the loop", forced->outside, 159, 90);

  // Bytes: 4 requests of 32768 tokens. The fewest are the keys, queries and
  // table entries once, and the scores once.
  constexpr int64_t requests = 4, tokens = 32768, blocks = tokens / kBlockSize;
  Result<KernelRun> run =
      scoreTokens(**unforced, std::vector<int32_t>(requests, int32_t(tokens)));
  if (!run)
    return run.takeError();
  const double fewest =
      double(requests) * (tokens * kHeadDim + kHeadDim + 4 + 8 * blocks);
  figures.push_back({group,
                     "global bytes asked for over the fewest possible",
                     run->counts.bytes / fewest,
                     {},
                     1.02,
                     false,
                     4});
  figures.push_back({group,
                     "bytes of 64-byte lines, no cache, over the fewest",
                     run->counts.lineBytes / fewest,
                     {},
                     {},
                     false,
                     4});
  Result<const sim::KernelInfo *> kernel = (*program)->kernel("_score");
  if (!kernel)
    return kernel.takeError();
  addResources(figures, group, **kernel, run->wavesOfGroup, {90, 0, 2300}, 4);
  return {};
}

void bench::addResources(Figures &figures, const std::string &group,
                         const sim::KernelInfo &kernel, uint32_t wavesOfGroup,
                         const Resources &anchor, uint32_t anchorWavesOfGroup) {
  const uint32_t registers = kernel.vgprCount + kernel.agprCount;
  auto add = [&](const char *name, double ours, std::optional<double> anchor,
                 std::optional<double> goal = {}, bool least = false) {
    figures.push_back({group, name, ours, anchor, goal, least, 0});
  };
  add("vector registers", registers, anchor.vectorRegisters);
  add("bytes of LDS", kernel.groupSegmentSize, anchor.ldsBytes);
  add("bytes of code", double(kernel.codeSize), anchor.codeBytes);
  add("spilled registers",
      double(kernel.vgprSpillCount) + kernel.sgprSpillCount +
          kernel.privateSegmentSize,
      0, 0);
  const double theirs =
      occupancy(uint32_t(anchor.vectorRegisters), uint64_t(anchor.ldsBytes),
                anchorWavesOfGroup);
  add("waves a SIMD holds",
      occupancy(registers, kernel.groupSegmentSize, wavesOfGroup), theirs,
      theirs, true);
}
