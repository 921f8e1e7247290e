// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// HIP's driver library: AMD's, or the simulated one.
#include "../Hip/HipAbi.h"
#include "GpuDriver.h"

using namespace winnow;
using namespace winnow::runtime;

namespace {

struct HipFunctions {
  DriverFunction<int(int *)> getDeviceCount, getDevice;
  DriverFunction<int(int)> setDevice;
  DriverFunction<const char *(int)> getErrorName, getErrorString;
  DriverFunction<int(void *, const void *, size_t, int, void *)> copy;
  DriverFunction<int(void *, int, size_t, void *)> fill;
  DriverFunction<int(void **, void *, void **, char *, size_t)> instantiate;
  // One of the two is there.
  DriverFunction<int(hip::DeviceProperties *, int)> getPropertiesR0600;
  DriverFunction<int(hip::DevicePropertiesR0000 *, int)> getProperties;
  // Of the simulated library alone.
  DriverFunction<size_t(char *, size_t)> simFault;
};

class HipDriver : public GpuDriver {
public:
  HipFunctions hip;
  int index = 0;
  /// With one device there is nothing to set, and a launch is the hot path.
  bool isOnly = false;

  Entered enter() const override {
    Entered entered;
    if (isOnly)
      return entered;
    if (hip.getDevice.call(&entered.device) != hip::Success)
      entered.device = index;
    if (entered.device != index) {
      entered.answer = {hip.setDevice.call(index), hip.setDevice.name};
      entered.changed = true;
    }
    return entered;
  }
  void leave(const Entered &entered) const override {
    (void)hip.setDevice.call(entered.device);
  }
  Answer copy(void *to, const void *from, size_t bytes, CopyDirection direction,
              void *stream) const override {
    const int kind = direction == CopyDirection::ToDevice ? hip::HostToDevice
                     : direction == CopyDirection::FromDevice
                         ? hip::DeviceToHost
                         : hip::DeviceToDevice;
    return {hip.copy.call(to, from, bytes, kind, stream), hip.copy.name};
  }
  Answer fill(void *to, int byte, size_t bytes, void *stream) const override {
    return {hip.fill.call(to, byte, bytes, stream), hip.fill.name};
  }
  Answer instantiate(void **executable, void *graph) const override {
    return {hip.instantiate.call(executable, graph, nullptr, nullptr, 0),
            hip.instantiate.name};
  }
  Answer prepare(void *, uint32_t) const override {
    return {hip::Success, ""}; // loaded with its module, all LDS at hand
  }
  void *endOfExtra() const override { return hip::kBufferEnd; }
  std::string errorName(int code) const override {
    const char *name = hip.getErrorName.call(code);
    return name ? name : "an unnamed error";
  }
  std::string errorText(int code) const override {
    const char *text = hip.getErrorString.call(code);
    return text ? text : "no text";
  }
  std::string remark() const override {
    char fault[2048];
    if (!hip.simFault.call || hip.simFault.call(fault, sizeof fault) <= 1)
      return "";
    return "; the simulated device says: " + std::string(fault);
  }

