// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One bundle for several architectures: what one description became for each.
#ifndef WINNOW_TOOL_MERGE_H
#define WINNOW_TOOL_MERGE_H

#include "winnow/Runtime/Manifest.h"

namespace winnow::tool {

/// Adds to `bundle` what `other`, the same description for `arch`, has beyond
/// it: an entry that differs in more than its architecture becomes a variant
/// behind those that are there, with its source. `other` has no code objects.
void mergeBundle(runtime::Bundle &bundle, runtime::Bundle other,
                 const std::string &arch);

} // namespace winnow::tool

#endif // WINNOW_TOOL_MERGE_H
