// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selection of one row: the 16 best of its blocks, and their page table, from
// scores of several distributions. The anchors' shapes are named by slots, 64
// blocks each, that a row has room for, and by waves.
#include "Cases.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

using namespace winnow;
using namespace winnow::bench;

namespace {

/// Uniform in (0, 1): a hash of the number (splitmix64's finisher).
double uniform(uint64_t number) {
  uint64_t z = (number + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return (double(z >> 11) + 0.5) * 0x1p-53;
}

double gaussian(uint64_t number) {
  return std::sqrt(-2 * std::log(uniform(2 * number))) *
         std::cos(2 * std::numbers::pi * uniform(2 * number + 1));
}

float gaussianScore(int64_t block) { return float(gaussian(block)); }

/// Half of the blocks around 10, half around -10.
float clusteredScore(int64_t block) {
  return float((uniform(block + 1000000) < 0.5 ? 10 : -10) + gaussian(block));
}

/// Eight values, so that the 16th best ties with many.
float tiedScore(int64_t block) { return float(int(8 * uniform(block))); }

float equalScore(int64_t) { return 1; }

struct Case {
  const char *name;
  int64_t slots, blocks; ///< a row has room for 64 blocks a slot
  float (*score)(int64_t block);
  double anchor;                   ///< without the table
  std::optional<double> withTable; ///< with it
};

// In the anchor's words, W is how many waves share the row.
const Case kCases[] = {
    {"S1 W1, 9 blocks", 1, 9, gaussianScore, 400, 637},
    {"S16 W8, 1000 blocks, gaussian", 16, 1000, gaussianScore, 2214, 2446},
    {"S16 W8, 1000 blocks, two clusters", 16, 1000, clusteredScore, 2713, {}},
    {"S16 W8, 1000 blocks, heavy ties", 16, 1000, tiedScore, 3326, {}},
    {"S16 W8, 1000 blocks, all equal", 16, 1000, equalScore, 9552, {}},
    {"S16 W1, 1000 blocks, gaussian", 16, 1000, gaussianScore, 1045, {}},
    {"S128 W8, 8000 blocks, gaussian", 128, 8000, gaussianScore, 10567, {}},
    {"S128 W8, 8000 blocks, two clusters", 128, 8000, clusteredScore, 5447, {}},
};

Result<KernelRun> select(const Program &program, const Case &at) {
  Result<tool::Call> call =
      makeCall(program, {int32_t(at.blocks * kBlockSize)});
  if (!call)
    return call.takeError();
  auto scores = call->workspace[program.indexer.scores].as<float, 3>();
  for (int64_t block = 0; block < at.blocks; ++block)
    scores(0, 0, block) = at.score(block);
  return runKernel(program, *call, "_select");
}

struct Programs {
  std::unique_ptr<Program> plain, withTable;
};

Result<Programs> build(tool::Compiler &compiler, int64_t slots) {
  IndexerShape shape{.maxSeqLen = slots * 64 * kBlockSize,
                     .attributes = kTwoLaunches};
  auto withTable = Program::build(shape, compiler);
  shape.table = false;
  auto plain = Program::build(shape, compiler);
  if (!plain || !withTable)
    return plain ? withTable.takeError() : plain.takeError();
  return Programs{std::move(*plain), std::move(*withTable)};
}

/// Resources of AITER's kernel for as many slots.
struct Shape {
  int64_t slots;
  const char *name;
  Resources anchor;
  uint32_t waves;
};
const Shape kShapes[] = {{1, "S1 W1", {28, 3152, 3480}, 1},
                         {16, "S16 W8", {31, 3152, 3536}, 8},
                         {128, "S128 W8", {55, 3152, 6828}, 8}};

} // namespace

Status bench::countSelect(tool::Compiler &compiler, Figures &figures) {
  const std::string group = "top-k 16 of one row, instructions of all waves";
  double gaussianOurs[2] = {0, 0}; // of 16 slots; with the table
  Figures resources;
  for (const Shape &shape : kShapes) {
    Result<Programs> programs = build(compiler, shape.slots);
    if (!programs)
      return programs.takeError();
    uint32_t waves = 0;
    for (const Case &at : kCases) {
      if (at.slots != shape.slots)
        continue;
      Result<KernelRun> plain = select(*programs->plain, at),
                        table = select(*programs->withTable, at);
      if (!plain || !table)
        return plain ? table.takeError() : plain.takeError();
      waves = table->wavesOfGroup;
      const std::string note = fmt::format("W{}", waves);
      auto add = [&](const char *what, double ours,
                     std::optional<double> anchor) {
        Figure figure{group, std::string(at.name) + what, ours, anchor};
        if (anchor)
          figure.goal = 0.6 * *anchor;
        figure.note = note;
        figures.push_back(std::move(figure));
      };
      add("", plain->counts.all, at.anchor);
      add(", with table", table->counts.all, at.withTable);
      if (at.slots == 16 && at.score == gaussianScore) {
        gaussianOurs[0] = plain->counts.all;
        gaussianOurs[1] = table->counts.all;
      }
      if (at.score == equalScore) {
        figures.push_back({group, "all equal over gaussian",
                           plain->counts.all / gaussianOurs[0], 9552.0 / 2214,
                           1.5, false, 2});
        figures.push_back({group,
                           "all equal over gaussian, with table",
                           table->counts.all / gaussianOurs[1],
                           {},
                           1.5,
                           false,
                           2});
      }
      if (at.slots == 128 && at.score == gaussianScore) {
        // Scores, length, kept entries of the table once; ids, pages, count.
        const double fewest =
            double(4 * at.blocks + 4 + 4 * kKeep + 4 * kKeep + 4 * 128 + 4);
        figures.push_back({group,
                           "S128: bytes asked for over the fewest",
                           table->counts.bytes / fewest,
                           {},
                           1.02,
                           false,
                           4});
      }
    }
    Result<const sim::KernelInfo *> kernel =
        programs->withTable->kernel("_select");
    if (!kernel)
      return kernel.takeError();
    addResources(resources, fmt::format("top-k {}, resources", shape.name),
                 **kernel, waves, shape.anchor, shape.waves);
  }
  figures.insert(figures.end(), resources.begin(), resources.end());
  return {};
}
