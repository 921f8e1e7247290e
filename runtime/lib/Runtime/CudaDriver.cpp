// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NVIDIA's driver library. Work goes to the device's primary context, which
// PyTorch and whoever else uses CUDA's runtime share: streams and memory of
// theirs are good here.
#include "../Cuda/CudaAbi.h"
#include "GpuDriver.h"

using namespace winnow;
using namespace winnow::runtime;

namespace {

struct CudaFunctions {
  DriverFunction<int(unsigned)> init;
  DriverFunction<int(int, const char **)> getErrorName, getErrorString;
  DriverFunction<int(int *)> getDeviceCount;
  DriverFunction<int(int *, int)> getDevice;
  DriverFunction<int(char *, int, int)> getName;
  DriverFunction<int(size_t *, int)> getMemory;
  DriverFunction<int(int *, int, int)> getAttribute;
  DriverFunction<int(void **, int)> retainContext;
  DriverFunction<int(int)> releaseContext;
  DriverFunction<int(void **)> getContext, popContext;
  DriverFunction<int(void *)> pushContext;
  DriverFunction<int(void *, const void *, size_t, void *)> copy;
  DriverFunction<int(void *, unsigned char, size_t, void *)> fill;
  DriverFunction<int(void **, void *, unsigned long long)> instantiate;
  DriverFunction<int(int *, int, void *)> getFunctionAttribute;
  DriverFunction<int(void *, int, int)> setFunctionAttribute;
  DriverFunction<int(void *)> loadFunction; ///< CUDA 12.4; may be null
};

class CudaDriver : public GpuDriver {
public:
  ~CudaDriver() override {
    if (context)
      (void)cuda.releaseContext.call(device);
  }

  CudaFunctions cuda;
  int device = 0;
  void *context = nullptr;

  Entered enter() const override {
    Entered entered;
    void *current = nullptr;
    // The hot path: threads of an engine have the context already.
    if (cuda.getContext.call(&current) == cuda::Success && current == context)
      return entered;
    entered.answer = {cuda.pushContext.call(context), cuda.pushContext.name};
    entered.changed = entered.answer.code == cuda::Success;
    return entered;
  }
  void leave(const Entered &) const override {
    void *popped = nullptr;
    (void)cuda.popContext.call(&popped);
  }
  Answer copy(void *to, const void *from, size_t bytes, CopyDirection,
              void *stream) const override {
    // With unified addresses the direction follows from them.
    return {cuda.copy.call(to, from, bytes, stream), cuda.copy.name};
  }
  Answer fill(void *to, int byte, size_t bytes, void *stream) const override {
    return {cuda.fill.call(to, static_cast<unsigned char>(byte), bytes, stream),
            cuda.fill.name};
  }
  Answer instantiate(void **executable, void *graph) const override {
    return {cuda.instantiate.call(executable, graph, 0), cuda.instantiate.name};
  }
  Answer prepare(void *function, uint32_t dynamicLdsBytes) const override {
    // Left to itself CUDA may load a function when it is first launched, which
    // a capture does not allow.
    if (cuda.loadFunction.call)
      if (int code = cuda.loadFunction.call(function))
        return {code, cuda.loadFunction.name};
    int fixed = 0;
    if (int code = cuda.getFunctionAttribute.call(
            &fixed, cuda::StaticSharedBytes, function))
      return {code, cuda.getFunctionAttribute.name};
    if (static_cast<unsigned>(fixed) + dynamicLdsBytes <=
        cuda::kPlainSharedBytes)
      return {cuda::Success, ""};
    return {cuda.setFunctionAttribute.call(function,
                                           cuda::MaxDynamicSharedBytes,
                                           static_cast<int>(dynamicLdsBytes)),
            cuda.setFunctionAttribute.name};
  }
  void *endOfExtra() const override { return cuda::kBufferEnd; }
  std::string errorName(int code) const override {
    const char *name = nullptr;
    return cuda.getErrorName.call(code, &name) == cuda::Success && name
               ? name
               : "an unnamed error";
  }
  std::string errorText(int code) const override {
    const char *text = nullptr;
    return cuda.getErrorString.call(code, &text) == cuda::Success && text
               ? text
               : "no text";
  }

