// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiler as the worker sees it.
#ifndef WINNOW_RTC_WORKER_BACKEND_H
#define WINNOW_RTC_WORKER_BACKEND_H

#include "winnow/Runtime/Result.h"

#include <memory>
#include <string>

namespace winnow::rtc {

struct Program {
  std::string name;   ///< a file name: "m3_decode.hip"
  std::string target; ///< "gfx950", "gfx950:sramecc+:xnack-", "sm_90"
  std::string text;
};

struct Output {
  std::string code; ///< an ELF code object
  std::string log;
};

class Backend {
public:
  virtual ~Backend() = default;
  /// Name, version and every option: all that the code depends on beside the
  /// program and the builds of the libraries, which the worker adds.
  virtual std::string name() = 0;
  /// An error is the compiler's text. Called once: what a second compilation in
  /// one process would inherit from the first is nobody's business.
  virtual Result<Output> compile(const Program &program) = 0;
};

/// hipRTC from `library`, or from where the system finds it.
Result<std::unique_ptr<Backend>> openHiprtc(const std::string &library);

/// NVRTC from `library`, or from $CUDA_PATH/lib64, $CUDA_HOME/lib64, where the
/// system finds it, or /usr/local/cuda/lib64.
Result<std::unique_ptr<Backend>> openNvrtc(const std::string &library);

/// clang, from the module libwinnow_rtc_clang.so: a worker that runs another
/// does not load a second LLVM.
Result<std::unique_ptr<Backend>> openClang();

/// What that module exports, as "winnow_rtc_clang".
using MakeBackend = Backend *();

} // namespace winnow::rtc

#endif // WINNOW_RTC_WORKER_BACKEND_H
