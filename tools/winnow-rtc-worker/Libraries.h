// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which builds of a compiler's libraries this process has loaded.
#ifndef WINNOW_RTC_WORKER_LIBRARIES_H
#define WINNOW_RTC_WORKER_LIBRARIES_H

#include <string>
#include <vector>

namespace winnow::rtc {

struct Libraries {
  /// " libLLVM.so.22.1:53cc30..." for each library that is part of a compiler,
  /// by name: two builds of one version are two compilers.
  std::string builds;
  /// Every file that was loaded.
  std::vector<std::string> paths;
};

Libraries loadedLibraries();

} // namespace winnow::rtc

#endif // WINNOW_RTC_WORKER_LIBRARIES_H
