// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices of the C interface, and their memory, streams, graphs and events.
#include "Guard.h"
#include "Objects.h"

using namespace winnow;
using namespace winnow::capi;

namespace {

/// Runs `body` on the device behind a handle.
template <typename Body>
winnow_status onDevice(winnow_device *device, Body &&body) noexcept {
  return guard([&]() -> winnow_status {
    auto *object = checked<DeviceObject>(Kind::Device, device, "device");
    if (!object)
      return WINNOW_ERROR_HANDLE;
    Status status = body(*object->device->device);
    return status ? WINNOW_OK : fail(WINNOW_ERROR_DEVICE, status.message());
  });
}

/// The same for a call about an event or a graph, which may not be null: not
/// every device could tell.
template <typename Body>
winnow_status about(const char *function, const char *parameter,
                    const void *object, winnow_device *device,
                    Body &&body) noexcept {
  if (!object)
    return guard([&] { return nullPointer(function, parameter); });
  return onDevice(device, std::forward<Body>(body));
}

/// Hands on what a device made.
template <typename T> Status take(Result<T> made, T *to) {
  if (!made)
    return made.takeError();
  *to = *made;
  return {};
}

/// What it makes goes to `to`, which is null or 0 after an error.
template <typename T, typename Body>
winnow_status makes(const char *function, const char *parameter,
                    winnow_device *device, T *to, Body &&body) noexcept {
  if (!to)
    return guard([&] { return nullPointer(function, parameter); });
  *to = T();
  return onDevice(device, [&](runtime::Device &on) -> Status {
    return take<T>(body(on), to);
  });
}

} // namespace

