// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans and launches of the C interface.
#include "Guard.h"
#include "Objects.h"

#include <bitset>
#include <cstddef>
#include <memory>

using namespace winnow;
using namespace winnow::capi;
using runtime::DType;
using runtime::ErrorKind;
using runtime::kMaxRank;
using runtime::Plan;
using runtime::TensorView;

static_assert(WINNOW_MAX_RANK == kMaxRank);
static_assert(WINNOW_F8E4M3FN == int(DType::F8E4M3FN) + 1 &&
              WINNOW_F8E5M2 == int(DType::F8E5M2) + 1 &&
              WINNOW_BF16 == int(DType::BF16) + 1 &&
              WINNOW_F16 == int(DType::F16) + 1 &&
              WINNOW_F32 == int(DType::F32) + 1 &&
              WINNOW_I32 == int(DType::I32) + 1);
static_assert(WINNOW_READ == int(runtime::Access::Read) &&
              WINNOW_WRITE == int(runtime::Access::Write) &&
              WINNOW_READ_WRITE == int(runtime::Access::ReadWrite));

namespace {

const Plan *checkedPlan(const winnow_plan *plan) noexcept {
  return checked<const Plan>(Kind::Plan, plan, "plan");
}

/// The tensors of a launch in the manifest's order, in memory that is not
/// initialised until a tensor is put there.
class CallTensors {
public:
  explicit CallTensors(const runtime::Entry &entry) : entry(entry) {}

  std::span<const TensorView> views() const {
    return {reinterpret_cast<const TensorView *>(memory),
            entry.arguments.size()};
  }

  winnow_status fill(const winnow_launch_options &options) {
    const size_t wanted = entry.arguments.size();
    const auto *bytes = reinterpret_cast<const char *>(options.tensors);
    if (options.tensor_count > wanted)
      return counts(options.tensor_count);
    for (size_t i = 0; i < options.tensor_count; ++i) {
      const auto &tensor = *reinterpret_cast<const winnow_tensor *>(
          bytes + i * options.tensor_size);
      size_t index = i;
      if (tensor.name && entry.arguments[i].name != tensor.name) {
        for (index = 0; index < wanted; ++index)
          if (entry.arguments[index].name == tensor.name)
            break;
        if (index == wanted)
          return fail(WINNOW_ERROR_ARGUMENT,
                      "'" + entry.name + "' has no argument '" + tensor.name +
                          "'; it has: " + names());
      }
      if (seen[index])
        return fail(WINNOW_ERROR_ARGUMENT,
                    "argument '" + entry.arguments[index].name + "' of '" +
                        entry.name + "' is given twice");
      seen.set(index);
      if (winnow_status status = put(tensor, index))
        return status;
    }
    if (options.tensor_count < wanted)
      return missing();
    return WINNOW_OK;
  }

private:
  winnow_status put(const winnow_tensor &tensor, size_t index) {
    const std::string &name = entry.arguments[index].name;
    if (tensor.dtype < WINNOW_F8E4M3FN || tensor.dtype > WINNOW_I32)
      return fail(WINNOW_ERROR_ARGUMENT, "argument '" + name + "': dtype " +
                                             std::to_string(tensor.dtype) +
                                             ", wanted 1 to 6");
    if (tensor.rank < 0 || tensor.rank > kMaxRank)
      return fail(WINNOW_ERROR_ARGUMENT,
                  "argument '" + name + "': " + std::to_string(tensor.rank) +
                      " axes, wanted at most " + std::to_string(kMaxRank));
    if (tensor.rank > 0 && !tensor.shape)
      return fail(WINNOW_ERROR_ARGUMENT,
                  "argument '" + name + "': its shape is a null pointer");
    const auto dtype = static_cast<DType>(tensor.dtype - 1);
    const auto address = reinterpret_cast<uint64_t>(tensor.data);
    const auto rank = static_cast<size_t>(tensor.rank);
    auto *view = reinterpret_cast<TensorView *>(memory) + index;
    if (!tensor.strides) {
      std::construct_at(
          view, TensorView::dense(address, dtype, {tensor.shape, rank}));
      return WINNOW_OK;
    }
    std::construct_at(view);
    view->address = address;
    view->dtype = dtype;
    view->rank = tensor.rank;
    for (size_t axis = 0; axis < rank; ++axis) {
      view->extents[axis] = tensor.shape[axis];
      view->strides[axis] = tensor.strides[axis];
    }
    return WINNOW_OK;
  }

  std::string names() const {
    std::string all;
    for (const runtime::TensorArgument &argument : entry.arguments)
      all += (all.empty() ? "" : ", ") + argument.name;
    return all;
  }
  winnow_status counts(size_t found) const {
    return fail(WINNOW_ERROR_ARGUMENT,
                "'" + entry.name + "' got " + std::to_string(found) +
                    " tensors, wanted " +
                    std::to_string(entry.arguments.size()) + ": " + names());
  }
  winnow_status missing() const {
    std::string all;
    for (size_t i = 0; i < entry.arguments.size(); ++i)
      if (!seen[i])
        all += (all.empty() ? "'" : ", '") + entry.arguments[i].name + "'";
    return fail(WINNOW_ERROR_ARGUMENT,
                "'" + entry.name + "' got no tensor for " + all);
  }

