// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ROCm's run-time compiler.
#include "RtcLibrary.h"

using namespace winnow;
using namespace winnow::rtc;

namespace {

/// Without the folder that comgr made up for the source.
std::string withoutFolders(std::string log) {
  const std::string marker = "/comgr-", folder = "/input/";
  for (size_t at = log.find(marker); at != std::string::npos;
       at = log.find(marker, at)) {
    const size_t end = log.find(folder, at);
    const size_t stop = log.find_first_of(" \n:", at);
    if (end == std::string::npos || end > stop) {
      at += marker.size();
      continue;
    }
    const size_t before = log.find_last_of(" \n'\"", at);
    const size_t start = before == std::string::npos ? 0 : before + 1;
    log.erase(start, end + folder.size() - start);
    at = start;
  }
  return log;
}

} // namespace

Result<std::unique_ptr<Backend>> rtc::openHiprtc(const std::string &named) {
  RtcLibrary library{};
  library.product = "hipRTC";
  library.prefix = "hiprtc";
  library.code = "GetCode";
  library.architecture = "--offload-arch=";
  library.options = {"-std=c++17", "-O3", "-fno-color-diagnostics"};
  // ROCm 5 has hipRTC inside the HIP library.
  library.names = {"libhiprtc.so.7", "libhiprtc.so.6", "libamdhip64.so.5"};
  if (!named.empty())
    library.names = {named};
  library.clean = withoutFolders;
  return openRtc(library);
}
