// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses lowerings and makes plans; see Dispatcher.h.
#include "winnow/Runtime/Dispatcher.h"
#include "PlanTable.h"
#include "winnow/Runtime/ContractAnswer.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <thread>

using namespace winnow;
using namespace winnow::runtime;
using Clock = std::chrono::steady_clock;

namespace {

std::atomic<uint64_t> nextId = 1;

std::chrono::microseconds since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() -
                                                               start);
}

/// Bounds that this lowering was not built for.
void checkBounds(const Entry &entry, const PlanRequest &request,
                 std::vector<std::string> &reasons) {
  const std::tuple<const char *, int64_t, int64_t> bounds[] = {
      {"max_seq_len", request.maxSeqLen, entry.maxSeqLen},
      {"max_requests", request.maxRequests, entry.maxRequests},
      {"max_query_len", request.maxQueryLen, entry.maxQueryLen},
      {"max_rows", request.maxRows, entry.maxRows}};
  for (const auto &[name, asked, built] : bounds)
    if (asked > built)
      reasons.push_back(std::string(name) + " of " + std::to_string(asked) +
                        " asked, it was built for " +
                        (built == 0 ? "rows without one"
                                    : "at most " + std::to_string(built)));
}

/// The entry with the plan's bounds, which may be narrower: launches are held
/// to them.
Entry narrow(const Entry &entry, const PlanRequest &request,
             PlanReport &report) {
  Entry narrowed = entry;
  for (auto [to, asked] :
       {std::pair(&narrowed.maxSeqLen, request.maxSeqLen),
        std::pair(&narrowed.maxRequests, request.maxRequests),
        std::pair(&narrowed.maxQueryLen, request.maxQueryLen),
        std::pair(&narrowed.maxRows, request.maxRows)})
    if (asked != 0)
      *to = asked;
  report.maxSeqLen = narrowed.maxSeqLen;
  report.maxRequests = narrowed.maxRequests;
  report.maxQueryLen = narrowed.maxQueryLen;
  report.maxRows = narrowed.maxRows;
  return narrowed;
}

Error all(const std::string &what, const std::vector<Refused> &refused) {
  std::string text = what;
  for (const Refused &each : refused)
    for (const std::string &reason : each.reasons)
      text += "\n  not " + each.lowering + ": " + reason;
  return Error{text};
}

/// For a log: lines after each other, their indentation left out.
std::string oneLine(const std::string &text) {
  std::string line;
  for (char c : text)
    if (c == '\n')
      line += ';';
    else if (c != ' ' || !line.ends_with("; "))
      line += c;
  return line;
}

} // namespace

std::shared_ptr<const LoadedBundle> LoadedBundle::make(Bundle bundle) {
  auto made = std::make_shared<LoadedBundle>();
  made->id = nextId++;
  made->bundle = std::move(bundle);
  return made;
}

std::shared_ptr<const OpenedDevice>
OpenedDevice::make(std::shared_ptr<Device> device) {
  auto made = std::make_shared<OpenedDevice>();
  made->id = nextId++;
  made->device = std::move(device);
  return made;
}

struct Dispatcher::Impl {
  DispatcherOptions options;
  KernelCache cache;
  /// Looks and never compiles: what is at hand, in background mode.
  std::unique_ptr<KernelCache> atHand;
  PlanTable table;
  std::mutex owning;
  std::deque<std::unique_ptr<Plan>> plans;

  /// A better lowering to be compiled for a slot.
  struct Job {
    std::shared_ptr<const LoadedBundle> bundle;
    std::shared_ptr<const OpenedDevice> device;
    PlanTable::Slot *slot = nullptr;
    std::vector<const Entry *> variants; // best first
  };
  std::mutex queueing;
  std::condition_variable changed;
  std::deque<Job> jobs;
  bool isBusy = false, isEnding = false;
  std::thread worker;

  explicit Impl(DispatcherOptions given)
      : options(std::move(given)), cache(cacheOptions(options)) {
    if (options.mode != CompileMode::Background)
      return;
    CacheOptions looking = cacheOptions(options);
    looking.neverCompile = true;
    atHand = std::make_unique<KernelCache>(looking);
    worker = std::thread([this] { work(); });
  }

  ~Impl() { stop(); }

  void stop() {
    {
      std::lock_guard<std::mutex> guard(queueing);
      isEnding = true;
      jobs.clear();
    }
    changed.notify_all();
    if (worker.joinable())
      worker.join();
  }

  static CacheOptions cacheOptions(const DispatcherOptions &options) {
    CacheOptions cache = options.cache;
    cache.neverCompile = options.mode == CompileMode::Never;
    return cache;
  }

  void log(LogLevel level, const std::string &line) const {
    if (options.logger)
      options.logger(level, line);
  }