  const runtime::Entry &entry;
  std::bitset<runtime::PackBuffer::kTensors> seen;
  alignas(TensorView)
      std::byte memory[sizeof(TensorView) * runtime::PackBuffer::kTensors];
};

winnow_status launch(const Plan &plan, const winnow_launch_options &options) {
  if (options.tensor_count != 0 && !options.tensors)
    return nullPointer("winnow_launch", "tensors");
  if (options.tensor_size < sizeof(winnow_tensor))
    return fail(WINNOW_ERROR_ARGUMENT,
                "winnow_launch_options.tensor_size is " +
                    std::to_string(options.tensor_size) +
                    ", wanted sizeof(winnow_tensor), " +
                    std::to_string(sizeof(winnow_tensor)) + " in this version");
  CallTensors tensors(plan.entry());
  if (winnow_status status = tensors.fill(options))
    return status;
  ErrorKind kind;
  Status status = plan.launch(options.stream, tensors.views(),
                              options.workspace, options.workspace_bytes, kind);
  return status ? WINNOW_OK : fail(kind, status.message());
}

int64_t constant(const runtime::Extent &extent) {
  return extent.kind == runtime::Extent::Kind::Exactly &&
                 extent.value.kind == runtime::Expression::Kind::Constant
             ? extent.value.constant
             : -1;
}

std::string_view view(const char *text) { return text ? text : ""; }

/// Why this thread's last winnow_plan_get gave no plan, if one did not.
thread_local std::unique_ptr<runtime::PlanReport> lastFailure;

/// Keeps the reasons of the call that failed; of one that no lowering was asked
/// for there is the error alone, never an earlier call's reasons.
winnow_status refused(winnow_status status,
                      std::unique_ptr<runtime::PlanReport> why) noexcept {
  try {
    if (!why) {
      why = std::make_unique<runtime::PlanReport>();
      why->error = winnow_last_error();
    }
  } catch (...) {
    why = nullptr;
  }
  lastFailure = std::move(why);
  return status;
}

winnow_status write(const runtime::PlanReport &report, const char *function,
                    winnow_format format, char *text, size_t bytes,
                    size_t *needed) {
  if (format != WINNOW_TEXT && format != WINNOW_JSON)
    return fail(WINNOW_ERROR_ARGUMENT,
                "format " + std::to_string(format) +
                    ", wanted WINNOW_TEXT (0) or WINNOW_JSON (1)");
  if (!text && bytes != 0)
    return nullPointer(function, "text");
  const std::string all = format == WINNOW_TEXT ? report.text() : report.json();
  if (bytes != 0) {
    const size_t count = std::min(all.size(), bytes - 1);
    std::memcpy(text, all.data(), count);
    text[count] = 0;
  }
  if (needed)
    *needed = all.size() + 1;
  return WINNOW_OK;
}

} // namespace

