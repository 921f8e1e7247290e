// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the runtime costs a server: a plan that is looked up, a launch above the
// driver's call, both in many threads, and the library's size. The driver is
// the simulated HIP library with its launches dropped, so all that is timed is
// ours.
#include "winnow.h"
#include "winnow/HipSim/Hooks.h"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <string>
#include <vector>

namespace {

/// Made once, never released: benchmarks share it.
struct Serving {
  winnow_runtime *runtime = nullptr;
  winnow_bundle *bundle = nullptr;
  winnow_device *device = nullptr;
  const winnow_plan *plan = nullptr;
  winnow_plan_options wanted = WINNOW_PLAN_OPTIONS_INIT;
  std::string problem;

  Serving() {
    winnow_runtime_options options = WINNOW_RUNTIME_OPTIONS_INIT;
    options.sim_library = WINNOW_HIP_SIM;
    wanted.entry = "m3_decode";
    wanted.max_requests = 64;
    if (winnow_runtime_create(&options, &runtime) ||
        winnow_bundle_open_file(WINNOW_DECODE_BUNDLE, &bundle) ||
        winnow_device_open(runtime, "sim:gfx950", &device) ||
        winnow_plan_get(runtime, bundle, device, &wanted, &plan)) {
      problem = winnow_last_error();
      return;
    }
    void *library = dlopen(WINNOW_HIP_SIM, RTLD_NOW | RTLD_LOCAL);
    auto drop = reinterpret_cast<decltype(&winnow_hip_sim_drop_launches)>(
        dlsym(library, "winnow_hip_sim_drop_launches"));
    drop(1);
  }
};

Serving &serving() {
  static Serving shared;
  return shared;
}

/// A good call of 64 requests at made-up addresses; nothing reads them.
struct Call {
  static constexpr int64_t kRequests = 64;
  int64_t q[3] = {kRequests, 1, 128}, keys[3] = {4096, 128, 128},
          table[2] = {kRequests, 8192}, kept[3] = {1, kRequests, 16},
          pages[2] = {kRequests, 128};
  int64_t tableStrides[2] = {8192, 1};
  std::vector<winnow_tensor> tensors;
  winnow_launch_options options = WINNOW_LAUNCH_OPTIONS_INIT;

  explicit Call(bool named) {
    auto add = [&](const char *name, winnow_dtype dtype, int32_t rank,
                   const int64_t *shape, const int64_t *strides = nullptr) {
      tensors.push_back(
          {named ? name : nullptr,
           // NOLINTNEXTLINE(performance-no-int-to-ptr)
           reinterpret_cast<void *>(0x7e1000000000 +
                                    (tensors.size() + 1) * 0x10000000),
           dtype, rank, shape, strides});
    };
    add("query", WINNOW_F8E4M3FN, 3, q);
    add("keys", WINNOW_F8E4M3FN, 3, keys);
    add("index_table", WINNOW_I32, 2, table, tableStrides);
    add("attn_table", WINNOW_I32, 2, table, tableStrides);
    add("seq_lens", WINNOW_I32, 1, table);
    add("selection", WINNOW_I32, 3, kept);
    add("pages", WINNOW_I32, 2, pages);
    add("ctx", WINNOW_I32, 1, table);
    options.tensors = tensors.data();
    options.tensor_count = tensors.size();
    options.workspace = reinterpret_cast<void *>(0x7f0000000000);
    options.workspace_bytes = uint64_t(1) << 30;
  }
};

void planLookUp(benchmark::State &state) {
  Serving &all = serving();
  if (!all.problem.empty())
    return state.SkipWithError(all.problem.c_str());
  const winnow_plan *plan = nullptr;
  for (auto _ : state) {
    if (winnow_plan_get(all.runtime, all.bundle, all.device, &all.wanted,
                        &plan))
      return state.SkipWithError(winnow_last_error());
    benchmark::DoNotOptimize(plan);
  }
}

void launch(benchmark::State &state, bool named) {
  Serving &all = serving();
  if (!all.problem.empty())
    return state.SkipWithError(all.problem.c_str());
  const Call call(named);
  for (auto _ : state)
    if (winnow_launch(all.plan, &call.options))
      return state.SkipWithError(winnow_last_error());
}

void planAndLaunch(benchmark::State &state) {
  Serving &all = serving();
  if (!all.problem.empty())
    return state.SkipWithError(all.problem.c_str());
  const Call call(/*named=*/true);
  const winnow_plan *plan = nullptr;
  for (auto _ : state)
    if (winnow_plan_get(all.runtime, all.bundle, all.device, &all.wanted,
                        &plan) ||
        winnow_launch(plan, &call.options))
      return state.SkipWithError(winnow_last_error());
  state.counters["calls"] = benchmark::Counter(double(state.iterations()),
                                               benchmark::Counter::kIsRate);
}

/// A runtime, a device, a bundle and the first plan, its code in the bundle.
void firstPlan(benchmark::State &state) {
  for (auto _ : state) {
    Serving own;
    if (!own.problem.empty())
      return state.SkipWithError(own.problem.c_str());
    winnow_runtime_release(own.runtime);
    winnow_bundle_release(own.bundle);
    winnow_device_release(own.device);
  }
}

void librarySize(benchmark::State &state) {
  for (auto _ : state)
    benchmark::ClobberMemory(); // a size takes no time
  std::error_code error;
  const std::string stripped = "winnow_bench_stripped.so";
  const std::string command =
      "strip -o " + stripped + " " + std::string(WINNOW_SHARED);
  if (std::system(command.c_str()) != 0) // NOLINT: names of our own
    return state.SkipWithError("strip failed");
  state.counters["stripped_bytes"] =
      double(std::filesystem::file_size(stripped, error));
  std::filesystem::remove(stripped, error);
}

} // namespace

BENCHMARK(planLookUp);
BENCHMARK_CAPTURE(launch, named, true);
BENCHMARK_CAPTURE(launch, positional, false);
BENCHMARK(planAndLaunch)->ThreadRange(1, 8)->UseRealTime();
BENCHMARK(firstPlan)->Unit(benchmark::kMillisecond);
BENCHMARK(librarySize)->Iterations(1);
