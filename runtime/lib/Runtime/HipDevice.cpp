// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device over a HIP library: AMD's, or the simulated one.
#include "HipLibrary.h"
#include "winnow/Runtime/DeviceApi.h"

using namespace winnow;
using namespace winnow::runtime;

namespace {

using Library = std::shared_ptr<HipLibrary>;

/// HIP's current device is the thread's: set to ours, and put back after.
class Current {
public:
  Current(const HipLibrary &library, int device)
      : library(library), device(device) {
    if (library.GetDevice(&before) != hip::Success)
      before = device;
    if (before != device)
      code = library.SetDevice(device);
  }
  ~Current() {
    if (before != device)
      (void)library.SetDevice(before);
  }
  int code = hip::Success;

private:
  const HipLibrary &library;
  int device, before = 0;
};

/// While it lives, this thread's calls do not disturb a capture.
class Relaxed {
public:
  explicit Relaxed(const HipLibrary &library) : library(library) { exchange(); }
  ~Relaxed() { exchange(); }

private:
  void exchange() {
    if (library.ThreadExchangeStreamCaptureMode)
      (void)library.ThreadExchangeStreamCaptureMode(&mode);
  }
  const HipLibrary &library;
  int mode = hip::CaptureRelaxed;
};

class HipModule : public Module {
public:
  HipModule(Library library, void *module, std::string device,
            std::vector<std::byte> code)
      : library(std::move(library)), module(module), device(std::move(device)),
        code(std::move(code)) {}
  ~HipModule() override {
    Relaxed relaxed(*library);
    (void)library->ModuleUnload(module);
  }
  Result<void *> function(const std::string &name) override {
    void *found = nullptr;
    if (int code = library->ModuleGetFunction(&found, module, name.c_str()))
      return library->problem("hipModuleGetFunction", code,
                              "looking for kernel '" + name +
                                  "' in a module on " + device);
    return found;
  }

private:
  Library library;
  void *module;
  std::string device;
  std::vector<std::byte> code; // HIP may read it as long as it is loaded
};

class HipDevice : public Device {
public:
  HipDevice(Library library, int index, bool isOnly, DeviceInfo info)
      : library(std::move(library)), index(index), isOnly(isOnly),
        facts(std::move(info)) {}

  const DeviceInfo &info() const override { return facts; }

  Result<std::shared_ptr<Module>>
  loadModule(std::span<const std::byte> code) override {
    Relaxed relaxed(*library);
    std::vector<std::byte> kept(code.begin(), code.end());
    void *module = nullptr;
    Status loaded =
        on("hipModuleLoadData",
           "loading a code object of " + std::to_string(code.size()) + " bytes",
           [&] { return library->ModuleLoadData(&module, kept.data()); });
    if (!loaded)
      return loaded.takeError();
    return std::shared_ptr<Module>(std::make_shared<HipModule>(
        library, module, facts.name, std::move(kept)));
  }

  Status launch(void *function, const uint32_t (&grid)[3],
                const uint32_t (&block)[3], uint32_t dynamicLdsBytes,
                void *stream, const void *kernarg,
                size_t kernargBytes) override {
    // HIP takes the address only to read.
    void *extra[] = {hip::kBufferPointer, const_cast<void *>(kernarg),
                     hip::kBufferSize, &kernargBytes, hip::kBufferEnd};
    auto enqueue = [&] {
      return library->ModuleLaunchKernel(
          function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
          dynamicLdsBytes, stream, nullptr, extra);
    };
    // With one device there is nothing to set; a launch is the hot path.
    if (isOnly) {
      const int code = enqueue();
      return code == hip::Success ? Status() : launchProblem(code, grid, block);
    }
    Current current(*library, index);
    const int code = current.code ? current.code : enqueue();
    return code == hip::Success ? Status() : launchProblem(code, grid, block);
  }

  Result<void *> allocate(uint64_t bytes) override {
    return made("hipMalloc", "allocating " + std::to_string(bytes) + " bytes",
                [&](void **to) { return library->Malloc(to, bytes); });
  }
  Status free(void *memory) override {
    return on("hipFree", "freeing memory",
              [&] { return library->Free(memory); });
  }
  Status copy(void *to, const void *from, uint64_t bytes,
              CopyDirection direction, void *stream) override {
    const bool isToHost = direction == CopyDirection::FromDevice;
    const int kind = direction == CopyDirection::ToDevice ? hip::HostToDevice
                     : isToHost                           ? hip::DeviceToHost
                                                          : hip::DeviceToDevice;
    const std::string what = "copying " + std::to_string(bytes) + " bytes " +
                             (isToHost ? "from" : "to") + " memory";
    if (Status status = on("hipMemcpyAsync", what,
                           [&] {
                             return library->MemcpyAsync(to, from, bytes, kind,
                                                         stream);
                           });
        !status)
      return status;
    // Pinned memory would still be read or written.
    return direction == CopyDirection::OnDevice ? Status()
                                                : synchronize(stream);
  }
  Status fill(void *to, int byte, uint64_t bytes, void *stream) override {
    return on("hipMemsetAsync", "filling " + std::to_string(bytes) + " bytes",
              [&] { return library->MemsetAsync(to, byte, bytes, stream); });
  }

  Result<void *> createStream() override {
    return made("hipStreamCreateWithFlags", "making a stream", [&](void **to) {
      return library->StreamCreateWithFlags(to, hip::kStreamNonBlocking);
    });
  }
  Status destroyStream(void *stream) override {
    return on("hipStreamDestroy", "releasing a stream",
              [&] { return library->StreamDestroy(stream); });
  }
  Status synchronize(void *stream) override {
    return on("hipStreamSynchronize", "waiting for a stream",
              [&] { return library->StreamSynchronize(stream); });
  }