extern "C" {

winnow_status winnow_plan_get(winnow_runtime *runtime, winnow_bundle *bundle,
                              winnow_device *device,
                              const winnow_plan_options *given,
                              const winnow_plan **to) {
  std::unique_ptr<runtime::PlanReport> why;
  const winnow_status got = guard([&]() -> winnow_status {
    if (!to)
      return nullPointer("winnow_plan_get", "plan");
    *to = nullptr;
    auto *owner = checked<RuntimeObject>(Kind::Runtime, runtime, "runtime");
    if (!owner)
      return WINNOW_ERROR_HANDLE;
    auto *source = checked<BundleObject>(Kind::Bundle, bundle, "bundle");
    if (!source)
      return WINNOW_ERROR_HANDLE;
    auto *target = checked<DeviceObject>(Kind::Device, device, "device");
    if (!target)
      return WINNOW_ERROR_HANDLE;
    winnow_plan_options options = WINNOW_PLAN_OPTIONS_INIT;
    winnow_status status = WINNOW_OK;
    if (!readOptions(given, options, sizeof options, "winnow_plan_options",
                     status))
      return status;
    if ((options.flags & ~WINNOW_PLAN_PREFERRED_ONLY) != 0)
      return fail(WINNOW_ERROR_ARGUMENT,
                  "winnow_plan_options.flags is " +
                      std::to_string(options.flags) +
                      ", wanted WINNOW_PLAN_PREFERRED_ONLY (1) or 0");
    runtime::PlanRequest request;
    request.entry = view(options.entry);
    request.prefer = view(options.prefer);
    request.preferredOnly = options.flags & WINNOW_PLAN_PREFERRED_ONLY;
    request.maxSeqLen = options.max_seq_len;
    request.maxRequests = options.max_requests;
    request.maxQueryLen = options.max_query_len;
    request.maxRows = options.max_rows;
    ErrorKind kind;
    Result<const Plan *> plan = owner->dispatcher->plan(
        source->bundle, target->device, request, kind, &why);
    if (!plan)
      return fail(kind, plan.message());
    if ((*plan)->handle == 0)
      return fail(WINNOW_ERROR_MEMORY, "too many handles are alive");
    *to = opaque<const winnow_plan>((*plan)->handle);
    return WINNOW_OK;
  });
  return got == WINNOW_OK ? got : refused(got, std::move(why));
}

winnow_status winnow_plan_get_info(const winnow_plan *plan,
                                   winnow_plan_info *to) {
  return guard([&]() -> winnow_status {
    const Plan *found = checkedPlan(plan);
    if (!found)
      return WINNOW_ERROR_HANDLE;
    if (!to)
      return nullPointer("winnow_plan_get_info", "info");
    const runtime::PlanReport &report = found->report();
    winnow_plan_info from = WINNOW_PLAN_INFO_INIT;
    from.entry = report.entry.c_str();
    from.lowering = report.lowering.c_str();
    from.from = report.from.c_str();
    from.argument_count = found->entry().arguments.size();
    from.workspace_bytes = report.workspaceBytes;
    from.max_seq_len = report.maxSeqLen;
    from.max_requests = report.maxRequests;
    from.max_query_len = report.maxQueryLen;
    from.max_rows = report.maxRows;
    from.compiling_count = report.compiling.size();
    return writeInfo(from, to, sizeof from, "winnow_plan_info");
  });
}

winnow_status winnow_plan_workspace_bytes(const winnow_plan *plan,
                                          uint64_t *bytes) {
  return guard([&]() -> winnow_status {
    const Plan *found = checkedPlan(plan);
    if (!found)
      return WINNOW_ERROR_HANDLE;
    if (!bytes)
      return nullPointer("winnow_plan_workspace_bytes", "bytes");
    *bytes = found->report().workspaceBytes;
    return WINNOW_OK;
  });
}

winnow_status winnow_plan_argument(const winnow_plan *plan, size_t index,
                                   winnow_argument_info *to) {
  return guard([&]() -> winnow_status {
    const Plan *found = checkedPlan(plan);
    if (!found)
      return WINNOW_ERROR_HANDLE;
    if (!to)
      return nullPointer("winnow_plan_argument", "info");
    const std::vector<runtime::TensorArgument> &all = found->entry().arguments;
    if (index >= all.size())
      return fail(WINNOW_ERROR_ARGUMENT, "argument " + std::to_string(index) +
                                             " of '" + found->entry().name +
                                             "', which has " +
                                             std::to_string(all.size()));
    const runtime::TensorArgument &argument = all[index];
    winnow_argument_info from = WINNOW_ARGUMENT_INFO_INIT;
    from.name = argument.name.c_str();
    from.dtype = static_cast<winnow_dtype>(int(argument.dtype) + 1);
    from.access = static_cast<winnow_access>(argument.access);
    from.rank = static_cast<int32_t>(argument.shape.size());
    from.is_contiguous = argument.layout == runtime::Layout::Contiguous;
    from.alignment = static_cast<uint32_t>(argument.addressAlignment());
    for (size_t axis = 0; axis < kMaxRank; ++axis)
      from.extents[axis] =
          axis < argument.shape.size() ? constant(argument.shape[axis]) : 0;
    from.shape = found->shapeTexts()[index].c_str();
    const size_t last = argument.shape.size() - 1;
    for (size_t axis = 0; !from.is_contiguous && axis <= last; ++axis)
      from.strides[axis] = axis == last               ? 1
                           : argument.strides.empty() ? runtime::kAnyStride
                                                      : argument.strides[axis];
    // The strides came later.
    return writeInfo(from, to, offsetof(winnow_argument_info, strides),
                     "winnow_argument_info");
  });
}

winnow_status winnow_plan_explain(const winnow_plan *plan, winnow_format format,
                                  char *text, size_t bytes, size_t *needed) {
  return guard([&]() -> winnow_status {
    const Plan *found = checkedPlan(plan);
    if (!found)
      return WINNOW_ERROR_HANDLE;
    return write(found->report(), "winnow_plan_explain", format, text, bytes,
                 needed);
  });
}

winnow_status winnow_plan_explain_failure(winnow_format format, char *text,
                                          size_t bytes, size_t *needed) {
  return guard([&]() -> winnow_status {
    if (!lastFailure)
      return fail(WINNOW_ERROR_NOT_FOUND,
                  "no winnow_plan_get of this thread was refused a plan");
    return write(*lastFailure, "winnow_plan_explain_failure", format, text,
                 bytes, needed);
  });
}

winnow_status winnow_launch(const winnow_plan *plan,
                            const winnow_launch_options *given) {
  return guard([&]() -> winnow_status {
    const Plan *found = checkedPlan(plan);
    if (!found)
      return WINNOW_ERROR_HANDLE;
    if (!given)
      return nullPointer("winnow_launch", "options");
    if (given->size == sizeof *given) [[likely]]
      return launch(*found, *given);
    winnow_launch_options options = WINNOW_LAUNCH_OPTIONS_INIT;
    winnow_status status = WINNOW_OK;
    if (!readOptions(given, options, sizeof options, "winnow_launch_options",
                     status))
      return status;
    return launch(*found, options);
  });
}
}
