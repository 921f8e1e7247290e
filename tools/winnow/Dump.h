// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A run written out so that others can check it with tools of their own: every
// tensor as a raw little-endian file, the code objects, and launch.json, which
// says what they are (docs/dump-format.md).
#ifndef WINNOW_TOOL_DUMP_H
#define WINNOW_TOOL_DUMP_H

#include "Execute.h"

#include <string>
#include <vector>

namespace winnow::tool {

struct DumpContents {
  const runtime::Bundle &bundle;
  const Call &before; ///< as it was made
  const Call &after;  ///< as it came back
  const std::vector<LoadedCode> &codes;
  std::vector<runtime::ResolvedLaunch> launches;
  std::string device; ///< "sim" or "host"
};

/// Writes into `folder`, made if it is not there. launch.json comes last, and
/// an older one goes first: while it is there, the dump is complete.
Status writeDump(const std::string &folder, const DumpContents &contents);

} // namespace winnow::tool

#endif // WINNOW_TOOL_DUMP_H