  Result<const Plan *> resolve(const std::shared_ptr<const LoadedBundle> &,
                               const std::shared_ptr<const OpenedDevice> &,
                               const PlanRequest &, PlanTable::Slot &,
                               ErrorKind &, std::vector<Refused> &);
  Result<std::vector<const Entry *>> candidates(const Bundle &bundle,
                                                const PlanRequest &request,
                                                ErrorKind &kind) const;
  Result<std::unique_ptr<Plan>> make(const Bundle &bundle, const Entry &entry,
                                     const std::shared_ptr<Device> &device,
                                     const PlanRequest &request,
                                     KernelCache &from, ErrorKind &kind);
  Result<std::unique_ptr<Plan>> makeOnHost(const Entry &entry,
                                           const std::shared_ptr<Device> &,
                                           const PlanRequest &request,
                                           ErrorKind &kind);
  const Plan *publish(std::unique_ptr<Plan> plan, PlanTable::Slot &slot);
  void work();
  void compile(const Job &job);
};

/// The lowerings of the entry in the order in which they are tried.
Result<std::vector<const Entry *>>
Dispatcher::Impl::candidates(const Bundle &bundle, const PlanRequest &request,
                             ErrorKind &kind) const {
  kind = ErrorKind::NotFound;
  Result<const Entry *> first = bundle.find(request.entry);
  if (!first)
    return first.takeError();
  std::vector<const Entry *> variants = bundle.variants((*first)->name);
  if (request.prefer.empty())
    return variants;
  // There may be one for each architecture.
  std::vector<const Entry *> ordered, rest;
  for (const Entry *entry : variants)
    (entry->lowering == request.prefer ? ordered : rest).push_back(entry);
  if (ordered.empty())
    return Error{"'" + (*first)->name + "' has no lowering '" +
                 std::string(request.prefer) +
                 "'; it has: " + bundle.loweringNames((*first)->name)};
  if (!request.preferredOnly)
    ordered.insert(ordered.end(), rest.begin(), rest.end());
  return ordered;
}

/// Code found or compiled, loaded, and everything laid out for launches.
Result<std::unique_ptr<Plan>>
Dispatcher::Impl::make(const Bundle &bundle, const Entry &entry,
                       const std::shared_ptr<Device> &device,
                       const PlanRequest &request, KernelCache &from,
                       ErrorKind &kind) {
  const auto start = Clock::now();
  const DeviceInfo &info = device->info();
  PlanReport report;
  report.entry = entry.name;
  report.device = info.name;
  report.arch = info.arch;
  report.lowering = entry.lowering;

  std::vector<std::shared_ptr<Module>> modules(bundle.sources.size());
  std::vector<ReadyKernel> kernels;
  for (const Launch &launch : entry.launches) {
    std::shared_ptr<Module> &module = modules[launch.source];
    if (!module) {
      std::span<const std::byte> prebuilt;
      for (const CodeObject &object : bundle.codeObjects)
        if (object.source == launch.source && runsOn(object.arch, info.arch))
          prebuilt = object.bytes;
      Result<CachedCode> code =
          from.codeFor(bundle.sources[launch.source], info.arch,
                       *options.compiler, prebuilt);
      if (!code) {
        kind = &from == &cache && options.mode != CompileMode::Never
                   ? ErrorKind::Compile
                   : ErrorKind::MissingKernel;
        return code.takeError();
      }
      const std::string origin = originName(code->origin);
      if (report.from.find(origin) == std::string::npos)
        report.from += (report.from.empty() ? "" : " and ") + origin;
      report.keys.push_back(code->key);
      report.compiler = code->compiler;
      kind = ErrorKind::Device;
      Result<std::shared_ptr<Module>> loaded = device->loadModule(*code->code);
      if (!loaded)
        return loaded.takeError();
      module = std::move(*loaded);
    }
    kind = ErrorKind::Device;
    Result<void *> function = module->function(
        launch.kernel, static_cast<uint32_t>(launch.dynamicLdsBytes));
    if (!function)
      return function.takeError();
    ReadyKernel kernel;
    kernel.function = *function;
    for (int axis = 0; axis < 3; ++axis)
      kernel.block[axis] = static_cast<uint32_t>(launch.block[axis]);
    kernel.dynamicLdsBytes = static_cast<uint32_t>(launch.dynamicLdsBytes);
    kernels.push_back(kernel);
  }

  kind = ErrorKind::Bundle;
  Result<PreparedLaunch> prepared =
      PreparedLaunch::make(narrow(entry, request, report));
  if (!prepared)
    return prepared.takeError();
  Result<uint64_t> workspace =
      prepared->workspaceBytes({report.maxRequests, report.maxRows});
  if (!workspace)
    return workspace.takeError();
  report.workspaceBytes = *workspace;
  report.time = since(start);
  std::erase(modules, nullptr);
  return std::make_unique<Plan>(std::move(*prepared), device,
                                std::move(modules), std::move(kernels),
                                std::move(report));
}

