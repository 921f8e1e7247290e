// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Capture, instantiation and replay of the simulated HIP library.
#include "State.h"

#include <algorithm>

using namespace winnow;
using namespace winnow::hipsim;

WINNOW_HIP_EXPORT int hipThreadExchangeStreamCaptureMode(int *mode) {
  return call("hipThreadExchangeStreamCaptureMode", Needs::Nothing,
              [&](State &, std::string &note) -> int {
                if (!mode || *mode < hip::CaptureGlobal ||
                    *mode > hip::CaptureRelaxed)
                  return hip::InvalidValue;
                note = "mode=" + std::to_string(*mode);
                std::swap(threadMode, *mode);
                return hip::Success;
              });
}

WINNOW_HIP_EXPORT int hipStreamBeginCapture(void *handle, int mode) {
  return call("hipStreamBeginCapture", Needs::Nothing,
              [&](State &all, std::string &note) -> int {
                note = "mode=" + std::to_string(mode);
                if (mode < hip::CaptureGlobal || mode > hip::CaptureRelaxed)
                  return hip::InvalidValue;
                if (!handle)
                  return hip::CaptureUnsupported; // the legacy stream
                std::shared_ptr<Stream> stream =
                    all.find(handle, currentDevice);
                if (!stream)
                  return hip::ContextIsDestroyed;
                if (stream->capture)
                  return 401; // hipErrorIllegalState
                auto capture = std::make_shared<Capture>();
                capture->mode = mode;
                capture->thread = std::this_thread::get_id();
                capture->origin = stream.get();
                stream->capture = capture;
                all.captures.push_back(capture);
                return hip::Success;
              });
}

WINNOW_HIP_EXPORT int hipStreamEndCapture(void *handle, void **to) {
  return call("hipStreamEndCapture", Needs::Nothing,
              [&](State &all, std::string &note) -> int {
                if (!to)
                  return hip::InvalidValue;
                *to = nullptr;
                std::shared_ptr<Stream> stream =
                    all.find(handle, currentDevice);
                if (!stream)
                  return hip::ContextIsDestroyed;
                const std::shared_ptr<Capture> capture = stream->capture;
                if (!capture)
                  return 401; // hipErrorIllegalState
                if (capture->origin != stream.get())
                  return hip::CaptureUnmatched;
                if (capture->mode != hip::CaptureRelaxed &&
                    capture->thread != std::this_thread::get_id())
                  return hip::CaptureWrongThread;
                for (auto &[key, other] : all.streams)
                  if (other->capture == capture)
                    other->capture = nullptr;
                std::erase(all.captures, capture);
                note =
                    "operations=" + std::to_string(capture->operations.size());
                if (capture->isInvalid)
                  return hip::CaptureInvalidated;
                for (auto &[joined, isOpen] : capture->isOpen)
                  if (isOpen)
                    return hip::CaptureUnjoined;
                auto graph = std::make_unique<Graph>();
                graph->operations = std::move(capture->operations);
                *to = graph.get();
                all.graphs[graph.get()] = std::move(graph);
                return hip::Success;
              });
}

WINNOW_HIP_EXPORT int hipStreamIsCapturing(void *handle, int *status) {
  return call("hipStreamIsCapturing", Needs::Nothing,
              [&](State &all, std::string &) -> int {
                std::shared_ptr<Stream> stream =
                    all.find(handle, currentDevice);
                if (!stream)
                  return hip::ContextIsDestroyed;
                if (!status)
                  return hip::InvalidValue;
                *status = !stream->capture             ? hip::CaptureNone
                          : stream->capture->isInvalid ? hip::CaptureIsInvalid
                                                       : hip::CaptureActive;
                return hip::Success;
              });
}

WINNOW_HIP_EXPORT int hipGraphInstantiate(void **to, void *handle, void **,
                                          char *, size_t) {
  return call("hipGraphInstantiate", Needs::Nothing,
              [&](State &all, std::string &) -> int {
                auto found = all.graphs.find(handle);
                if (!to || found == all.graphs.end())
                  return hip::InvalidValue;
                auto executable = std::make_unique<Graph>(*found->second);
                *to = executable.get();
                all.executables[executable.get()] = std::move(executable);
                return hip::Success;
              });
}

WINNOW_HIP_EXPORT int hipGraphLaunch(void *handle, void *streamHandle) {
  return call(
      "hipGraphLaunch", Needs::Nothing,
      [&](State &all, std::string &note) -> int {
        auto found = all.executables.find(handle);
        if (found == all.executables.end())
          return hip::InvalidValue;
        std::shared_ptr<Stream> stream = all.find(streamHandle, currentDevice);
        if (!stream)
          return hip::ContextIsDestroyed;
        note = "operations=" + std::to_string(found->second->operations.size());
        for (const Operation &operation : found->second->operations)
          if (int code = all.enqueue(stream, operation))
            return code;
        return hip::Success;
      });
}

WINNOW_HIP_EXPORT int hipGraphExecDestroy(void *handle) {
  return call("hipGraphExecDestroy", Needs::Nothing,
              [&](State &all, std::string &) -> int {
                return all.executables.erase(handle) ? hip::Success
                                                     : hip::InvalidValue;
              });
}

WINNOW_HIP_EXPORT int hipGraphDestroy(void *handle) {
  return call(
      "hipGraphDestroy", Needs::Nothing, [&](State &all, std::string &) -> int {
        return all.graphs.erase(handle) ? hip::Success : hip::InvalidValue;
      });
}
