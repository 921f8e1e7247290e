// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUDA's run-time compiler, asked for a cubin: machine code of one
// architecture, which no driver has to compile further.
#include "RtcLibrary.h"

#include <cstdlib>

#include <dlfcn.h>

using namespace winnow;
using namespace winnow::rtc;

namespace {

/// NVRTC loads its table of built-in functions by name when it first compiles.
/// Loaded here it is found beside NVRTC, wherever that is, and is part of the
/// compiler's identity.
void loadBuiltins(void *version, int major, int minor) {
  const std::string name = "libnvrtc-builtins.so." + std::to_string(major) +
                           "." + std::to_string(minor);
  Dl_info info;
  std::string path;
  if (::dladdr(version, &info) && info.dli_fname) {
    path = info.dli_fname;
    path.resize(path.rfind('/') + 1);
  }
  // Where NVRTC has none beside it, it may know better.
  if (!::dlopen((path + name).c_str(), RTLD_NOW | RTLD_LOCAL))
    (void)::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
}

std::vector<std::string> places() {
  const std::string names[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
  std::vector<std::string> places;
  // A toolkit that the environment points at was chosen; the loader's and the
  // usual one are only there.
  for (const char *variable : {"CUDA_PATH", "CUDA_HOME"})
    if (const char *root = std::getenv(variable); root && *root == '/')
      for (const std::string &name : names)
        places.push_back(std::string(root) + "/lib64/" + name);
  places.insert(places.end(), std::begin(names), std::end(names));
  for (const std::string &name : names)
    places.push_back("/usr/local/cuda/lib64/" + name);
  return places;
}

} // namespace

Result<std::unique_ptr<Backend>> rtc::openNvrtc(const std::string &named) {
  RtcLibrary library{};
  library.product = "NVRTC";
  library.prefix = "nvrtc";
  library.code = "GetCUBIN";
  library.architecture = "--gpu-architecture=";
  // The matrix instructions of four warps together are of sm_90a alone. Its
  // code runs on every device of sm_90 (CUDA C++ Programming Guide,
  // "Architecture-specific features").
  library.target = "sm_90";
  library.fullTarget = "sm_90a";
  // Optimised fully unless told otherwise. Lambdas that are templates count as
  // functions of the host unless told that there is none.
  library.options = {"--std=c++17", "--device-as-default-execution-space"};
  library.names = named.empty() ? places() : std::vector{named};
  library.complete = loadBuiltins;
  return openRtc(library);
}
