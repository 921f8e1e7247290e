// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hipRTC, loaded at run time. The declarations are the few that are called,
// with the types of HIP's C ABI.
#include "Backend.h"

#include <vector>

#include <dlfcn.h>

using namespace winnow;
using namespace winnow::rtc;

namespace {

/// hiprtcResult: 0 is success, 6 a compile error.
using Code = int;
using Handle = void *;

struct Functions {
  const char *(*errorString)(Code);
  Code (*version)(int *major, int *minor);
  Code (*create)(Handle *, const char *source, const char *name, int headers,
                 const char **headerTexts, const char **headerNames);
  Code (*destroy)(Handle *);
  Code (*compile)(Handle, int count, const char **options);
  Code (*logSize)(Handle, size_t *);
  Code (*log)(Handle, char *);
  Code (*codeSize)(Handle, size_t *);
  Code (*code)(Handle, char *);
};

const char *const kOptions[] = {"-std=c++17", "-O3", "-fno-color-diagnostics"};

class Hiprtc : public Backend {
public:
  explicit Hiprtc(const Functions &call) : call(call) {}

  std::string name() override {
    int major = 0, minor = 0;
    call.version(&major, &minor);
    std::string text =
        "hiprtc " + std::to_string(major) + "." + std::to_string(minor);
    for (const char *option : kOptions)
      text += std::string(" ") + option;
    return text;
  }

  /// comgr and its LLVM are loaded by the first program.
  Status load() {
    Handle program = nullptr;
    if (Code code =
            call.create(&program, "\n", "empty.hip", 0, nullptr, nullptr))
      return problem("hiprtcCreateProgram", code);
    call.destroy(&program);
    return {};
  }

  Result<Output> compile(const Program &request) override {
    Handle program = nullptr;
    if (Code code = call.create(&program, request.text.c_str(),
                                request.name.c_str(), 0, nullptr, nullptr))
      return problem("hiprtcCreateProgram", code);
    const std::string arch = "--offload-arch=" + request.target;
    std::vector<const char *> options = {arch.c_str()};
    options.insert(options.end(), std::begin(kOptions), std::end(kOptions));
    const Code compiled =
        call.compile(program, static_cast<int>(options.size()), options.data());
    Output output;
    output.log = text(program);
    if (compiled != 0) {
      Error error = problem("hiprtcCompileProgram", compiled);
      if (!output.log.empty())
        error.message += ":\n" + output.log;
      return error;
    }
    size_t size = 0;
    if (Code code = call.codeSize(program, &size))
      return problem("hiprtcGetCodeSize", code);
    output.code.resize(size);
    if (Code code = call.code(program, output.code.data()))
      return problem("hiprtcGetCode", code);
    return output;
  }

private:
  Error problem(const char *function, Code code) {
    const char *text = call.errorString(code);
    return Error{std::string(function) + " answered " + std::to_string(code) +
                 " (" + (text ? text : "unknown") + ")"};
  }

  /// The log, without the folder that comgr made up for the source.
  std::string text(Handle program) {
    size_t size = 0;
    if (call.logSize(program, &size) != 0 || size == 0)
      return "";
    std::string log(size, '\0');
    if (call.log(program, log.data()) != 0)
      return "";
    while (!log.empty() && (log.back() == '\0' || log.back() == '\n'))
      log.pop_back();
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

  Functions call;
};

template <typename Function>
bool find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

} // namespace

Result<std::unique_ptr<Backend>> rtc::openHiprtc(const std::string &named) {
  // ROCm 5 has hipRTC inside the HIP library.
  std::vector<std::string> names = {"libhiprtc.so.7", "libhiprtc.so.6",
                                    "libamdhip64.so.5"};
  if (!named.empty())
    names = {named};
  void *library = nullptr;
  std::string reasons;
  for (const std::string &name : names) {
    library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library)
      break;
    const char *reason = ::dlerror();
    reasons += "\n  " + std::string(reason ? reason : name.c_str());
  }
  if (!library)
    return Error{"no hipRTC library can be loaded:" + reasons};
  Functions call = {};
  const char *missing = nullptr;
  auto need = [&](const char *name, auto &function) {
    if (!find(library, name, function))
      missing = name;
  };
  need("hiprtcGetErrorString", call.errorString);
  need("hiprtcVersion", call.version);
  need("hiprtcCreateProgram", call.create);
  need("hiprtcDestroyProgram", call.destroy);
  need("hiprtcCompileProgram", call.compile);
  need("hiprtcGetProgramLogSize", call.logSize);
  need("hiprtcGetProgramLog", call.log);
  need("hiprtcGetCodeSize", call.codeSize);
  need("hiprtcGetCode", call.code);
  if (missing)
    return Error{"the hipRTC library has no function " + std::string(missing)};
  auto backend = std::make_unique<Hiprtc>(call);
  if (Status status = backend->load(); !status)
    return status.takeError();
  return std::unique_ptr<Backend>(std::move(backend));
}
