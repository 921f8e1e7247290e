// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the simulated HIP library keeps: devices, streams with their queues,
// captures, modules. One lock guards all of it; every exported function runs
// inside of `call`.
#ifndef WINNOW_LIB_HIPSIM_STATE_H
#define WINNOW_LIB_HIPSIM_STATE_H

#include "../Hip/HipAbi.h"
#include "winnow/Sim/CodeObject.h"
#include "winnow/Sim/Device.h"

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#define WINNOW_HIP_EXPORT extern "C" __attribute__((visibility("default")))

namespace winnow::hipsim {

struct Stream;

/// Work of a stream; its answer is a hipError_t.
using Operation = std::function<int()>;

struct Capture {
  int mode = hip::CaptureGlobal;
  std::thread::id thread;
  Stream *origin = nullptr;
  bool isInvalid = false;
  std::vector<Operation> operations;
  /// Streams that joined, and whether work in them is still to be joined back.
  std::map<Stream *, bool> isOpen;
};

struct Stream {
  int device = 0;
  bool waitsForNull = true;
  std::deque<Operation> queue;
  uint64_t enqueued = 0, done = 0;
  std::shared_ptr<Capture> capture;
};

struct Event {
  std::shared_ptr<Stream> stream; // null until it is recorded
  uint64_t position = 0;          // done when stream->done is at least this
  std::shared_ptr<Capture> capture;
  std::shared_ptr<std::chrono::steady_clock::time_point> time;
};

struct Function {
  struct Module *module = nullptr;
  std::string name;
};

struct Module {
  int device = 0;
  std::shared_ptr<const sim::CodeObject> object; // null where it was not read
  std::map<std::string, std::unique_ptr<Function>> functions;
};

struct Graph {
  std::vector<Operation> operations;
};

struct Failure {
  uint64_t nth = 0;
  int code = 0;
};

inline constexpr int kMostDevices = 8;
inline constexpr size_t kMostQueued = 1024, kMostLines = 65536;
inline constexpr char kArch[] = "gfx950:sramecc+:xnack-";

struct State {
  std::mutex lock;
  int deviceCount = 1;
  std::string arch = kArch;
  std::array<std::unique_ptr<sim::Device>, kMostDevices> devices;
  std::array<std::shared_ptr<Stream>, kMostDevices> nullStreams;
  std::map<Stream *, std::shared_ptr<Stream>> streams;
  std::map<void *, std::unique_ptr<Event>> events;
  std::map<void *, std::unique_ptr<Module>> modules;
  std::map<void *, std::unique_ptr<Graph>> graphs, executables;
  std::vector<std::shared_ptr<Capture>> captures; // in progress
  /// What a kernel's fault left behind: every later call answers with it.
  int sticky = 0;
  std::string fault;
  // Hooks.
  std::map<std::string, Failure, std::less<>> failures;
  std::map<std::string, uint64_t, std::less<>> counts;
  std::vector<std::string> lines;

  sim::Device &device(int index);
  /// A stream's handle; null for one that is not ours.
  std::shared_ptr<Stream> find(void *handle, int device);
  /// Runs what is queued up to a position.
  int runUntil(Stream &stream, uint64_t position);
  int drain(Stream &stream) { return runUntil(stream, stream.enqueued); }
  int drainDevice(int device);
  /// Queues an operation, or adds it to the stream's capture.
  int enqueue(const std::shared_ptr<Stream> &stream, Operation operation);
  /// What the caller's thread may not do now, invalidating the capture that
  /// forbids it; else Success.
  int unsafe();
};

State &state();
extern std::atomic<bool> dropLaunches;
extern thread_local int currentDevice;
extern thread_local int threadMode;
/// What the caller calls the function, where that is not HIP's name: a library
/// of another vendor's functions may be made of these.
extern thread_local const char *calledAs;

enum class Needs { Nothing, NoCapture };

/// The frame of every function: lock, count, failure on demand, capture rules,
/// record. `body` gets the state and a text to describe the call.
int call(const char *function, Needs needs,
         const std::function<int(State &, std::string &)> &body);

} // namespace winnow::hipsim

#endif // WINNOW_LIB_HIPSIM_STATE_H