  /// The first function that the library lacks; empty: none. Names with a
  /// version are those that cuda.h defines the plain ones to.
  std::string take(DriverSymbols &symbols);
};

std::string CudaDriver::take(DriverSymbols &symbols) {
  symbols.need(cuda.init, "cuInit");
  symbols.need(cuda.getErrorName, "cuGetErrorName");
  symbols.need(cuda.getErrorString, "cuGetErrorString");
  symbols.need(cuda.getDeviceCount, "cuDeviceGetCount");
  symbols.need(cuda.getDevice, "cuDeviceGet");
  symbols.need(cuda.getName, "cuDeviceGetName");
  symbols.need(cuda.getMemory, "cuDeviceTotalMem_v2", "cuDeviceTotalMem");
  symbols.need(cuda.getAttribute, "cuDeviceGetAttribute");
  symbols.need(cuda.retainContext, "cuDevicePrimaryCtxRetain");
  symbols.need(cuda.releaseContext, "cuDevicePrimaryCtxRelease_v2",
               "cuDevicePrimaryCtxRelease");
  symbols.need(cuda.getContext, "cuCtxGetCurrent");
  symbols.need(cuda.pushContext, "cuCtxPushCurrent_v2", "cuCtxPushCurrent");
  symbols.need(cuda.popContext, "cuCtxPopCurrent_v2", "cuCtxPopCurrent");
  symbols.need(cuda.copy, "cuMemcpyAsync");
  symbols.need(cuda.fill, "cuMemsetD8Async");
  symbols.need(cuda.instantiate, "cuGraphInstantiateWithFlags");
  symbols.need(cuda.getFunctionAttribute, "cuFuncGetAttribute");
  symbols.need(cuda.setFunctionAttribute, "cuFuncSetAttribute");
  symbols.optional(cuda.loadFunction, "cuFuncLoad");
  symbols.need(loadModule, "cuModuleLoadData");
  symbols.need(unloadModule, "cuModuleUnload");
  symbols.need(findFunction, "cuModuleGetFunction");
  symbols.need(launch, "cuLaunchKernel");
  symbols.need(allocate, "cuMemAlloc_v2", "cuMemAlloc");
  symbols.need(free, "cuMemFree_v2", "cuMemFree");
  symbols.need(createStream, "cuStreamCreate");
  symbols.need(destroyStream, "cuStreamDestroy_v2", "cuStreamDestroy");
  symbols.need(synchronizeStream, "cuStreamSynchronize");
  symbols.need(waitEvent, "cuStreamWaitEvent");
  symbols.need(beginCapture, "cuStreamBeginCapture_v2", "cuStreamBeginCapture");
  symbols.need(endCapture, "cuStreamEndCapture");
  symbols.need(createEvent, "cuEventCreate");
  symbols.need(destroyEvent, "cuEventDestroy_v2", "cuEventDestroy");
  symbols.need(recordEvent, "cuEventRecord");
  symbols.need(synchronizeEvent, "cuEventSynchronize");
  symbols.need(elapsed, "cuEventElapsedTime");
  symbols.need(launchGraph, "cuGraphLaunch");
  symbols.need(destroyExecutable, "cuGraphExecDestroy");
  symbols.need(destroyGraph, "cuGraphDestroy");
  symbols.need(exchangeCaptureMode, "cuThreadExchangeStreamCaptureMode");
  path = symbols.path;
  return symbols.missing;
}

} // namespace

Result<std::shared_ptr<Device>>
runtime::openCudaDevice(const std::vector<std::string> &libraries, int index,
                        const std::string &name,
                        const std::vector<std::string> &passedOver) {
  const std::string what = "device '" + name + "': ";
  Result<DriverSymbols> symbols = DriverSymbols::load(libraries, "CUDA");
  if (!symbols)
    return Error{what + symbols.message()};
  auto driver = std::make_shared<CudaDriver>();
  if (const std::string missing = driver->take(*symbols); !missing.empty())
    return Error{what + driver->path +
                 " is no CUDA library that can be used: it has no " + missing};
  auto asked = [&](const auto &function, const char *doing,
                   auto... arguments) -> Status {
    if (int code = function.call(arguments...))
      return Error{what +
                   driver->problem({code, function.name}, doing).message +
                   " (" + driver->path + ")"};
    return {};
  };
  const CudaFunctions &cuda = driver->cuda;
  int count = 0;
  if (Status s = asked(cuda.init, "starting the driver", 0u); !s)
    return s.takeError();
  if (Status s = asked(cuda.getDeviceCount, "counting devices", &count); !s)
    return s.takeError();
  if (index < 0 || index >= count)
    return Error{what + driver->path + " has " + std::to_string(count) +
                 " devices, numbered from 0"};
  if (Status s = asked(cuda.getDevice, "choosing it", &driver->device, index);
      !s)
    return s.takeError();

  DeviceInfo info;
  info.name = name;
  info.passedOver = passedOver;
  info.platform = "cuda";
  info.library = driver->path;
  char product[256] = {};
  size_t memory = 0;
  int major = 0, minor = 0, l2 = 0;
  const std::pair<int *, int> attributes[] = {
      {&major, cuda::ComputeCapabilityMajor},
      {&minor, cuda::ComputeCapabilityMinor},
      {&info.computeUnits, cuda::MultiprocessorCount},
      {&info.waveSize, cuda::WarpSize},
      {&l2, cuda::L2CacheSize}};
  if (Status s = asked(cuda.getName, "asking for its name", product,
                       static_cast<int>(sizeof product) - 1, driver->device);
      !s)
    return s.takeError();
  if (Status s = asked(cuda.getMemory, "asking for its memory", &memory,
                       driver->device);
      !s)
    return s.takeError();
  for (const auto &[to, attribute] : attributes)
    if (Status s = asked(cuda.getAttribute, "asking for an attribute", to,
                         attribute, driver->device);
        !s)
      return s.takeError();
  info.product = product;
  info.memoryBytes = memory;
  info.l2Bytes = static_cast<uint64_t>(l2);
  info.arch = "sm_" + std::to_string(major) + std::to_string(minor);
  if (Status s = asked(cuda.retainContext, "sharing its primary context",
                       &driver->context, driver->device);
      !s) {
    driver->context = nullptr;
    return s.takeError();
  }
  return makeGpuDevice(std::move(driver), std::move(info));
}
