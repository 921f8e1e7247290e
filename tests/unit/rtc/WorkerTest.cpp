// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The real worker around a compiler that misbehaves in every way.
#include "Support.h"

#include <chrono>
#include <cstdlib>
#include <sstream>
#include <thread>

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace winnow;
using namespace winnow::runtime;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace {

class WorkerProcess : public RtcTest {
protected:
  /// The error of compiling a source with these words.
  std::string failure(const std::string &words) {
    return failureWith(fake(), words);
  }
  static std::string failureWith(const WorkerOptions &options,
                                 const std::string &words) {
    const Source text = source(words);
    Result<CompiledKernel> compiled =
        makeHiprtcCompiler(options)->compile({&text, "gfx950"});
    return compiled ? "no error" : compiled.message();
  }
  std::string script(const std::string &body) const {
    const std::string file = path("worker.sh");
    EXPECT_TRUE(writeFileAtomically(file, "#!/bin/sh\n" + body));
    EXPECT_EQ(::chmod(file.c_str(), 0755), 0);
    return file;
  }
};

TEST_F(WorkerProcess, CompilesAndSaysWhoDid) {
  auto compiler = makeHiprtcCompiler(fake());
  Result<std::string> identity = compiler->identity();
  ASSERT_TRUE(identity) << identity.message();
  EXPECT_THAT(*identity,
              AllOf(StartsWith("hiprtc 99.1 -std=c++17 -O3"),
                    HasSubstr(" libfake_hiprtc.so:"), Not(HasSubstr("/"))));
  const Source text = source("log=careful");
  for (const char *arch : {"gfx950", "gfx90a:sramecc+:xnack-"}) {
    Result<CompiledKernel> kernel = compiler->compile({&text, arch});
    ASSERT_TRUE(kernel) << kernel.message();
    EXPECT_EQ(textOf(kernel->code), fakeCode(text.text, arch));
    EXPECT_EQ(kernel->log, "careful");
    EXPECT_EQ(kernel->from, *identity);
    EXPECT_GT(kernel->time.count(), 0);
  }
}

TEST_F(WorkerProcess, ErrorsCarryTheCompilersText) {
  EXPECT_EQ(failure("act=error"),
            "compile worker (hiprtc) on k.hip for gfx950 failed:\n"
            "hiprtcCompileProgram answered 6 (FAKE_ERROR):\n"
            "k.hip:1:2: error: no such thing");
}

TEST_F(WorkerProcess, CrashesAreErrors) {
  EXPECT_EQ(failure("act=segv"),
            "compile worker (hiprtc) on k.hip for gfx950 was ended by signal "
            "11 (Segmentation fault):\nabout to die");
  EXPECT_THAT(failure("act=abort"), HasSubstr("ended by signal 6 (Aborted)"));
  EXPECT_THAT(failure("act=exit"),
              HasSubstr("ended with exit status 0 and no answer"));
}

TEST_F(WorkerProcess, AHangIsStoppedWithAllItsChildren) {
  WorkerOptions options = fake();
  options.timeout = std::chrono::milliseconds(300);
  EXPECT_EQ(failureWith(options, "act=hang"),
            "compile worker (hiprtc) on k.hip for gfx950 was stopped after 300 "
            "ms:\nthinking");
  EXPECT_THAT(failureWith(options, "act=fork-and-hang pid=" + path("pids")),
              HasSubstr("was stopped after 300 ms"));
  // The worker may notice first that it is talking to nobody.
  EXPECT_THAT(failureWith(options, "act=close"),
              AnyOf(HasSubstr("was stopped after 300 ms"),
                    HasSubstr("went on until it was stopped"),
                    HasSubstr("ended by signal 9")));
  std::istringstream pids(readText(path("pids")));
  int seen = 0;
  for (pid_t pid; pids >> pid; ++seen)
    EXPECT_TRUE(eventually([&] { return gone(pid); })) << pid;
  EXPECT_EQ(seen, 2);
}

TEST_F(WorkerProcess, MemoryIsLimited) {
  WorkerOptions options = fake();
  options.maxMemoryBytes = uint64_t(1) << 30;
  EXPECT_THAT(failureWith(options, "act=memory"),
              AllOf(HasSubstr("ended by signal 6"),
                    HasSubstr("LLVM ERROR: out of memory")));
  options.maxMemoryBytes = 0;
  EXPECT_EQ(failureWith(options, "act=memory"), "no error");
}

TEST_F(WorkerProcess, NonsenseOnItsSocketIsAnError) {
  EXPECT_THAT(failure("act=garbage"),
              HasSubstr("answered with garbage (wanted a message, found "
                        "'error: I am not a message"));
  EXPECT_THAT(failure("act=short"),
              HasSubstr("ended with exit status 0 after 9 bytes of an answer"));
  EXPECT_THAT(failure("act=oversized"),
              HasSubstr("field 0 of a message has 1099511627776 bytes, a "
                        "message at most 268435456"));
  EXPECT_THAT(failure("act=checksum"), HasSubstr("checksum does not match"));
}

TEST_F(WorkerProcess, CodeThatCannotBeOneIsAnError) {
  EXPECT_THAT(failure("act=no-elf"),
              HasSubstr("left no usable code object: 4 bytes that are not an "
                        "ELF file"));
  EXPECT_THAT(failure("act=no-code"), HasSubstr("0 bytes that are not"));
  EXPECT_THAT(failure("act=foreign target=gfx90a"),
              HasSubstr("code for gfx90a, wanted gfx950"));
}

/// The other vendor's library misbehaves in the same worker.
TEST_F(WorkerProcess, NvrtcIsContainedAsWell) {
  WorkerOptions options = fake();
  options.timeout = std::chrono::milliseconds(300);
  auto failure = [&](const std::string &words, const char *arch = "sm_90") {
    const Source text = source(words);
    Result<CompiledKernel> compiled =
        makeNvrtcCompiler(options)->compile({&text, arch});
    return compiled ? "no error" : compiled.message();
  };
  EXPECT_EQ(failure(""), "no error");
  EXPECT_THAT(failure("act=error"),
              HasSubstr("compile worker (nvrtc) on k.hip for sm_90 failed:\n"
                        "nvrtcCompileProgram answered 6 (FAKE_ERROR):\n"));
  EXPECT_EQ(failure("act=segv"),
            "compile worker (nvrtc) on k.hip for sm_90 was ended by signal 11 "
            "(Segmentation fault):\nabout to die");
  EXPECT_EQ(failure("act=hang"),
            "compile worker (nvrtc) on k.hip for sm_90 was stopped after 300 "
            "ms:\nthinking");
  EXPECT_THAT(failure("act=garbage"), HasSubstr("answered with garbage"));
  EXPECT_THAT(failure("act=no-elf"), HasSubstr("that are not an ELF file"));
  EXPECT_THAT(failure("act=foreign target=sm_80"),
              HasSubstr("left no usable code object: code for sm_80, wanted "
                        "sm_90"));
  EXPECT_THAT(failure("act=foreign target=gfx950"),
              HasSubstr("an ELF file for machine 224, wanted a 64-bit one for "
                        "CUDA (190)"));
  options.nvrtc = path("nothing.so");
  EXPECT_THAT(failure(""), AllOf(HasSubstr("no NVRTC library can be loaded"),
                                 HasSubstr("nothing.so")));
  options.nvrtc = "libc.so.6";
  EXPECT_THAT(failure(""),
              HasSubstr("the NVRTC library has no function nvrtc"));
  // Each vendor's compiler is asked for its own targets alone.
  EXPECT_THAT(failure("", "gfx950"),
              HasSubstr("was not started: it compiles for NVIDIA's targets"));
  const Source text = source();
  Result<CompiledKernel> compiled =
      makeClangCompiler(options)->compile({&text, "sm_90"});
  ASSERT_FALSE(compiled);
  EXPECT_THAT(compiled.message(),
              HasSubstr("was not started: it compiles for AMD's targets"));
}

TEST_F(WorkerProcess, ATargetFindsTheCompilerThatKnowsIt) {
  auto both = makeCompilerByTarget(makeHiprtcCompiler(fake()),
                                   makeNvrtcCompiler(fake()));
  const Source text = source();
  for (const auto &[arch, name] : {std::pair("gfx950", "hiprtc 99.1 "),
                                   std::pair("sm_90", "nvrtc 99.1 ")}) {
    Result<CompiledKernel> compiled = both->compile({&text, arch});
    ASSERT_TRUE(compiled) << compiled.message();
    EXPECT_EQ(textOf(compiled->code), fakeCode(text.text, arch));
    EXPECT_THAT(compiled->from, StartsWith(name));
    CacheOptions cached;
    cached.folder = path("cache");
    Result<CachedCode> code = KernelCache(cached).codeFor(text, arch, *both);
    ASSERT_TRUE(code) << code.message();
    EXPECT_EQ(code->compiler, compiled->from);
    EXPECT_EQ(KernelCache(cached).codeFor(text, arch, *both)->origin,
              CodeOrigin::Disk);
  }
}

TEST_F(WorkerProcess, ChatterIsReadAndDropped) {
  EXPECT_EQ(failure("act=chatter"), "no error");
}

TEST_F(WorkerProcess, WhatIsMissingIsNamed) {
  WorkerOptions options = fake();
  options.worker = path("nowhere");
  EXPECT_EQ(failureWith(options, ""),
            "cannot run '" + path("nowhere") + "': No such file or directory");
  options = fake();
  options.hiprtc = path("nothing.so");
  EXPECT_THAT(failureWith(options, ""),
              AllOf(HasSubstr("no hipRTC library can be loaded"),
                    HasSubstr("nothing.so")));
  options.hiprtc = "libc.so.6";
  EXPECT_THAT(failureWith(options, ""), HasSubstr("has no function hiprtc"));
  options = fake();
  options.worker = script("echo cannot start >&2; exit 7\n");
  EXPECT_THAT(failureWith(options, ""),
              HasSubstr("ended with exit status 7 and no answer:\ncannot "
                        "start"));
  // Its shell never asks for the request, which fills the socket.
  options.worker = script("exec sleep 1000\n");
  options.timeout = std::chrono::milliseconds(200);
  EXPECT_THAT(failureWith(options, std::string(4000000, 'x')),
              HasSubstr("was stopped after 200 ms"));
}

TEST_F(WorkerProcess, NamesThatAreNoPlainWordsAreRefused) {
  auto compiler = makeClangCompiler(fake());
  for (const char *name : {"", "-o", "../x.hip", "a b.hip", ".hidden"}) {
    const Source text = source("", name);
    Result<CompiledKernel> kernel = compiler->compile({&text, "gfx950"});
    ASSERT_FALSE(kernel) << name;
    EXPECT_THAT(kernel.message(), HasSubstr("wanted a plain file name"));
  }
  const Source text = source();
  Result<CompiledKernel> kernel = compiler->compile({&text, "gfx950 -v"});
  ASSERT_FALSE(kernel);
  EXPECT_THAT(kernel.message(), HasSubstr("wanted one like gfx950"));
}

TEST_F(WorkerProcess, NoMoreThanAllowedRunAtOnce) {
  ASSERT_TRUE(makeFolders(path("gauge")));
  WorkerOptions options = fake();
  options.maxWorkers = 2;
  auto compiler = makeHiprtcCompiler(options);
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      const Source text =
          source("gauge=" + path("gauge") + " n=" + std::to_string(i));
      Result<CompiledKernel> kernel = compiler->compile({&text, "gfx950"});
      EXPECT_TRUE(kernel) << kernel.message();
    });
  for (std::thread &thread : threads)
    thread.join();
  std::istringstream most(readText(path("gauge/most")));
  int highest = 0, lines = 0;
  for (int running; most >> running; ++lines)
    highest = std::max(highest, running);
  EXPECT_EQ(lines, 8);
  EXPECT_EQ(highest, 2);
}

