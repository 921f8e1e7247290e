// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The schedule model over random kernels and machines: what it chooses is
// possible, respects what is fixed, and its figures move the way work does.
#include "winnow/Codegen/ScheduleCost.h"
#include "winnow/Codegen/Tuning.h"

#include <gmock/gmock.h>

#include <random>
#include <set>

using namespace winnow;
using Kind = KernelProblem::Kind;

namespace {

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  int64_t from(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  }
  /// As often small as large.
  int64_t spread(int64_t high) {
    int64_t most = 1;
    while (most < high && from(0, 12) != 0)
      most *= 2;
    return from(1, std::min(most, high));
  }

private:
  std::mt19937_64 engine;
};

KernelProblem randomProblem(Random &random) {
  static constexpr Kind kinds[] = {Kind::Score,        Kind::RaggedScore,
                                   Kind::GenericScore, Kind::Select,
                                   Kind::Merge,        Kind::GenericSelect};
  KernelProblem problem;
  problem.kind = kinds[random.from(0, 5)];
  const bool generic =
      problem.kind == Kind::GenericScore || problem.kind == Kind::GenericSelect;
  problem.heads = generic ? random.spread(64) : random.from(1, 16);
  problem.rows = problem.kind == Kind::Score
                     ? random.from(1, 16 / problem.heads)
                     : random.spread(4096);
  problem.queries = problem.rows * problem.heads;
  problem.headDim = generic ? 8 * random.from(1, 512) : 128;
  problem.elementBytes = random.from(1, 2);
  problem.blockSize = generic ? random.spread(512) : 32 << random.from(0, 3);
  // A lowering with bulk copies, waves of 32 lanes.
  if ((problem.kind == Kind::Score || problem.kind == Kind::RaggedScore) &&
      random.from(0, 2) == 0) {
    problem.waveLanes = 32;
    problem.copyBytes = 8192;
    problem.teamWaves = 4;
    problem.sharedElementBytes = 2;
  }
  // 16 waves of 64 lanes with 32 slots hold so many (winnow_mfma's limits).
  problem.places = random.spread(problem.kind == Kind::Merge ? 16384 : 32768);
  problem.requests = random.spread(512);
  return problem;
}

const FixedParameter kNothing = [](const ScheduleParameter &) {
  return std::optional<int64_t>();
};

std::string textOf(const KernelProblem &problem) {
  return "kind " + std::to_string(int(problem.kind)) + ", heads " +
         std::to_string(problem.heads) + ", places " +
         std::to_string(problem.places) + ", requests " +
         std::to_string(problem.requests) + ", rows " +
         std::to_string(problem.rows) + ", element bytes " +
         std::to_string(problem.elementBytes) + ", block " +
         std::to_string(problem.blockSize);
}

void expectPossible(const KernelProblem &problem,
                    const KernelSchedule &schedule) {
  std::vector<const ScheduleParameter *> own = parametersOf(problem);
  for (const ScheduleParameter &parameter : scheduleParameters()) {
    if (parameter.kernel != problem.kernel())
      continue;
    const int64_t value = schedule.*parameter.value;
    if (std::find(own.begin(), own.end(), &parameter) == own.end()) {
      EXPECT_EQ(value, 0) << parameter.name << " of " << textOf(problem);
      continue;
    }
    EXPECT_GE(value, parameter.min)
        << parameter.name << " of " << textOf(problem);
    EXPECT_LE(value, parameter.max)
        << parameter.name << " of " << textOf(problem);
  }
  EXPECT_EQ(findConflict(problem, schedule).value_or(""), "")
      << textOf(problem);
}

} // namespace

TEST(ScheduleModel, EveryParameterHasItsNameOnceAndARange) {
  std::set<std::pair<ScheduledKernel, std::string_view>> names;
  for (const ScheduleParameter &parameter : scheduleParameters()) {
    EXPECT_TRUE(names.insert({parameter.kernel, parameter.name}).second)
        << parameter.name;
    EXPECT_LT(parameter.min, parameter.max) << parameter.name;
    EXPECT_FALSE(parameter.what.empty()) << parameter.name;
    EXPECT_FALSE(parameter.limit.empty()) << parameter.name;
    EXPECT_EQ(findScheduleParameter(parameter.kernel, parameter.name),
              &parameter);
  }
  EXPECT_EQ(findScheduleParameter(ScheduledKernel::Select, "chunks"), nullptr);
}

TEST(ScheduleModel, WhatIsChosenIsPossibleWithinRandomBounds) {
  Random random(20260101);
  for (int i = 0; i < 2000; ++i) {
    const KernelProblem problem = randomProblem(random);
    for (const Machine &machine : machines())
      expectPossible(problem, chooseSchedule(problem, machine, kNothing));
    expectPossible(problem,
                   chooseSchedule(problem, machineFor("none"), kNothing));
  }
}

