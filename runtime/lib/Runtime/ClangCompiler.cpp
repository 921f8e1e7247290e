// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The clang driver as a compile back end.
#include "winnow/Runtime/ClangCompiler.h"
#include "Process.h"
#include "winnow/Runtime/Files.h"

#include <algorithm>
#include <cstring>

#ifndef WINNOW_DEFAULT_CLANG
#define WINNOW_DEFAULT_CLANG "/usr/bin/clang-22"
#endif

using namespace winnow;
using namespace winnow::runtime;

namespace {

constexpr uint64_t kMaxCodeBytes = uint64_t(256) << 20;
constexpr char kOutput[] = "code_object.o";

/// Relative names and a fixed working folder, an empty environment and no
/// configuration file: nothing but the source can reach the object.
std::vector<std::string> commandLine(const std::string &clang,
                                     const std::string &input,
                                     const std::string &arch) {
  return {clang, "--no-default-config", "-x", "hip", "--offload-arch=" + arch,
          "--offload-device-only", "--no-gpu-bundle-output", "-nogpuinc",
          "-nogpulib", "-std=c++17", "-O3",
          // The default id of a compilation is a hash of the input's path.
          "-fuse-cuid=none", "-fno-color-diagnostics", input, "-o", kOutput};
}

bool plain(const std::string &text, const char *extra) {
  return !text.empty() && text.size() <= 128 &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) {
                       return (c >= 'a' && c <= 'z') ||
                              (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || std::strchr(extra, c);
                     }) &&
         text.front() != '.' && text.front() != '-';
}

} // namespace

std::string runtime::defaultClang() { return WINNOW_DEFAULT_CLANG; }

Result<Compiled> runtime::compileWithClang(const Source &source,
                                           const std::string &arch,
                                           const ClangOptions &options) {
  // Both become words of a command line.
  if (!plain(source.name, "_-."))
    return Error{"source name '" + source.name +
                 "': wanted a plain file name of letters, digits, '_-.'"};
  if (!plain(arch, "_-+:"))
    return Error{"architecture '" + arch + "': wanted one like gfx950"};
  Result<TemporaryFolder> folder = TemporaryFolder::make();
  if (!folder)
    return folder.takeError();
  if (Status status =
          writeFileAtomically(folder->path() + "/" + source.name, source.text);
      !status)
    return status.takeError();

  ProcessRequest request;
  request.arguments =
      commandLine(options.clang.empty() ? defaultClang() : options.clang,
                  source.name, arch);
  request.environment = {"LC_ALL=C", "PATH=/usr/bin:/bin",
                         "TMPDIR=" + folder->path()};
  request.folder = folder->path();
  request.timeout = options.timeout;
  const auto start = std::chrono::steady_clock::now();
  Result<ProcessResult> result = runProcess(request);
  const auto time = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - start);
  if (!result)
    return result.takeError();

  const std::string what =
      request.arguments.front() + " on " + source.name + " for " + arch;
  const std::string said =
      result->output.empty() ? std::string() : ":\n" + result->output;
  if (result->timedOut)
    return Error{what + " was stopped after " +
                 std::to_string(options.timeout.count()) + " ms" + said};
  if (result->signal != 0)
    return Error{what + " was ended by signal " +
                 std::to_string(result->signal) + " (" +
                 ::strsignal(result->signal) + ")" + said};
  if (result->exitStatus != 0)
    return Error{what + " failed with exit status " +
                 std::to_string(result->exitStatus) + said};
  Result<std::vector<std::byte>> code =
      readFile(folder->path() + "/" + kOutput, kMaxCodeBytes);
  if (!code)
    return Error{what + " left no code object: " + code.message()};
  if (code->size() < 4 || std::memcmp(code->data(), "\177ELF", 4) != 0)
    return Error{what + " left " + std::to_string(code->size()) +
                 " bytes that are not an ELF file"};
  return Compiled{std::move(*code), std::move(result->output), time};
}
