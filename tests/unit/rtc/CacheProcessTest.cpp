// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Many processes on one folder: started together, killed at any moment, in
// containers of their own.
#include "Support.h"

#include "CacheEntry.h"

#include <chrono>
#include <cstdio>
#include <random>
#include <thread>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace winnow;
using namespace winnow::runtime;
using testing::IsEmpty;
using testing::SizeIs;
using Clock = std::chrono::steady_clock;

namespace {

class CacheProcesses : public RtcTest {
protected:
  CacheOptions options(std::vector<std::string> *warnings = nullptr) const {
    CacheOptions options;
    options.folder = path("cache");
    options.logger = [warnings](LogLevel, const std::string &line) {
      if (warnings)
        warnings->push_back(line);
    };
    return options;
  }
  WorkerOptions worker() const {
    WorkerOptions options = fake();
    options.identityFolder = path("cache");
    return options;
  }
  /// What a process does: 0, or what went wrong.
  int obtain(const Source &text) const {
    std::vector<std::string> warnings;
    auto compiler = makeHiprtcCompiler(worker());
    KernelCache cache(options(&warnings));
    Result<CachedCode> code = cache.codeFor(text, "gfx950", *compiler);
    if (!code) {
      std::fprintf(stderr, "%s\n", code.message().c_str());
      return 1;
    }
    if (textOf(*code->code) != fakeCode(text.text, "gfx950"))
      return 2;
    return warnings.empty() ? 0 : 3;
  }
  /// Names of all but the entries.
  std::vector<std::string> leftovers() const {
    std::vector<std::string> names = namesIn(path("cache/v1"));
    std::erase_if(names, looksLikeEntryName);
    return names;
  }
};

TEST_F(CacheProcesses, SixtyFourThatStartColdCompileOnce) {
  const Source text = source("sleep=100 count=" + path("count"));
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);
  std::vector<pid_t> children;
  children.reserve(64);
  for (int i = 0; i < 64; ++i)
    children.push_back(forked([&] {
      ::close(gate[1]);
      char byte;
      while (::read(gate[0], &byte, 1) < 0) {
      }
      return obtain(text);
    }));
  ::close(gate[0]);
  ::close(gate[1]);
  for (pid_t child : children)
    EXPECT_EQ(waitFor(child), 0);
  EXPECT_EQ(sizeOf(path("count")), 1u);
  EXPECT_THAT(namesIn(path("cache/v1")), SizeIs(1));
}

TEST_F(CacheProcesses, KilledAtAnyMomentTheyLeaveNothingWrong) {
  std::mt19937 random(1);
  // About as long as an undisturbed one takes, so that every moment is hit; it
  // follows what the machine can do, which others use too.
  double longest = 20000; // microseconds
  int killed = 0, started = 0;
  for (; killed < 200 && started < 1000; ++started) {
    const Source text = source("n=" + std::to_string(started / 3));
    const pid_t child = forked([&] { return obtain(text); });
    std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(
        std::uniform_real_distribution<>(0, longest)(random)));
    ::kill(child, SIGKILL);
    const int result = waitFor(child);
    killed += result == 1000 + SIGKILL;
    longest *= result == 0 ? 0.95 : 1.03;
    // Not an error, not wrong code, not even a warning in the others.
    EXPECT_TRUE(result == 0 || result == 1000 + SIGKILL) << result;
  }
  EXPECT_EQ(killed, 200);
  // Whatever they left, whoever comes next gets the right code and no warning,
  // and the leftovers go with the next entry that is made.
  for (int i = 0; i < started / 3; i += 9)
    EXPECT_EQ(waitFor(forked(
                  [&] { return obtain(source("n=" + std::to_string(i))); })),
              0);
  EXPECT_EQ(waitFor(forked([&] { return obtain(source("n=last")); })), 0);
  EXPECT_THAT(leftovers(), IsEmpty());
  Result<std::vector<CacheEntryInfo>> entries =
      KernelCache(options()).list(false);
  ASSERT_TRUE(entries) << entries.message();
  for (const CacheEntryInfo &entry : *entries)
    EXPECT_EQ(entry.problem, "");
  EXPECT_THAT(namesIn(path("cache")),
              testing::UnorderedElementsAre("v1", "compilers"));
}

