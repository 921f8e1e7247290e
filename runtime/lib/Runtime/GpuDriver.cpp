// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GpuDriver.h"

#include <dlfcn.h>

using namespace winnow;
using namespace winnow::runtime;

GpuDriver::~GpuDriver() = default;

Error GpuDriver::problem(const Answer &answer, const std::string &what) const {
  return Error{std::string(answer.function) + " failed with " +
               errorName(answer.code) + " (" + std::to_string(answer.code) +
               ": " + errorText(answer.code) + ") when " + what + remark()};
}

Result<DriverSymbols> DriverSymbols::load(const std::vector<std::string> &names,
                                          const std::string &kind) {
  std::string reasons;
  DriverSymbols symbols;
  for (const std::string &name : names) {
    symbols.handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (symbols.handle) {
      symbols.path = name;
      return symbols;
    }
    const char *why = dlerror();
    reasons += std::string(reasons.empty() ? "" : "; ") + name + " (" +
               (why ? why : "no reason given") + ")";
  }
  return Error{"no " + kind + " library can be loaded; looked for " + reasons};
}

void *DriverSymbols::find(const char *symbol) const {
  return dlsym(handle, symbol);
}
