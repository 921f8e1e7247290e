// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// HIP's questions about devices and errors, and its memory.
#include "State.h"

#include <cstring>

using namespace winnow;
using namespace winnow::hipsim;

namespace {

// A gfx950 compute unit has 160 KiB of LDS and an MI355X 256 of them.
constexpr size_t kLds = 160 * 1024;
constexpr int kComputeUnits = 256, kWave = 64, kWorkItems = 1024;
constexpr size_t kMemory = size_t(64) << 30;
constexpr char kName[] = "Winnow simulated gfx950";

template <typename Properties>
void fill(Properties &to, const std::string &arch) {
  std::memset(&to, 0, sizeof to);
  std::memcpy(to.name, kName, sizeof kName);
  to.totalGlobalMem = kMemory;
  to.sharedMemPerBlock = kLds;
  to.maxSharedMemoryPerMultiProcessor = kLds;
  to.warpSize = kWave;
  to.maxThreadsPerBlock = kWorkItems;
  for (int axis = 0; axis < 3; ++axis) {
    to.maxThreadsDim[axis] = kWorkItems;
    to.maxGridSize[axis] = INT32_MAX;
  }
  to.major = 9;
  to.minor = 5;
  to.multiProcessorCount = kComputeUnits;
  std::strncpy(to.gcnArchName, arch.c_str(), sizeof to.gcnArchName - 1);
}

template <typename Properties>
int properties(const char *function, Properties *to, int device) {
  return call(function, Needs::Nothing, [&](State &all, std::string &note) {
    note = "device=" + std::to_string(device);
    if (!to)
      return hip::InvalidValue;
    if (device < 0 || device >= all.deviceCount)
      return hip::InvalidDevice;
    fill(*to, all.arch);
    return hip::Success;
  });
}

const hip::CodeText *textOf(int code) {
  for (const hip::CodeText &text : hip::kCodes)
    if (text.code == code)
      return &text;
  return nullptr;
}

uint64_t address(const void *pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

bool isOnDevice(State &all, const void *pointer) {
  std::byte one;
  return bool(all.device(currentDevice).read(address(pointer), {&one, 1}));
}

/// Whether source and destination lie on the device; false for a bad kind.
bool sides(State &all, void *to, const void *from, int kind, bool &toDevice,
           bool &fromDevice) {
  toDevice = kind == hip::HostToDevice || kind == hip::DeviceToDevice;
  fromDevice = kind == hip::DeviceToHost || kind == hip::DeviceToDevice;
  if (kind == hip::MemcpyDefault) {
    toDevice = isOnDevice(all, to);
    fromDevice = isOnDevice(all, from);
  }
  return kind >= hip::HostToHost && kind <= hip::MemcpyDefault;
}

/// One copy, now.
int copy(State &all, int device, void *to, bool toDevice, const void *from,
         bool fromDevice, size_t bytes) {
  sim::Device &memory = all.device(device);
  const std::byte *source = static_cast<const std::byte *>(from);
  std::vector<std::byte> staged;
  if (fromDevice) {
    staged.resize(toDevice ? bytes : 0);
    std::byte *target = toDevice ? staged.data() : static_cast<std::byte *>(to);
    if (Status s = memory.read(address(from), {target, bytes}); !s) {
      all.fault = s.message();
      return hip::InvalidValue;
    }
    if (!toDevice)
      return hip::Success;
    source = staged.data();
  }
  if (!toDevice) {
    std::memcpy(to, source, bytes);
    return hip::Success;
  }
  if (Status s = memory.write(address(to), {source, bytes}); !s) {
    all.fault = s.message();
    return hip::InvalidValue;
  }
  return hip::Success;
}

} // namespace

WINNOW_HIP_EXPORT int hipGetDeviceCount(int *count) {
  return call("hipGetDeviceCount", Needs::Nothing,
              [&](State &all, std::string &) -> int {
                if (!count)
                  return hip::InvalidValue;
                *count = all.deviceCount;
                return all.deviceCount ? hip::Success : hip::NoDevice;
              });
}

WINNOW_HIP_EXPORT int hipSetDevice(int device) {
  return call("hipSetDevice", Needs::Nothing,
              [&](State &all, std::string &note) -> int {
                note = "device=" + std::to_string(device);
                if (device < 0 || device >= all.deviceCount)
                  return hip::InvalidDevice;
                currentDevice = device;
                return hip::Success;
              });
}

WINNOW_HIP_EXPORT int hipGetDevice(int *device) {
  return call("hipGetDevice", Needs::Nothing,
              [&](State &, std::string &) -> int {
                if (!device)
                  return hip::InvalidValue;
                *device = currentDevice;
                return hip::Success;
              });
}

WINNOW_HIP_EXPORT int hipGetDevicePropertiesR0600(hip::DeviceProperties *to,
                                                  int device) {
  return properties("hipGetDevicePropertiesR0600", to, device);
}

WINNOW_HIP_EXPORT int hipGetDeviceProperties(hip::DevicePropertiesR0000 *to,
                                             int device) {
  return properties("hipGetDeviceProperties", to, device);
}

WINNOW_HIP_EXPORT int hipRuntimeGetVersion(int *version) {
  return call("hipRuntimeGetVersion", Needs::Nothing,
              [&](State &, std::string &) -> int {
                if (!version)
                  return hip::InvalidValue;
                *version = 60400000; // the interface is that of ROCm 6.4
                return hip::Success;
              });
}

WINNOW_HIP_EXPORT const char *hipGetErrorName(int code) {
  const hip::CodeText *text = textOf(code);
  return text ? text->name : "hipErrorUnknown";
}

WINNOW_HIP_EXPORT const char *hipGetErrorString(int code) {
  const hip::CodeText *text = textOf(code);
  return text ? text->text : "unknown error";
}

WINNOW_HIP_EXPORT int hipMalloc(void **to, size_t bytes) {
  return call("hipMalloc", Needs::NoCapture,
              [&](State &all, std::string &note) -> int {
                note = "bytes=" + std::to_string(bytes);
                if (!to)
                  return hip::InvalidValue;
                *to = nullptr;
                if (bytes == 0)
                  return hip::Success;
                if (bytes > kMemory)
                  return hip::OutOfMemory;
                Result<uint64_t> made =
                    all.device(currentDevice).alloc(bytes, "hipMalloc");
                if (!made)
                  return hip::OutOfMemory;
                // NOLINTNEXTLINE(performance-no-int-to-ptr)
                *to = reinterpret_cast<void *>(*made);
                return hip::Success;
              });
}

WINNOW_HIP_EXPORT int hipFree(void *pointer) {
  return call("hipFree", Needs::NoCapture,
              [&](State &all, std::string &) -> int {
                if (!pointer)
                  return hip::Success;
                // Freeing waits for the device, as HIP's does.
                if (int code = all.drainDevice(currentDevice))
                  return code;
                return all.device(currentDevice).free(address(pointer))
                           ? hip::Success
                           : hip::InvalidValue;
              });
}

WINNOW_HIP_EXPORT int hipMemcpy(void *to, const void *from, size_t bytes,
                                int kind) {
  return call(
      "hipMemcpy", Needs::NoCapture, [&](State &all, std::string &note) -> int {
        note =
            "bytes=" + std::to_string(bytes) + " kind=" + std::to_string(kind);
        bool toDevice = false, fromDevice = false;
        if (bytes == 0)
          return hip::Success;
        if (!to || !from)
          return hip::InvalidValue;
        if (!sides(all, to, from, kind, toDevice, fromDevice))
          return hip::InvalidMemcpyDirection;
        // It runs on the null stream, which waits for the blocking ones.
        std::shared_ptr<Stream> stream = all.find(nullptr, currentDevice);
        const int device = currentDevice;
        int copied = hip::Success;
        if (int code = all.enqueue(stream, [&, device] {
              copied = copy(all, device, to, toDevice, from, fromDevice, bytes);
              return int(hip::Success);
            }))
          return code;
        if (int code = all.drain(*stream))
          return code;
        return copied;
      });
}

WINNOW_HIP_EXPORT int hipMemcpyAsync(void *to, const void *from, size_t bytes,
                                     int kind, void *handle) {
  return call(
      "hipMemcpyAsync", Needs::Nothing,
      [&](State &all, std::string &note) -> int {
        note =
            "bytes=" + std::to_string(bytes) + " kind=" + std::to_string(kind);
        std::shared_ptr<Stream> stream = all.find(handle, currentDevice);
        if (!stream)
          return hip::ContextIsDestroyed;
        bool toDevice = false, fromDevice = false;
        if (bytes == 0)
          return hip::Success;
        if (!to || !from)
          return hip::InvalidValue;
        if (!sides(all, to, from, kind, toDevice, fromDevice))
          return hip::InvalidMemcpyDirection;
        const int device = stream->device;
        if (int code = all.enqueue(stream, [=, &all] {
              return copy(all, device, to, toDevice, from, fromDevice, bytes);
            }))
          return code;
        // Host memory is used before the call returns, as pageable memory is.
        if (!stream->capture && !(toDevice && fromDevice))
          return all.drain(*stream);
        return hip::Success;
      });
}

WINNOW_HIP_EXPORT int hipMemsetAsync(void *to, int value, size_t bytes,
                                     void *handle) {
  return call("hipMemsetAsync", Needs::Nothing,
              [&](State &all, std::string &note) -> int {
                note = "bytes=" + std::to_string(bytes);
                std::shared_ptr<Stream> stream =
                    all.find(handle, currentDevice);
                if (!stream)
                  return hip::ContextIsDestroyed;
                if (!to)
                  return hip::InvalidValue;
                const int device = stream->device;
                return all.enqueue(stream, [=, &all]() -> int {
                  Status s = all.device(device).fill(
                      address(to), bytes, static_cast<uint8_t>(value));
                  if (!s)
                    all.fault = s.message();
                  return s ? hip::Success : hip::InvalidValue;
                });
              });
}
