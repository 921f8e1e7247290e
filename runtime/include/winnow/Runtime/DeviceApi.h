// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the runtime asks of a device: modules, launches, and as much of memory,
// streams, events and graphs as its callers need.
//
// Everything may be called from several threads at once; what one thread does
// to one stream is its own affair. An error names the function of the device's
// library, its code, and what was tried.
#ifndef WINNOW_RUNTIME_DEVICEAPI_H
#define WINNOW_RUNTIME_DEVICEAPI_H

#include "winnow/Runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace winnow::runtime {

struct DeviceInfo {
  std::string name;     ///< "hip:0", "cuda:0", "sim:gfx950", "host"
  std::string platform; ///< "rocm", "cuda"; "host" for the reference
  std::string arch;     ///< the full target: "gfx950:sramecc+:xnack-", "sm_90"
  std::string product;  ///< what the device calls itself
  std::string library;  ///< through which it is driven
  uint64_t memoryBytes = 0;
  uint64_t l2Bytes = 0; ///< of its last cache; 0 where it is not told
  int computeUnits = 0, waveSize = 0;
  /// Of a device that `auto` chose: why not the ones before it.
  std::vector<std::string> passedOver;
};

/// "gfx950" of "gfx950:sramecc+:xnack-".
std::string baseArch(const std::string &arch);

/// Whether code for target `code` runs on a device of target `device`: the same
/// processor, and every feature that the code names as the device has it
/// (LLVM AMDGPUUsage, "Target ID": one left out works with either setting).
bool runsOn(const std::string &code, const std::string &device);

/// Loaded code. Stays loaded as long as this lives.
class Module {
public:
  virtual ~Module();
  /// The kernel of that name, made ready for launches with that much dynamic
  /// local memory: what Device::launch takes. It lives as long as the module.
  /// Safe while another stream is captured.
  virtual Result<void *> function(const std::string &name,
                                  uint32_t dynamicLdsBytes = 0) = 0;
};

enum class CopyDirection { ToDevice, FromDevice, OnDevice };

class Device {
public:
  virtual ~Device();

  virtual const DeviceInfo &info() const = 0;

  /// Safe while another stream is captured, by this thread or another.
  virtual Result<std::shared_ptr<Module>>
  loadModule(std::span<const std::byte> code) = 0;

  /// Enqueues one kernel; the arguments are copied before it returns. The one
  /// call that a captured stream sees.
  virtual Status launch(void *function, const uint32_t (&grid)[3],
                        const uint32_t (&block)[3], uint32_t dynamicLdsBytes,
                        void *stream, const void *kernarg,
                        size_t kernargBytes) = 0;

  virtual Result<void *> allocate(uint64_t bytes) = 0;
  virtual Status free(void *memory) = 0;
  /// On the stream; host memory may be used again when it returns.
  virtual Status copy(void *to, const void *from, uint64_t bytes,
                      CopyDirection direction, void *stream) = 0;
  virtual Status fill(void *to, int byte, uint64_t bytes, void *stream) = 0;

  /// A stream that does not wait for the default one.
  virtual Result<void *> createStream() = 0;
  virtual Status destroyStream(void *stream) = 0;
  virtual Status synchronize(void *stream) = 0;

  virtual Result<void *> createEvent() = 0;
  virtual Status destroyEvent(void *event) = 0;
  virtual Status record(void *event, void *stream) = 0;
  virtual Status wait(void *event, void *stream) = 0;
  /// Waits for `end`; milliseconds since `start`.
  virtual Result<float> elapsed(void *start, void *end) = 0;

  /// From here on the stream's work is written down instead of done; an
  /// executable graph of it is what `endCapture` gives.
  virtual Status beginCapture(void *stream) = 0;
  virtual Result<void *> endCapture(void *stream) = 0;
  virtual Status launchGraph(void *graph, void *stream) = 0;
  virtual Status destroyGraph(void *graph) = 0;
};

/// Where libraries are looked for.
struct DeviceOptions {
  /// The HIP library; empty: libamdhip64.so.7, .6, .5 as the system finds them.
  std::string hipLibrary;
  /// The simulated one; empty: libwinnow_hip_sim.so beside the library or
  /// program that holds this code, or as the system finds it.
  std::string simLibrary;
  /// NVIDIA's driver; empty: libcuda.so.1 as the system finds it.
  std::string cudaLibrary;
};

/// Whether a name has one of the forms that `openDevice` knows; an error says
/// which there are. Whether there is such a device is another question.
Status checkDeviceName(const std::string &name);

/// Opens "hip:N", "cuda:N", "sim:gfx950", "host", or "auto": the first of
/// hip:0, cuda:0, sim:gfx950 and host that can be had. An error says what was
/// looked for.
Result<std::shared_ptr<Device>> openDevice(const std::string &name,
                                           const DeviceOptions &options = {});

/// Device `index` of the first of the HIP libraries that can be loaded, called
/// `name` in texts.
Result<std::shared_ptr<Device>>
openHipDevice(const std::vector<std::string> &libraries, int index,
              const std::string &name,
              const std::vector<std::string> &passedOver = {});

/// The same of a CUDA driver library. Its work goes to the device's primary
/// context, which is kept as long as the device or a module of it.
Result<std::shared_ptr<Device>>
openCudaDevice(const std::vector<std::string> &libraries, int index,
               const std::string &name,
               const std::vector<std::string> &passedOver = {});

/// Host memory, where plans run the reference, each launch to its end. It loads
/// no code and captures nothing.
Result<std::shared_ptr<Device>>
openHostDevice(const std::vector<std::string> &passedOver = {});

} // namespace winnow::runtime

#endif // WINNOW_RUNTIME_DEVICEAPI_H