TEST_F(WorkerProcess, NothingOutlivesTheProcessThatAsked) {
  for (int signal : {SIGKILL, SIGTERM}) {
    const std::string pids = path("pids" + std::to_string(signal));
    const pid_t host = forked(
        [&] { return failure("act=fork-and-hang pid=" + pids) == "no error"; });
    ASSERT_TRUE(eventually([&] {
      const std::string text = readText(pids);
      return std::count(text.begin(), text.end(), '\n') == 2;
    }));
    EXPECT_EQ(::kill(host, signal), 0);
    EXPECT_EQ(waitFor(host), 1000 + signal);
    std::istringstream text(readText(pids));
    for (pid_t pid; text >> pid;)
      EXPECT_TRUE(eventually([&] { return gone(pid); })) << pid;
    EXPECT_TRUE(eventually([&] { return namesIn(path("tmp")).empty(); }));
  }
}

TEST_F(WorkerProcess, OneThatWaitsIsUsedOnceAndLetGo) {
  WorkerOptions options = fake();
  options.worker = script("echo >> " + path("starts") + "\nexec " +
                          WINNOW_RTC_WORKER + " \"$@\"\n");
  auto compiler = makeHiprtcCompiler(options);
  const Source text = source("one");
  auto starts = [&](size_t count) {
    EXPECT_TRUE(eventually([&] { return sizeOf(path("starts")) == count; }))
        << sizeOf(path("starts"));
  };
  compiler->prepare();
  compiler->prepare();
  starts(1);
  EXPECT_TRUE(compiler->compile({&text, "gfx950"}));
  starts(1);
  EXPECT_TRUE(compiler->compile({&text, "gfx950"}));
  starts(2);
  EXPECT_TRUE(compiler->identity());
  starts(3);
  EXPECT_TRUE(compiler->compile({&text, "gfx950"}));
  starts(3);
  compiler->prepare();
  starts(4);
  EXPECT_TRUE(eventually([&] { return namesIn(path("tmp")).size() == 1; }));
  compiler->release();
  EXPECT_THAT(namesIn(path("tmp")), testing::IsEmpty());
  compiler->prepare();
  starts(5);
  compiler.reset(); // with one waiting
  EXPECT_THAT(namesIn(path("tmp")), testing::IsEmpty());
}

