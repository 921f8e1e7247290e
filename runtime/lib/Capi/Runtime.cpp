// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runtimes and bundles of the C interface.
#include "Guard.h"
#include "Objects.h"
#include "winnow/Host/RunOnHost.h"
#include "winnow/Runtime/Bundle.h"
#include "winnow/Runtime/Visible.h"

#include <algorithm>
#include <cstdio>

using namespace winnow;
using namespace winnow::capi;

namespace {

std::string copied(const char *text) { return text ? text : ""; }

/// The caller's function, one line at a time.
class Log {
public:
  Log(winnow_log_function function, void *user)
      : function(function), user(user) {}

  void operator()(runtime::LogLevel level, const std::string &text) {
    const std::string line = runtime::visibleLines(text);
    const bool isWarning = level == runtime::LogLevel::Warning;
    std::lock_guard<std::mutex> guard(calling);
    if (function)
      function(user, isWarning ? WINNOW_LOG_WARNING : WINNOW_LOG_INFO,
               line.c_str());
    else if (isWarning)
      std::fprintf(stderr, "winnow: %s\n", line.c_str());
  }

private:
  winnow_log_function function;
  void *user;
  std::mutex calling;
};

/// clang where it can be had, else hipRTC; decided when the first kernel is
/// asked for.
class EitherCompiler : public runtime::KernelCompiler {
public:
  explicit EitherCompiler(const runtime::WorkerOptions &options)
      : clang(runtime::makeClangCompiler(options)),
        hiprtc(runtime::makeHiprtcCompiler(options)) {}

  Result<std::string> identity() override {
    Result<std::string> first = clang->identity();
    if (first)
      return first;
    Result<std::string> second = hiprtc->identity();
    if (second)
      return second;
    return Error{"no compiler: clang: " + first.message() +
                 "; hipRTC: " + second.message()};
  }
  Result<runtime::CompiledKernel>
  compile(const runtime::CompileRequest &request) override {
    if (clang->identity())
      return clang->compile(request);
    return hiprtc->compile(request);
  }
  void forgetIdentity() override {
    clang->forgetIdentity();
    hiprtc->forgetIdentity();
  }
  void prepare() override { clang->prepare(); }
  void release() override {
    clang->release();
    hiprtc->release();
  }

private:
  std::unique_ptr<runtime::KernelCompiler> clang, hiprtc;
};

std::shared_ptr<runtime::KernelCompiler>
makeCompiler(const winnow_runtime_options &options,
             const std::string &identityFolder) {
  runtime::WorkerOptions workers;
  workers.worker = copied(options.worker);
  workers.hiprtc = copied(options.hiprtc_library);
  if (options.compile_timeout_ms != 0)
    workers.timeout = std::chrono::milliseconds(options.compile_timeout_ms);
  workers.maxWorkers = options.max_workers;
  workers.identityFolder = identityFolder;
  workers.nvrtc = copied(options.nvrtc_library);
  auto amd = [&]() -> std::unique_ptr<runtime::KernelCompiler> {
    switch (options.compiler) {
    case WINNOW_COMPILER_CLANG:
      return runtime::makeClangCompiler(workers);
    case WINNOW_COMPILER_HIPRTC:
      return runtime::makeHiprtcCompiler(workers);
    default:
      return std::make_unique<EitherCompiler>(workers);
    }
  };
  return runtime::makeCompilerByTarget(amd(),
                                       runtime::makeNvrtcCompiler(workers));
}

winnow_status outOfRange(const char *field, long long found, long long most) {
  return fail(WINNOW_ERROR_ARGUMENT,
              std::string("winnow_runtime_options.") + field + " is " +
                  std::to_string(found) + ", wanted 0 to " +
                  std::to_string(most));
}

winnow_status create(const winnow_runtime_options &options,
                     winnow_runtime **to) {
  if (options.compile_mode < 0 ||
      options.compile_mode > WINNOW_COMPILE_BACKGROUND)
    return outOfRange("compile_mode", options.compile_mode,
                      WINNOW_COMPILE_BACKGROUND);
  if (options.compiler < 0 || options.compiler > WINNOW_COMPILER_HIPRTC)
    return outOfRange("compiler", options.compiler, WINNOW_COMPILER_HIPRTC);

  auto object = std::make_unique<RuntimeObject>();
  object->devices = {copied(options.hip_library), copied(options.sim_library),
                     copied(options.cuda_library)};
  auto log = std::make_shared<Log>(options.log, options.log_user);
  object->logger = [log](runtime::LogLevel level, const std::string &line) {
    (*log)(level, line);
  };
  runtime::DispatcherOptions dispatcher;
  dispatcher.cache.folder = copied(options.cache_folder);
  dispatcher.cache.shipped = copied(options.shipped_folder);
  if (options.max_cache_bytes != 0)
    dispatcher.cache.maxBytes = options.max_cache_bytes;
  dispatcher.cache.logger = object->logger;
  dispatcher.mode = static_cast<runtime::CompileMode>(options.compile_mode);
  dispatcher.compiler = makeCompiler(
      options, dispatcher.cache.folder.empty() ? runtime::defaultCacheFolder()
                                               : dispatcher.cache.folder);
  dispatcher.logger = object->logger;
  dispatcher.host = host::makeHostProgram;
  dispatcher.publish = [owner = object.get()](runtime::Plan &plan) {
    plan.handle = handles().add(Kind::Plan, &plan);
    std::lock_guard<std::mutex> guard(owner->publishing);
    owner->plans.push_back(plan.handle);
  };
  object->dispatcher =
      std::make_unique<runtime::Dispatcher>(std::move(dispatcher));
  const uint64_t handle = addOwned(Kind::Runtime, object);
  if (handle == 0)
    return fail(WINNOW_ERROR_MEMORY, "too many handles are alive");
  *to = opaque<winnow_runtime>(handle);
  return WINNOW_OK;
}

winnow_status open(Result<runtime::Bundle> bundle, winnow_bundle **to) {
  if (!bundle)
    return fail(WINNOW_ERROR_BUNDLE, bundle.message());
  auto object = std::make_unique<BundleObject>();
  for (const runtime::Entry &entry : bundle->entries)
    if (std::find(object->entries.begin(), object->entries.end(), entry.name) ==
        object->entries.end())
      object->entries.push_back(entry.name);
  object->bundle = runtime::LoadedBundle::make(std::move(*bundle));
  const uint64_t handle = addOwned(Kind::Bundle, object);
  if (handle == 0)
    return fail(WINNOW_ERROR_MEMORY, "too many handles are alive");
  *to = opaque<winnow_bundle>(handle);
  return WINNOW_OK;
}

} // namespace

