// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plan: one entry of a bundle on one device within bounds, its lowering
// chosen, its kernels loaded. It never changes, so that a captured graph and
// every thread that holds it see one and the same kernels.
#ifndef WINNOW_RUNTIME_PLAN_H
#define WINNOW_RUNTIME_PLAN_H

#include "winnow/Runtime/DeviceApi.h"
#include "winnow/Runtime/PreparedLaunch.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace winnow::runtime {

/// What kind of thing went wrong, for callers that decide by it.
enum class ErrorKind {
  Argument,      ///< the call: null, unknown, out of range, ill-formed
  Bundle,        ///< damaged, or of another format version
  NotFound,      ///< no such entry or lowering
  Contract,      ///< no lowering takes this device and these bounds
  MissingKernel, ///< not at hand, and nothing may be compiled
  Compile,       ///< the compiler failed
  Device,        ///< the device or its library failed
  Memory,        ///< of the host
  Internal,      ///< a fault of the runtime
};

/// A bound that is 0 is the entry's own.
struct PlanRequest {
  std::string_view entry; ///< empty: the bundle's only one
  std::string_view
      prefer; ///< a lowering to try before the others; may be empty
  bool preferredOnly = false; ///< and to try alone
  int64_t maxSeqLen = 0, maxRequests = 0, maxQueryLen = 0, maxRows = 0;
};

/// A lowering that was not taken, and every reason.
struct Refused {
  std::string lowering;
  std::vector<std::string> reasons;
};

/// How a plan came to be, or why there is none: then `lowering` is empty,
/// `error` says what was wrong, and what only a plan has is empty or 0.
struct PlanReport {
  std::string entry, device, arch, lowering, error;
  std::string from;              ///< "bundle", "disk cache", "compiler", ...
  std::string compiler;          ///< its identity; empty for prebuilt code
  std::vector<std::string> keys; ///< of the code objects
  std::chrono::microseconds time{0};
  int64_t maxSeqLen = 0, maxRequests = 0, maxQueryLen = 0, maxRows = 0;
  uint64_t workspaceBytes = 0;
  std::vector<Refused> refused; ///< better ones, best first
  /// Better lowerings that are being compiled behind this plan.
  std::vector<std::string> compiling;

  /// One line for a log.
  std::string line() const;
  /// A few lines for people, and the same as JSON.
  std::string text() const;
  std::string json() const;

private:
  std::string bounds() const;
};

/// An entry computed on the host by the reference instead of by kernels.
class HostProgram {
public:
  virtual ~HostProgram();
  /// Tensors in host memory that `bindArguments` accepted. Errors are of what
  /// lies in them: a page number outside the cache.
  virtual Status run(std::span<const TensorView> arguments) const = 0;
};

/// Kernels ready to launch, in the order of Entry::launches.
struct ReadyKernel {
  void *function = nullptr;
  uint32_t block[3] = {1, 1, 1};
  uint32_t dynamicLdsBytes = 0;
};

class Plan {
public:
  Plan(PreparedLaunch prepared, std::shared_ptr<Device> device,
       std::vector<std::shared_ptr<Module>> modules,
       std::vector<ReadyKernel> kernels, PlanReport report)
      : prepared(std::move(prepared)), device(std::move(device)),
        modules(std::move(modules)), kernels(std::move(kernels)),
        facts(std::move(report)), shapes(describeShapes(entry())) {}

  /// On the host: without kernels and without workspace.
  Plan(PreparedLaunch prepared, std::shared_ptr<Device> device,
       std::shared_ptr<const HostProgram> host, PlanReport report)
      : prepared(std::move(prepared)), device(std::move(device)),
        host(std::move(host)), facts(std::move(report)),
        shapes(describeShapes(entry())) {}

  const Entry &entry() const { return prepared.entry(); }
  const PlanReport &report() const { return facts; }
  const std::shared_ptr<Device> &on() const { return device; }
  /// "[rows, 1, 128]" of each argument.
  const std::vector<std::string> &shapeTexts() const { return shapes; }

  /// Checks everything, then enqueues the kernels on `stream`. Nothing is
  /// enqueued after an error of the call; after one of the device, kernels
  /// before it may have been. Allocates nothing and locks nothing unless it
  /// fails, and the only calls to the device are launches.
  Status launch(void *stream, std::span<const TensorView> arguments,
                void *workspace, uint64_t workspaceBytes,
                ErrorKind &kind) const;

  /// What only who resolved it knows; before anyone else has the plan.
  void setResolution(std::vector<Refused> refused,
                     std::vector<std::string> compiling,
                     std::chrono::microseconds time) {
    facts.refused = std::move(refused);
    facts.compiling = std::move(compiling);
    facts.time = time;
  }

  /// The plan's handle in the C API, set when it is published.
  uint64_t handle = 0;

private:
  static std::vector<std::string> describeShapes(const Entry &entry);
  Status runOnHost(std::span<const TensorView> arguments,
                   const PackBuffer &buffer) const;
  Error tooSmall(const PackBuffer &buffer, uint64_t workspaceBytes) const;
  Error nothingToDo(const PackBuffer &buffer) const;

  PreparedLaunch prepared;
  std::shared_ptr<Device> device;
  std::vector<std::shared_ptr<Module>> modules;
  std::vector<ReadyKernel> kernels;
  std::shared_ptr<const HostProgram> host; // instead of kernels
  PlanReport facts;
  std::vector<std::string> shapes;
};

} // namespace winnow::runtime

#endif // WINNOW_RUNTIME_PLAN_H
