// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A vendor's driver library as the device sees it. HIP's functions and CUDA's
// differ in a handful of places; those are virtual here, the rest is a table.
#ifndef WINNOW_LIB_RUNTIME_GPUDRIVER_H
#define WINNOW_LIB_RUNTIME_GPUDRIVER_H

#include "winnow/Runtime/DeviceApi.h"
#include "winnow/Runtime/Result.h"

#include <memory>
#include <string>
#include <vector>

namespace winnow::runtime {

/// A function of the library, and what errors call it.
template <typename Signature> struct DriverFunction {
  Signature *call = nullptr;
  const char *name = "";
};

class GpuDriver {
public:
  virtual ~GpuDriver();

  std::string path; ///< of the library, as it was found

  // All answer with a code; 0 is success.
  DriverFunction<int(void **, const void *)> loadModule;
  DriverFunction<int(void *)> unloadModule;
  DriverFunction<int(void **, void *, const char *)> findFunction;
  DriverFunction<int(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
                     unsigned, unsigned, void *, void **, void **)>
      launch;
  DriverFunction<int(void **, size_t)> allocate;
  DriverFunction<int(void *)> free;
  DriverFunction<int(void **, unsigned)> createStream, createEvent;
  DriverFunction<int(void *)> destroyStream, synchronizeStream;
  DriverFunction<int(void *, void *, unsigned)> waitEvent; ///< stream, event
  DriverFunction<int(void *)> destroyEvent, synchronizeEvent;
  DriverFunction<int(void *, void *)> recordEvent;
  DriverFunction<int(float *, void *, void *)> elapsed;
  DriverFunction<int(void *, int)> beginCapture;
  DriverFunction<int(void *, void **)> endCapture;
  DriverFunction<int(void *, void *)> launchGraph;
  DriverFunction<int(void *)> destroyGraph, destroyExecutable;
  DriverFunction<int(int *)> exchangeCaptureMode; ///< may be null

  // What HIP and CUDA do in different ways.
  struct Answer {
    int code;
    const char *function;
  };
  /// Makes this thread's calls go to the device; `leave` undoes it. Both are
  /// harmless while a stream is captured.
  struct Entered {
    Answer answer{0, ""};
    bool changed = false;
    int device = 0; ///< HIP's current device before
  };
  virtual Entered enter() const = 0;
  virtual void leave(const Entered &entered) const = 0;
  virtual Answer copy(void *to, const void *from, size_t bytes,
                      CopyDirection direction, void *stream) const = 0;
  virtual Answer fill(void *to, int byte, size_t bytes, void *stream) const = 0;
  virtual Answer instantiate(void **executable, void *graph) const = 0;
  /// Once for each function that will be launched, with the local memory that
  /// launches ask for: afterwards a launch loads and changes nothing.
  virtual Answer prepare(void *function, uint32_t dynamicLdsBytes) const = 0;
  /// The last word of a launch's `extra`.
  virtual void *endOfExtra() const = 0;
  /// "hipErrorOutOfMemory" and "out of memory".
  virtual std::string errorName(int code) const = 0;
  virtual std::string errorText(int code) const = 0;
  /// What there is to add to an error, if anything.
  virtual std::string remark() const { return ""; }

  /// "hipMalloc failed with hipErrorOutOfMemory (2: out of memory) when
  /// allocating 64 bytes on hip:0".
  Error problem(const Answer &answer, const std::string &what) const;
};

/// A library's functions by name. The library is never closed: drivers start
/// threads that outlive a dlclose.
class DriverSymbols {
public:
  /// The first of `names` (paths or what the loader finds) that can be loaded.
  /// `kind` is for the error, which gives every name with the loader's reason.
  static Result<DriverSymbols> load(const std::vector<std::string> &names,
                                    const std::string &kind);

  /// `symbol` under the name `name`; false if there is none.
  template <typename Signature>
  bool optional(DriverFunction<Signature> &to, const char *symbol,
                const char *name = nullptr) {
    to.call = reinterpret_cast<Signature *>(find(symbol));
    to.name = name ? name : symbol;
    return to.call != nullptr;
  }
  template <typename Signature>
  void need(DriverFunction<Signature> &to, const char *symbol,
            const char *name = nullptr) {
    if (!optional(to, symbol, name) && missing.empty())
      missing = symbol;
  }

  std::string path;
  std::string missing; ///< the first that was needed and is not there

private:
  void *find(const char *symbol) const;
  void *handle = nullptr;
};

/// The device over a driver that is open.
std::shared_ptr<Device> makeGpuDevice(std::shared_ptr<GpuDriver> driver,
                                      DeviceInfo info);

} // namespace winnow::runtime

#endif // WINNOW_LIB_RUNTIME_GPUDRIVER_H
