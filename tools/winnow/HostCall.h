// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls in host memory, which the tool makes, runs and checks, as its own.
#ifndef WINNOW_TOOL_HOSTCALL_H
#define WINNOW_TOOL_HOSTCALL_H

#include "winnow/Host/RunOnHost.h"

namespace winnow::tool {
using namespace host;
} // namespace winnow::tool

#endif // WINNOW_TOOL_HOSTCALL_H
