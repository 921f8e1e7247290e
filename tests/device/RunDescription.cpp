// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles, runs and compares for the device tests.
#include "RunDescription.h"

#include <array>
#include <map>

using namespace winnow;
using namespace winnow::test;

static std::shared_ptr<const Kernels> compileUncached(const Shape &shape) {
  Result<runtime::Bundle> bundle = emitKernels(shape, shape.arch);
  if (!bundle) {
    ADD_FAILURE() << shape.text() << "\n" << bundle.message();
    return nullptr;
  }
  Result<std::shared_ptr<const Kernels>> kernels =
      compileKernels(std::move(*bundle));
  if (!kernels) {
    ADD_FAILURE() << shape.text() << "\n" << kernels.message();
    return nullptr;
  }
  return *kernels;
}

std::shared_ptr<const Kernels> test::compile(const Shape &shape) {
  static std::map<std::string, std::shared_ptr<const Kernels>> done;
  auto [place, fresh] =
      done.try_emplace(shape.arch + shape.prefer + shape.describe());
  if (fresh)
    place->second = compileUncached(shape);
  return place->second;
}

void test::expectRight(const Shape &shape, const tool::Lengths &lengths,
                       uint64_t seed, const Prepare &prepare,
                       uint64_t shuffle) {
  SCOPED_TRACE(shape.text() + ", seed " + std::to_string(seed) +
               (shuffle ? ", shuffle " + std::to_string(shuffle) : ""));
  std::shared_ptr<const Kernels> kernels = compile(shape);
  if (!kernels)
    return;
  Result<tool::Call> call = tool::randomCall(kernels->indexer, lengths, seed);
  ASSERT_TRUE(call) << call.message();
  if (prepare)
    prepare(*call);
  const tool::Call before = *call;
  tool::SimRun run;
  run.checks = sim::Checks::all(sim::CheckAction::Stop);
  run.shuffle = shuffle;
  auto records = tool::runOnSim(*call, kernels->codes, run);
  ASSERT_TRUE(records) << records.message();
  Result<tool::Verdict> verdict = tool::verify(before, *call);
  ASSERT_TRUE(verdict) << verdict.message();
  ASSERT_EQ(verdict->scores.has_value(), shape.merges == 0);
  if (verdict->scores) {
    EXPECT_TRUE(verdict->scores->ok()) << verdict->scores->text();
  }
  ASSERT_EQ(verdict->candidates.has_value(), shape.exchanges);
  if (verdict->candidates) {
    EXPECT_TRUE(verdict->candidates->ok()) << verdict->candidates->text();
  }
  ASSERT_EQ(verdict->selection.has_value(), shape.stores);
  if (verdict->selection) {
    EXPECT_TRUE(verdict->selection->ok()) << verdict->selection->text();
  }
  ASSERT_EQ(verdict->pages.has_value(), shape.remaps);
  if (verdict->pages) {
    EXPECT_TRUE(verdict->pages->ok()) << verdict->pages->text();
  }
  EXPECT_TRUE(verdict->untouched.ok()) << verdict->untouched.text();
}

void test::expectSameGeometry(const Shape &shape,
                              const std::vector<tool::Lengths> &calls) {
  std::shared_ptr<const Kernels> kernels = compile(shape);
  ASSERT_TRUE(kernels);
  std::vector<std::vector<std::array<uint32_t, 3>>> grids;
  for (const tool::Lengths &given : calls) {
    expectRight(shape, given);
    auto call = tool::randomCall(kernels->indexer, given, 1);
    ASSERT_TRUE(call) << call.message();
    auto launches = tool::launchesOnHost(*call);
    ASSERT_TRUE(launches) << launches.message();
    grids.emplace_back();
    for (const runtime::ResolvedLaunch &launch : *launches)
      grids.back().push_back(launch.grid);
    EXPECT_EQ(grids.back().size(),
              shape.launches ? static_cast<size_t>(shape.launches) : 2u);
    EXPECT_EQ(grids.back(), grids.front());
  }
}
