// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A HIP library loaded at run time: its functions, and its errors as texts.
#ifndef WINNOW_LIB_RUNTIME_HIPLIBRARY_H
#define WINNOW_LIB_RUNTIME_HIPLIBRARY_H

#include "../Hip/HipAbi.h"
#include "winnow/Runtime/Result.h"

#include <memory>
#include <string>
#include <vector>

namespace winnow::runtime {

struct HipLibrary {
  std::string path; ///< as it was found

  int (*GetDeviceCount)(int *) = nullptr;
  int (*SetDevice)(int) = nullptr;
  int (*GetDevice)(int *) = nullptr;
  const char *(*GetErrorName)(int) = nullptr;
  const char *(*GetErrorString)(int) = nullptr;
  int (*ModuleLoadData)(void **, const void *) = nullptr;
  int (*ModuleUnload)(void *) = nullptr;
  int (*ModuleGetFunction)(void **, void *, const char *) = nullptr;
  int (*ModuleLaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned,
                            unsigned, unsigned, unsigned, void *, void **,
                            void **) = nullptr;
  int (*Malloc)(void **, size_t) = nullptr;
  int (*Free)(void *) = nullptr;
  int (*MemcpyAsync)(void *, const void *, size_t, int, void *) = nullptr;
  int (*MemsetAsync)(void *, int, size_t, void *) = nullptr;
  int (*StreamCreateWithFlags)(void **, unsigned) = nullptr;
  int (*StreamDestroy)(void *) = nullptr;
  int (*StreamSynchronize)(void *) = nullptr;
  int (*StreamWaitEvent)(void *, void *, unsigned) = nullptr;
  int (*StreamBeginCapture)(void *, int) = nullptr;
  int (*StreamEndCapture)(void *, void **) = nullptr;
  int (*EventCreateWithFlags)(void **, unsigned) = nullptr;
  int (*EventDestroy)(void *) = nullptr;
  int (*EventRecord)(void *, void *) = nullptr;
  int (*EventSynchronize)(void *) = nullptr;
  int (*EventElapsedTime)(float *, void *, void *) = nullptr;
  int (*GraphInstantiate)(void **, void *, void **, char *, size_t) = nullptr;
  int (*GraphLaunch)(void *, void *) = nullptr;
  int (*GraphExecDestroy)(void *) = nullptr;
  int (*GraphDestroy)(void *) = nullptr;
  // One of the two is there.
  int (*GetDevicePropertiesR0600)(hip::DeviceProperties *, int) = nullptr;
  int (*GetDeviceProperties)(hip::DevicePropertiesR0000 *, int) = nullptr;
  // May be missing.
  int (*ThreadExchangeStreamCaptureMode)(int *) = nullptr;
  size_t (*simFault)(char *, size_t) = nullptr;

  ~HipLibrary();

  /// The first of `names` (paths or what the loader finds) that can be loaded.
  /// An error gives every name with the loader's reason, or the function that a
  /// library lacks.
  static Result<std::shared_ptr<HipLibrary>>
  load(const std::vector<std::string> &names);

  /// "hipMalloc failed with hipErrorOutOfMemory (2: out of memory) when
  /// allocating 64 bytes on hip:0".
  Error problem(const char *function, int code, const std::string &what) const;

private:
  void *handle = nullptr;
};

} // namespace winnow::runtime

#endif // WINNOW_LIB_RUNTIME_HIPLIBRARY_H
