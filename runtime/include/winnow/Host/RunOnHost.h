// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls computed by the reference, in host memory.
#ifndef WINNOW_HOST_RUNONHOST_H
#define WINNOW_HOST_RUNONHOST_H

#include "winnow/Host/Indexer.h"
#include "winnow/Runtime/Plan.h"

#include <memory>
#include <vector>

namespace winnow::host {

/// Runs the operations of a step by the reference.
Status runStepsOnHost(Call &call);

/// Runs the reference: the steps, selection, page table and, where the entry
/// has a score workspace, the exact scores rounded to f32 are written as a
/// kernel would.
Status runOnHost(Call &call);

/// The launches of a call without running them, for its geometry.
Result<std::vector<runtime::ResolvedLaunch>> launchesOnHost(const Call &call);

/// The reference for an entry, for plans on the device "host". Works on copies
/// of the tensors: the caller's are written only when all went well, and
/// between their elements never. An error is an entry whose facts the reference
/// does not know. The program may run in several threads at once.
Result<std::shared_ptr<const runtime::HostProgram>>
makeHostProgram(const runtime::Entry &entry);

} // namespace winnow::host

#endif // WINNOW_HOST_RUNONHOST_H
