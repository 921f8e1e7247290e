// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels for the tests: HIP or assembler text, compiled when the test runs,
// and helpers that run them on a fresh device.
#ifndef WINNOW_TESTS_SIM_TESTKERNELS_H
#define WINNOW_TESTS_SIM_TESTKERNELS_H

#include "winnow/Sim/CodeObject.h"
#include "winnow/Sim/Device.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <string>
#include <vector>

namespace winnow::sim::test {

/// Code object of a HIP source (with short names for the attributes prepended),
/// or an empty vector after a test failure. Results are cached by source.
std::vector<std::byte> compileHip(const std::string &source,
                                  const std::string &arch = "gfx950",
                                  const std::string &flags = "");
/// Code object of assembler text.
std::vector<std::byte> assemble(const std::string &source);

/// Assembler of one kernel `k` around `body`, which has the kernarg pointer in
/// s[0:1], workgroup ids in s2, s3 and s4, and v0. All 128 VGPRs, 64 AGPRs,
/// 1024 bytes of LDS and 128 bytes of scratch are allocated.
std::string kernelAround(const std::string &body);

std::shared_ptr<const CodeObject> load(const std::vector<std::byte> &bytes);

/// Packs kernel arguments at their natural alignment.
class Arguments {
public:
  template <typename T> Arguments &add(T value) {
    size_t at = (bytes.size() + alignof(T) - 1) / alignof(T) * alignof(T);
    bytes.resize(at + sizeof(T));
    std::memcpy(bytes.data() + at, &value, sizeof(T));
    return *this;
  }
  std::vector<std::byte> bytes;
};

/// A device buffer of T.
template <typename T>
uint64_t upload(Device &device, const std::vector<T> &values,
                const std::string &label) {
  Result<uint64_t> address = device.alloc(values.size() * sizeof(T), label);
  EXPECT_TRUE(address);
  Status written = device.write(*address, std::as_bytes(std::span(values)));
  EXPECT_TRUE(written);
  return *address;
}
template <typename T>
std::vector<T> download(Device &device, uint64_t address, size_t count) {
  std::vector<T> values(count);
  Status read = device.read(address, std::as_writable_bytes(std::span(values)));
  EXPECT_TRUE(read) << read.message();
  return values;
}

/// Runs the assembler body as one wave: the kernel gets one argument, the
/// address of `in` followed by room for `out` 32-bit results, loaded into
/// s[8:9] (in) and s[10:11] (out). Returns the results. Loads that are not
/// waited for are errors.
std::vector<uint32_t> runWave(const std::string &body,
                              const std::vector<uint32_t> &in, size_t out,
                              unsigned lanes = 64);
/// The error of the same, or "" when it ran.
std::string runWaveError(const std::string &body,
                         const std::vector<uint32_t> &in, size_t out,
                         unsigned lanes = 64);
std::string runWaveError(const std::string &body,
                         const std::vector<uint32_t> &in, size_t out,
                         unsigned lanes, const LaunchOptions &options);

/// Loads one dword a lane of `in` (times `registers`, register-major) into
/// v[first...]; v120 holds lane*4.
std::string loadInputs(unsigned first, unsigned registers);
/// Stores v[first...], register-major.
std::string storeOutputs(unsigned first, unsigned registers);

/// One lane a row of `inputs`, whose columns v1, v2, ... hold; the result rows
/// are v40 and on. f32 denormals are kept.
std::vector<std::vector<uint32_t>>
runLanes(const std::string &body,
         const std::vector<std::vector<uint32_t>> &inputs, unsigned results);
/// The error of the same.
std::string runLanesError(const std::string &body,
                          const std::vector<std::vector<uint32_t>> &inputs);

inline uint32_t bitsOf(float v) { return std::bit_cast<uint32_t>(v); }
inline float floatOf(uint32_t v) { return std::bit_cast<float>(v); }

} // namespace winnow::sim::test

#endif // WINNOW_TESTS_SIM_TESTKERNELS_H
