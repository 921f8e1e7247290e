// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The simulated HIP library in tests: its hooks, and a kernel to run on it.
#ifndef WINNOW_TESTS_UNIT_CAPI_SUPPORT_H
#define WINNOW_TESTS_UNIT_CAPI_SUPPORT_H

#include "winnow/HipSim/Hooks.h"
#include "winnow/Runtime/DeviceApi.h"
#include "winnow/Runtime/Manifest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace winnow::test {

/// The library under test stands in for amdhip64.
inline const std::string kHipSim = WINNOW_HIP_SIM;
/// And this one for libcuda.so.1.
inline const std::string kFakeCuda = WINNOW_FAKE_CUDA;
/// A file that is not there: what a test looks for on a machine that has it.
inline const std::string kAbsent = "/nowhere/libabsent.so";

struct Hooks {
  decltype(&winnow_hip_sim_fail) fail;
  decltype(&winnow_hip_sim_count) count;
  decltype(&winnow_hip_sim_calls) calls;
  decltype(&winnow_hip_sim_drop_launches) dropLaunches;
  decltype(&winnow_hip_sim_set_devices) setDevices;
  decltype(&winnow_hip_sim_fault) fault;
  decltype(&winnow_hip_sim_reset) reset;
  /// Any other function of the library.
  void *symbol(const char *name) const;
  std::string callText() const;

  void *library = nullptr;
};
/// Of the simulated HIP library, or of the CUDA library that is made of it.
const Hooks &hooks(const std::string &library = kHipSim);

/// A test that starts and leaves the library without hooks set.
class HipSimTest : public testing::Test {
protected:
  void SetUp() override { hooks().reset(); }
  void TearDown() override { hooks().reset(); }
  std::shared_ptr<runtime::Device> device(const char *name = "sim:gfx950");
};

/// Adds `step` to `count` ints: add(int *data, int64 count, int64 step), 64
/// work items a workgroup. `crash` writes to address 8.
const std::vector<std::byte> &addKernel(const std::string &arch = "gfx950");

/// `values` raised by that kernel: an entry of a lowering of that name. Which
/// one ran shows in nothing but the plan.
runtime::Entry raiseEntry(const std::string &lowering, uint32_t source);

} // namespace winnow::test

#endif // WINNOW_TESTS_UNIT_CAPI_SUPPORT_H
