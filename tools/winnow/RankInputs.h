// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs of a merge: what ranks would have handed on.
#ifndef WINNOW_TOOL_RANKINPUTS_H
#define WINNOW_TOOL_RANKINPUTS_H

#include "HostCall.h"

#include <cstdint>
#include <functional>

namespace winnow::tool {

/// Fills the candidates of all ranks, whose lengths are in the call already:
/// each rank's best of scores that are random, with many ties, infinities and
/// signed zeros among them. `next` gives random bits.
void fillRankCandidates(Call &call, const std::function<uint64_t()> &next);

} // namespace winnow::tool

#endif // WINNOW_TOOL_RANKINPUTS_H
