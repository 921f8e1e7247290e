// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host's side, through the C interface: a launch that no graph holds, and a
// process that starts, with a bundle that has code and with one that has not.
#include "Cases.h"

#include "winnow.h"
#include "winnow/Runtime/Files.h"
#include "winnow/Runtime/Visible.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace winnow;
using namespace winnow::bench;
using Clock = std::chrono::steady_clock;

namespace {

double microseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

/// What the C interface said, as an error.
Error problem(const char *what) {
  return Error{fmt::format("{}: {}", what, winnow_last_error())};
}

winnow_dtype dtypeOf(runtime::DType dtype) {
  switch (dtype) {
  case runtime::DType::F8E4M3FN:
    return WINNOW_F8E4M3FN;
  case runtime::DType::F8E5M2:
    return WINNOW_F8E5M2;
  case runtime::DType::BF16:
    return WINNOW_BF16;
  case runtime::DType::F16:
    return WINNOW_F16;
  case runtime::DType::F32:
    return WINNOW_F32;
  case runtime::DType::I32:
    break;
  }
  return WINNOW_I32;
}

/// A runtime, a device, a bundle and a plan; released in that order.
struct Serving {
  winnow_runtime *runtime = nullptr;
  winnow_device *device = nullptr;
  winnow_bundle *bundle = nullptr;
  const winnow_plan *plan = nullptr;
  winnow_plan_options wanted = WINNOW_PLAN_OPTIONS_INIT;

