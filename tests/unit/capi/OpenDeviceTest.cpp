// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices by name: which library is looked for, what is said where there is
// none, and what a device says of itself.
#include "Support.h"

#include <gmock/gmock.h>

using namespace winnow;
using namespace winnow::runtime;
using namespace winnow::test;
using testing::AllOf;
using testing::HasSubstr;

namespace {

class OpenDeviceTest : public HipSimTest {};

TEST_F(OpenDeviceTest, SaysWhatItLookedForWhereThereIsNoHip) {
  const std::vector<std::string> absent = {"libamdhip64-absent.so.7",
                                           "/nowhere/libamdhip64.so.6"};
  auto opened = openHipDevice(absent, 0, "hip:0");
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.message(),
              AllOf(HasSubstr("device 'hip:0': no HIP library can be loaded; "
                              "looked for libamdhip64-absent.so.7 ("),
                    HasSubstr("/nowhere/libamdhip64.so.6 ("),
                    HasSubstr("cannot open shared object file")));
}

TEST_F(OpenDeviceTest, RefusesALibraryThatIsNotHip) {
  auto opened = openHipDevice({"libm.so.6"}, 0, "hip:0");
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.message(), HasSubstr("it has no hipGetDeviceCount"));
}

TEST_F(OpenDeviceTest, ReadsThePropertiesOfRocm5) {
  // Which has no hipGetDevicePropertiesR0600, and another layout.
  auto opened = openHipDevice({WINNOW_HIP_SIM_ROCM5}, 0, "hip:0");
  ASSERT_TRUE(opened) << opened.message();
  const DeviceInfo &info = (*opened)->info();
  EXPECT_EQ(info.arch, "gfx950:sramecc+:xnack-");
  EXPECT_EQ(info.waveSize, 64);
  EXPECT_EQ(info.computeUnits, 256);
  EXPECT_EQ(info.memoryBytes, uint64_t(64) << 30);
}

TEST_F(OpenDeviceTest, AutoFallsToWhatIsThereWithTheReason) {
  auto opened =
      openDevice("auto", {"/nowhere/libamdhip64.so", kHipSim, kAbsent});
  ASSERT_TRUE(opened) << opened.message();
  EXPECT_EQ((*opened)->info().name, "sim:gfx950");
  ASSERT_EQ((*opened)->info().passedOver.size(), 2u);
  EXPECT_THAT((*opened)->info().passedOver[0],
              HasSubstr("/nowhere/libamdhip64.so"));
  EXPECT_THAT((*opened)->info().passedOver[1], HasSubstr(kAbsent));

  opened = openDevice("auto", {kHipSim, kHipSim, kAbsent});
  ASSERT_TRUE(opened);
  EXPECT_EQ((*opened)->info().name, "hip:0");

  opened = openDevice("auto",
                      {"/nowhere/libamdhip64.so", "/nowhere/sim.so", kAbsent});
  ASSERT_TRUE(opened);
  EXPECT_EQ((*opened)->info().name, "host");
  EXPECT_EQ((*opened)->info().passedOver.size(), 3u);
}

TEST_F(OpenDeviceTest, KnowsDevicesByNumber) {
  hooks().setDevices(2, "gfx942:sramecc+:xnack-");
  auto second = openDevice("hip:1", {kHipSim, kHipSim, kAbsent});
  ASSERT_TRUE(second) << second.message();
  EXPECT_EQ((*second)->info().arch, "gfx942:sramecc+:xnack-");
  auto third = openDevice("hip:2", {kHipSim, kHipSim, kAbsent});
  ASSERT_FALSE(third);
  EXPECT_THAT(third.message(), HasSubstr("has 2 devices, numbered from 0"));
  hooks().setDevices(0, nullptr);
  auto none = openDevice("hip:0", {kHipSim, kHipSim, kAbsent});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.message(), HasSubstr("hipErrorNoDevice (100"));
}

TEST_F(OpenDeviceTest, UsesTheDeviceAskedForAndPutsTheThreadsBack) {
  hooks().setDevices(2, nullptr);
  auto second = openDevice("hip:1", {kHipSim, kHipSim, kAbsent});
  ASSERT_TRUE(second);
  auto memory = (*second)->allocate(64);
  ASSERT_TRUE(memory);
  EXPECT_THAT(hooks().callText(),
              HasSubstr("hipSetDevice device=1 -> 0\nhipMalloc bytes=64 -> "
                        "0\nhipSetDevice device=0 -> 0\n"));
  EXPECT_TRUE((*second)->free(*memory));
}

TEST_F(OpenDeviceTest, RefusesOtherNames) {
  for (const char *name :
       {"", "hip", "hip:", "hip:x", "hip:1x", "hip:-1", "hip:99999999999",
        "cuda", "cuda:-1", "cuda0", "sim:gfx90a"}) {
    auto opened = openDevice(name, {kHipSim, kHipSim, kAbsent});
    ASSERT_FALSE(opened) << name;
    EXPECT_THAT(opened.message(),
                HasSubstr("wanted hip:N, cuda:N, sim:gfx950"));
    EXPECT_EQ(checkDeviceName(name).message(), opened.message());
  }
  EXPECT_EQ(checkDeviceName("").message(),
            "the device's name is empty; wanted hip:N, cuda:N, sim:gfx950, "
            "host or auto, where N counts from 0: hip:0");
  for (const char *name : {"hip:0", "cuda:12", "sim:gfx950", "host", "auto"})
    EXPECT_TRUE(checkDeviceName(name)) << name;
}

TEST(RunsOn, ComparesProcessorsAndFeatures) {
  EXPECT_TRUE(runsOn("gfx950", "gfx950:sramecc+:xnack-"));
  EXPECT_TRUE(runsOn("gfx950:xnack-", "gfx950:sramecc+:xnack-"));
  EXPECT_FALSE(runsOn("gfx950:xnack+", "gfx950:sramecc+:xnack-"));
  EXPECT_FALSE(runsOn("gfx950:sramecc+", "gfx950"));
  EXPECT_FALSE(runsOn("gfx90a", "gfx950:sramecc+:xnack-"));
}

} // namespace