extern "C" {

winnow_status winnow_runtime_create(const winnow_runtime_options *given,
                                    winnow_runtime **to) {
  return guard([&]() -> winnow_status {
    if (!to)
      return nullPointer("winnow_runtime_create", "runtime");
    *to = nullptr;
    winnow_runtime_options options = WINNOW_RUNTIME_OPTIONS_INIT;
    winnow_status status = WINNOW_OK;
    if (!readOptions(given, options, sizeof options, "winnow_runtime_options",
                     status))
      return status;
    return create(options, to);
  });
}

winnow_status winnow_runtime_release(winnow_runtime *runtime) {
  return guard([&]() -> winnow_status {
    if (!runtime)
      return WINNOW_OK;
    std::unique_ptr<RuntimeObject> object(static_cast<RuntimeObject *>(
        handles().remove(Kind::Runtime, reinterpret_cast<uint64_t>(runtime))));
    if (!object) {
      (void)checked(Kind::Runtime, runtime, "runtime");
      return WINNOW_ERROR_HANDLE;
    }
    // First no more plans, then no more handles of them.
    object->dispatcher->stop();
    for (const uint64_t plan : object->plans)
      (void)handles().remove(Kind::Plan, plan);
    return WINNOW_OK;
  });
}

winnow_status winnow_runtime_wait(winnow_runtime *runtime) {
  return guard([&]() -> winnow_status {
    auto *object = checked<RuntimeObject>(Kind::Runtime, runtime, "runtime");
    if (!object)
      return WINNOW_ERROR_HANDLE;
    object->dispatcher->waitForBackground();
    return WINNOW_OK;
  });
}

winnow_status winnow_bundle_open_file(const char *path, winnow_bundle **to) {
  return guard([&]() -> winnow_status {
    if (!to)
      return nullPointer("winnow_bundle_open_file", "bundle");
    *to = nullptr;
    if (!path)
      return nullPointer("winnow_bundle_open_file", "path");
    return open(runtime::readBundleFile(path), to);
  });
}

winnow_status winnow_bundle_open_memory(const void *data, size_t bytes,
                                        winnow_bundle **to) {
  return guard([&]() -> winnow_status {
    if (!to)
      return nullPointer("winnow_bundle_open_memory", "bundle");
    *to = nullptr;
    if (!data && bytes != 0)
      return nullPointer("winnow_bundle_open_memory", "data");
    return open(
        runtime::readBundle({static_cast<const std::byte *>(data), bytes}), to);
  });
}

winnow_status winnow_bundle_release(winnow_bundle *bundle) {
  return guard([&]() -> winnow_status {
    if (!bundle)
      return WINNOW_OK;
    std::unique_ptr<BundleObject> object(static_cast<BundleObject *>(
        handles().remove(Kind::Bundle, reinterpret_cast<uint64_t>(bundle))));
    if (!object)
      (void)checked(Kind::Bundle, bundle, "bundle");
    return object ? WINNOW_OK : WINNOW_ERROR_HANDLE;
  });
}

winnow_status winnow_bundle_entry_count(winnow_bundle *bundle, size_t *count) {
  return guard([&]() -> winnow_status {
    auto *object = checked<BundleObject>(Kind::Bundle, bundle, "bundle");
    if (!object)
      return WINNOW_ERROR_HANDLE;
    if (!count)
      return nullPointer("winnow_bundle_entry_count", "count");
    *count = object->entries.size();
    return WINNOW_OK;
  });
}

winnow_status winnow_bundle_entry_name(winnow_bundle *bundle, size_t index,
                                       const char **name) {
  return guard([&]() -> winnow_status {
    auto *object = checked<BundleObject>(Kind::Bundle, bundle, "bundle");
    if (!object)
      return WINNOW_ERROR_HANDLE;
    if (!name)
      return nullPointer("winnow_bundle_entry_name", "name");
    *name = nullptr;
    if (index >= object->entries.size())
      return fail(WINNOW_ERROR_ARGUMENT,
                  "entry " + std::to_string(index) + " of a bundle with " +
                      std::to_string(object->entries.size()));
    *name = object->entries[index].c_str();
    return WINNOW_OK;
  });
}
}
