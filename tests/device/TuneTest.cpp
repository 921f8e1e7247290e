// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tuning on the simulated device: winners are no slower than the model's choice
// and right, and what is wrong never wins.
#include "Shape.h"
#include "Tuner.h"

#include "winnow/Codegen/Compile.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <climits>

using namespace winnow;
using namespace winnow::test;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

namespace {

tool::Compiler compiler() {
  Result<tool::Compiler> made = tool::Compiler::make({});
  EXPECT_TRUE(made) << made.message();
  return std::move(*made);
}

/// Bounds so wide that a schedule for all of them is not the best for one long
/// request.
Shape wide() {
  Shape shape;
  shape.maxSeqLen = 1048576;
  shape.maxRequests = 256;
  return shape;
}

Result<std::vector<tool::TunedEntry>> tune(const Shape &shape,
                                           const tool::TuneOptions &options,
                                           tool::TuneTarget &target) {
  tool::Compiler own = compiler();
  return tool::tune(shape.describe(), "test.mlir", options, target, own,
                    [](const std::string &) {});
}

/// A device that spoils what kernels wrote.
class Spoiled : public tool::TuneTarget {
public:
  const std::string &arch() const override { return sim->arch(); }
  std::string method() const override { return sim->method(); }
  Status run(tool::Call &call,
             const std::vector<tool::LoadedCode> &codes) override {
    ran.push_back(rowsOf(call));
    Status status = sim->run(call, codes);
    if (++runs > good)
      call.arguments[call.indexer->selection].bytes[0] ^= std::byte{1};
    return status;
  }
  Result<std::vector<tool::LaunchTime>>
  time(const tool::Call &call,
       const std::vector<tool::LoadedCode> &codes) override {
    timed.push_back(rowsOf(call));
    return sim->time(call, codes);
  }
  int runs = 0, good = 0;
  std::vector<int64_t> ran, timed; ///< rows of each call

  static int64_t rowsOf(const tool::Call &call) {
    return call.arguments[call.indexer->query].view.extents[0];
  }

private:
  std::unique_ptr<tool::TuneTarget> sim = tool::tuneOnSim();
};

} // namespace

TEST(Tune, AWinnerIsFasterThanTheModelsChoiceAndInTheBundle) {
  tool::TuneOptions options;
  options.shapes = {{1, 131072, 1}};
  options.most = 4;
  auto target = tool::tuneOnSim();
  auto tuned = tune(wide(), options, *target);
  ASSERT_TRUE(tuned) << tuned.message();
  ASSERT_EQ(tuned->size(), 1u);
  const tool::TunedEntry &entry = tuned->front();
  EXPECT_LE(entry.winnerSeconds, entry.modelSeconds);
  EXPECT_GT(entry.winnerSeconds, 0);
  size_t models = 0, winners = 0;
  for (const tool::TunedCandidate &each : entry.candidates) {
    if (!each.refused.empty())
      continue;
    EXPECT_GT(each.seconds, 0) << each.schedule;
    models += each.isModel;
    winners += each.isWinner;
  }
  EXPECT_GE(models, 1u);
  EXPECT_GE(winners, 1u);
  // 1024 blocks of one request: the plan's chunks are for 256 requests.
  ASSERT_FALSE(entry.winner.empty());

  CompileOptions compile;
  compile.schedule = entry.name + ":" + entry.winner;
  compile.scheduleFrom = "tuned on sim:gfx950 at 2026-01-31";
  Result<runtime::Bundle> bundle =
      compileDescription(wide().describe(), "test.mlir", compile);
  ASSERT_TRUE(bundle) << bundle.message();
  const runtime::Entry &written = bundle->entries.front();
  ASSERT_FALSE(written.schedules.empty());
  for (const runtime::Schedule &schedule : written.schedules)
    for (const auto &[name, value] : schedule.parameters) {
      const auto from = schedule.from.find(name);
      if (from != schedule.from.end()) {
        EXPECT_EQ(from->second, compile.scheduleFrom) << name;
      }
    }
  EXPECT_TRUE(written.schedules.front().from.contains("waves"));
}

TEST(Tune, TheSameFiguresEveryTime) {
  tool::TuneOptions options;
  options.shapes = {{2, 2048, 1}};
  options.most = 2;
  options.compile.schedule = "launches=2";
  auto target = tool::tuneOnSim();
  auto first = tune(Shape(), options, *target);
  auto second = tune(Shape(), options, *target);
  ASSERT_TRUE(first) << first.message();
  ASSERT_TRUE(second) << second.message();
  const auto &a = first->front().candidates, &b = second->front().candidates;
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].schedule, b[i].schedule);
    EXPECT_EQ(a[i].seconds, b[i].seconds) << a[i].schedule;
  }
}

