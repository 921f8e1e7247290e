// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A CUDA driver library for tests, made of the simulated HIP library: streams,
// captures, events and memory behave alike in both, so CUDA's functions call
// HIP's. What CUDA adds is here: contexts, the order of starting up, and how
// much shared memory a launch may have. It runs code for gfx950 (there is no
// simulator of NVIDIA's); told to be another device, it loads anything and
// takes launches down.
#include "../../../runtime/lib/Cuda/CudaAbi.h"
#include "../../../runtime/lib/HipSim/State.h"

#include <cstring>
#include <map>
#include <vector>

using namespace winnow;
using namespace winnow::hipsim;

extern "C" {
int hipModuleLoadData(void **, const void *);
int hipModuleUnload(void *);
int hipModuleGetFunction(void **, void *, const char *);
int hipModuleLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned,
                          unsigned, unsigned, unsigned, void *, void **,
                          void **);
int hipMalloc(void **, size_t);
int hipFree(void *);
int hipMemcpyAsync(void *, const void *, size_t, int, void *);
int hipMemsetAsync(void *, int, size_t, void *);
int hipStreamCreateWithFlags(void **, unsigned);
int hipStreamDestroy(void *);
int hipStreamSynchronize(void *);
int hipStreamWaitEvent(void *, void *, unsigned);
int hipStreamBeginCapture(void *, int);
int hipStreamEndCapture(void *, void **);
int hipEventCreateWithFlags(void **, unsigned);
int hipEventDestroy(void *);
int hipEventRecord(void *, void *);
int hipEventSynchronize(void *);
int hipEventElapsedTime(float *, void *, void *);
int hipGraphInstantiate(void **, void *, void **, char *, size_t);
int hipGraphLaunch(void *, void *);
int hipGraphExecDestroy(void *);
int hipGraphDestroy(void *);
int hipThreadExchangeStreamCaptureMode(int *);
}

namespace {

constexpr char kName[] = "Winnow simulated CUDA device";

bool started = false;
/// The thread's stack of contexts; a context is the address of its device's
/// place here.
thread_local std::vector<int> contexts;
int places[kMostDevices];
/// What cuFuncSetAttribute allowed.
std::map<void *, int> mostShared;

/// Runs one of HIP's functions as one of CUDA's, on the current context.
template <typename Call> int as(const char *function, Call body) {
  if (!started)
    return cuda::NotInitialized;
  if (contexts.empty())
    return cuda::InvalidContext;
  currentDevice = contexts.back();
  calledAs = function;
  const int code = body();
  calledAs = nullptr;
  // CUDA's driver has no codes of their own for these.
  return code == hip::InvalidConfiguration ||
                 code == hip::InvalidMemcpyDirection
             ? int(cuda::InvalidValue)
             : code;
}

/// One of CUDA's own, in the same frame.
template <typename Body> int own(const char *function, Body body) {
  return call(function, Needs::Nothing,
              [&](State &all, std::string &note) -> int {
                if (!started && std::strcmp(function, "cuInit") != 0)
                  return cuda::NotInitialized;
                return body(all, note);
              });
}

int textOf(int code, const char **to, bool name) {
  for (const hip::CodeText &text : cuda::kCodes)
    if (text.code == code) {
      *to = name ? text.name : text.text;
      return cuda::Success;
    }
  *to = nullptr;
  return cuda::InvalidValue;
}

bool exists(const State &all, int device) {
  return device >= 0 && device < all.deviceCount;
}

} // namespace

#define CUDA_EXPORT WINNOW_HIP_EXPORT

CUDA_EXPORT int cuInit(unsigned flags) {
  return own("cuInit", [&](State &all, std::string &) -> int {
    if (flags != 0)
      return cuda::InvalidValue;
    if (all.deviceCount == 0)
      return cuda::NoDevice;
    started = true;
    return cuda::Success;
  });
}

CUDA_EXPORT int cuGetErrorName(int code, const char **to) {
  return textOf(code, to, true);
}
CUDA_EXPORT int cuGetErrorString(int code, const char **to) {
  return textOf(code, to, false);
}

CUDA_EXPORT int cuDeviceGetCount(int *count) {
  return own("cuDeviceGetCount", [&](State &all, std::string &) -> int {
    *count = all.deviceCount;
    return cuda::Success;
  });
}

CUDA_EXPORT int cuDeviceGet(int *to, int index) {
  return own("cuDeviceGet", [&](State &all, std::string &) -> int {
    *to = index;
    return exists(all, index) ? cuda::Success : cuda::InvalidDevice;
  });
}

