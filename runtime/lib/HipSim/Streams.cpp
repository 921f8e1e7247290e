// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams and events of the simulated HIP library.
#include "State.h"

using namespace winnow;
using namespace winnow::hipsim;

namespace {

/// What a call that waits for a stream meets first.
int waitable(State &all, void *handle, std::shared_ptr<Stream> &stream) {
  stream = all.find(handle, currentDevice);
  if (!stream)
    return hip::ContextIsDestroyed;
  if (stream->capture) {
    stream->capture->isInvalid = true;
    return hip::CaptureUnsupported;
  }
  // The null stream waits for others, of which one may be capturing.
  return handle ? int(hip::Success) : all.unsafe();
}

} // namespace

WINNOW_HIP_EXPORT int hipStreamCreateWithFlags(void **to, unsigned flags) {
  return call("hipStreamCreateWithFlags", Needs::Nothing,
              [&](State &all, std::string &note) -> int {
                note = "flags=" + std::to_string(flags);
                if (!to || flags > hip::kStreamNonBlocking)
                  return hip::InvalidValue;
                auto stream = std::make_shared<Stream>();
                stream->device = currentDevice;
                stream->waitsForNull = flags != hip::kStreamNonBlocking;
                *to = stream.get();
                all.streams[stream.get()] = stream;
                return hip::Success;
              });
}

WINNOW_HIP_EXPORT int hipStreamDestroy(void *handle) {
  return call("hipStreamDestroy", Needs::Nothing,
              [&](State &all, std::string &) -> int {
                auto found = all.streams.find(static_cast<Stream *>(handle));
                if (found == all.streams.end())
                  return hip::ContextIsDestroyed;
                if (found->second->capture) {
                  found->second->capture->isInvalid = true;
                  return hip::CaptureUnsupported;
                }
                // Work that was queued still runs.
                const int code = all.drain(*found->second);
                all.streams.erase(found);
                return code;
              });
}

WINNOW_HIP_EXPORT int hipStreamSynchronize(void *handle) {
  return call("hipStreamSynchronize", Needs::Nothing,
              [&](State &all, std::string &) -> int {
                std::shared_ptr<Stream> stream;
                if (int code = waitable(all, handle, stream))
                  return code;
                return handle ? all.drain(*stream)
                              : all.drainDevice(stream->device);
              });
}

WINNOW_HIP_EXPORT int hipStreamQuery(void *handle) {
  return call("hipStreamQuery", Needs::Nothing,
              [&](State &all, std::string &) -> int {
                std::shared_ptr<Stream> stream;
                if (int code = waitable(all, handle, stream))
                  return code;
                if (stream->done == stream->enqueued)
                  return hip::Success;
                // Time passes: each look sees one operation more done.
                if (int code = all.runUntil(*stream, stream->done + 1))
                  return code;
                return hip::NotReady;
              });
}

WINNOW_HIP_EXPORT int hipDeviceSynchronize(void) {
  return call("hipDeviceSynchronize", Needs::NoCapture,
              [&](State &all, std::string &) -> int {
                return all.drainDevice(currentDevice);
              });
}

WINNOW_HIP_EXPORT int hipStreamWaitEvent(void *handle, void *eventHandle,
                                         unsigned flags) {
  return call("hipStreamWaitEvent", Needs::Nothing,
              [&](State &all, std::string &) -> int {
                std::shared_ptr<Stream> stream =
                    all.find(handle, currentDevice);
                if (!stream)
                  return hip::ContextIsDestroyed;
                auto found = all.events.find(eventHandle);
                if (found == all.events.end() || flags != 0)
                  return hip::InvalidHandle;
                Event &event = *found->second;
                if (event.capture) {
                  // Waiting for captured work joins the stream into the
                  // capture.
                  if (stream->capture && stream->capture != event.capture)
                    return 902; // hipErrorStreamCaptureMerge
                  stream->capture = event.capture;
                  stream->capture->isOpen.emplace(stream.get(), false);
                  if (event.stream != stream)
                    event.capture->isOpen[event.stream.get()] = false;
                  return hip::Success;
                }
                if (stream->capture) {
                  stream->capture->isInvalid = true;
                  return hip::CaptureIsolation;
                }
                if (!event.stream)
                  return hip::Success; // never recorded: nothing to wait for
                return all.enqueue(stream, [&all, other = event.stream,
                                            position = event.position] {
                  return all.runUntil(*other, position);
                });
              });
}

