// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of libcuda's binary interface that Winnow uses, declared by itself
// so that nothing of CUDA is needed to build: numbers as in cuda.h of CUDA 12
// and 13. Codes of captures, modules and launches have HIP's numbers.
#ifndef WINNOW_LIB_CUDA_CUDAABI_H
#define WINNOW_LIB_CUDA_CUDAABI_H

#include "../Hip/HipAbi.h"

namespace winnow::cuda {

/// CUresult. Others exist; they are handed on by number.
enum Code : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidContext = 201,
  InvalidHandle = 400,
  NotFound = 500,
};

/// Names and texts, for a library that has to answer with them.
inline constexpr hip::CodeText kCodes[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "a stub library instead of the driver"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "devices are busy or unavailable"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image for this device"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable memory error"},
    {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "unsupported PTX version"},
    {300, "CUDA_ERROR_INVALID_SOURCE", "device kernel image is invalid"},
    {301, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
    {304, "CUDA_ERROR_OPERATING_SYSTEM", "the operating system failed"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {401, "CUDA_ERROR_ILLEGAL_STATE", "not allowed in this state"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out"},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {800, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "driver and library differ"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {902, "CUDA_ERROR_STREAM_CAPTURE_MERGE", "would merge two captures"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "capture was not initiated in this stream"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capture has unjoined work"},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
     "dependency on uncaptured work in another stream"},
    {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capture"},
    {907, "CUDA_ERROR_CAPTURED_EVENT", "event was last recorded in a capture"},
    {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to end a capture from another thread"},
    {913, "CUDA_ERROR_FUNCTION_NOT_LOADED", "the function is not loaded"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

/// CUdevice_attribute.
enum Attribute : int {
  WarpSize = 10,
  MultiprocessorCount = 16,
  L2CacheSize = 38,
  ComputeCapabilityMajor = 75,
  ComputeCapabilityMinor = 76,
};

/// CUfunction_attribute.
enum FunctionAttribute : int {
  StaticSharedBytes = 1,
  MaxDynamicSharedBytes = 8,
};

/// What a launch gets without asking (CUDA C++ Programming Guide, "Shared
/// Memory" of each compute capability).
inline constexpr unsigned kPlainSharedBytes = 48 * 1024;

// The arguments as packed bytes: as HIP's keys, but for the last word.
inline void *const kBufferEnd = nullptr;

} // namespace winnow::cuda

#endif // WINNOW_LIB_CUDA_CUDAABI_H