TEST(ScheduleModel, AllCandidatesArePossibleAndTheBestIsChosen) {
  Random random(7);
  for (int i = 0; i < 300; ++i) {
    const KernelProblem problem = randomProblem(random);
    const Machine &machine = machineFor("gfx950");
    std::vector<RankedSchedule> ranked =
        rankSchedules(problem, machine, kNothing);
    ASSERT_FALSE(ranked.empty()) << textOf(problem);
    for (const RankedSchedule &each : ranked) {
      expectPossible(problem, each.schedule);
      // Steps of two per cent count as equal.
      EXPECT_LE(ranked.front().seconds, each.seconds * 1.021)
          << textOf(problem);
    }
    if (problem.kind == Kind::Score && problem.copyBytes == 0) {
      EXPECT_EQ(chooseSchedule(problem, machine, kNothing),
                ranked.front().schedule)
          << textOf(problem);
    }
  }
}

TEST(ScheduleModel, WhatIsFixedStays) {
  Random random(99);
  for (int i = 0; i < 1000; ++i) {
    const KernelProblem problem = randomProblem(random);
    std::vector<const ScheduleParameter *> own = parametersOf(problem);
    if (own.empty())
      continue;
    const ScheduleParameter *fixed =
        own[size_t(random.from(0, int64_t(own.size()) - 1))];
    const int64_t value = random.from(fixed->min, fixed->max);
    const FixedParameter fix = [&](const ScheduleParameter &parameter) {
      return &parameter == fixed ? std::optional(value) : std::nullopt;
    };
    const KernelSchedule schedule =
        chooseSchedule(problem, machineFor("gfx950"), fix);
    EXPECT_EQ(schedule.*fixed->value, value)
        << fixed->name << " of " << textOf(problem);
    for (const RankedSchedule &each :
         rankSchedules(problem, machineFor("gfx950"), fix))
      EXPECT_EQ(each.schedule.*fixed->value, value)
          << fixed->name << " of " << textOf(problem);
  }
}

TEST(ScheduleModel, MoreWorkNeverTakesLess) {
  Random random(5);
  for (int i = 0; i < 1000; ++i) {
    const KernelProblem problem = randomProblem(random);
    const Machine &machine = machineFor("gfx950");
    const KernelSchedule schedule = chooseSchedule(problem, machine, kNothing);
    const Workload some{random.spread(problem.requests),
                        random.spread(problem.places), problem.rows};
    const double seconds = predictSeconds(problem, machine, schedule, some);
    EXPECT_GE(seconds, kLaunchSeconds);
    Workload more = some;
    more.requests *= 2;
    EXPECT_GE(predictSeconds(problem, machine, schedule, more) * 1.0001,
              seconds)
        << textOf(problem);
    more = some;
    more.places = std::min(2 * some.places, problem.places);
    EXPECT_GE(predictSeconds(problem, machine, schedule, more) * 1.0001,
              seconds)
        << textOf(problem) << ", " << some.places << " places of "
        << some.requests << " requests";
  }
}

TEST(ScheduleModel, ABetterMachineIsNoSlower) {
  Random random(11);
  for (int i = 0; i < 500; ++i) {
    const KernelProblem problem = randomProblem(random);
    Machine machine = machineFor("gfx942");
    const KernelSchedule schedule = chooseSchedule(problem, machine, kNothing);
    const Workload load{random.spread(problem.requests),
                        random.spread(problem.places), problem.rows};
    const double seconds = predictSeconds(problem, machine, schedule, load);
    machine.bytesPerSecond *= 2;
    EXPECT_LE(predictSeconds(problem, machine, schedule, load), seconds);
    machine.units *= 2;
    EXPECT_LE(predictSeconds(problem, machine, schedule, load),
              seconds * 1.0001)
        << textOf(problem);
  }
}

TEST(ScheduleModel, OneLongRequestIsSpreadOverTheWholeMachine) {
  KernelProblem problem;
  problem.places = 8192;
  problem.requests = 256;
  const Machine &machine = machineFor("gfx950");
  const KernelSchedule schedule = chooseSchedule(problem, machine, kNothing);
  const Workload one{1, 8192, 1};
  const double bound = 8192 * 16384.0 / machine.bytesPerSecond + kLaunchSeconds;
  EXPECT_LE(predictSeconds(problem, machine, schedule, one), bound * 1.1);
  // Many short ones do not pay for it with waves that find nothing to do.
  const Workload many{256, 32, 1};
  EXPECT_LE(predictSeconds(problem, machine, schedule, many), bound * 1.1);
}

TEST(ScheduleModel, ConflictsNameBothSides) {
  KernelProblem select;
  select.kind = Kind::Select;
  select.places = 8192;
  KernelSchedule schedule;
  schedule.waves = 2;
  schedule.slots = 3;
  EXPECT_EQ(findConflict(select, schedule).value_or(""),
            "waves = 2 and slots = 3 hold 384 scores, needed at least 8192 "
            "(the longest row)");
}

