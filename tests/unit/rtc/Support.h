// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the tests of workers and of the cache share.
#ifndef WINNOW_TESTS_UNIT_RTC_SUPPORT_H
#define WINNOW_TESTS_UNIT_RTC_SUPPORT_H

#include "winnow/Runtime/Files.h"
#include "winnow/Runtime/KernelCache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace winnow::runtime {

/// What the fake hipRTC, or NVRTC, makes of a source.
std::string fakeCode(const std::string &text, const std::string &arch);
std::string textOf(const std::vector<std::byte> &bytes);
std::vector<std::byte> bytesOf(const std::string &text);
std::string readText(const std::string &path);
/// Of a file; 0 if there is none.
size_t sizeOf(const std::string &path);
/// Names in a folder, sorted, those that start with a dot too.
std::vector<std::string> namesIn(const std::string &folder);

/// Until `condition` holds, at most ten seconds.
bool eventually(const std::function<bool()> &condition);
/// Not running, or a zombie that its new parent has yet to collect.
bool gone(pid_t process);

/// Runs `body` in a forked child, which ends with what it returns.
pid_t forked(const std::function<int()> &body);
/// The exit status, or 1000 and the signal.
int waitFor(pid_t child);

/// A folder with a TMPDIR in it that has to be empty in the end: no temporary
/// folder of a worker may stay behind.
class RtcTest : public testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;
  std::string path(const std::string &name) const;

  /// The real worker with the fake hipRTC and NVRTC.
  WorkerOptions fake() const;
  static Source source(const std::string &words = "",
                       const std::string &name = "k.hip");

private:
  std::optional<TemporaryFolder> folder;
};

/// A compiler in this process that counts and can be told what to do.
class CountingCompiler : public KernelCompiler {
public:
  Result<std::string> identity() override;
  Result<CompiledKernel> compile(const CompileRequest &request) override;
  void forgetIdentity() override { ++forgotten; }

  std::string name = "counting 1";
  std::string from; ///< of the code; empty: `name`
  std::string failure;
  int compiled = 0, forgotten = 0;

private:
  std::mutex mutex;
};

} // namespace winnow::runtime

#endif // WINNOW_TESTS_UNIT_RTC_SUPPORT_H
