// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host as a device: memory of this process, and everything done at once.
#include "winnow/Runtime/DeviceApi.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>

using namespace winnow;
using namespace winnow::runtime;
using Clock = std::chrono::steady_clock;

namespace {

Error notOnHost(const char *what) {
  return Error{std::string("the device 'host' ") + what};
}

class HostDevice : public Device {
public:
  explicit HostDevice(std::vector<std::string> passedOver) {
    facts.name = facts.platform = facts.arch = "host";
    facts.product = facts.library = "the reference implementation";
    facts.waveSize = facts.computeUnits = 1;
    facts.passedOver = std::move(passedOver);
  }

  const DeviceInfo &info() const override { return facts; }

  Result<std::shared_ptr<Module>>
  loadModule(std::span<const std::byte>) override {
    return notOnHost("loads no code objects");
  }
  Status launch(void *, const uint32_t (&)[3], const uint32_t (&)[3], uint32_t,
                void *, const void *, size_t) override {
    return notOnHost("launches no kernels");
  }

  Result<void *> allocate(uint64_t bytes) override {
    // As aligned as what HIP gives; a multiple of that, as the C library wants.
    constexpr uint64_t alignment = 256;
    if (bytes == 0)
      return static_cast<void *>(nullptr);
    void *memory =
        bytes > UINT64_MAX - alignment
            ? nullptr
            : std::aligned_alloc(alignment, (bytes + alignment - 1) /
                                                alignment * alignment);
    if (!memory)
      return Error{"no " + std::to_string(bytes) + " bytes of host memory"};
    return memory;
  }
  Status free(void *memory) override {
    std::free(memory);
    return {};
  }
  Status copy(void *to, const void *from, uint64_t bytes, CopyDirection,
              void *) override {
    if (bytes != 0)
      std::memmove(to, from, bytes);
    return {};
  }
  Status fill(void *to, int byte, uint64_t bytes, void *) override {
    if (bytes != 0)
      std::memset(to, byte, bytes);
    return {};
  }

  // There is one order of things, so any stream will do.
  Result<void *> createStream() override { return static_cast<void *>(this); }
  Status destroyStream(void *) override { return {}; }
  Status synchronize(void *) override { return {}; }

  Result<void *> createEvent() override {
    return static_cast<void *>(new Clock::time_point);
  }
  Status destroyEvent(void *event) override {
    delete static_cast<Clock::time_point *>(event);
    return {};
  }
  Status record(void *event, void *) override {
    *static_cast<Clock::time_point *>(event) = Clock::now();
    return {};
  }
  Status wait(void *, void *) override { return {}; }
  Result<float> elapsed(void *start, void *end) override {
    return std::chrono::duration<float, std::milli>(
               *static_cast<Clock::time_point *>(end) -
               *static_cast<Clock::time_point *>(start))
        .count();
  }

  Status beginCapture(void *) override {
    return notOnHost("captures no launches");
  }
  Result<void *> endCapture(void *) override {
    return notOnHost("captures no launches");
  }
  Status launchGraph(void *, void *) override {
    return notOnHost("has no graphs");
  }
  Status destroyGraph(void *) override { return notOnHost("has no graphs"); }

private:
  DeviceInfo facts;
};

} // namespace

Result<std::shared_ptr<Device>>
runtime::openHostDevice(const std::vector<std::string> &passedOver) {
  return std::shared_ptr<Device>(std::make_shared<HostDevice>(passedOver));
}
