// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tests ask of the simulated HIP library besides HIP.
#include "winnow/HipSim/Hooks.h"
#include "State.h"

#include <algorithm>
#include <cstring>

using namespace winnow;
using namespace winnow::hipsim;

namespace {

size_t copyOut(const std::string &from, char *text, size_t bytes) {
  if (text && bytes > 0) {
    const size_t count = std::min(from.size(), bytes - 1);
    std::memcpy(text, from.data(), count);
    text[count] = 0;
  }
  return from.size() + 1;
}

} // namespace

WINNOW_HIP_EXPORT void winnow_hip_sim_fail(const char *function, uint64_t nth,
                                           int code) {
  State &all = state();
  std::lock_guard<std::mutex> guard(all.lock);
  if (nth == 0)
    all.failures.erase(function);
  else
    all.failures[function] = {nth, code};
}

WINNOW_HIP_EXPORT uint64_t winnow_hip_sim_count(const char *function) {
  State &all = state();
  std::lock_guard<std::mutex> guard(all.lock);
  uint64_t count = 0;
  for (const auto &[name, calls] : all.counts)
    if (!function || name == function)
      count += calls;
  return count;
}

WINNOW_HIP_EXPORT size_t winnow_hip_sim_calls(char *text, size_t bytes) {
  State &all = state();
  std::lock_guard<std::mutex> guard(all.lock);
  std::string lines;
  for (const std::string &line : all.lines)
    lines += line + "\n";
  return copyOut(lines, text, bytes);
}

WINNOW_HIP_EXPORT void winnow_hip_sim_drop_launches(int on) {
  dropLaunches = on != 0;
}

WINNOW_HIP_EXPORT void winnow_hip_sim_set_devices(int count, const char *arch) {
  State &all = state();
  std::lock_guard<std::mutex> guard(all.lock);
  all.deviceCount = std::clamp(count, 0, kMostDevices);
  all.arch = arch ? arch : kArch;
}

WINNOW_HIP_EXPORT size_t winnow_hip_sim_fault(char *text, size_t bytes) {
  State &all = state();
  std::lock_guard<std::mutex> guard(all.lock);
  return copyOut(all.fault, text, bytes);
}

WINNOW_HIP_EXPORT void winnow_hip_sim_reset(void) {
  State &all = state();
  std::lock_guard<std::mutex> guard(all.lock);
  all.failures.clear();
  all.counts.clear();
  all.lines.clear();
  all.sticky = hip::Success;
  all.fault.clear();
  all.deviceCount = 1;
  all.arch = kArch;
  dropLaunches = false;
}
