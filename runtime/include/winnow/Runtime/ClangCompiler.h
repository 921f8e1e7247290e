// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Generated HIP to a gfx code object by the installed clang, in a process of
// its own: what a compiler does to itself does not reach the caller.
#ifndef WINNOW_RUNTIME_CLANGCOMPILER_H
#define WINNOW_RUNTIME_CLANGCOMPILER_H

#include "winnow/Runtime/Manifest.h"

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace winnow::runtime {

struct ClangOptions {
  /// The clang to run (version 22 is what is tested); empty: the one that the
  /// build was configured with.
  std::string clang;
  /// The compiler and all that it started are killed after this.
  std::chrono::milliseconds timeout{60000};
};

/// A compiled source, and what the compiler had to say about it.
struct Compiled {
  std::vector<std::byte> code; ///< an ELF code object
  std::string log;             ///< warnings; usually empty
  std::chrono::microseconds time{0};
};

/// The clang that an empty ClangOptions::clang means.
std::string defaultClang();

/// Compiles `source` for `arch` ("gfx950"). The code depends on the source, the
/// arch and the compiler alone: not on paths, the time or the environment. An
/// error carries the compiler's own text, or the system's reason why it could
/// not run. Thread-safe.
Result<Compiled> compileWithClang(const Source &source, const std::string &arch,
                                  const ClangOptions &options = {});

} // namespace winnow::runtime

#endif // WINNOW_RUNTIME_CLANGCOMPILER_H