WINNOW_HIP_EXPORT int hipEventCreateWithFlags(void **to, unsigned flags) {
  return call("hipEventCreateWithFlags", Needs::Nothing,
              [&](State &all, std::string &note) -> int {
                note = "flags=" + std::to_string(flags);
                if (!to)
                  return hip::InvalidValue;
                auto event = std::make_unique<Event>();
                *to = event.get();
                all.events[event.get()] = std::move(event);
                return hip::Success;
              });
}

WINNOW_HIP_EXPORT int hipEventDestroy(void *handle) {
  return call(
      "hipEventDestroy", Needs::Nothing, [&](State &all, std::string &) -> int {
        return all.events.erase(handle) ? hip::Success : hip::InvalidHandle;
      });
}

WINNOW_HIP_EXPORT int hipEventRecord(void *eventHandle, void *handle) {
  return call(
      "hipEventRecord", Needs::Nothing, [&](State &all, std::string &) -> int {
        std::shared_ptr<Stream> stream = all.find(handle, currentDevice);
        if (!stream)
          return hip::ContextIsDestroyed;
        auto found = all.events.find(eventHandle);
        if (found == all.events.end())
          return hip::InvalidHandle;
        Event &event = *found->second;
        event.stream = stream;
        event.capture = stream->capture;
        if (stream->capture)
          return stream->capture->isInvalid ? hip::CaptureInvalidated
                                            : hip::Success;
        event.time = std::make_shared<std::chrono::steady_clock::time_point>();
        event.position = stream->enqueued + 1;
        return all.enqueue(stream, [time = event.time]() -> int {
          *time = std::chrono::steady_clock::now();
          return hip::Success;
        });
      });
}

/// Synchronize and Query meet the same events that they cannot look at.
static int settled(State &all, void *handle, Event *&event) {
  auto found = all.events.find(handle);
  if (found == all.events.end())
    return hip::InvalidHandle;
  event = found->second.get();
  if (event->capture) {
    event->capture->isInvalid = true;
    return 907; // hipErrorCapturedEvent
  }
  return hip::Success;
}

WINNOW_HIP_EXPORT int hipEventSynchronize(void *handle) {
  return call("hipEventSynchronize", Needs::Nothing,
              [&](State &all, std::string &) -> int {
                Event *event = nullptr;
                if (int code = settled(all, handle, event))
                  return code;
                return event->stream
                           ? all.runUntil(*event->stream, event->position)
                           : int(hip::Success);
              });
}

WINNOW_HIP_EXPORT int hipEventQuery(void *handle) {
  return call(
      "hipEventQuery", Needs::Nothing, [&](State &all, std::string &) -> int {
        Event *event = nullptr;
        if (int code = settled(all, handle, event))
          return code;
        if (!event->stream || event->stream->done >= event->position)
          return hip::Success;
        if (int code = all.runUntil(*event->stream, event->stream->done + 1))
          return code;
        return hip::NotReady;
      });
}

WINNOW_HIP_EXPORT int hipEventElapsedTime(float *milliseconds, void *start,
                                          void *end) {
  return call("hipEventElapsedTime", Needs::Nothing,
              [&](State &all, std::string &) -> int {
                Event *events[2] = {};
                if (!milliseconds)
                  return hip::InvalidValue;
                if (int code = settled(all, start, events[0]))
                  return code;
                if (int code = settled(all, end, events[1]))
                  return code;
                for (const Event *event : events) {
                  if (!event->stream)
                    return hip::InvalidHandle;
                  if (event->stream->done < event->position)
                    return hip::NotReady;
                }
                *milliseconds = std::chrono::duration<float, std::milli>(
                                    *events[1]->time - *events[0]->time)
                                    .count();
                return hip::Success;
              });
}
