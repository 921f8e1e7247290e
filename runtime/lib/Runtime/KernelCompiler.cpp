// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compile back ends as worker processes: one program each, a bounded number at
// once.
#include "winnow/Runtime/KernelCompiler.h"
#include "CodeObjectInfo.h"
#include "IdentityMemo.h"
#include "Worker.h"

#include <algorithm>
#include <climits>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>

#include <dlfcn.h>
#include <unistd.h>

using namespace winnow;
using namespace winnow::runtime;
using Clock = std::chrono::steady_clock;

namespace {

/// Letters, digits and a few signs: names become words of command lines.
bool plain(const std::string &text, const char *extra) {
  return !text.empty() && text.size() <= 128 && text.front() != '.' &&
         text.front() != '-' &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  (c >= '0' && c <= '9') || std::strchr(extra, c);
         });
}

std::string folderOf(const std::string &file) {
  const size_t slash = file.rfind('/');
  return slash == std::string::npos ? "." : file.substr(0, slash);
}

/// The folder of the running program, and of the library with this code.
std::vector<std::string> ownFolders() {
  std::vector<std::string> folders;
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path - 1);
  if (length > 0)
    folders.push_back(folderOf(std::string(path, static_cast<size_t>(length))));
  Dl_info info;
  if (::dladdr(reinterpret_cast<void *>(&findWorker), &info) &&
      info.dli_fname && ::realpath(info.dli_fname, path))
    folders.push_back(folderOf(path));
  return folders;
}

class WorkerCompiler : public KernelCompiler {
public:
  WorkerCompiler(std::string backend, const WorkerOptions &options)
      : backend(std::move(backend)), options(options) {
    slots = options.maxWorkers != 0
                ? options.maxWorkers
                : std::clamp(std::thread::hardware_concurrency() / 2, 1u, 8u);
  }

  Result<std::string> identity() override {
    std::unique_lock lock(identityMutex);
    if (known)
      return *known;
    Result<WorkerCommand> command = commandLine();
    if (!command)
      return command.takeError(); // it may be installed later
    const IdentityMemo memo = memoFor(*command);
    std::optional<std::string> recalled = memo.recall();
    known.emplace(recalled ? Result<std::string>(*recalled)
                           : ask(*command, memo));
    return *known;
  }

  void forgetIdentity() override {
    std::lock_guard lock(identityMutex);
    known.reset();
    if (Result<WorkerCommand> command = commandLine())
      memoFor(*command).forget();
  }

  void prepare() override {
    {
      std::lock_guard lock(mutex);
      if (spare)
        return;
    }
    Result<WorkerCommand> command = commandLine();
    if (!command)
      return; // who compiles is told
    Result<std::unique_ptr<Worker>> worker = Worker::start(*command);
    std::unique_ptr<Worker> late;
    std::lock_guard lock(mutex);
    if (worker)
      (spare ? late : spare) = std::move(*worker);
  }

  void release() override {
    std::unique_ptr<Worker> idle;
    std::lock_guard lock(mutex);
    idle.swap(spare);
  }

  Result<CompiledKernel> compile(const CompileRequest &request) override {
    const Source &source = *request.source;
    if (!plain(source.name, "_-."))
      return Error{"source name '" + source.name +
                   "': wanted a plain file name of letters, digits, '_-.'"};
    if (!plain(request.arch, "_-+:"))
      return Error{"architecture '" + request.arch +
                   "': wanted one like gfx950"};
    const std::string what =
        describe() + " on " + source.name + " for " + request.arch + " ";
    if (isCudaTarget(request.arch) != (backend == "nvrtc"))
      return Error{what + "was not started: it compiles for " +
                   (backend == "nvrtc" ? "NVIDIA's targets, such as sm_90"
                                       : "AMD's targets, such as gfx950")};
    Slot slot(*this);
    const auto start = Clock::now();
    Result<std::unique_ptr<Worker>> worker = takeWorker();
    if (!worker)
      return worker.takeError();
    Result<worker::Message> answer = (*worker)->ask(
        {worker::kCompile, {source.name, request.arch, source.text}},
        options.timeout);
    if (!answer)
      return Error{what + answer.message()};
    if (answer->kind == worker::kFailed && answer->fields.size() == 1)
      return Error{what + "failed:\n" + answer->fields[0]};
    if (answer->kind != worker::kCompiled || answer->fields.size() != 3)
      return Error{what + "answered with a message of kind " +
                   std::to_string(answer->kind)};
    const std::string &code = answer->fields[2];
    const auto bytes = std::as_bytes(std::span(code.data(), code.size()));
    if (Result<CodeObjectInfo> info = readCodeObject(bytes, request.arch);
        !info)
      return Error{what + "left no usable code object: " + info.message()};
    CompiledKernel kernel;
    kernel.code.assign(bytes.begin(), bytes.end());
    kernel.log = std::move(answer->fields[1]);
    kernel.from = std::move(answer->fields[0]);
    kernel.time = std::chrono::duration_cast<std::chrono::microseconds>(
        Clock::now() - start);
    return kernel;
  }

private:
  /// One of the workers that may run at once.
  class Slot {
  public:
    explicit Slot(WorkerCompiler &owner) : owner(owner) {
      std::unique_lock lock(owner.mutex);
      owner.freed.wait(lock, [&] { return owner.slots > 0; });
      --owner.slots;
    }
    ~Slot() {
      {
        std::lock_guard lock(owner.mutex);
        ++owner.slots;
      }
      owner.freed.notify_one();
    }
    Slot(const Slot &) = delete;
    Slot &operator=(const Slot &) = delete;