  Result<void *> createEvent() override {
    return made("hipEventCreateWithFlags", "making an event", [&](void **to) {
      return library->EventCreateWithFlags(to, 0);
    });
  }
  Status destroyEvent(void *event) override {
    return on("hipEventDestroy", "releasing an event",
              [&] { return library->EventDestroy(event); });
  }
  Status record(void *event, void *stream) override {
    return on("hipEventRecord", "recording an event",
              [&] { return library->EventRecord(event, stream); });
  }
  Status wait(void *event, void *stream) override {
    return on("hipStreamWaitEvent", "making a stream wait",
              [&] { return library->StreamWaitEvent(stream, event, 0); });
  }
  Result<float> elapsed(void *start, void *end) override {
    float milliseconds = 0;
    if (Status s = on("hipEventSynchronize", "waiting for an event",
                      [&] { return library->EventSynchronize(end); });
        !s)
      return s.takeError();
    if (Status s = on("hipEventElapsedTime", "timing two events",
                      [&] {
                        return library->EventElapsedTime(&milliseconds, start,
                                                         end);
                      });
        !s)
      return s.takeError();
    return milliseconds;
  }

  Status beginCapture(void *stream) override {
    // Other threads may go on as they like: nothing of ours that they call
    // belongs to the capture.
    return on("hipStreamBeginCapture", "starting a capture", [&] {
      return library->StreamBeginCapture(stream, hip::CaptureThreadLocal);
    });
  }
  Result<void *> endCapture(void *stream) override {
    void *graph = nullptr, *executable = nullptr;
    if (Status s =
            on("hipStreamEndCapture", "ending a capture",
               [&] { return library->StreamEndCapture(stream, &graph); });
        !s)
      return s.takeError();
    Status made = on("hipGraphInstantiate", "making a graph", [&] {
      return library->GraphInstantiate(&executable, graph, nullptr, nullptr, 0);
    });
    (void)library->GraphDestroy(graph); // the executable is a copy
    if (!made)
      return made.takeError();
    return executable;
  }
  Status launchGraph(void *graph, void *stream) override {
    return on("hipGraphLaunch", "replaying a graph",
              [&] { return library->GraphLaunch(graph, stream); });
  }
  Status destroyGraph(void *graph) override {
    return on("hipGraphExecDestroy", "releasing a graph",
              [&] { return library->GraphExecDestroy(graph); });
  }

private:
  template <typename Call>
  Status on(const char *function, const std::string &what, Call call) {
    Current current(*library, index);
    if (current.code)
      return library->problem("hipSetDevice", current.code,
                              "choosing " + facts.name);
    if (int code = call())
      return library->problem(function, code, what + " on " + facts.name);
    return {};
  }
  template <typename Call>
  Result<void *> made(const char *function, const std::string &what,
                      Call call) {
    void *to = nullptr;
    if (Status status = on(function, what, [&] { return call(&to); }); !status)
      return status.takeError();
    return to;
  }
  Error launchProblem(int code, const uint32_t (&grid)[3],
                      const uint32_t (&block)[3]) const {
    auto text = [](const uint32_t (&d)[3]) {
      return "(" + std::to_string(d[0]) + ", " + std::to_string(d[1]) + ", " +
             std::to_string(d[2]) + ")";
    };
    return library->problem("hipModuleLaunchKernel", code,
                            "launching grid " + text(grid) + " of block " +
                                text(block) + " on " + facts.name);
  }

  Library library;
  int index;
  bool isOnly;
  DeviceInfo facts;
};

} // namespace

Result<std::shared_ptr<Device>>
runtime::openHipDevice(const std::vector<std::string> &libraries, int index,
                       const std::string &name,
                       const std::vector<std::string> &passedOver) {
  Result<Library> loaded = HipLibrary::load(libraries);
  if (!loaded)
    return Error{"device '" + name + "': " + loaded.message()};
  const HipLibrary &library = **loaded;
  auto problem = [&](const char *function, int code, const std::string &what) {
    return Error{"device '" + name +
                 "': " + library.problem(function, code, what).message + " (" +
                 library.path + ")"};
  };
  int count = 0;
  if (int code = library.GetDeviceCount(&count))
    return problem("hipGetDeviceCount", code, "counting devices");
  if (index < 0 || index >= count)
    return Error{"device '" + name + "': " + library.path + " has " +
                 std::to_string(count) + " devices, numbered from 0"};

  DeviceInfo info;
  info.name = name;
  info.passedOver = passedOver;
  info.platform = "rocm";
  info.library = library.path;
  auto take = [&](auto &properties) {
    // Never trusted to end in a zero.
    properties.name[sizeof properties.name - 1] = 0;
    properties.gcnArchName[sizeof properties.gcnArchName - 1] = 0;
    info.product = properties.name;
    info.arch = properties.gcnArchName;
    info.memoryBytes = properties.totalGlobalMem;
    info.computeUnits = properties.multiProcessorCount;
    info.waveSize = properties.warpSize;
  };
  if (library.GetDevicePropertiesR0600) {
    hip::DeviceProperties properties{};
    if (int code = library.GetDevicePropertiesR0600(&properties, index))
      return problem("hipGetDevicePropertiesR0600", code,
                     "asking for its properties");
    take(properties);
  } else {
    hip::DevicePropertiesR0000 properties{};
    if (int code = library.GetDeviceProperties(&properties, index))
      return problem("hipGetDeviceProperties", code,
                     "asking for its properties");
    take(properties);
  }
  if (info.arch.empty())
    return Error{"device '" + name + "': " + library.path +
                 " gives it no architecture name (gcnArchName)"};
  return std::shared_ptr<Device>(std::make_shared<HipDevice>(
      std::move(*loaded), index, count == 1, std::move(info)));
}
