// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The declarations are the few that are called, with the types of the C
// interface that hiprtc.h and nvrtc.h share.
#include "RtcLibrary.h"

#include <dlfcn.h>

using namespace winnow;
using namespace winnow::rtc;

namespace {

/// hiprtcResult, nvrtcResult: 0 is success, 6 a compile error.
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

class RtcBackend : public Backend {
public:
  RtcBackend(const RtcLibrary &library, const Functions &call)
      : library(library), call(call) {}

  std::string name() override {
    int major = 0, minor = 0;
    call.version(&major, &minor);
    std::string text = std::string(library.prefix) + " " +
                       std::to_string(major) + "." + std::to_string(minor);
    for (const char *option : library.options)
      text += std::string(" ") + option;
    if (!library.target.empty())
      text += " " + library.target + "=" + library.fullTarget;
    return text;
  }

  /// The first program loads what the library needs.
  Status load() {
    Handle program = nullptr;
    if (Code code =
            call.create(&program, "\n", "empty.hip", 0, nullptr, nullptr))
      return problem("CreateProgram", code);
    call.destroy(&program);
    int major = 0, minor = 0;
    if (Code code = call.version(&major, &minor))
      return problem("Version", code);
    if (library.complete)
      library.complete(reinterpret_cast<void *>(call.version), major, minor);
    return {};
  }

  Result<Output> compile(const Program &request) override {
    Handle program = nullptr;
    if (Code code = call.create(&program, request.text.c_str(),
                                request.name.c_str(), 0, nullptr, nullptr))
      return problem("CreateProgram", code);
    const std::string target =
        library.architecture + (request.target == library.target
                                    ? library.fullTarget
                                    : request.target);
    std::vector<const char *> options = {target.c_str()};
    options.insert(options.end(), library.options.begin(),
                   library.options.end());
    const Code compiled =
        call.compile(program, static_cast<int>(options.size()), options.data());
    Output output;
    output.log = text(program);
    if (compiled != 0) {
      Error error = problem("CompileProgram", compiled);
      if (!output.log.empty())
        error.message += ":\n" + output.log;
      return error;
    }
    size_t size = 0;
    if (Code code = call.codeSize(program, &size))
      return problem(std::string(library.code) + "Size", code);
    output.code.resize(size);
    if (Code code = call.code(program, output.code.data()))
      return problem(library.code, code);
    return output;
  }

private:
  Error problem(const std::string &function, Code code) {
    const char *text = call.errorString(code);
    return Error{library.prefix + function + " answered " +
                 std::to_string(code) + " (" + (text ? text : "unknown") + ")"};
  }

  std::string text(Handle program) {
    size_t size = 0;
    if (call.logSize(program, &size) != 0 || size == 0)
      return "";
    std::string log(size, '\0');
    if (call.log(program, log.data()) != 0)
      return "";
    while (!log.empty() && (log.back() == '\0' || log.back() == '\n'))
      log.pop_back();
    return library.clean ? library.clean(std::move(log)) : log;
  }

  const RtcLibrary library;
  const Functions call;
};

} // namespace

Result<std::unique_ptr<Backend>> rtc::openRtc(const RtcLibrary &library) {
  void *handle = nullptr;
  std::string reasons;
  for (const std::string &name : library.names) {
    handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle)
      break;
    const char *reason = ::dlerror();
    reasons += "\n  " + std::string(reason ? reason : name.c_str());
  }
  if (!handle)
    return Error{std::string("no ") + library.product +
                 " library can be loaded:" + reasons};
  Functions call = {};
  std::string missing;
  auto need = [&](const std::string &name, auto &function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        ::dlsym(handle, (library.prefix + name).c_str()));
    if (!function)
      missing = library.prefix + name;
  };
  const std::string code = library.code;
  need("GetErrorString", call.errorString);
  need("Version", call.version);
  need("CreateProgram", call.create);
  need("DestroyProgram", call.destroy);
  need("CompileProgram", call.compile);
  need("GetProgramLogSize", call.logSize);
  need("GetProgramLog", call.log);
  need(code + "Size", call.codeSize);
  need(code, call.code);
  if (!missing.empty())
    return Error{std::string("the ") + library.product +
                 " library has no function " + missing};
  auto backend = std::make_unique<RtcBackend>(library, call);
  if (Status status = backend->load(); !status)
    return status.takeError();
  return std::unique_ptr<Backend>(std::move(backend));
}
