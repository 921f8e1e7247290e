// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace winnow;
using namespace winnow::runtime;
namespace fs = std::filesystem;

std::string runtime::fakeCode(const std::string &text,
                              const std::string &arch) {
  std::string elf(64, '\0');
  if (arch.starts_with("sm_")) {
    std::memcpy(elf.data(), "\177ELF\2\1\1\0\10", 9);
    elf[18] = static_cast<char>(190);
    elf[49] = static_cast<char>(std::stoi(arch.substr(3)));
    return elf + text;
  }
  std::memcpy(elf.data(), "\177ELF\2\1\1", 7);
  elf[18] = static_cast<char>(224);
  elf[48] = arch.starts_with("gfx90a")   ? 0x3f
            : arch.starts_with("gfx942") ? 0x4c
                                         : 0x4f;
  return elf + text;
}

std::string runtime::textOf(const std::vector<std::byte> &bytes) {
  return std::string(reinterpret_cast<const char *>(bytes.data()),
                     bytes.size());
}

std::vector<std::byte> runtime::bytesOf(const std::string &text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

std::string runtime::readText(const std::string &path) {
  Result<std::vector<std::byte>> bytes = readFile(path, uint64_t(1) << 30);
  return bytes ? textOf(*bytes) : "";
}

size_t runtime::sizeOf(const std::string &path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 ? static_cast<size_t>(info.st_size)
                                          : 0;
}

std::vector<std::string> runtime::namesIn(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator at(folder, code), end; !code && at != end;
       at.increment(code))
    names.push_back(at->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

bool runtime::eventually(const std::function<bool()> &condition) {
  for (int i = 0; i < 1000; ++i) {
    if (condition())
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

bool runtime::gone(pid_t process) {
  const std::string stat =
      readText("/proc/" + std::to_string(process) + "/stat");
  return stat.empty() || stat.find(") Z") != std::string::npos;
}

pid_t runtime::forked(const std::function<int()> &body) {
  const pid_t child = ::fork();
  if (child == 0)
    ::_exit(body());
  return child;
}

int runtime::waitFor(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

void RtcTest::SetUp() {
  Result<TemporaryFolder> made = TemporaryFolder::make();
  ASSERT_TRUE(made) << made.message();
  folder.emplace(std::move(*made));
  ASSERT_TRUE(makeFolders(path("tmp")));
  ::setenv("TMPDIR", path("tmp").c_str(), 1);
}

void RtcTest::TearDown() {
  // A worker that lost its starter takes a moment to notice.
  EXPECT_TRUE(eventually([&] { return namesIn(path("tmp")).empty(); }))
      << namesIn(path("tmp")).front();
  ::unsetenv("TMPDIR");
}

std::string RtcTest::path(const std::string &name) const {
  return folder->path() + "/" + name;
}

WorkerOptions RtcTest::fake() const {
  WorkerOptions options;
  options.worker = WINNOW_RTC_WORKER;
  options.hiprtc = options.nvrtc = WINNOW_FAKE_HIPRTC;
  return options;
}

Source RtcTest::source(const std::string &words, const std::string &name) {
  return Source{name, "mfma", {"gfx950"}, "// " + words + " \n"};
}

Result<std::string> CountingCompiler::identity() {
  std::lock_guard lock(mutex);
  return name;
}

Result<CompiledKernel>
CountingCompiler::compile(const CompileRequest &request) {
  std::lock_guard lock(mutex);
  ++compiled;
  if (!failure.empty())
    return Error{failure};
  CompiledKernel kernel;
  kernel.code = bytesOf(fakeCode(request.source->text, request.arch));
  kernel.log = "a warning";
  kernel.from = from.empty() ? name : from;
  return kernel;
}