TEST_F(WorkerProcess, WhatDeadWorkersLeftIsSweptUp) {
  const std::string left = path("tmp/winnow-rtc-0123456789abcdef");
  ASSERT_TRUE(makeFolders(left + "/comgr-1/input"));
  ASSERT_TRUE(writeFileAtomically(left + "/comgr-1/input/k.hip", "text"));
  // It is done beside the compilation, which may be faster.
  EXPECT_TRUE(eventually([&] {
    EXPECT_EQ(failure("sleep=50"), "no error");
    return namesIn(path("tmp")).empty();
  }));
}

TEST_F(WorkerProcess, WorksInAProcessThatIgnoresItsChildren) {
  EXPECT_EQ(waitFor(forked([&] {
              ::signal(SIGCHLD, SIG_IGN);
              return failure("") == "no error" &&
                             failure("act=segv").find("ended") !=
                                 std::string::npos
                         ? 0
                         : 1;
            })),
            0);
}

TEST_F(WorkerProcess, AnIdentityIsAskedForOnceUntilTheCompilerChanges) {
  WorkerOptions options = fake();
  options.identityFolder = path("cache");
  options.worker = script("echo >> " + path("starts") + "\nexec " +
                          WINNOW_RTC_WORKER + " \"$@\"\n");
  // A copy that can be replaced.
  const std::string library = readText(options.hiprtc);
  options.hiprtc = path("libhiprtc-copy.so");
  ASSERT_TRUE(writeFileAtomically(options.hiprtc, library));
  std::vector<std::string> seen;
  auto ask = [&](size_t starts) {
    Result<std::string> identity = makeHiprtcCompiler(options)->identity();
    ASSERT_TRUE(identity) << identity.message();
    seen.push_back(*identity);
    EXPECT_EQ(sizeOf(path("starts")), starts);
  };
  ask(1);
  ask(1);
  ASSERT_TRUE(writeFileAtomically(options.hiprtc, library + "newer"));
  ask(2);
  ask(2);
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_NE(seen[0], seen[2]);
  EXPECT_EQ(seen[2], seen[3]);
  // A damaged memo is only forgotten.
  for (const std::string &name : namesIn(path("cache/compilers")))
    ASSERT_TRUE(writeFileAtomically(path("cache/compilers/") + name, "{\"fi"));
  ask(3);
  makeHiprtcCompiler(options)->forgetIdentity();
  ask(4);
  struct stat info;
  ASSERT_EQ(::stat(path("cache").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  // What others may write is not believed.
  ASSERT_EQ(::chmod(path("cache").c_str(), 0777), 0);
  ask(5);
  ask(6);
}

} // namespace