// Sixteen waves leave 128 registers a lane: too few for keys, queries and
// products of bf16, so that the kernel would spill.
TEST(ScheduleModel, FewWorkgroupsHaveNoMoreWavesThanRegistersFor) {
  KernelProblem problem;
  problem.blockSize = 256;
  problem.elementBytes = 2;
  problem.queries = 16;
  problem.places = 1024;
  problem.requests = 3;
  for (const char *arch : {"gfx950", "gfx942"}) {
    const KernelSchedule schedule = chooseSchedule(
        problem, machineFor(arch), [](const ScheduleParameter &parameter) {
          return parameter.name == "chunks" ? std::optional<int64_t>(2)
                                            : std::nullopt;
        });
    EXPECT_EQ(schedule.chunks, 2);
    EXPECT_EQ(schedule.waves, 8) << arch;
  }
}

// As measured on an H200: waves of 32 lanes share a lone row, but not one of a
// prompt's, as long as a wave has slots for it.
TEST(ScheduleModel, RowsOfPromptsAreNotSharedByNarrowWaves) {
  KernelProblem select;
  select.kind = Kind::Select;
  select.waveLanes = 32;
  select.places = 1024;
  const Machine &machine = machineFor("sm_90");
  EXPECT_EQ(chooseSchedule(select, machine, kNothing).waves, 2);
  select.rows = 16384;
  KernelSchedule schedule = chooseSchedule(select, machine, kNothing);
  EXPECT_EQ(schedule.waves, 1);
  EXPECT_EQ(schedule.slots, 32);
  select.places = 1025;
  schedule = chooseSchedule(select, machine, kNothing);
  EXPECT_EQ(schedule.waves, 2);
  EXPECT_EQ(schedule.slots, 17);
  select.waveLanes = 64;
  EXPECT_EQ(chooseSchedule(select, machineFor("gfx950"), kNothing).waves, 2);
}

TEST(ScheduleModel, VariationsChangeHowKeysAreAskedForAndAreFew) {
  Random random(31);
  for (int i = 0; i < 500; ++i) {
    const KernelProblem problem = randomProblem(random);
    const Machine &machine = machineFor("gfx950");
    const KernelSchedule schedule = chooseSchedule(problem, machine, kNothing);
    std::vector<KernelSchedule> variations =
        variationsOf(problem, schedule, kNothing);
    const bool scores = problem.kind == Kind::Score,
               shares = problem.kind == Kind::RaggedScore;
    EXPECT_LE(variations.size(), scores ? 14u : shares ? 5u : 0u);
    // Whatever else: keys that stay in caches, or do not.
    EXPECT_GE(variations.size(), scores || shares ? 1u : 0u);
    for (const KernelSchedule &each : variations) {
      EXPECT_NE(each, schedule);
      expectPossible(problem, each);
    }
    // Nothing is varied that is fixed.
    const FixedParameter all = [&](const ScheduleParameter &parameter) {
      return std::optional<int64_t>(schedule.*parameter.value);
    };
    EXPECT_TRUE(variationsOf(problem, schedule, all).empty());
  }
}

TEST(ScheduleModel, SmallPagesAreAskedForTogether) {
  KernelProblem problem;
  problem.places = 8192;
  problem.requests = 64;
  const Machine &machine = machineFor("gfx950");
  for (auto [block, bytes, pages] :
       {std::tuple(32, 1, 4), std::tuple(64, 1, 2), std::tuple(128, 1, 1),
        std::tuple(32, 2, 2), std::tuple(128, 2, 1)}) {
    problem.blockSize = block;
    problem.elementBytes = bytes;
    const KernelSchedule schedule = chooseSchedule(problem, machine, kNothing);
    EXPECT_EQ(schedule.pagesInFlight, pages) << block << " x " << bytes;
    // As many bytes as of a large page.
    EXPECT_LE(schedule.pagesInFlight * schedule.prefetch * tileBytes(problem),
              problem.sliceBytes);
  }
}

TEST(ScheduleModel, WhatWavesShareFollowsFromTheTilesOfEach) {
  KernelProblem problem;
  problem.places = 8192;
  const auto fixTiles = [](int64_t tiles) -> FixedParameter {
    return [tiles](const ScheduleParameter &parameter) {
      return parameter.value == &KernelSchedule::keyTiles ? std::optional(tiles)
                                                          : std::nullopt;
    };
  };
  for (int64_t copyBytes : {0, 8192})
    for (int64_t tiles : {1, 2, 4, 8}) {
      problem.copyBytes = copyBytes;
      problem.waveLanes = copyBytes ? 32 : 64;
      const KernelSchedule schedule =
          chooseSchedule(problem, machineFor("gfx950"), fixTiles(tiles));
      EXPECT_EQ(findConflict(problem, schedule).value_or(""), "");
      EXPECT_EQ(wavesOfBlock(problem, schedule), 8 / tiles);
      EXPECT_EQ(schedule.waves % (8 / tiles), 0);
    }
}

TEST(ScheduleModel, TextIsWhatAnOptionTakes) {
  KernelProblem problem;
  KernelSchedule schedule;
  schedule.waves = 8;
  schedule.chunks = 64;
  schedule.keyTiles = 8;
  schedule.prefetch = 4;
  schedule.pagesInFlight = 1;
  EXPECT_EQ(scheduleText(problem, schedule),
            "score.waves=8,score.chunks=64,score.key_tiles=8,score.prefetch=4,"
            "score.pages_in_flight=1,score.non_temporal=0");
}
