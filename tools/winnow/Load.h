// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A description or a bundle as a bundle, and its sources as code objects.
#ifndef WINNOW_TOOL_LOAD_H
#define WINNOW_TOOL_LOAD_H

#include "Compilers.h"
#include "Execute.h"

#include "winnow/Codegen/Compile.h"

#include <string>
#include <vector>

namespace winnow::tool {

struct Loaded {
  runtime::Bundle bundle;
  bool fromDescription = false;
  std::chrono::microseconds time{0}; ///< of reading and generating
};

/// Reads a file. A description is compiled to HIP for `arch`; the error is then
/// every diagnostic, one a line, with file and position. `prefer` names a
/// lowering to try before the others; in a bundle its entries come first, and
/// there has to be one. With `orReference`, a description that no
/// lowering takes is still loaded, for the reference.
Result<Loaded> load(const std::string &path, const std::string &arch,
                    const std::string &prefer = "", bool orReference = false);

/// The same with everything that may be chosen. A bundle's schedules are fixed:
/// asking for others is an error.
Result<Loaded> load(const std::string &path, const CompileOptions &options,
                    bool orReference = false);

/// A bundle as it is, or the variants of a description for those processors.
Result<Loaded> loadVariants(const std::string &path,
                            const std::vector<std::string> &archs,
                            const CompileOptions &options);

/// The code object of each source that `entry` launches: the bundle's own for
/// `arch`, or one compiled now.
Result<std::vector<LoadedCode>> loadCode(const runtime::Bundle &bundle,
                                         const runtime::Entry &entry,
                                         const std::string &arch,
                                         Compiler &compiler);

/// One source, compiled; its text must not be refused by the loader.
Result<LoadedCode> compileSource(const runtime::Bundle &bundle, uint32_t source,
                                 const std::string &arch, Compiler &compiler);

} // namespace winnow::tool

#endif // WINNOW_TOOL_LOAD_H