CUDA_EXPORT int cuDeviceGetName(char *to, int bytes, int device) {
  return own("cuDeviceGetName", [&](State &all, std::string &) -> int {
    if (!exists(all, device))
      return cuda::InvalidDevice;
    std::strncpy(to, kName, static_cast<size_t>(bytes));
    return cuda::Success;
  });
}

CUDA_EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device) {
  return own("cuDeviceTotalMem", [&](State &all, std::string &) -> int {
    *bytes = size_t(64) << 30;
    return exists(all, device) ? cuda::Success : cuda::InvalidDevice;
  });
}

CUDA_EXPORT int cuDeviceGetAttribute(int *to, int attribute, int device) {
  return own("cuDeviceGetAttribute", [&](State &all, std::string &) -> int {
    if (!exists(all, device))
      return cuda::InvalidDevice;
    // An H200's.
    for (const auto &[known, value] : {std::pair<int, int>(cuda::WarpSize, 32),
                                       {cuda::MultiprocessorCount, 132},
                                       {cuda::L2CacheSize, 60 << 20},
                                       {cuda::ComputeCapabilityMajor, 9},
                                       {cuda::ComputeCapabilityMinor, 0}})
      if (known == attribute) {
        *to = value;
        return cuda::Success;
      }
    return cuda::InvalidValue;
  });
}

CUDA_EXPORT int cuDevicePrimaryCtxRetain(void **to, int device) {
  return own("cuDevicePrimaryCtxRetain",
             [&](State &all, std::string &note) -> int {
               note = "device=" + std::to_string(device);
               if (!exists(all, device))
                 return cuda::InvalidDevice;
               *to = &places[device];
               return cuda::Success;
             });
}

CUDA_EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
  return own("cuDevicePrimaryCtxRelease", [&](State &, std::string &note) {
    note = "device=" + std::to_string(device);
    return cuda::Success;
  });
}

// The hot path of every call: not recorded.
CUDA_EXPORT int cuCtxGetCurrent(void **to) {
  if (!started)
    return cuda::NotInitialized;
  *to = contexts.empty() ? nullptr : &places[contexts.back()];
  return cuda::Success;
}

CUDA_EXPORT int cuCtxPushCurrent_v2(void *context) {
  return own("cuCtxPushCurrent", [&](State &, std::string &note) -> int {
    const auto *place = static_cast<int *>(context);
    if (place < places || place >= places + kMostDevices)
      return cuda::InvalidContext;
    contexts.push_back(static_cast<int>(place - places));
    note = "device=" + std::to_string(contexts.back());
    return cuda::Success;
  });
}

// Works after a kernel's fault, too.
CUDA_EXPORT int cuCtxPopCurrent_v2(void **to) {
  (void)own("cuCtxPopCurrent",
            [](State &, std::string &) -> int { return cuda::Success; });
  if (contexts.empty())
    return cuda::InvalidContext;
  *to = &places[contexts.back()];
  contexts.pop_back();
  return cuda::Success;
}

CUDA_EXPORT int cuModuleLoadData(void **to, const void *image) {
  return as("cuModuleLoadData", [&] { return hipModuleLoadData(to, image); });
}
CUDA_EXPORT int cuModuleUnload(void *module) {
  return as("cuModuleUnload", [&] { return hipModuleUnload(module); });
}
CUDA_EXPORT int cuModuleGetFunction(void **to, void *module, const char *name) {
  return as("cuModuleGetFunction",
            [&] { return hipModuleGetFunction(to, module, name); });
}

CUDA_EXPORT int cuFuncLoad(void *function) {
  return own("cuFuncLoad", [&](State &, std::string &) -> int {
    return function ? cuda::Success : cuda::InvalidHandle;
  });
}
CUDA_EXPORT int cuFuncGetAttribute(int *to, int attribute, void *) {
  return own("cuFuncGetAttribute", [&](State &, std::string &) -> int {
    *to = 0;
    return attribute == cuda::StaticSharedBytes ? cuda::Success
                                                : cuda::InvalidValue;
  });
}
CUDA_EXPORT int cuFuncSetAttribute(void *function, int attribute, int value) {
  return own("cuFuncSetAttribute", [&](State &, std::string &note) -> int {
    note = std::to_string(attribute) + "=" + std::to_string(value);
    // sm_90 gives a block 227 KiB (CUDA C++ Programming Guide).
    if (attribute != cuda::MaxDynamicSharedBytes || value > 227 * 1024)
      return cuda::InvalidValue;
    mostShared[function] = value;
    return cuda::Success;
  });
}

