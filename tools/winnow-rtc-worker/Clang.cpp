// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Backend.h"

#include <dlfcn.h>

using namespace winnow;
using namespace winnow::rtc;

Result<std::unique_ptr<Backend>> rtc::openClang() {
  // Found by the worker's own run path. Most of what it needs of LLVM is never
  // called, and so not looked up.
  void *module = ::dlopen("libwinnow_rtc_clang.so", RTLD_LAZY | RTLD_LOCAL);
  void *symbol = module ? ::dlsym(module, "winnow_rtc_clang") : nullptr;
  if (!symbol) {
    const char *reason = ::dlerror();
    return Error{std::string("the clang back end cannot be loaded: ") +
                 (reason ? reason : "no reason given")};
  }
  return std::unique_ptr<Backend>(reinterpret_cast<MakeBackend *>(symbol)());
}
