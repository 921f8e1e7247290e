// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device over a driver library: AMD's, NVIDIA's, or the simulated one.
#include "GpuDriver.h"

using namespace winnow;
using namespace winnow::runtime;

namespace {

using Driver = std::shared_ptr<GpuDriver>;

// Numbers that HIP and CUDA share.
constexpr int kCaptureThreadLocal = 1, kCaptureRelaxed = 2;
constexpr unsigned kStreamNonBlocking = 1;
// Keys of a launch's `extra`: the arguments as packed bytes.
void *const kBufferPointer = reinterpret_cast<void *>(1);
void *const kBufferSize = reinterpret_cast<void *>(2);

/// The current device is the thread's: set to ours, and put back after.
class Current {
public:
  explicit Current(const GpuDriver &driver)
      : driver(driver), entered(driver.enter()) {}
  ~Current() {
    if (entered.changed)
      driver.leave(entered);
  }
  Current(const Current &) = delete;
  Current &operator=(const Current &) = delete;
  const GpuDriver::Answer &answer() const { return entered.answer; }

private:
  const GpuDriver &driver;
  const GpuDriver::Entered entered;
};

/// While it lives, this thread's calls do not disturb a capture.
class Relaxed {
public:
  explicit Relaxed(const GpuDriver &driver) : driver(driver) { exchange(); }
  ~Relaxed() { exchange(); }

private:
  void exchange() {
    if (driver.exchangeCaptureMode.call)
      (void)driver.exchangeCaptureMode.call(&mode);
  }
  const GpuDriver &driver;
  int mode = kCaptureRelaxed;
};

class GpuModule : public Module {
public:
  GpuModule(Driver driver, void *module, std::string device,
            std::vector<std::byte> code)
      : driver(std::move(driver)), module(module), device(std::move(device)),
        code(std::move(code)) {}
  ~GpuModule() override {
    Current current(*driver);
    Relaxed relaxed(*driver);
    (void)driver->unloadModule.call(module);
  }
  Result<void *> function(const std::string &name,
                          uint32_t dynamicLdsBytes) override {
    Current current(*driver);
    if (current.answer().code)
      return driver->problem(current.answer(), "choosing " + device);
    Relaxed relaxed(*driver);
    void *found = nullptr;
    const std::string what = "kernel '" + name + "' in a module on " + device;
    if (int code = driver->findFunction.call(&found, module, name.c_str()))
      return driver->problem({code, driver->findFunction.name},
                             "looking for " + what);
    if (GpuDriver::Answer answer = driver->prepare(found, dynamicLdsBytes);
        answer.code)
      return driver->problem(answer, "preparing " + what +
                                         " for launches with " +
                                         std::to_string(dynamicLdsBytes) +
                                         " bytes of dynamic local memory");
    return found;
  }

private:
  Driver driver;
  void *module;
  std::string device;
  std::vector<std::byte> code; // HIP may read it as long as it is loaded
};

class GpuDevice : public Device {
public:
  GpuDevice(Driver driver, DeviceInfo info)
      : driver(std::move(driver)), facts(std::move(info)) {}

  const DeviceInfo &info() const override { return facts; }

  Result<std::shared_ptr<Module>>
  loadModule(std::span<const std::byte> code) override {
    Relaxed relaxed(*driver);
    std::vector<std::byte> kept(code.begin(), code.end());
    void *module = nullptr;
    Status loaded =
        on("loading a code object of " + std::to_string(code.size()) + " bytes",
           driver->loadModule, &module, kept.data());
    if (!loaded)
      return loaded.takeError();
    return std::shared_ptr<Module>(std::make_shared<GpuModule>(
        driver, module, facts.name, std::move(kept)));
  }

  Status launch(void *function, const uint32_t (&grid)[3],
                const uint32_t (&block)[3], uint32_t dynamicLdsBytes,
                void *stream, const void *kernarg,
                size_t kernargBytes) override {
    // The address is taken only to read.
    void *extra[] = {kBufferPointer, const_cast<void *>(kernarg), kBufferSize,
                     &kernargBytes, driver->endOfExtra()};
    const Current current(*driver);
    GpuDriver::Answer answer = current.answer();
    if (!answer.code)
      answer = {driver->launch.call(function, grid[0], grid[1], grid[2],
                                    block[0], block[1], block[2],
                                    dynamicLdsBytes, stream, nullptr, extra),
                driver->launch.name};
    return answer.code ? launchProblem(answer, grid, block) : Status();
  }

