// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compile back ends: generated HIP to a code object, in a worker process
// that may crash, hang or eat its memory without harm to the caller.
#ifndef WINNOW_RUNTIME_KERNELCOMPILER_H
#define WINNOW_RUNTIME_KERNELCOMPILER_H

#include "winnow/Runtime/Manifest.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::runtime {

/// Whether a target is a GPU of NVIDIA's: "sm_90".
inline bool isCudaTarget(std::string_view arch) {
  return arch.starts_with("sm_");
}

struct CompileRequest {
  const Source *source = nullptr;
  /// The full target, with its features where the device names them: "gfx950",
  /// "gfx950:sramecc+:xnack-", "sm_90".
  std::string arch;
};

/// A compiled source, and what the compiler had to say about it.
struct CompiledKernel {
  std::vector<std::byte> code; ///< an ELF code object or cubin for the target
  std::string log;             ///< warnings; usually empty
  std::chrono::microseconds time{0};
  std::string from; ///< the identity of the compiler that made it
};

/// Turns sources into code objects. Every function may be called from several
/// threads at once.
class KernelCompiler {
public:
  virtual ~KernelCompiler();

  /// The one that compiles for a target, where this stands for several.
  virtual KernelCompiler &forTarget(const std::string & /*arch*/) {
    return *this;
  }

  /// Everything that may change the code besides source and target: the
  /// compiler's name and version, the builds of its libraries, every option.
  /// One line; part of the cache's key. Never a path, a time or an address.
  /// Asked for once: an error is remembered as well, unless it is that there is
  /// no worker to ask.
  virtual Result<std::string> identity() = 0;

  /// Compiles, waiting while too many others do. An error carries the
  /// compiler's own text, or how it ended.
  virtual Result<CompiledKernel> compile(const CompileRequest &request) = 0;

  /// Drops what `identity` remembers: the compiler was seen to be another one.
  virtual void forgetIdentity() {}

  /// Starts a worker that loads its compiler and waits, and returns at once:
  /// for who knows that there will be something to compile.
  virtual void prepare() {}

  /// Ends a worker that waits to compile: `prepare` leaves one, and `identity`,
  /// since most who ask compile next.
  virtual void release() {}
};

/// How workers are started and bounded.
struct WorkerOptions {
  /// The program winnow-rtc-worker; empty: see `findWorker`.
  std::string worker;
  /// The hipRTC library; empty: libhiprtc.so.7, then .6, then ROCm 5's inside
  /// libamdhip64.so.5, as the system finds them. Used by the hipRTC back end
  /// alone.
  std::string hiprtc;
  /// The NVRTC library; empty: libnvrtc.so.13, then .12, in $CUDA_PATH/lib64
  /// and $CUDA_HOME/lib64, as the system finds them, in /usr/local/cuda/lib64.
  /// Used by the NVRTC back end alone.
  std::string nvrtc;
  /// Folders searched for libraries before the system's, and the dynamic loader
  /// to start the worker with: a tree of another distribution. Both may be
  /// empty.
  std::vector<std::string> libraryPath;
  std::string loader;
  /// A worker and all that it started are killed after this.
  std::chrono::milliseconds timeout{60000};
  /// Address space of a worker; 0: no limit.
  uint64_t maxMemoryBytes = uint64_t(8) << 30;
  /// Workers that run at once; 0: one for each two hardware threads, 1 to 8.
  unsigned maxWorkers = 0;
  /// Where identities of compilers are remembered, so that a warm cache starts
  /// no worker; empty: nowhere.
  std::string identityFolder;
};

/// Sets `loader` and `libraryPath` for a tree with a whole system's libraries,
/// unpacked at `root`. An error names what the tree lacks.
Status useSystemTree(WorkerOptions &options, const std::string &root);

/// The worker of an installation: $WINNOW_RTC_WORKER, or the one beside the
/// running program, beside the library that holds this code, or in
/// ../libexec/winnow of either. An error lists where it looked.
Result<std::string> findWorker();

/// clang 22's libraries inside the worker.
std::unique_ptr<KernelCompiler> makeClangCompiler(const WorkerOptions &options);

/// ROCm's hipRTC inside the worker.
std::unique_ptr<KernelCompiler>
makeHiprtcCompiler(const WorkerOptions &options);

/// CUDA's NVRTC inside the worker, for targets of NVIDIA's; the other two are
/// for AMD's.
std::unique_ptr<KernelCompiler> makeNvrtcCompiler(const WorkerOptions &options);

/// `amd` for AMD's targets, `nvidia` for NVIDIA's. What is not asked of one
/// target alone is asked of `amd`.
std::unique_ptr<KernelCompiler>
makeCompilerByTarget(std::unique_ptr<KernelCompiler> amd,
                     std::unique_ptr<KernelCompiler> nvidia);

} // namespace winnow::runtime

#endif // WINNOW_RUNTIME_KERNELCOMPILER_H
