// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs made calls on a device of the runtime: several copies of each at once,
// one of them as a captured graph, and again on what the first run left behind.
#ifndef WINNOW_TESTS_PROPERTY_DEVICERUN_H
#define WINNOW_TESTS_PROPERTY_DEVICERUN_H

#include "Judge.h"

#include "winnow/Runtime/DeviceApi.h"
#include "winnow/Runtime/Manifest.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace winnow::test {

/// A bundle's code on a device. For one thread.
class DeviceKernels {
public:
  /// An error is a source without code for the device, or the driver's.
  static Result<DeviceKernels> load(const runtime::Bundle &bundle,
                                    const std::shared_ptr<runtime::Device> &);
  Result<void *> function(uint32_t source, const std::string &kernel,
                          uint32_t dynamicLdsBytes);

private:
  std::map<uint32_t, std::shared_ptr<runtime::Module>> modules;
  std::map<std::string, void *> functions;
};

struct DeviceRunOptions {
  /// Copies of a call that run at the same time, each on a stream and in
  /// memory of its own; the second is a captured graph.
  int copies = 3;
  /// Run the first copy again: on the workspace as it was left, and on one full
  /// of other bytes. And the graph as often, without a pause.
  bool again = true;
  int replays = 3;
  /// Bytes around each tensor that have to stay as they are; 0 leaves the
  /// neighbourhood to a memory checker.
  uint64_t guard = 256;
  /// Leaves outputs and workspace as they are allocated, for a checker of reads
  /// of memory that nothing wrote; results are not judged.
  bool bare = false;
  /// Changes a byte of an output when it came back: a fault to be found.
  bool spoil = false;
};

/// Runs a call on one device, with streams of its own. For one thread; several
/// may share the device.
class DeviceRunner {
public:
  static Result<DeviceRunner> make(std::shared_ptr<runtime::Device> device,
                                   const DeviceRunOptions &options);
  DeviceRunner(DeviceRunner &&) = default;
  ~DeviceRunner();

  /// What is wrong, if anything: the result against the reference, and every
  /// other run against the first, bit for bit. A failure of the stage "device"
  /// is the driver's: after it the device is of no more use.
  std::optional<Failure> run(const MadeCall &made, DeviceKernels &kernels);

private:
  class Copy;
  DeviceRunner() = default;

  std::shared_ptr<runtime::Device> device;
  DeviceRunOptions options;
  std::vector<void *> streams;
};

} // namespace winnow::test

#endif // WINNOW_TESTS_PROPERTY_DEVICERUN_H