TEST(Tune, RaggedRowsAndTheGenericLoweringCanBeTuned) {
  tool::TuneOptions options;
  options.shapes = {{1, 512, 16}};
  options.most = 2;
  auto target = tool::tuneOnSim();
  Shape ragged;
  ragged.queryLen = 0;
  Shape generic;
  options.compile.prefer = "generic";
  for (const Shape &shape : {ragged, generic}) {
    auto tuned = tune(shape, options, *target);
    ASSERT_TRUE(tuned) << tuned.message();
    EXPECT_LE(tuned->front().winnerSeconds, tuned->front().modelSeconds);
    EXPECT_GT(tuned->front().modelSeconds, 0);
    options.compile.prefer.clear();
  }
}

TEST(Tune, AWrongResultIsAnErrorNotAWinner) {
  tool::TuneOptions options;
  options.shapes = {{1, 1024, 1}};
  options.most = 2;
  options.compile.schedule = "launches=2";
  for (int good : {0, 1}) {
    Spoiled target;
    target.good = good;
    auto tuned = tune(Shape(), options, target);
    ASSERT_FALSE(tuned);
    EXPECT_THAT(tuned.message(), HasSubstr("differs from the reference"));
    EXPECT_THAT(tuned.message(), HasSubstr("schedule '"));
  }
}

TEST(Tune, OfALongPromptTheLastRowsAreChecked) {
  Shape ragged;
  ragged.queryLen = 0;
  tool::TuneOptions options;
  options.shapes = {{1, 1024, 64}};
  options.most = 2;
  options.keysToCheck = 8 * 1024;
  Spoiled target;
  target.good = INT_MAX;
  auto tuned = tune(ragged, options, target);
  ASSERT_TRUE(tuned) << tuned.message();
  EXPECT_THAT(target.timed, Each(64));
  // The small call for each schedule, and at the end that of the shape.
  EXPECT_THAT(target.ran, Not(Contains(64)));
  EXPECT_EQ(target.ran.back(), 8);
  // What it shows counts.
  Spoiled wrong;
  wrong.good = target.runs - 1;
  tuned = tune(ragged, options, wrong);
  ASSERT_FALSE(tuned);
  EXPECT_THAT(tuned.message(), HasSubstr("differs from the reference"));
}

TEST(Tune, WhatIsFixedIsNotTried) {
  tool::TuneOptions options;
  options.shapes = {{1, 1024, 1}};
  options.most = 3;
  options.compile.schedule = "score.waves=2,launches=2";
  auto target = tool::tuneOnSim();
  auto tuned = tune(Shape(), options, *target);
  ASSERT_TRUE(tuned) << tuned.message();
  for (const tool::TunedCandidate &each : tuned->front().candidates) {
    EXPECT_NE(each.kernel, "score and select");
    if (each.kernel == "score") {
      EXPECT_THAT(each.schedule, HasSubstr("score.waves=2,"));
    }
  }
}

TEST(Tune, UnknownEntriesShapesAndDevicesAreErrors) {
  tool::TuneOptions options;
  options.entry = "nobody";
  auto target = tool::tuneOnSim();
  auto tuned = tune(Shape(), options, *target);
  ASSERT_FALSE(tuned);
  EXPECT_THAT(tuned.message(), HasSubstr("has no entry 'nobody'"));

  options.entry.clear();
  options.shapes = {{1, 1 << 30, 1}};
  tuned = tune(Shape(), options, *target);
  ASSERT_FALSE(tuned);
  EXPECT_THAT(tuned.message(), HasSubstr("max_seq_len"));

  for (const char *text : {"", "4", "4x", "x4", "0x4", "4x0", "4x4x",
                           "4x4:", "4x4:0", "4x4:1 ", "-1x4", "4x4294967296"})
    EXPECT_FALSE(tool::parseTuneShape(text)) << text;
  Result<tool::TuneShape> shape = tool::parseTuneShape("4x8192:16");
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->text(), "4x8192:16");

  auto host = tool::makeTuneTarget("host", 3);
  ASSERT_FALSE(host);
  EXPECT_THAT(host.message(), HasSubstr("runs no kernels"));
  EXPECT_FALSE(tool::makeTuneTarget("toaster:0", 3));
}

TEST(Tune, OnADeviceByItsClock) {
  // The simulated one through the functions of a HIP library: what a GPU would
  // be asked for, if not as fast.
  runtime::DeviceOptions libraries;
  libraries.simLibrary = WINNOW_HIP_SIM;
  Result<std::shared_ptr<runtime::Device>> device =
      runtime::openDevice("sim:gfx950", libraries);
  ASSERT_TRUE(device) << device.message();
  tool::DeviceTiming timing;
  timing.repeats = 3;
  timing.launchesOfGraph = 2;
  timing.coldBytes = 1;
  auto target = tool::tuneOnDevice(*device, timing);
  ASSERT_TRUE(target) << target.message();
  tool::TuneOptions options;
  options.shapes = {{1, 512, 1}};
  options.most = 2;
  options.compile.schedule = "launches=2";
  auto tuned = tune(Shape(), options, **target);
  ASSERT_TRUE(tuned) << tuned.message();
  for (const tool::TunedCandidate &each : tuned->front().candidates)
    if (each.refused.empty()) {
      EXPECT_GT(each.seconds, 0) << each.schedule;
    }
}