  // Of nothing HIP and CUDA do not say the same; here it is never an error.
  Result<void *> allocate(uint64_t bytes) override {
    if (bytes == 0)
      return static_cast<void *>(nullptr);
    return made("allocating " + std::to_string(bytes) + " bytes",
                driver->allocate, bytes);
  }
  Status free(void *memory) override {
    if (!memory)
      return {};
    return on("freeing memory", driver->free, memory);
  }
  Status copy(void *to, const void *from, uint64_t bytes,
              CopyDirection direction, void *stream) override {
    if (bytes == 0)
      return {};
    const bool isToHost = direction == CopyDirection::FromDevice;
    if (Status status = answered(
            [&] { return driver->copy(to, from, bytes, direction, stream); },
            "copying " + std::to_string(bytes) + " bytes " +
                (isToHost ? "from" : "to") + " memory");
        !status)
      return status;
    // Pinned memory would still be read or written.
    return direction == CopyDirection::OnDevice ? Status()
                                                : synchronize(stream);
  }
  Status fill(void *to, int byte, uint64_t bytes, void *stream) override {
    if (bytes == 0)
      return {};
    return answered([&] { return driver->fill(to, byte, bytes, stream); },
                    "filling " + std::to_string(bytes) + " bytes");
  }

  Result<void *> createStream() override {
    return made("making a stream", driver->createStream, kStreamNonBlocking);
  }
  Status destroyStream(void *stream) override {
    return on("releasing a stream", driver->destroyStream, stream);
  }
  Status synchronize(void *stream) override {
    return on("waiting for a stream", driver->synchronizeStream, stream);
  }

  Result<void *> createEvent() override {
    return made("making an event", driver->createEvent, 0u);
  }
  Status destroyEvent(void *event) override {
    return on("releasing an event", driver->destroyEvent, event);
  }
  Status record(void *event, void *stream) override {
    return on("recording an event", driver->recordEvent, event, stream);
  }
  Status wait(void *event, void *stream) override {
    return on("making a stream wait", driver->waitEvent, stream, event, 0u);
  }
  Result<float> elapsed(void *start, void *end) override {
    float milliseconds = 0;
    if (Status s = on("waiting for an event", driver->synchronizeEvent, end);
        !s)
      return s.takeError();
    if (Status s =
            on("timing two events", driver->elapsed, &milliseconds, start, end);
        !s)
      return s.takeError();
    return milliseconds;
  }

  Status beginCapture(void *stream) override {
    // Other threads may go on as they like: nothing of ours that they call
    // belongs to the capture.
    return on("starting a capture", driver->beginCapture, stream,
              kCaptureThreadLocal);
  }
  Result<void *> endCapture(void *stream) override {
    void *graph = nullptr, *executable = nullptr;
    if (Status s = on("ending a capture", driver->endCapture, stream, &graph);
        !s)
      return s.takeError();
    Status made =
        answered([&] { return driver->instantiate(&executable, graph); },
                 "making a graph");
    (void)driver->destroyGraph.call(graph); // the executable is a copy
    if (!made)
      return made.takeError();
    return executable;
  }
  Status launchGraph(void *graph, void *stream) override {
    return on("replaying a graph", driver->launchGraph, graph, stream);
  }
  Status destroyGraph(void *graph) override {
    return on("releasing a graph", driver->destroyExecutable, graph);
  }

private:
  template <typename Call> Status answered(Call call, const std::string &what) {
    Current current(*driver);
    if (current.answer().code)
      return driver->problem(current.answer(), "choosing " + facts.name);
    if (GpuDriver::Answer answer = call(); answer.code)
      return driver->problem(answer, what + " on " + facts.name);
    return {};
  }
  template <typename Signature, typename... Arguments>
  Status on(const std::string &what, const DriverFunction<Signature> &function,
            Arguments... arguments) {
    return answered(
        [&] {
          return GpuDriver::Answer{function.call(arguments...), function.name};
        },
        what);
  }
  template <typename Signature, typename Argument>
  Result<void *> made(const std::string &what,
                      const DriverFunction<Signature> &function,
                      Argument argument) {
    void *to = nullptr;
    if (Status status = on(what, function, &to, argument); !status)
      return status.takeError();
    return to;
  }
  Error launchProblem(const GpuDriver::Answer &answer,
                      const uint32_t (&grid)[3],
                      const uint32_t (&block)[3]) const {
    auto text = [](const uint32_t (&d)[3]) {
      return "(" + std::to_string(d[0]) + ", " + std::to_string(d[1]) + ", " +
             std::to_string(d[2]) + ")";
    };
    return driver->problem(answer, "launching grid " + text(grid) +
                                       " of block " + text(block) + " on " +
                                       facts.name);
  }

  Driver driver;
  DeviceInfo facts;
};

} // namespace

std::shared_ptr<Device>
runtime::makeGpuDevice(std::shared_ptr<GpuDriver> driver, DeviceInfo info) {
  return std::make_shared<GpuDevice>(std::move(driver), std::move(info));
}
