// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queues and captures of the simulated HIP library, and the frame in which its
// functions run.
#include "State.h"

#include <exception>
#include <new>

using namespace winnow;
using namespace winnow::hipsim;

std::atomic<bool> hipsim::dropLaunches = false;
thread_local int hipsim::currentDevice = 0;
thread_local int hipsim::threadMode = hip::CaptureGlobal;
thread_local const char *hipsim::calledAs = nullptr;

State &hipsim::state() {
  // Never destroyed: threads of the program may outlive static objects.
  static State *state = new State;
  return *state;
}

sim::Device &State::device(int index) {
  if (!devices[index])
    devices[index] = std::make_unique<sim::Device>();
  return *devices[index];
}

std::shared_ptr<Stream> State::find(void *handle, int device) {
  if (!handle) {
    if (!nullStreams[device]) {
      nullStreams[device] = std::make_shared<Stream>();
      nullStreams[device]->device = device;
    }
    return nullStreams[device];
  }
  auto found = streams.find(static_cast<Stream *>(handle));
  return found == streams.end() ? nullptr : found->second;
}

int State::runUntil(Stream &stream, uint64_t position) {
  while (stream.done < position && !stream.queue.empty()) {
    Operation operation = std::move(stream.queue.front());
    stream.queue.pop_front();
    const int code = operation();
    ++stream.done;
    if (code != hip::Success) {
      sticky = code;
      stream.done += stream.queue.size();
      stream.queue.clear();
    }
  }
  return sticky;
}

int State::drainDevice(int device) {
  if (nullStreams[device])
    drain(*nullStreams[device]);
  for (auto &[handle, stream] : streams)
    if (stream->device == device)
      drain(*stream);
  return sticky;
}

int State::enqueue(const std::shared_ptr<Stream> &stream, Operation operation) {
  if (stream->capture) {
    if (stream->capture->isInvalid)
      return hip::CaptureInvalidated;
    stream->capture->operations.push_back(std::move(operation));
    if (stream.get() != stream->capture->origin)
      stream->capture->isOpen[stream.get()] = true;
    return hip::Success;
  }
  // The null stream and those that wait for it see each other's work in the
  // order of the calls; running it early is always right.
  const bool isNull = stream == nullStreams[stream->device];
  if (isNull) {
    for (auto &[handle, other] : streams)
      if (other->device == stream->device && other->waitsForNull)
        drain(*other);
  } else if (stream->waitsForNull && nullStreams[stream->device]) {
    drain(*nullStreams[stream->device]);
  }
  stream->queue.push_back(std::move(operation));
  ++stream->enqueued;
  if (stream->queue.size() >= kMostQueued)
    return drain(*stream);
  return sticky;
}

int State::unsafe() {
  if (threadMode == hip::CaptureRelaxed)
    return hip::Success;
  int code = hip::Success;
  for (const std::shared_ptr<Capture> &capture : captures)
    if (capture->mode == hip::CaptureGlobal ||
        (capture->mode == hip::CaptureThreadLocal &&
         capture->thread == std::this_thread::get_id())) {
      capture->isInvalid = true;
      code = hip::CaptureUnsupported;
    }
  return code;
}

int hipsim::call(const char *function, Needs needs,
                 const std::function<int(State &, std::string &)> &body) {
  try {
    State &all = state();
    std::lock_guard<std::mutex> guard(all.lock);
    if (calledAs)
      function = calledAs;
    ++all.counts[function];
    std::string note;
    int code = hip::Success;
    auto failure = all.failures.find(function);
    if (failure != all.failures.end() && --failure->second.nth == 0) {
      code = failure->second.code;
      all.failures.erase(failure);
    } else if (all.sticky != hip::Success) {
      code = all.sticky;
    } else if (needs == Needs::NoCapture) {
      code = all.unsafe();
      if (code == hip::Success)
        code = body(all, note);
    } else {
      code = body(all, note);
    }
    if (all.lines.size() < kMostLines)
      all.lines.push_back(std::string(function) + (note.empty() ? "" : " ") +
                          note + " -> " + std::to_string(code));
    return code;
  } catch (const std::bad_alloc &) {
    return hip::OutOfMemory;
  } catch (const std::exception &) {
    return hip::Unknown;
  }
}