/// The reference in the kernels' place: it has no limits and no workspace.
Result<std::unique_ptr<Plan>>
Dispatcher::Impl::makeOnHost(const Entry &entry,
                             const std::shared_ptr<Device> &device,
                             const PlanRequest &request, ErrorKind &kind) {
  PlanReport report;
  report.entry = entry.name;
  report.device = report.arch = device->info().name;
  report.lowering = report.from = "reference";
  std::vector<std::string> tooWide;
  checkBounds(entry, request, tooWide);
  if (!tooWide.empty()) {
    kind = ErrorKind::Contract;
    return all("no plan for '" + entry.name + "' on host",
               {{"reference", tooWide}});
  }
  if (!options.host) {
    kind = ErrorKind::Argument;
    return Error{"there is no reference here to run '" + entry.name +
                 "' on the host"};
  }
  kind = ErrorKind::Bundle;
  auto program = options.host(entry);
  if (!program)
    return program.takeError();
  Result<PreparedLaunch> prepared =
      PreparedLaunch::make(narrow(entry, request, report));
  if (!prepared)
    return prepared.takeError();
  return std::make_unique<Plan>(std::move(*prepared), device,
                                std::move(*program), std::move(report));
}

const Plan *Dispatcher::Impl::publish(std::unique_ptr<Plan> plan,
                                      PlanTable::Slot &slot) {
  if (options.publish)
    options.publish(*plan);
  log(LogLevel::Info, plan->report().line());
  const Plan *made = plan.get();
  {
    std::lock_guard<std::mutex> guard(owning);
    plans.push_back(std::move(plan));
  }
  slot.plan.store(made, std::memory_order_release);
  return made;
}

Result<const Plan *>
Dispatcher::Impl::resolve(const std::shared_ptr<const LoadedBundle> &bundle,
                          const std::shared_ptr<const OpenedDevice> &device,
                          const PlanRequest &request, PlanTable::Slot &slot,
                          ErrorKind &kind, std::vector<Refused> &refused) {
  const auto start = Clock::now();
  const DeviceInfo &info = device->device->info();
  const Target target{info.platform, baseArch(info.arch)};
  Result<std::vector<const Entry *>> variants =
      candidates(bundle->bundle, request, kind);
  if (!variants)
    return variants.takeError();

  if (info.platform == "host") {
    Result<std::unique_ptr<Plan>> plan =
        makeOnHost(*variants->front(), device->device, request, kind);
    if (!plan)
      return plan.takeError();
    (*plan)->setResolution({}, {}, since(start));
    return publish(std::move(*plan), slot);
  }

  // What each lowering asks of this device and these bounds.
  kind = ErrorKind::Contract;
  std::vector<const Entry *> met;
  for (const Entry *entry : *variants) {
    Refused verdict{entry->lowering, {}};
    checkBounds(*entry, request, verdict.reasons);
    Result<std::vector<ContractAnswer>> answers =
        answerContracts(*entry, target);
    if (!answers) {
      kind = ErrorKind::Bundle;
      return answers.takeError();
    }
    for (const ContractAnswer &answer : *answers)
      for (const contract::Violation &violation : answer.report.violations)
        verdict.reasons.push_back(violation.message());
    for (const Launch &launch : entry->launches) {
      const Source &source = bundle->bundle.sources[launch.source];
      if (std::find(source.archs.begin(), source.archs.end(), target.arch) !=
          source.archs.end())
        continue;
      std::string archs;
      for (const std::string &arch : source.archs)
        archs += (archs.empty() ? "" : ", ") + arch;
      verdict.reasons.push_back("source '" + source.name + "' is for " + archs +
                                ", the device is " + target.arch);
      break;
    }
    if (verdict.reasons.empty())
      met.push_back(entry);
    else
      refused.push_back(std::move(verdict));
  }

  auto serve = [&](std::unique_ptr<Plan> plan,
                   std::vector<std::string> compiling) {
    plan->setResolution(refused, std::move(compiling), since(start));
    return publish(std::move(plan), slot);
  };
  // In background mode the first that is at hand goes out at once, and those
  // before it are compiled behind it.
  if (atHand) {
    for (size_t i = 0; i < met.size(); ++i) {
      ErrorKind ignored;
      Result<std::unique_ptr<Plan>> plan = make(
          bundle->bundle, *met[i], device->device, request, *atHand, ignored);
      if (!plan)
        continue;
      std::vector<std::string> better;
      better.reserve(i);
      for (size_t j = 0; j < i; ++j)
        better.push_back(met[j]->lowering);
      const Plan *served = serve(std::move(*plan), better);
      if (i > 0) {
        std::lock_guard<std::mutex> guard(queueing);
        jobs.push_back({bundle, device, &slot, {met.begin(), met.begin() + i}});
        changed.notify_all();
      }
      return served;
    }
  }
  ErrorKind failure = ErrorKind::Contract;
  for (const Entry *entry : met) {
    Result<std::unique_ptr<Plan>> plan =
        make(bundle->bundle, *entry, device->device, request, cache, failure);
    if (plan)
      return serve(std::move(*plan), {});
    refused.push_back({entry->lowering, {plan.message()}});
  }
  kind = failure;
  return all("no plan for '" + (*variants)[0]->name + "' on " + info.name +
                 " (" + info.arch + ")",
             refused);
}