extern "C" {

winnow_status winnow_device_open(winnow_runtime *runtime, const char *name,
                                 winnow_device **to) {
  return guard([&]() -> winnow_status {
    if (!to)
      return nullPointer("winnow_device_open", "device");
    *to = nullptr;
    auto *owner = checked<RuntimeObject>(Kind::Runtime, runtime, "runtime");
    if (!owner)
      return WINNOW_ERROR_HANDLE;
    if (!name)
      return nullPointer("winnow_device_open", "name");
    auto opened = runtime::openDevice(name, owner->devices);
    if (!opened)
      return fail(WINNOW_ERROR_DEVICE, opened.message());
    const runtime::DeviceInfo &info = (*opened)->info();
    for (const std::string &reason : info.passedOver)
      owner->logger(runtime::LogLevel::Info, "device '" + std::string(name) +
                                                 "' is " + info.name +
                                                 ", because of " + reason);
    auto object = std::make_unique<DeviceObject>();
    object->device = runtime::OpenedDevice::make(std::move(*opened));
    const uint64_t handle = addOwned(Kind::Device, object);
    if (handle == 0)
      return fail(WINNOW_ERROR_MEMORY, "too many handles are alive");
    *to = opaque<winnow_device>(handle);
    return WINNOW_OK;
  });
}

winnow_status winnow_device_release(winnow_device *device) {
  return guard([&]() -> winnow_status {
    if (!device)
      return WINNOW_OK;
    std::unique_ptr<DeviceObject> object(static_cast<DeviceObject *>(
        handles().remove(Kind::Device, reinterpret_cast<uint64_t>(device))));
    if (!object)
      (void)checked(Kind::Device, device, "device");
    return object ? WINNOW_OK : WINNOW_ERROR_HANDLE;
  });
}

winnow_status winnow_device_get_info(winnow_device *device,
                                     winnow_device_info *to) {
  return guard([&]() -> winnow_status {
    auto *object = checked<DeviceObject>(Kind::Device, device, "device");
    if (!object)
      return WINNOW_ERROR_HANDLE;
    if (!to)
      return nullPointer("winnow_device_get_info", "info");
    const runtime::DeviceInfo &info = object->device->device->info();
    winnow_device_info from = WINNOW_DEVICE_INFO_INIT;
    from.name = info.name.c_str();
    from.platform = info.platform.c_str();
    from.arch = info.arch.c_str();
    from.product = info.product.c_str();
    from.library = info.library.c_str();
    from.memory_bytes = info.memoryBytes;
    from.compute_units = info.computeUnits;
    from.wave_size = info.waveSize;
    from.l2_bytes = info.l2Bytes;
    return writeInfo(from, to, sizeof from, "winnow_device_info");
  });
}

winnow_status winnow_memory_allocate(winnow_device *device, uint64_t bytes,
                                     void **memory) {
  return makes("winnow_memory_allocate", "memory", device, memory,
               [&](runtime::Device &on) { return on.allocate(bytes); });
}

winnow_status winnow_memory_free(winnow_device *device, void *memory) {
  return onDevice(device, [&](runtime::Device &on) { return on.free(memory); });
}

winnow_status winnow_memory_copy(winnow_device *device, void *to,
                                 const void *from, uint64_t bytes,
                                 winnow_copy direction, void *stream) {
  if (direction < WINNOW_TO_DEVICE || direction > WINNOW_ON_DEVICE)
    return guard([&] {
      return fail(WINNOW_ERROR_ARGUMENT, "copy direction " +
                                             std::to_string(direction) +
                                             ", wanted 0 to 2");
    });
  if ((!to || !from) && bytes != 0)
    return guard(
        [&] { return nullPointer("winnow_memory_copy", to ? "from" : "to"); });
  return onDevice(device, [&](runtime::Device &on) {
    return on.copy(to, from, bytes,
                   static_cast<runtime::CopyDirection>(direction), stream);
  });
}

winnow_status winnow_stream_create(winnow_device *device, void **stream) {
  return makes("winnow_stream_create", "stream", device, stream,
               [](runtime::Device &on) { return on.createStream(); });
}

winnow_status winnow_stream_release(winnow_device *device, void *stream) {
  if (!stream)
    return WINNOW_OK;
  return onDevice(
      device, [&](runtime::Device &on) { return on.destroyStream(stream); });
}

winnow_status winnow_stream_synchronize(winnow_device *device, void *stream) {
  return onDevice(device,
                  [&](runtime::Device &on) { return on.synchronize(stream); });
}

winnow_status winnow_capture_begin(winnow_device *device, void *stream) {
  return onDevice(device,
                  [&](runtime::Device &on) { return on.beginCapture(stream); });
}

winnow_status winnow_capture_end(winnow_device *device, void *stream,
                                 void **graph) {
  return makes("winnow_capture_end", "graph", device, graph,
               [&](runtime::Device &on) { return on.endCapture(stream); });
}

winnow_status winnow_graph_launch(winnow_device *device, void *graph,
                                  void *stream) {
  return about(
      "winnow_graph_launch", "graph", graph, device,
      [&](runtime::Device &on) { return on.launchGraph(graph, stream); });
}

winnow_status winnow_graph_release(winnow_device *device, void *graph) {
  if (!graph)
    return WINNOW_OK;
  return onDevice(device,
                  [&](runtime::Device &on) { return on.destroyGraph(graph); });
}

winnow_status winnow_event_create(winnow_device *device, void **event) {
  return makes("winnow_event_create", "event", device, event,
               [](runtime::Device &on) { return on.createEvent(); });
}

winnow_status winnow_event_release(winnow_device *device, void *event) {
  if (!event)
    return WINNOW_OK;
  return onDevice(device,
                  [&](runtime::Device &on) { return on.destroyEvent(event); });
}

winnow_status winnow_event_record(winnow_device *device, void *event,
                                  void *stream) {
  return about("winnow_event_record", "event", event, device,
               [&](runtime::Device &on) { return on.record(event, stream); });
}

winnow_status winnow_event_elapsed(winnow_device *device, void *start,
                                   void *end, float *milliseconds) {
  if (!start || !end)
    return guard([&] {
      return nullPointer("winnow_event_elapsed", start ? "end" : "start");
    });
  return makes("winnow_event_elapsed", "milliseconds", device, milliseconds,
               [&](runtime::Device &on) { return on.elapsed(start, end); });
}
}
