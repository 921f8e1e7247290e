// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From (bundle, entry, device, bounds) to a plan: contracts answered, the best
// lowering that is met and whose code can be had, every reason kept.
//
// Thread-safe. Warm look-ups take no lock and allocate nothing.
#ifndef WINNOW_RUNTIME_DISPATCHER_H
#define WINNOW_RUNTIME_DISPATCHER_H

#include "winnow/Runtime/KernelCache.h"
#include "winnow/Runtime/KernelCompiler.h"
#include "winnow/Runtime/Plan.h"

#include <functional>
#include <memory>
#include <string>

namespace winnow::runtime {

enum class CompileMode {
  Auto,  ///< what is not at hand is compiled while the caller waits
  Never, ///< what is not at hand is an error that names its key
  /// A lowering that is at hand is served at once; better ones are compiled
  /// behind it and served to look-ups after that.
  Background,
};

struct DispatcherOptions {
  CacheOptions cache; ///< its neverCompile follows from the mode
  CompileMode mode = CompileMode::Auto;
  std::shared_ptr<KernelCompiler> compiler;
  /// Gets one line for each plan that is resolved or refused.
  Logger logger;
  /// The reference for an entry: what plans on the device "host" run. Without
  /// it there are none.
  std::function<Result<std::shared_ptr<const HostProgram>>(const Entry &)> host;
  /// Called once for each plan before anyone gets it.
  std::function<void(Plan &)> publish;
};

/// A bundle in memory. The id tells bundles apart for ever, as an address does
/// not.
struct LoadedBundle {
  uint64_t id = 0;
  Bundle bundle;
  static std::shared_ptr<const LoadedBundle> make(Bundle bundle);
};

struct OpenedDevice {
  uint64_t id = 0;
  std::shared_ptr<Device> device;
  static std::shared_ptr<const OpenedDevice>
  make(std::shared_ptr<Device> device);
};

class Dispatcher {
public:
  explicit Dispatcher(DispatcherOptions options);
  /// Waits for a compile in progress; plans die with it.
  ~Dispatcher();
  Dispatcher(const Dispatcher &) = delete;
  Dispatcher &operator=(const Dispatcher &) = delete;

  /// The plan of the best lowering that can be had now. It lives as long as the
  /// dispatcher. A second request that says the same gets the same plan, or,
  /// in background mode, a better one once that is ready. A failure is tried
  /// anew each time. With an error `kind` is set, and `why`, unless it is null,
  /// gets a report with each lowering's reasons and the bounds asked for.
  Result<const Plan *> plan(const std::shared_ptr<const LoadedBundle> &bundle,
                            const std::shared_ptr<const OpenedDevice> &device,
                            const PlanRequest &request, ErrorKind &kind,
                            std::unique_ptr<PlanReport> *why = nullptr);

  /// Ends the background thread, waiting for a compile in progress; what is
  /// queued is dropped. Plans stay.
  void stop();

  /// Waits until nothing is being compiled in the background.
  void waitForBackground();

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace winnow::runtime

#endif // WINNOW_RUNTIME_DISPATCHER_H