void Dispatcher::Impl::compile(const Job &job) {
  std::vector<Refused> refused;
  for (const Entry *entry : job.variants) {
    const auto start = Clock::now();
    ErrorKind kind;
    Result<std::unique_ptr<Plan>> plan =
        make(job.bundle->bundle, *entry, job.device->device,
             job.slot->key.request, cache, kind);
    if (plan) {
      (*plan)->setResolution(std::move(refused), {}, since(start));
      publish(std::move(*plan), *job.slot);
      return;
    }
    log(LogLevel::Warning,
        "plan '" + entry->name + "' on " + job.device->device->info().name +
            ": compiling lowering " + entry->lowering +
            " in the background failed: " + oneLine(plan.message()));
    refused.push_back({entry->lowering, {plan.message()}});
  }
}

void Dispatcher::Impl::work() {
  std::unique_lock<std::mutex> guard(queueing);
  while (true) {
    changed.wait(guard, [&] { return isEnding || !jobs.empty(); });
    if (isEnding)
      return;
    const Job job = std::move(jobs.front());
    jobs.pop_front();
    isBusy = true;
    guard.unlock();
    try {
      compile(job);
    } catch (const std::exception &exception) {
      log(LogLevel::Warning,
          std::string("background compile: ") + exception.what());
    }
    guard.lock();
    isBusy = false;
    changed.notify_all();
  }
}

Dispatcher::Dispatcher(DispatcherOptions options)
    : impl(std::make_unique<Impl>(std::move(options))) {}
Dispatcher::~Dispatcher() = default;

Result<const Plan *>
Dispatcher::plan(const std::shared_ptr<const LoadedBundle> &bundle,
                 const std::shared_ptr<const OpenedDevice> &device,
                 const PlanRequest &request, ErrorKind &kind,
                 std::unique_ptr<PlanReport> *why) {
  const PlanKey key{bundle->id, device->id, request};
  const uint64_t hash = key.hash();
  PlanTable::Slot *slot = impl->table.find(key, hash);
  if (slot)
    if (const Plan *plan = slot->plan.load(std::memory_order_acquire))
      return plan;
  auto resolve = [&](std::vector<Refused> &refused) -> Result<const Plan *> {
    kind = ErrorKind::Argument;
    for (auto [name, bound] : {std::pair("max_seq_len", request.maxSeqLen),
                               std::pair("max_requests", request.maxRequests),
                               std::pair("max_query_len", request.maxQueryLen),
                               std::pair("max_rows", request.maxRows)})
      if (bound < 0)
        return Error{std::string(name) + " of " + std::to_string(bound) +
                     ", wanted at least 0"};
    if (request.preferredOnly && request.prefer.empty())
      return Error{"no lowering is preferred, so none can be the only one"};
    if (!slot)
      slot = &impl->table.insert(key, hash);
    std::lock_guard<std::mutex> guard(slot->resolving);
    if (const Plan *plan = slot->plan.load(std::memory_order_acquire))
      return plan;
    return impl->resolve(bundle, device, slot->key.request, *slot, kind,
                         refused);
  };
  std::vector<Refused> refused;
  Result<const Plan *> plan = resolve(refused);
  if (plan)
    return plan;
  const std::string line = oneLine(plan.message());
  impl->log(LogLevel::Warning,
            line.starts_with("no plan") ? line : "no plan: " + line);
  if (!why)
    return plan;
  auto report = std::make_unique<PlanReport>();
  report->entry = request.entry;
  if (Result<const Entry *> entry = bundle->bundle.find(request.entry))
    report->entry = (*entry)->name;
  report->device = device->device->info().name;
  report->arch = device->device->info().arch;
  report->error = plan.message();
  report->refused = std::move(refused);
  report->maxSeqLen = request.maxSeqLen;
  report->maxRequests = request.maxRequests;
  report->maxQueryLen = request.maxQueryLen;
  report->maxRows = request.maxRows;
  *why = std::move(report);
  return plan;
}

void Dispatcher::stop() { impl->stop(); }

void Dispatcher::waitForBackground() {
  std::unique_lock<std::mutex> guard(impl->queueing);
  impl->changed.wait(guard,
                     [&] { return impl->jobs.empty() && !impl->isBusy; });
}
