// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The clang back end with the real clang, and with stand-ins that misbehave.
#include "winnow/Runtime/ClangCompiler.h"
#include "winnow/Runtime/Files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>

#include <sys/stat.h>

using namespace winnow;
using namespace winnow::runtime;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

namespace {

constexpr char kKernel[] = R"(
extern "C" __attribute__((global)) void fill(int *out, int value) {
  out[__builtin_amdgcn_workitem_id_x()] = value;
}
)";

/// Every test gets a TMPDIR of its own, so leftovers are seen.
class Clang : public testing::Test {
protected:
  void SetUp() override {
    Result<TemporaryFolder> made = TemporaryFolder::make();
    ASSERT_TRUE(made) << made.message();
    folder.emplace(std::move(*made));
    ASSERT_TRUE(makeFolders(temporary()));
    ::setenv("TMPDIR", temporary().c_str(), 1);
  }
  void TearDown() override {
    EXPECT_TRUE(fs::is_empty(temporary()));
    ::unsetenv("TMPDIR");
  }
  std::string temporary() const { return folder->path() + "/tmp"; }

  /// A shell script in place of clang.
  ClangOptions script(const std::string &body) {
    ClangOptions options;
    options.clang = folder->path() + "/fake-clang";
    EXPECT_TRUE(writeFileAtomically(options.clang, "#!/bin/sh\n" + body));
    EXPECT_EQ(::chmod(options.clang.c_str(), 0755), 0);
    return options;
  }
  static std::string failure(const Source &source, const ClangOptions &options,
                             const std::string &arch = "gfx950") {
    Result<Compiled> compiled = compileWithClang(source, arch, options);
    return compiled ? "no error" : compiled.message();
  }

  const Source source{"fill.hip", "mfma", {"gfx950"}, kKernel};
  std::optional<TemporaryFolder> folder;
};

TEST_F(Clang, CompilesToTheSameBytesFromEveryFolder) {
  Result<Compiled> first = compileWithClang(source, "gfx950");
  ASSERT_TRUE(first) << first.message();
  ASSERT_GT(first->code.size(), 1000u);
  EXPECT_EQ(std::memcmp(first->code.data(), "\177ELF", 4), 0);
  EXPECT_EQ(first->log, "");
  EXPECT_GT(first->time.count(), 0);

  const std::string elsewhere = folder->path() + "/tmp/a/deeper/folder";
  ASSERT_TRUE(makeFolders(elsewhere));
  ::setenv("TMPDIR", elsewhere.c_str(), 1);
  // Variables that clang listens to must not reach it either.
  ::setenv("CPATH", "/nowhere", 1);
  ::setenv("CCC_OVERRIDE_OPTIONS", "^-g", 1);
  Result<Compiled> second = compileWithClang(source, "gfx950");
  ::unsetenv("CPATH");
  ::unsetenv("CCC_OVERRIDE_OPTIONS");
  fs::remove_all(folder->path() + "/tmp/a");
  ASSERT_TRUE(second) << second.message();
  EXPECT_EQ(first->code, second->code);
  const std::string text(reinterpret_cast<const char *>(second->code.data()),
                         second->code.size());
  EXPECT_THAT(text, Not(HasSubstr("deeper")));
  EXPECT_THAT(text, Not(HasSubstr("winnow-")));
}

TEST_F(Clang, ErrorsCarryTheCompilersText) {
  Source broken = source;
  broken.text = "extern \"C\" __attribute__((global)) void f() { nonsense(); }";
  const std::string text = failure(broken, {});
  EXPECT_THAT(text, HasSubstr(" on fill.hip for gfx950 failed with exit "
                              "status 1:\nfill.hip:1:47: error: use of "
                              "undeclared identifier 'nonsense'"));
  EXPECT_THAT(text, Not(HasSubstr(temporary())));
  EXPECT_THAT(failure(source, {}, "gfx123456"), HasSubstr("gfx123456"));
}

TEST_F(Clang, WarningsAreKept) {
  Source warned = source;
  warned.text = std::string("#warning look here\n") + kKernel;
  Result<Compiled> compiled = compileWithClang(warned, "gfx950");
  ASSERT_TRUE(compiled) << compiled.message();
  EXPECT_THAT(compiled->log, HasSubstr("fill.hip:1:2: warning: look here"));
}

TEST_F(Clang, NamesThatAreNoPlainWordsNeverReachTheCommandLine) {
  Source bad = source;
  for (const char *name : {"", "-o", "../x.hip", "a b.hip", ".hidden", "a/b"}) {
    bad.name = name;
    EXPECT_THAT(failure(bad, {}), HasSubstr("wanted a plain file name"))
        << name;
  }
  EXPECT_THAT(failure(source, {}, "gfx950 -v"),
              HasSubstr("architecture 'gfx950 -v': wanted one like gfx950"));
}

TEST_F(Clang, AMissingCompilerIsNamed) {
  ClangOptions options;
  options.clang = folder->path() + "/no-such-clang";
  EXPECT_EQ(failure(source, options),
            "cannot run '" + options.clang + "': No such file or directory");
}

TEST_F(Clang, ACrashIsAnErrorWithTheSignal) {
  EXPECT_THAT(failure(source, script("echo about to die >&2\nkill -SEGV $$\n")),
              testing::AllOf(HasSubstr("was ended by signal 11"),
                             HasSubstr("about to die")));
}

TEST_F(Clang, AHangIsStoppedWithAllItsChildren) {
  // The grandchild holds the output open and would outlive its parent.
  ClangOptions options =
      script("echo started\nsleep 1000 &\necho $! > ../../child\nwait\n");
  options.timeout = std::chrono::milliseconds(300);
  EXPECT_THAT(failure(source, options),
              testing::AllOf(HasSubstr("was stopped after 300 ms"),
                             HasSubstr("started")));
  Result<std::vector<std::byte>> child =
      readFile(folder->path() + "/child", 100);
  ASSERT_TRUE(child) << child.message();
  const long pid = std::strtol(
      std::string(reinterpret_cast<const char *>(child->data()), child->size())
          .c_str(),
      nullptr, 10);
  ASSERT_GT(pid, 1);
  // It is gone, or a zombie that its new parent has not collected yet.
  bool gone = false;
  for (int i = 0; i < 200 && !gone; ++i) {
    Result<std::vector<std::byte>> stat =
        readFile("/proc/" + std::to_string(pid) + "/stat", 4096);
    gone = !stat || std::string(reinterpret_cast<const char *>(stat->data()),
                                stat->size())
                            .find(") Z") != std::string::npos;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(gone);
}

TEST_F(Clang, OneThatClosesItsOutputAndHangsIsStoppedToo) {
  ClangOptions options = script("exec >/dev/null 2>&1\nexec sleep 1000\n");
  options.timeout = std::chrono::milliseconds(200);
  EXPECT_THAT(failure(source, options), HasSubstr("was stopped after 200 ms"));
}

TEST_F(Clang, SuccessWithoutACodeObjectIsAnError) {
  EXPECT_THAT(failure(source, script("exit 0\n")),
              HasSubstr("left no code object"));
  EXPECT_THAT(failure(source, script("echo text > code_object.o\n")),
              HasSubstr("left 5 bytes that are not an ELF file"));
}

TEST_F(Clang, EndlessOutputIsCutOff) {
  const std::string text = failure(
      source, script("yes 'a long line of complaint' | head -c 3000000\n"
                     "exit 3\n"));
  EXPECT_THAT(text, HasSubstr("failed with exit status 3"));
  EXPECT_LT(text.size(), size_t(1100000));
}

} // namespace
