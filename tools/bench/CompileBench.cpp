// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The decode program's code: compiled by each back end in a worker that starts
// cold, and found in a warm cache.
#include "winnow/Codegen/Compile.h"
#include "winnow/Runtime/Bundle.h"
#include "winnow/Runtime/Files.h"
#include "winnow/Runtime/KernelCache.h"

#include <benchmark/benchmark.h>

#include <optional>
#include <string>

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace winnow;
using namespace winnow::runtime;

namespace {

Result<Bundle> decodeProgram() {
  Result<std::vector<std::byte>> text = readFile(WINNOW_EXAMPLE, 1 << 20);
  if (!text)
    return text.takeError();
  return compileDescription(
      {reinterpret_cast<const char *>(text->data()), text->size()},
      WINNOW_EXAMPLE);
}

WorkerOptions workers() {
  WorkerOptions options;
  options.worker = WINNOW_RTC_WORKER;
  return options;
}

/// Milliseconds that the cores worked for the processes that this one started
/// and that have ended: on a busy machine, what the wall clock would show on an
/// idle one, or a little more.
double workedForChildren() {
  rusage usage = {};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  auto milliseconds = [](const timeval &time) {
    return static_cast<double>(time.tv_sec) * 1e3 +
           static_cast<double>(time.tv_usec) / 1e3;
  };
  return milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
}

/// Adds a counter with that time for each iteration of its life.
class CountWork {
public:
  explicit CountWork(benchmark::State &state)
      : state(state), before(workedForChildren()) {}
  ~CountWork() {
    state.counters["worked_ms"] = benchmark::Counter(
        workedForChildren() - before, benchmark::Counter::kAvgIterations);
  }
  CountWork(const CountWork &) = delete;
  CountWork &operator=(const CountWork &) = delete;

private:
  benchmark::State &state;
  const double before;
};

/// As in a process that has nothing: the compiler is asked who it is, and then
/// to compile.
void compileCold(benchmark::State &state,
                 std::unique_ptr<KernelCompiler> (*make)(const WorkerOptions &),
                 const WorkerOptions &options) {
  Result<Bundle> bundle = decodeProgram();
  if (!bundle)
    return state.SkipWithError(bundle.message().c_str());
  const CountWork work(state);
  for (auto _ : state) {
    std::unique_ptr<KernelCompiler> compiler = make(options);
    Result<std::string> identity = compiler->identity();
    Result<CompiledKernel> kernel =
        compiler->compile({&bundle->sources.front(), "gfx950"});
    if (!identity || !kernel)
      return state.SkipWithError(
          (identity ? kernel.message() : identity.message()).c_str());
  }
}

void compileColdWithClang(benchmark::State &state) {
  compileCold(state, makeClangCompiler, workers());
}
BENCHMARK(compileColdWithClang)->Unit(benchmark::kMillisecond)->UseRealTime();

/// By a worker that was started ahead and has loaded its libraries.
void compileByAWaitingWorker(benchmark::State &state) {
  Result<Bundle> bundle = decodeProgram();
  if (!bundle)
    return state.SkipWithError(bundle.message().c_str());
  std::unique_ptr<KernelCompiler> compiler = makeClangCompiler(workers());
  for (auto _ : state) {
    state.PauseTiming();
    compiler->prepare();
    ::usleep(200000);
    state.ResumeTiming();
    if (!compiler->compile({&bundle->sources.front(), "gfx950"}))
      return state.SkipWithError("the compilation failed");
  }
}
BENCHMARK(compileByAWaitingWorker)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void compileColdWithHiprtc(benchmark::State &state) {
  WorkerOptions options = workers();
  if (Status status = useSystemTree(options, WINNOW_HIPRTC_ROOT); !status)
    return state.SkipWithError("tools/hiprtc has not unpacked hipRTC 6.4");
  compileCold(state, makeHiprtcCompiler, options);
}
BENCHMARK(compileColdWithHiprtc)->Unit(benchmark::kMillisecond)->UseRealTime();

/// A cache folder with the decode program's code, and the program as a bundle.
struct WarmFolder {
  WarmFolder() {
    Result<TemporaryFolder> made = TemporaryFolder::make();
    Result<Bundle> program = decodeProgram();
    if (!made || !program) {
      problem = made ? program.message() : made.message();
      return;
    }
    folder.emplace(std::move(*made));
    bundle = std::move(*program);
    Result<std::vector<std::byte>> bytes = writeBundle(bundle);
    Status written = bytes ? writeFileAtomically(path("decode.winnow"), *bytes)
                           : Status(bytes.takeError());
    if (!written) {
      problem = written.message();
      return;
    }
    options.folder = path("cache");
    WorkerOptions worker = workers();
    worker.identityFolder = options.folder;
    compiler = makeClangCompiler(worker);
    Result<CachedCode> code = KernelCache(options).codeFor(
        bundle.sources.front(), "gfx950", *compiler);
    if (!code)
      problem = code.message();
  }
  std::string path(const char *name) const {
    return folder->path() + "/" + name;
  }

  std::optional<TemporaryFolder> folder;
  Bundle bundle;
  CacheOptions options;
  std::unique_ptr<KernelCompiler> compiler;
  std::string problem;
};

/// Start and end of the process included.
void firstCodeOfAFreshProcess(benchmark::State &state) {
  const WarmFolder warm;
  if (!warm.problem.empty())
    return state.SkipWithError(warm.problem.c_str());
  const std::string bundle = warm.path("decode.winnow");
  const std::string program = WINNOW_FIRST_CODE, worker = WINNOW_RTC_WORKER;
  const char *const arguments[] = {program.c_str(), bundle.c_str(),
                                   warm.options.folder.c_str(), worker.c_str(),
                                   nullptr};
  const CountWork work(state);
  for (auto _ : state) {
    pid_t child = -1;
    int status = -1;
    if (::posix_spawn(&child, program.c_str(), nullptr, nullptr,
                      const_cast<char **>(arguments), environ) != 0 ||
        ::waitpid(child, &status, 0) != child || status != 0)
      return state.SkipWithError("the process did not find the code");
  }
}
BENCHMARK(firstCodeOfAFreshProcess)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void codeFromDisk(benchmark::State &state) {
  WarmFolder warm;
  if (!warm.problem.empty())
    return state.SkipWithError(warm.problem.c_str());
  for (auto _ : state) {
    Result<CachedCode> code =
        KernelCache(warm.options)
            .codeFor(warm.bundle.sources.front(), "gfx950", *warm.compiler);
    if (!code || code->origin != CodeOrigin::Disk)
      return state.SkipWithError("the code is not on the disk");
  }
}
BENCHMARK(codeFromDisk)->Unit(benchmark::kMicrosecond)->UseRealTime();

void codeFromMemory(benchmark::State &state) {
  WarmFolder warm;
  if (!warm.problem.empty())
    return state.SkipWithError(warm.problem.c_str());
  KernelCache cache(warm.options);
  for (auto _ : state)
    if (!cache.codeFor(warm.bundle.sources.front(), "gfx950", *warm.compiler))
      return state.SkipWithError("no code");
}
BENCHMARK(codeFromMemory)->Unit(benchmark::kMicrosecond)->UseRealTime();

} // namespace
