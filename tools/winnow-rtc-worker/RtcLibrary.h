// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A vendor's run-time compiler, loaded when the worker starts. hipRTC and NVRTC
// have one interface with two spellings; what differs stands in `RtcLibrary`.
#ifndef WINNOW_RTC_WORKER_RTCLIBRARY_H
#define WINNOW_RTC_WORKER_RTCLIBRARY_H

#include "Backend.h"

#include <string>
#include <vector>

namespace winnow::rtc {

struct RtcLibrary {
  const char *product; ///< "hipRTC"
  const char *prefix;  ///< of every function: "hiprtc"
  const char *code;    ///< the function that gives the code, "GetCode"; the
                       ///< one that gives its size ends in "Size"
  const char *architecture; ///< the option that names the target
  /// A target that the library knows by another name, too, for code that may
  /// use all of its instructions; may be empty.
  std::string target, fullTarget;
  std::vector<const char *> options;
  std::vector<std::string> names; ///< of files, tried in this order
  /// Loads what else takes part in compiling, so that it is there before the
  /// first program and among the libraries that the compiler's identity names.
  /// `version` is one of the library's functions; may be null.
  void (*complete)(void *version, int major, int minor);
  /// A log without names that were made up for this run; may be null.
  std::string (*clean)(std::string log);
};

/// The first of the library's names that can be loaded. An error gives each
/// with the loader's reason, or the function that the library lacks.
Result<std::unique_ptr<Backend>> openRtc(const RtcLibrary &library);

} // namespace winnow::rtc

#endif // WINNOW_RTC_WORKER_RTCLIBRARY_H
