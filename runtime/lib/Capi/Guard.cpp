// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Versions, statuses and this thread's error.
#include "Guard.h"

#include "winnow/Runtime/Visible.h"

using namespace winnow;
using namespace winnow::capi;

namespace {

thread_local std::string ownText;
thread_local const char *lastText = "";

constexpr struct {
  winnow_status status;
  const char *name;
} kStatuses[] = {
    {WINNOW_OK, "WINNOW_OK"},
    {WINNOW_ERROR_ARGUMENT, "WINNOW_ERROR_ARGUMENT"},
    {WINNOW_ERROR_HANDLE, "WINNOW_ERROR_HANDLE"},
    {WINNOW_ERROR_BUNDLE, "WINNOW_ERROR_BUNDLE"},
    {WINNOW_ERROR_NOT_FOUND, "WINNOW_ERROR_NOT_FOUND"},
    {WINNOW_ERROR_CONTRACT, "WINNOW_ERROR_CONTRACT"},
    {WINNOW_ERROR_MISSING_KERNEL, "WINNOW_ERROR_MISSING_KERNEL"},
    {WINNOW_ERROR_COMPILE, "WINNOW_ERROR_COMPILE"},
    {WINNOW_ERROR_DEVICE, "WINNOW_ERROR_DEVICE"},
    {WINNOW_ERROR_MEMORY, "WINNOW_ERROR_MEMORY"},
    {WINNOW_ERROR_INTERNAL, "WINNOW_ERROR_INTERNAL"},
};

} // namespace

winnow_status capi::fail(winnow_status status,
                         const std::string &text) noexcept {
  try {
    // It may quote a bundle, and engines write it to their logs.
    ownText = runtime::visibleLines(text);
    lastText = ownText.c_str();
  } catch (...) {
    lastText = "out of memory";
  }
  return status;
}

winnow_status capi::failStatic(winnow_status status,
                               const char *text) noexcept {
  try {
    ownText = runtime::visibleLines(text); // an exception's text dies with it
    lastText = ownText.c_str();
  } catch (...) {
    lastText = "out of memory";
  }
  return status;
}

winnow_status capi::statusOf(runtime::ErrorKind kind) {
  switch (kind) {
  case runtime::ErrorKind::Argument:
    return WINNOW_ERROR_ARGUMENT;
  case runtime::ErrorKind::Bundle:
    return WINNOW_ERROR_BUNDLE;
  case runtime::ErrorKind::NotFound:
    return WINNOW_ERROR_NOT_FOUND;
  case runtime::ErrorKind::Contract:
    return WINNOW_ERROR_CONTRACT;
  case runtime::ErrorKind::MissingKernel:
    return WINNOW_ERROR_MISSING_KERNEL;
  case runtime::ErrorKind::Compile:
    return WINNOW_ERROR_COMPILE;
  case runtime::ErrorKind::Device:
    return WINNOW_ERROR_DEVICE;
  case runtime::ErrorKind::Memory:
    return WINNOW_ERROR_MEMORY;
  case runtime::ErrorKind::Internal:
    return WINNOW_ERROR_INTERNAL;
  }
  return WINNOW_ERROR_INTERNAL;
}

void *capi::checked(Kind kind, const void *handle, const char *what) noexcept {
  void *object = handles().find(kind, reinterpret_cast<uint64_t>(handle));
  if (object) [[likely]]
    return object;
  try {
    fail(WINNOW_ERROR_HANDLE,
         handle ? std::string("the ") + what +
                      " is no live handle: released, of another kind, or "
                      "never made"
                : std::string("the ") + what + " is null");
  } catch (...) {
    failStatic(WINNOW_ERROR_HANDLE, "a bad handle");
  }
  return nullptr;
}

winnow_status capi::nullPointer(const char *function, const char *parameter) {
  return fail(WINNOW_ERROR_ARGUMENT,
              std::string(function) + ": '" + parameter + "' is null");
}

extern "C" {

const char *winnow_version(void) { return WINNOW_VERSION_TEXT; }

const char *winnow_status_name(winnow_status status) {
  for (const auto &each : kStatuses)
    if (each.status == status)
      return each.name;
  return "WINNOW_UNKNOWN_STATUS";
}

const char *winnow_last_error(void) { return lastText; }
}
