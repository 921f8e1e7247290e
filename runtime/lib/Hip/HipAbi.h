// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of amdhip64's binary interface that Winnow uses, declared by itself
// so that nothing of ROCm is needed to build: numbers and layouts as in
// hip_runtime_api.h of ROCm 5 to 7.
#ifndef WINNOW_LIB_HIP_HIPABI_H
#define WINNOW_LIB_HIP_HIPABI_H

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace winnow::hip {

/// hipError_t. Others exist; they are handed on by number.
enum Code : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  InvalidConfiguration = 9,
  InvalidMemcpyDirection = 21,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  NoBinaryForGpu = 209,
  InvalidHandle = 400,
  NotFound = 500,
  NotReady = 600,
  ContextIsDestroyed = 709,
  LaunchFailure = 719,
  NotSupported = 801,
  CaptureUnsupported = 900,
  CaptureInvalidated = 901,
  CaptureUnmatched = 903,
  CaptureUnjoined = 904,
  CaptureIsolation = 905,
  CaptureWrongThread = 908,
  Unknown = 999,
};

/// Names and texts, for a library that has to answer with them.
struct CodeText {
  int code;
  const char *name, *text;
};
inline constexpr CodeText kCodes[] = {
    {0, "hipSuccess", "no error"},
    {1, "hipErrorInvalidValue", "invalid argument"},
    {2, "hipErrorOutOfMemory", "out of memory"},
    {3, "hipErrorNotInitialized", "initialization error"},
    {4, "hipErrorDeinitialized", "driver shutting down"},
    {9, "hipErrorInvalidConfiguration", "invalid configuration argument"},
    {17, "hipErrorInvalidDevicePointer", "invalid device pointer"},
    {21, "hipErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {35, "hipErrorInsufficientDriver", "driver version is insufficient"},
    {52, "hipErrorMissingConfiguration", "configuration was not set"},
    {53, "hipErrorPriorLaunchFailure", "an earlier launch failed"},
    {98, "hipErrorInvalidDeviceFunction", "invalid device function"},
    {100, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    {101, "hipErrorInvalidDevice", "invalid device ordinal"},
    {200, "hipErrorInvalidImage", "device kernel image is invalid"},
    {201, "hipErrorInvalidContext", "invalid device context"},
    {209, "hipErrorNoBinaryForGpu", "no kernel image for this device"},
    {218, "hipErrorInvalidKernelFile", "invalid kernel file"},
    {301, "hipErrorFileNotFound", "file not found"},
    {304, "hipErrorOperatingSystem", "the operating system failed"},
    {400, "hipErrorInvalidHandle", "invalid resource handle"},
    {401, "hipErrorIllegalState", "not allowed in this state"},
    {500, "hipErrorNotFound", "named symbol not found"},
    {600, "hipErrorNotReady", "device not ready"},
    {700, "hipErrorIllegalAddress", "an illegal memory access"},
    {701, "hipErrorLaunchOutOfResources", "too many resources for launch"},
    {702, "hipErrorLaunchTimeOut", "the launch timed out"},
    {709, "hipErrorContextIsDestroyed", "context is destroyed"},
    {719, "hipErrorLaunchFailure", "unspecified launch failure"},
    {801, "hipErrorNotSupported", "operation not supported"},
    {900, "hipErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {901, "hipErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {902, "hipErrorStreamCaptureMerge", "would merge two captures"},
    {903, "hipErrorStreamCaptureUnmatched",
     "capture was not initiated in this stream"},
    {904, "hipErrorStreamCaptureUnjoined", "capture has unjoined work"},
    {905, "hipErrorStreamCaptureIsolation",
     "dependency on uncaptured work in another stream"},
    {906, "hipErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capture"},
    {907, "hipErrorCapturedEvent", "event was last recorded in a capture"},
    {908, "hipErrorStreamCaptureWrongThread",
     "attempt to end a capture from another thread"},
    {999, "hipErrorUnknown", "unknown error"},
};

enum MemcpyKind : int {
  HostToHost = 0,
  HostToDevice = 1,
  DeviceToHost = 2,
  DeviceToDevice = 3,
  MemcpyDefault = 4,
};

enum CaptureMode : int {
  CaptureGlobal = 0,
  CaptureThreadLocal = 1,
  CaptureRelaxed = 2,
};

enum CaptureStatus : int {
  CaptureNone = 0,
  CaptureActive = 1,
  CaptureIsInvalid = 2,
};

inline constexpr unsigned kStreamNonBlocking = 1;

// Keys of hipModuleLaunchKernel's `extra`: the arguments as packed bytes.
inline void *const kBufferPointer = reinterpret_cast<void *>(1);
inline void *const kBufferSize = reinterpret_cast<void *>(2);
inline void *const kBufferEnd = reinterpret_cast<void *>(3);

/// hipDeviceProp_tR0600: ROCm 6 and 7.
struct DeviceProperties {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;
  size_t totalConstMem;
  int major;
  int minor;
  size_t textureAlignment;
  size_t texturePitchAlignment;
  int deviceOverlap;
  int multiProcessorCount;
  char notUsed[768]; // textures, surfaces, links, reserved words
  char gcnArchName[256];
  size_t maxSharedMemoryPerMultiProcessor;
  int clockInstructionRate;
  unsigned arch;
  unsigned *hdpMemFlushCntl;
  unsigned *hdpRegFlushCntl;
  int cooperative[4];
  int isLargeBar;
  int asicRevision;
};
static_assert(offsetof(DeviceProperties, totalGlobalMem) == 288);
static_assert(offsetof(DeviceProperties, warpSize) == 308);
static_assert(offsetof(DeviceProperties, multiProcessorCount) == 388);
static_assert(offsetof(DeviceProperties, gcnArchName) == 1160);
static_assert(sizeof(DeviceProperties) == 1472);

/// hipDeviceProp_t of ROCm 5, which hipGetDeviceProperties still fills.
struct DevicePropertiesR0000 {
  char name[256];
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;
  int memoryClockRate;
  int memoryBusWidth;
  size_t totalConstMem;
  int major;
  int minor;
  int multiProcessorCount;
  int notUsed[5];
  int concurrentKernels;
  int pci[3];
  size_t maxSharedMemoryPerMultiProcessor;
  int isMultiGpuBoard;
  int canMapHostMemory;
  int gcnArch;
  char gcnArchName[256];
  char rest[140]; // textures, cooperative launches, managed memory
};
static_assert(offsetof(DevicePropertiesR0000, multiProcessorCount) == 336);
static_assert(offsetof(DevicePropertiesR0000, gcnArchName) == 396);
static_assert(sizeof(DevicePropertiesR0000) == 792);

} // namespace winnow::hip

#endif // WINNOW_LIB_HIP_HIPABI_H
