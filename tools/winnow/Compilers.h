// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler that a command is asked to use, and the options that say which.
#ifndef WINNOW_TOOL_COMPILERS_H
#define WINNOW_TOOL_COMPILERS_H

#include "winnow/Runtime/KernelCache.h"

#include <memory>
#include <optional>
#include <string>

namespace CLI {
class App;
} // namespace CLI

namespace winnow::tool {

struct CompilerOptions {
  /// Or "hiprtc"; of code for AMD's GPUs. That for NVIDIA's is NVRTC's.
  std::string compiler = "clang";
  std::string clang;      ///< an executable to drive in the worker's place
  std::string hiprtc;     ///< its library
  std::string hiprtcRoot; ///< a system's tree that it is in
  std::string nvrtc;      ///< its library
  std::string cache;      ///< a folder; empty: no cache
};

void addCompilerOptions(CLI::App &command, CompilerOptions &options);

/// Compiles as the options say. May be used by several threads at once.
class Compiler {
public:
  static Result<Compiler> make(const CompilerOptions &options);

  /// From the cache, if there is one and it has it; the log is dropped.
  Result<runtime::CachedCode> compile(const runtime::Source &source,
                                      const std::string &arch);

  /// There will be something to compile: it gets ready beside whatever comes
  /// before.
  void prepare(const std::string &arch) const;

private:
  std::optional<std::string> driver;
  std::unique_ptr<runtime::KernelCompiler> compiler;
  std::unique_ptr<runtime::KernelCache> cache;
};

} // namespace winnow::tool

#endif // WINNOW_TOOL_COMPILERS_H