  /// The first function that the library lacks; empty: none.
  std::string fill(DriverSymbols &symbols);
};

std::string HipDriver::fill(DriverSymbols &symbols) {
  symbols.need(hip.getDeviceCount, "hipGetDeviceCount");
  symbols.need(hip.setDevice, "hipSetDevice");
  symbols.need(hip.getDevice, "hipGetDevice");
  symbols.need(hip.getErrorName, "hipGetErrorName");
  symbols.need(hip.getErrorString, "hipGetErrorString");
  symbols.need(loadModule, "hipModuleLoadData");
  symbols.need(unloadModule, "hipModuleUnload");
  symbols.need(findFunction, "hipModuleGetFunction");
  symbols.need(launch, "hipModuleLaunchKernel");
  symbols.need(allocate, "hipMalloc");
  symbols.need(free, "hipFree");
  symbols.need(hip.copy, "hipMemcpyAsync");
  symbols.need(hip.fill, "hipMemsetAsync");
  symbols.need(createStream, "hipStreamCreateWithFlags");
  symbols.need(destroyStream, "hipStreamDestroy");
  symbols.need(synchronizeStream, "hipStreamSynchronize");
  symbols.need(waitEvent, "hipStreamWaitEvent");
  symbols.need(beginCapture, "hipStreamBeginCapture");
  symbols.need(endCapture, "hipStreamEndCapture");
  symbols.need(createEvent, "hipEventCreateWithFlags");
  symbols.need(destroyEvent, "hipEventDestroy");
  symbols.need(recordEvent, "hipEventRecord");
  symbols.need(synchronizeEvent, "hipEventSynchronize");
  symbols.need(elapsed, "hipEventElapsedTime");
  symbols.need(hip.instantiate, "hipGraphInstantiate");
  symbols.need(launchGraph, "hipGraphLaunch");
  symbols.need(destroyExecutable, "hipGraphExecDestroy");
  symbols.need(destroyGraph, "hipGraphDestroy");
  if (!symbols.optional(hip.getPropertiesR0600, "hipGetDevicePropertiesR0600"))
    symbols.need(hip.getProperties, "hipGetDeviceProperties");
  symbols.optional(exchangeCaptureMode, "hipThreadExchangeStreamCaptureMode");
  symbols.optional(hip.simFault, "winnow_hip_sim_fault");
  path = symbols.path;
  return symbols.missing;
}

template <typename Properties> void take(Properties &from, DeviceInfo &to) {
  // Never trusted to end in a zero.
  from.name[sizeof from.name - 1] = 0;
  from.gcnArchName[sizeof from.gcnArchName - 1] = 0;
  to.product = from.name;
  to.arch = from.gcnArchName;
  to.memoryBytes = from.totalGlobalMem;
  to.computeUnits = from.multiProcessorCount;
  to.waveSize = from.warpSize;
}

} // namespace

Result<std::shared_ptr<Device>>
runtime::openHipDevice(const std::vector<std::string> &libraries, int index,
                       const std::string &name,
                       const std::vector<std::string> &passedOver) {
  const std::string what = "device '" + name + "': ";
  Result<DriverSymbols> symbols = DriverSymbols::load(libraries, "HIP");
  if (!symbols)
    return Error{what + symbols.message()};
  auto driver = std::make_shared<HipDriver>();
  if (const std::string missing = driver->fill(*symbols); !missing.empty())
    return Error{what + driver->path +
                 " is no HIP library that can be used: it has no " + missing};
  auto problem = [&](const GpuDriver::Answer &answer,
                     const std::string &doing) {
    return Error{what + driver->problem(answer, doing).message + " (" +
                 driver->path + ")"};
  };
  const HipFunctions &hip = driver->hip;
  int count = 0;
  if (int code = hip.getDeviceCount.call(&count))
    return problem({code, hip.getDeviceCount.name}, "counting devices");
  if (index < 0 || index >= count)
    return Error{what + driver->path + " has " + std::to_string(count) +
                 " devices, numbered from 0"};

  DeviceInfo info;
  info.name = name;
  info.passedOver = passedOver;
  info.platform = "rocm";
  info.library = driver->path;
  auto ask = [&](auto &function, auto properties) -> Status {
    if (int code = function.call(&properties, index))
      return problem({code, function.name}, "asking for its properties");
    take(properties, info);
    return {};
  };
  if (Status status =
          hip.getPropertiesR0600.call
              ? ask(hip.getPropertiesR0600, hip::DeviceProperties{})
              : ask(hip.getProperties, hip::DevicePropertiesR0000{});
      !status)
    return status.takeError();
  if (info.arch.empty())
    return Error{what + driver->path +
                 " gives it no architecture name (gcnArchName)"};
  driver->index = index;
  driver->isOnly = count == 1;
  return makeGpuDevice(std::move(driver), std::move(info));
}
