// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "winnow/Runtime/KernelCompiler.h"
#include "winnow/Runtime/ClangCompiler.h"

using namespace winnow;
using namespace winnow::runtime;

KernelCompiler::~KernelCompiler() = default;

namespace {

/// The clang driver as a child process.
class ClangDriver : public KernelCompiler {
public:
  explicit ClangDriver(const WorkerOptions &options) {
    clang.timeout = options.timeout;
  }
  Result<std::string> identity() override { return "clang " + defaultClang(); }
  Result<CompiledKernel> compile(const CompileRequest &request) override {
    Result<Compiled> compiled =
        compileWithClang(*request.source, request.arch, clang);
    if (!compiled)
      return compiled.takeError();
    return CompiledKernel{std::move(compiled->code), std::move(compiled->log),
                          compiled->time, "clang " + defaultClang()};
  }

private:
  ClangOptions clang;
};

} // namespace

std::unique_ptr<KernelCompiler>
runtime::makeClangCompiler(const WorkerOptions &options) {
  return std::make_unique<ClangDriver>(options);
}

namespace {
class NoHiprtc : public KernelCompiler {
public:
  Result<std::string> identity() override { return problem(); }
  Result<CompiledKernel> compile(const CompileRequest &) override {
    return problem();
  }

private:
  static Error problem() {
    return Error{"this build of Winnow compiles with clang only"};
  }
};
} // namespace

std::unique_ptr<KernelCompiler>
runtime::makeHiprtcCompiler(const WorkerOptions &) {
  return std::make_unique<NoHiprtc>();
}
