// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Compilers.h"
#include "CommandLine.h"

#include "winnow/Runtime/ClangCompiler.h"

using namespace winnow;
using namespace winnow::tool;

void tool::addCompilerOptions(CLI::App &command, CompilerOptions &options) {
  command
      .add_option("--compiler", options.compiler,
                  "Of code for AMD's GPUs. clang: clang's libraries in the "
                  "compile worker; hiprtc: ROCm's hipRTC in it")
      ->check(oneOf({"clang", "hiprtc"}))
      ->capture_default_str();
  auto *clang = command.add_option(
      "--clang", options.clang,
      "A clang executable to drive in the compile worker's place, e.g. " +
          runtime::defaultClang());
  command.add_option("--hiprtc", options.hiprtc,
                     "The hipRTC library to load (default: libhiprtc.so.7 or "
                     ".6, as the system finds them)");
  command.add_option("--hiprtc-root", options.hiprtcRoot,
                     "A tree with a whole system's libraries and hipRTC among "
                     "them, to be run with its own loader");
  command.add_option("--nvrtc", options.nvrtc,
                     "The NVRTC library to load for NVIDIA's GPUs (default: "
                     "libnvrtc.so.13 or .12 of $CUDA_PATH, $CUDA_HOME, the "
                     "system or /usr/local/cuda)");
  command
      .add_option("--cache", options.cache,
                  "Look in this cache folder before compiling, and keep there "
                  "what is compiled")
      ->excludes(clang);
}

Result<Compiler> Compiler::make(const CompilerOptions &options) {
  Compiler made;
  if (!options.clang.empty()) {
    if (options.compiler != "clang")
      return Error{"--clang does not go with --compiler " + options.compiler};
    made.driver = options.clang;
    return made;
  }
  runtime::WorkerOptions worker;
  worker.hiprtc = options.hiprtc;
  runtime::WorkerOptions cuda;
  cuda.nvrtc = options.nvrtc;
  if (!options.hiprtcRoot.empty())
    if (Status status = runtime::useSystemTree(worker, options.hiprtcRoot);
        !status)
      return status.takeError();
  if (!options.cache.empty()) {
    runtime::CacheOptions cache;
    cache.folder = options.cache;
    made.cache = std::make_unique<runtime::KernelCache>(cache);
    worker.identityFolder = cuda.identityFolder = made.cache->folder();
  }
  made.compiler = runtime::makeCompilerByTarget(
      options.compiler == "hiprtc" ? runtime::makeHiprtcCompiler(worker)
                                   : runtime::makeClangCompiler(worker),
      runtime::makeNvrtcCompiler(cuda));
  return made;
}

void Compiler::prepare(const std::string &arch) const {
  // Of a cache nobody knows before it is asked.
  if (compiler && !cache)
    compiler->forTarget(arch).prepare();
}

Result<runtime::CachedCode> Compiler::compile(const runtime::Source &source,
                                              const std::string &arch) {
  if (cache)
    return cache->codeFor(source, arch, *compiler);
  runtime::CachedCode code;
  auto keep = [&](auto &compiled) {
    code.code = std::make_shared<const std::vector<std::byte>>(
        std::move(compiled.code));
    code.time = compiled.time;
  };
  if (driver) {
    runtime::ClangOptions options;
    options.clang = *driver;
    Result<runtime::Compiled> compiled =
        runtime::compileWithClang(source, arch, options);
    if (!compiled)
      return compiled.takeError();
    keep(*compiled);
    return code;
  }
  Result<runtime::CompiledKernel> compiled = compiler->compile({&source, arch});
  if (!compiled)
    return compiled.takeError();
  code.compiler = std::move(compiled->from);
  keep(*compiled);
  return code;
}