  Status open(const GpuOptions &options, const std::string &bundlePath,
              const char *entry, const std::string &cache,
              winnow_compile_mode mode) {
    winnow_runtime_options about = WINNOW_RUNTIME_OPTIONS_INIT;
    about.cache_folder = cache.c_str();
    about.compile_mode = mode;
    if (!options.worker.empty())
      about.worker = options.worker.c_str();
    wanted.entry = entry;
    if (winnow_runtime_create(&about, &runtime))
      return problem("winnow_runtime_create");
    if (winnow_device_open(runtime, options.device.c_str(), &device))
      return problem("winnow_device_open");
    if (winnow_bundle_open_file(bundlePath.c_str(), &bundle))
      return problem("winnow_bundle_open_file");
    if (winnow_plan_get(runtime, bundle, device, &wanted, &plan))
      return problem("winnow_plan_get");
    return {};
  }
  ~Serving() {
    (void)winnow_runtime_release(runtime);
    (void)winnow_bundle_release(bundle);
    (void)winnow_device_release(device);
  }
};

/// Whether a call of the C interface went well.
Status done(winnow_status status, const char *what) {
  return status ? Status(problem(what)) : Status();
}

Status timeEager(Bench &bench, const std::string &entry, bool hasGoal) {
  const std::string group = "the host: one decode call";
  auto kernels = Kernels::load(bench.session, bench.bundle, entry);
  if (!kernels)
    return kernels.takeError();
  const int64_t requests = (*kernels)->entry().maxRequests;
  auto batch = Batch::make(bench.session, bench.pool, **kernels,
                           {requests, bench.options.small ? 1024 : 4096, 0}, 1);
  Result<runtime::TemporaryFolder> folder = runtime::TemporaryFolder::make();
  if (!batch || !folder)
    return batch ? folder.takeError() : batch.takeError();
  Serving serving;
  if (Status status =
          serving.open(bench.options, bench.options.bundle, entry.c_str(),
                       folder->path(), WINNOW_COMPILE_NEVER);
      !status)
    return status;
  std::vector<winnow_tensor> tensors;
  for (const runtime::TensorView &view : (*batch)->arguments(0))
    tensors.push_back({nullptr,
                       reinterpret_cast<void *>(view.address), // NOLINT
                       dtypeOf(view.dtype), view.rank, view.extents.data(),
                       view.strides.data()});
  uint64_t bytes = 0;
  void *workspace = nullptr, *stream = bench.session.stream();
  if (winnow_plan_workspace_bytes(serving.plan, &bytes) ||
      winnow_memory_allocate(serving.device, bytes, &workspace))
    return problem("workspace");
  winnow_launch_options launch = WINNOW_LAUNCH_OPTIONS_INIT;
  launch.stream = stream;
  launch.tensors = tensors.data();
  launch.tensor_count = tensors.size();
  launch.workspace = workspace;
  launch.workspace_bytes = bytes;
  auto once = [&] {
    return done(winnow_launch(serving.plan, &launch), "winnow_launch");
  };
  auto lookUpAndLaunch = [&]() -> Status {
    const winnow_plan *plan = nullptr;
    if (winnow_plan_get(serving.runtime, serving.bundle, serving.device,
                        &serving.wanted, &plan))
      return problem("winnow_plan_get");
    return done(winnow_launch(plan, &launch), "winnow_launch");
  };
  Session &session = bench.session;
  // What a first launch does once is not what is asked.
  Result<Spread> warmUp = session.timeCalls(once, true);
  Result<Spread> call = session.timeCalls(once, false);
  Result<Spread> both = session.timeCalls(lookUpAndLaunch, false);
  Result<Spread> finished = session.timeCalls(once, true);
  for (Result<Spread> *spread : {&warmUp, &call, &both, &finished})
    if (!*spread)
      return spread->takeError();
  void *graph = nullptr;
  if (winnow_capture_begin(serving.device, stream) ||
      winnow_launch(serving.plan, &launch) ||
      winnow_capture_end(serving.device, stream, &graph))
    return problem("capture");
  Result<Spread> replay = session.timeCalls(
      [&] {
        return done(winnow_graph_launch(serving.device, graph, stream),
                    "winnow_graph_launch");
      },
      false);
  if (!replay)
    return replay.takeError();
  (void)winnow_graph_release(serving.device, graph);
  const Status checked = (*batch)->check(2, /*onlyFirst=*/true);
  const std::string of = fmt::format("{}, {} launches", entry,
                                     (*kernels)->entry().launches.size());
  bench.add(group, "eager, us (" + of + ")", *call,
            hasGoal ? std::optional(163.0) : std::nullopt,
            hasGoal ? std::optional(6.0) : std::nullopt);
  bench.add(group, "plan look-up and eager, us (" + of + ")", *both);
  bench.add(group, "eager, call to done, us (" + of + ")", *finished,
            hasGoal ? std::optional(173.0) : std::nullopt);
  bench.add(group, "replay of a graph of it, us (" + of + ")", *replay, 2.7);
  bench.judge(checked, 4);
  (void)winnow_memory_free(serving.device, workspace);
  return {};
}

/// The entry alone, with and without its code.
Status writeFirstBundles(const Bench &bench, const std::string &entry,
                         const std::string &folder) {
  runtime::Bundle bundle = bench.bundle, one;
  one.generator = bundle.generator;
  const runtime::Entry *wanted = bundle.variants(entry).front();
  one.entries = {*wanted};
  const uint32_t source = wanted->launches.front().source;
  one.sources = {bundle.sources[source]};
  for (runtime::Launch &launch : one.entries.front().launches)
    launch.source = 0;
  for (runtime::CodeObject &code : bundle.codeObjects)
    if (code.source == source) {
      code.source = 0;
      one.codeObjects.push_back(std::move(code));
    }
  for (const char *name : {"prebuilt.winnow", "source.winnow"}) {
    Result<std::vector<std::byte>> bytes = runtime::writeBundle(one);
    if (!bytes)
      return bytes.takeError();
    if (Status status =
            runtime::writeFileAtomically(folder + "/" + name, *bytes);
        !status)
      return status;
    one.codeObjects.clear();
  }
  return {};
}

/// Microseconds from the start of a process to its first result.
Result<double> startProcess(const GpuOptions &options,
                            const std::string &bundle,
                            const std::string &cache) {
  const std::string self =
      std::filesystem::read_symlink("/proc/self/exe").string();
  std::vector<std::string> words = {self,       "--device", options.device,
                                    "--bundle", bundle,     "--first-result",
                                    cache};
  if (!options.worker.empty())
    words.insert(words.end(), {"--worker", options.worker});
  std::vector<char *> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int ends[2];
  if (::pipe(ends) != 0)
    return Error{"pipe failed"};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  pid_t child = -1;
  const auto start = Clock::now();
  const int failed = ::posix_spawn(&child, self.c_str(), &actions, nullptr,
                                   arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  char byte = 0;
  const bool hasResult = !failed && ::read(ends[0], &byte, 1) == 1;
  const double time = microseconds(Clock::now() - start);
  ::close(ends[0]);
  int status = -1;
  if (failed || ::waitpid(child, &status, 0) != child || status != 0 ||
      !hasResult)
    return Error{"a process with " + bundle + " had no result"};
  return time;
}

Status timeStart(Bench &bench, const std::string &entry) {
  Result<runtime::TemporaryFolder> folder = runtime::TemporaryFolder::make();
  if (!folder)
    return folder.takeError();
  if (Status status = writeFirstBundles(bench, entry, folder->path()); !status)
    return status;
  auto run = [&](const char *bundle, bool keepsCache, const std::string &name,
                 double anchor, std::optional<double> goal) -> Status {
    std::vector<double> samples;
    for (int i = 0; i < bench.options.childRuns + (keepsCache ? 1 : 0); ++i) {
      const std::string cache = fmt::format("{}/cache-{}-{}", folder->path(),
                                            bundle, keepsCache ? 0 : i);
      Result<double> time =
          startProcess(bench.options, folder->path() + "/" + bundle, cache);
      if (!time)
        return time.takeError();
      if (!keepsCache || i > 0)
        samples.push_back(*time * 1e-6);
    }
    bench.add("a process, from start to first result, s", name,
              spreadOf(std::move(samples)), anchor, goal);
    return {};
  };
  Status status = run("prebuilt.winnow", false, "code in the bundle", 5.1, 0.2);
  if (status)
    status = run("source.winnow", false, "compiled, empty cache", 50.5, 1.5);
  if (status)
    status = run("source.winnow", true, "code in the cache folder", 5.1, {});
  return status;
}

/// One request of four pages; keys are alike within a page, and larger on later
/// pages.
Status decodeOnce(Serving &serving) {
  constexpr int64_t pages = 4;
  winnow_plan_info about = WINNOW_PLAN_INFO_INIT;
  winnow_argument_info query = WINNOW_ARGUMENT_INFO_INIT;
  if (winnow_plan_get_info(serving.plan, &about) ||
      winnow_plan_argument(serving.plan, 0, &query))
    return problem("winnow_plan_get_info");
  const int64_t width = (about.max_seq_len + kBlockSize - 1) / kBlockSize;
  std::vector<uint16_t> wide(pages * kBlockSize * kHeadDim);
  const bool isBf16 = query.dtype == WINNOW_BF16;
  for (size_t i = 0; i < wide.size(); ++i) {
    const size_t page = i / (kBlockSize * kHeadDim);
    // 1.0 and more in steps of an eighth; fp8 e4m3 has the same steps.
    wide[i] = isBf16 ? uint16_t(0x3f80 + 16 * page)
                     : uint16_t((0x38 + page) * 0x0101);
  }
  std::vector<int32_t> table(size_t(width), -1), kept(kKeep), out(128);
  const std::vector<int32_t> placed = {2, 0, 3, 1};
  std::copy(placed.begin(), placed.end(), table.begin());
  const int32_t length = pages * kBlockSize;
  int32_t context = 0;
  const int64_t q[] = {1, 1, kHeadDim}, k[] = {pages, kBlockSize, kHeadDim},
                t[] = {1, width}, s[] = {1, 1, kKeep}, p[] = {1, 128},
                n[] = {1};
  const int64_t bytesOfElement = isBf16 ? 2 : 1;
  std::vector<winnow_tensor> tensors;
  auto add = [&](const char *name, void *data, int64_t bytes,
                 winnow_dtype dtype, int rank, const int64_t *shape) {
    void *memory = nullptr;
    if (winnow_memory_allocate(serving.device, uint64_t(bytes), &memory) ||
        winnow_memory_copy(serving.device, memory, data, uint64_t(bytes),
                           WINNOW_TO_DEVICE, nullptr))
      return false;
    tensors.push_back({name, memory, dtype, rank, shape, nullptr});
    return true;
  };
  int32_t lengths = length;
  void *workspace = nullptr;
  winnow_launch_options launch = WINNOW_LAUNCH_OPTIONS_INIT;
  if (!add("query", wide.data(), kHeadDim * bytesOfElement, query.dtype, 3,
           q) ||
      !add("keys", wide.data(), pages * kBlockSize * kHeadDim * bytesOfElement,
           query.dtype, 3, k) ||
      !add("index_table", table.data(), width * 4, WINNOW_I32, 2, t) ||
      !add("attn_table", table.data(), width * 4, WINNOW_I32, 2, t) ||
      !add("seq_lens", &lengths, 4, WINNOW_I32, 1, n) ||
      !add("selection", kept.data(), kKeep * 4, WINNOW_I32, 3, s) ||
      !add("pages", out.data(), 128 * 4, WINNOW_I32, 2, p) ||
      !add("ctx", &context, 4, WINNOW_I32, 1, n) ||
      winnow_memory_allocate(serving.device, about.workspace_bytes, &workspace))
    return problem("memory");
  launch.tensors = tensors.data();
  launch.tensor_count = tensors.size();
  launch.workspace = workspace;
  launch.workspace_bytes = about.workspace_bytes;
  if (winnow_launch(serving.plan, &launch) ||
      winnow_memory_copy(serving.device, kept.data(), tensors[5].data,
                         kKeep * 4, WINNOW_FROM_DEVICE, nullptr))
    return problem("winnow_launch");
  // The last block is kept and first; then by the pages' order in the cache.
  const int32_t wanted[] = {3, 2, 0, 1, -1};
  for (int i = 0; i < 5; ++i)
    if (kept[size_t(i)] != wanted[i])
      return Error{fmt::format("place {} is block {}, wanted {}", i,
                               kept[size_t(i)], wanted[i])};
  return {};
}

} // namespace

int bench::runFirstResult(const GpuOptions &options, const std::string &cache) {
  Serving serving;
  Status status = serving.open(options, options.bundle, nullptr, cache,
                               WINNOW_COMPILE_AUTO);
  if (status)
    status = decodeOnce(serving);
  if (!status) {
    fmt::print(stderr, "winnow-gpu-bench: error: {}\n",
               runtime::visibleLines(status.message()));
    return 1;
  }
  return ::write(STDOUT_FILENO, "r", 1) == 1 ? 0 : 1;
}

Status bench::timeHost(Bench &bench) {
  Status status = timeEager(bench, "decode_bf16_b1", true);
  if (status)
    status = timeEager(bench, "decode_bf16_b1_two", false);
  if (status)
    status = timeStart(bench, "decode_bf16_b1");
  return status;
}