  private:
    WorkerCompiler &owner;
  };

  std::string describe() const { return "compile worker (" + backend + ")"; }

  Result<WorkerCommand> commandLine() const {
    std::string program = options.worker;
    if (program.empty()) {
      Result<std::string> found = findWorker();
      if (!found)
        return found.takeError();
      program = *found;
    }
    std::string folders;
    for (const std::string &folder : options.libraryPath)
      folders += (folders.empty() ? "" : ":") + folder;
    WorkerCommand command;
    if (!options.loader.empty()) {
      command.arguments.push_back(options.loader);
      if (!folders.empty())
        command.arguments.insert(command.arguments.end(),
                                 {"--library-path", folders});
    }
    command.arguments.insert(
        command.arguments.end(),
        {program, "--backend=" + backend,
         "--memory=" + std::to_string(options.maxMemoryBytes),
         // Twice: it is the last resort, should this process be stopped.
         "--timeout=" + std::to_string(2 * options.timeout.count() + 60000)});
    if (backend == "hiprtc" && !options.hiprtc.empty())
      command.arguments.push_back("--library=" + options.hiprtc);
    if (backend == "nvrtc" && !options.nvrtc.empty())
      command.arguments.push_back("--library=" + options.nvrtc);
    // Nothing of the environment reaches the code, but for where its libraries
    // are. comgr's cache would answer in the compiler's place.
    command.environment = {"LC_ALL=C", "PATH=/usr/bin:/bin",
                           "AMD_COMGR_CACHE=0"};
    if (backend == "nvrtc")
      for (const char *name : {"CUDA_PATH", "CUDA_HOME"})
        if (const char *root = std::getenv(name); root && *root)
          command.environment.push_back(std::string(name) + "=" + root);
    const char *inherited = std::getenv("LD_LIBRARY_PATH");
    if (options.loader.empty()) {
      if (inherited && *inherited)
        folders += (folders.empty() ? "" : ":") + std::string(inherited);
      if (!folders.empty())
        command.environment.push_back("LD_LIBRARY_PATH=" + folders);
    }
    return command;
  }

  IdentityMemo memoFor(const WorkerCommand &command) const {
    std::vector<std::string> words = command.arguments;
    words.insert(words.end(), command.environment.begin(),
                 command.environment.end());
    return IdentityMemo(options.identityFolder, words);
  }

  Result<std::string> ask(const WorkerCommand &command,
                          const IdentityMemo &memo) {
    Result<std::unique_ptr<Worker>> worker = takeWorker();
    if (!worker)
      return worker.takeError();
    Result<worker::Message> answer =
        (*worker)->ask({worker::kIdentify, {}}, options.timeout);
    if (!answer)
      return Error{describe() + " " + answer.message()};
    if (answer->kind == worker::kFailed && answer->fields.size() == 1)
      return Error{describe() + ": " + answer->fields[0]};
    if (answer->kind != worker::kIdentity || answer->fields.empty())
      return Error{describe() + " answered with a message of kind " +
                   std::to_string(answer->kind)};
    std::vector<std::string> files(answer->fields.begin() + 1,
                                   answer->fields.end());
    // The worker itself, and what says where libraries are found.
    for (const std::string &word : command.arguments)
      if (word.starts_with('/') && ::access(word.c_str(), X_OK) == 0 &&
          word.find(':') == std::string::npos)
        files.push_back(word);
    if (options.loader.empty())
      files.push_back("/etc/ld.so.cache");
    memo.remember(answer->fields[0], files);
    // Most who ask compile next.
    std::lock_guard lock(mutex);
    if (!spare)
      spare = std::move(*worker);
    return answer->fields[0];
  }