CUDA_EXPORT int cuLaunchKernel(void *function, unsigned gridX, unsigned gridY,
                               unsigned gridZ, unsigned blockX, unsigned blockY,
                               unsigned blockZ, unsigned shared, void *stream,
                               void **parameters, void **extra) {
  if (contexts.empty())
    return cuda::InvalidContext;
  if (shared > cuda::kPlainSharedBytes &&
      static_cast<int>(shared) > mostShared[function])
    return cuda::InvalidValue;
  // HIP ends the list with another word.
  void *words[5] = {};
  for (int i = 0; extra && i < 5; ++i) {
    words[i] = extra[i];
    if (i % 2 == 0 && extra[i] == cuda::kBufferEnd) {
      words[i] = hip::kBufferEnd;
      break;
    }
  }
  return as("cuLaunchKernel", [&] {
    return hipModuleLaunchKernel(function, gridX, gridY, gridZ, blockX, blockY,
                                 blockZ, shared, stream, parameters,
                                 extra ? words : nullptr);
  });
}

CUDA_EXPORT int cuMemAlloc_v2(void **to, size_t bytes) {
  return as("cuMemAlloc", [&] {
    return bytes ? hipMalloc(to, bytes) : int(cuda::InvalidValue);
  });
}
CUDA_EXPORT int cuMemFree_v2(void *memory) {
  return as("cuMemFree", [&] { return hipFree(memory); });
}
CUDA_EXPORT int cuMemcpyAsync(void *to, const void *from, size_t bytes,
                              void *stream) {
  return as("cuMemcpyAsync", [&] {
    return hipMemcpyAsync(to, from, bytes, hip::MemcpyDefault, stream);
  });
}
CUDA_EXPORT int cuMemsetD8Async(void *to, unsigned char byte, size_t bytes,
                                void *stream) {
  return as("cuMemsetD8Async",
            [&] { return hipMemsetAsync(to, byte, bytes, stream); });
}

CUDA_EXPORT int cuStreamCreate(void **to, unsigned flags) {
  return as("cuStreamCreate",
            [&] { return hipStreamCreateWithFlags(to, flags); });
}
CUDA_EXPORT int cuStreamDestroy_v2(void *stream) {
  return as("cuStreamDestroy", [&] { return hipStreamDestroy(stream); });
}
CUDA_EXPORT int cuStreamSynchronize(void *stream) {
  return as("cuStreamSynchronize",
            [&] { return hipStreamSynchronize(stream); });
}
CUDA_EXPORT int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
  return as("cuStreamWaitEvent",
            [&] { return hipStreamWaitEvent(stream, event, flags); });
}
CUDA_EXPORT int cuStreamBeginCapture_v2(void *stream, int mode) {
  return as("cuStreamBeginCapture",
            [&] { return hipStreamBeginCapture(stream, mode); });
}
CUDA_EXPORT int cuStreamEndCapture(void *stream, void **to) {
  return as("cuStreamEndCapture",
            [&] { return hipStreamEndCapture(stream, to); });
}
CUDA_EXPORT int cuThreadExchangeStreamCaptureMode(int *mode) {
  calledAs = "cuThreadExchangeStreamCaptureMode";
  const int code = hipThreadExchangeStreamCaptureMode(mode);
  calledAs = nullptr;
  return code;
}

CUDA_EXPORT int cuEventCreate(void **to, unsigned flags) {
  return as("cuEventCreate",
            [&] { return hipEventCreateWithFlags(to, flags); });
}
CUDA_EXPORT int cuEventDestroy_v2(void *event) {
  return as("cuEventDestroy", [&] { return hipEventDestroy(event); });
}
CUDA_EXPORT int cuEventRecord(void *event, void *stream) {
  return as("cuEventRecord", [&] { return hipEventRecord(event, stream); });
}
CUDA_EXPORT int cuEventSynchronize(void *event) {
  return as("cuEventSynchronize", [&] { return hipEventSynchronize(event); });
}
CUDA_EXPORT int cuEventElapsedTime(float *to, void *start, void *end) {
  return as("cuEventElapsedTime",
            [&] { return hipEventElapsedTime(to, start, end); });
}

CUDA_EXPORT int cuGraphInstantiateWithFlags(void **to, void *graph,
                                            unsigned long long) {
  return as("cuGraphInstantiateWithFlags", [&] {
    return hipGraphInstantiate(to, graph, nullptr, nullptr, 0);
  });
}
CUDA_EXPORT int cuGraphLaunch(void *graph, void *stream) {
  return as("cuGraphLaunch", [&] { return hipGraphLaunch(graph, stream); });
}
CUDA_EXPORT int cuGraphExecDestroy(void *graph) {
  return as("cuGraphExecDestroy", [&] { return hipGraphExecDestroy(graph); });
}
CUDA_EXPORT int cuGraphDestroy(void *graph) {
  return as("cuGraphDestroy", [&] { return hipGraphDestroy(graph); });
}