TEST_F(CacheProcesses, ALockThatIsNeverLetGoIsWaitedForOnlySoLong) {
  const Source text = source("one");
  CountingCompiler compiler;
  std::vector<std::string> warnings;
  CacheOptions limited = options(&warnings);
  limited.lockTimeout = std::chrono::milliseconds(100);
  KernelCache cache(limited);
  const Digest key = keyDigest(programDigest(text, "gfx950"), compiler.name);
  const std::string file = path("cache/v1/.lock-") + hexText(key);
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);
  const auto start = Clock::now();
  Result<CachedCode> code = cache.codeFor(text, "gfx950", compiler);
  ASSERT_TRUE(code) << code.message();
  EXPECT_EQ(code->origin, CodeOrigin::Compiled);
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(100));
  EXPECT_THAT(warnings, testing::ElementsAre(testing::HasSubstr(
                            "is compiled without its lock, which another "
                            "process holds for longer than 100 ms")));
  // What it made is there for the others, who do not wait at all.
  const auto again = Clock::now();
  code = KernelCache(options()).codeFor(text, "gfx950", compiler);
  ASSERT_TRUE(code) << code.message();
  EXPECT_EQ(code->origin, CodeOrigin::Disk);
  EXPECT_LT(Clock::now() - again, std::chrono::seconds(1));
  EXPECT_EQ(compiler.compiled, 1);
  ::close(fd);
}

TEST_F(CacheProcesses, EvictionWhileOthersLoadIsAMissAtWorst) {
  const auto end = Clock::now() + std::chrono::milliseconds(700);
  std::vector<pid_t> children;
  children.reserve(3);
  for (int i = 0; i < 3; ++i)
    children.push_back(forked([&] {
      CountingCompiler compiler;
      std::vector<std::string> warnings;
      for (int n = 0; Clock::now() < end; n = (n + 1) % 5) {
        const Source text = source("n=" + std::to_string(n));
        Result<CachedCode> code =
            KernelCache(options(&warnings)).codeFor(text, "gfx950", compiler);
        if (!code || textOf(*code->code) != fakeCode(text.text, "gfx950"))
          return 1;
      }
      for (const std::string &warning : warnings)
        std::fprintf(stderr, "warning: %s\n", warning.c_str());
      return warnings.empty() ? 0 : 2;
    }));
  uint64_t evicted = 0;
  KernelCache cache(options());
  while (Clock::now() < end) {
    Result<PruneResult> pruned = cache.prune(0);
    ASSERT_TRUE(pruned) << pruned.message();
    evicted += pruned->entries;
  }
  for (pid_t child : children)
    EXPECT_EQ(waitFor(child), 0);
  EXPECT_GT(evicted, 10u);
}

TEST_F(CacheProcesses, ContainersMayShareAFolder) {
  // Each sees itself as process 1, so a lock by process numbers would be held
  // by both, or by neither.
  const Source text = source("sleep=200 count=" + path("count"));
  auto inContainer = [&] {
    if (::unshare(CLONE_NEWPID) != 0)
      return 77;
    return waitFor(forked([&] {
      if (::getpid() != 1)
        return 78;
      return obtain(text);
    }));
  };
  const pid_t first = forked(inContainer), second = forked(inContainer);
  const int results[] = {waitFor(first), waitFor(second)};
  if (results[0] == 77)
    GTEST_SKIP() << "no right to make a process namespace";
  EXPECT_EQ(results[0], 0);
  EXPECT_EQ(results[1], 0);
  EXPECT_EQ(sizeOf(path("count")), 1u);
  EXPECT_THAT(leftovers(), IsEmpty());
}

} // namespace
