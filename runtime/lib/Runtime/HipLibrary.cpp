// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "HipLibrary.h"

#include <dlfcn.h>

using namespace winnow;
using namespace winnow::runtime;

namespace {

/// Fills a table of functions and remembers the first that is missing.
class Symbols {
public:
  explicit Symbols(void *handle) : handle(handle) {}

  template <typename Function> bool optional(Function *&to, const char *name) {
    to = reinterpret_cast<Function *>(dlsym(handle, name));
    return to != nullptr;
  }
  template <typename Function> void need(Function *&to, const char *name) {
    if (!optional(to, name) && missing.empty())
      missing = name;
  }
  std::string missing;

private:
  void *handle;
};

} // namespace

HipLibrary::~HipLibrary() {
  // Never closed: HIP libraries start threads that outlive a dlclose.
}

Result<std::shared_ptr<HipLibrary>>
HipLibrary::load(const std::vector<std::string> &names) {
  std::string reasons;
  auto library = std::make_shared<HipLibrary>();
  for (const std::string &name : names) {
    library->handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library->handle) {
      library->path = name;
      break;
    }
    const char *why = dlerror();
    reasons += std::string(reasons.empty() ? "" : "; ") + name + " (" +
               (why ? why : "no reason given") + ")";
  }
  if (!library->handle)
    return Error{"no HIP library can be loaded; looked for " + reasons};

  HipLibrary &to = *library;
  Symbols symbols(to.handle);
  symbols.need(to.GetDeviceCount, "hipGetDeviceCount");
  symbols.need(to.SetDevice, "hipSetDevice");
  symbols.need(to.GetDevice, "hipGetDevice");
  symbols.need(to.GetErrorName, "hipGetErrorName");
  symbols.need(to.GetErrorString, "hipGetErrorString");
  symbols.need(to.ModuleLoadData, "hipModuleLoadData");
  symbols.need(to.ModuleUnload, "hipModuleUnload");
  symbols.need(to.ModuleGetFunction, "hipModuleGetFunction");
  symbols.need(to.ModuleLaunchKernel, "hipModuleLaunchKernel");
  symbols.need(to.Malloc, "hipMalloc");
  symbols.need(to.Free, "hipFree");
  symbols.need(to.MemcpyAsync, "hipMemcpyAsync");
  symbols.need(to.MemsetAsync, "hipMemsetAsync");
  symbols.need(to.StreamCreateWithFlags, "hipStreamCreateWithFlags");
  symbols.need(to.StreamDestroy, "hipStreamDestroy");
  symbols.need(to.StreamSynchronize, "hipStreamSynchronize");
  symbols.need(to.StreamWaitEvent, "hipStreamWaitEvent");
  symbols.need(to.StreamBeginCapture, "hipStreamBeginCapture");
  symbols.need(to.StreamEndCapture, "hipStreamEndCapture");
  symbols.need(to.EventCreateWithFlags, "hipEventCreateWithFlags");
  symbols.need(to.EventDestroy, "hipEventDestroy");
  symbols.need(to.EventRecord, "hipEventRecord");
  symbols.need(to.EventSynchronize, "hipEventSynchronize");
  symbols.need(to.EventElapsedTime, "hipEventElapsedTime");
  symbols.need(to.GraphInstantiate, "hipGraphInstantiate");
  symbols.need(to.GraphLaunch, "hipGraphLaunch");
  symbols.need(to.GraphExecDestroy, "hipGraphExecDestroy");
  symbols.need(to.GraphDestroy, "hipGraphDestroy");
  if (!symbols.optional(to.GetDevicePropertiesR0600,
                        "hipGetDevicePropertiesR0600"))
    symbols.need(to.GetDeviceProperties, "hipGetDeviceProperties");
  symbols.optional(to.ThreadExchangeStreamCaptureMode,
                   "hipThreadExchangeStreamCaptureMode");
  symbols.optional(to.simFault, "winnow_hip_sim_fault");
  if (!symbols.missing.empty())
    return Error{to.path + " is no HIP library that can be used: it has no " +
                 symbols.missing};
  return library;
}

Error HipLibrary::problem(const char *function, int code,
                          const std::string &what) const {
  const char *name = GetErrorName(code), *text = GetErrorString(code);
  std::string message = std::string(function) + " failed with " +
                        (name ? name : "an unnamed error") + " (" +
                        std::to_string(code) + ": " +
                        (text ? text : "no text") + ") when " + what;
  if (simFault) {
    char fault[2048];
    if (simFault(fault, sizeof fault) > 1)
      message += "; the simulated device says: " + std::string(fault);
  }
  return Error{message};
}