  Result<std::unique_ptr<Worker>> takeWorker() {
    std::unique_ptr<Worker> ready;
    {
      std::lock_guard lock(mutex);
      ready.swap(spare);
    }
    if (ready && ready->waiting())
      return ready;
    Result<WorkerCommand> command = commandLine();
    if (!command)
      return command.takeError();
    return Worker::start(*command);
  }

  const std::string backend;
  const WorkerOptions options;
  std::mutex mutex; ///< of the next three
  std::condition_variable freed;
  unsigned slots = 1;
  std::unique_ptr<Worker> spare;
  std::mutex identityMutex;
  std::optional<Result<std::string>> known;
};

} // namespace

KernelCompiler::~KernelCompiler() = default;

namespace {

class CompilerByTarget : public KernelCompiler {
public:
  CompilerByTarget(std::unique_ptr<KernelCompiler> amd,
                   std::unique_ptr<KernelCompiler> nvidia)
      : amd(std::move(amd)), nvidia(std::move(nvidia)) {}

  KernelCompiler &forTarget(const std::string &arch) override {
    return (isCudaTarget(arch) ? nvidia : amd)->forTarget(arch);
  }
  Result<std::string> identity() override { return amd->identity(); }
  Result<CompiledKernel> compile(const CompileRequest &request) override {
    return forTarget(request.arch).compile(request);
  }
  void forgetIdentity() override {
    amd->forgetIdentity();
    nvidia->forgetIdentity();
  }
  void prepare() override { amd->prepare(); }
  void release() override {
    amd->release();
    nvidia->release();
  }

private:
  std::unique_ptr<KernelCompiler> amd, nvidia;
};

} // namespace

Result<std::string> runtime::findWorker() {
  const char *named = std::getenv("WINNOW_RTC_WORKER");
  if (named && *named)
    return std::string(named);
  std::string looked;
  for (const std::string &folder : ownFolders())
    for (const char *place : {"/", "/../bin/", "/../libexec/winnow/"}) {
      const std::string path = folder + place + "winnow-rtc-worker";
      if (::access(path.c_str(), X_OK) == 0)
        return path;
      looked += "\n  " + path;
    }
  return Error{"the compile worker is not there; looked for:" + looked};
}

Status runtime::useSystemTree(WorkerOptions &options, const std::string &root) {
  std::string loader;
  std::vector<std::string> folders;
  // Where Debian's packages put libraries, merged /usr or not.
  for (const char *place : {"/usr/lib/x86_64-linux-gnu",
                            "/lib/x86_64-linux-gnu", "/usr/lib64", "/lib64"}) {
    char path[PATH_MAX];
    if (!::realpath((root + place).c_str(), path))
      continue;
    folders.push_back(path);
    const std::string candidate = folders.back() + "/ld-linux-x86-64.so.2";
    if (loader.empty() && ::access(candidate.c_str(), X_OK) == 0)
      loader = candidate;
  }
  if (loader.empty())
    return Error{"'" + root +
                 "' has no ld-linux-x86-64.so.2 in a folder of libraries"};
  options.loader = loader;
  options.libraryPath = folders;
  return {};
}

std::unique_ptr<KernelCompiler>
runtime::makeClangCompiler(const WorkerOptions &options) {
  return std::make_unique<WorkerCompiler>("clang", options);
}

std::unique_ptr<KernelCompiler>
runtime::makeHiprtcCompiler(const WorkerOptions &options) {
  return std::make_unique<WorkerCompiler>("hiprtc", options);
}

std::unique_ptr<KernelCompiler>
runtime::makeNvrtcCompiler(const WorkerOptions &options) {
  return std::make_unique<WorkerCompiler>("nvrtc", options);
}

std::unique_ptr<KernelCompiler>
runtime::makeCompilerByTarget(std::unique_ptr<KernelCompiler> amd,
                              std::unique_ptr<KernelCompiler> nvidia) {
  return std::make_unique<CompilerByTarget>(std::move(amd), std::move(nvidia));
}
