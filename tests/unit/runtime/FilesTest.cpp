// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writing is all or nothing, whatever goes wrong and whoever else writes.
#include "winnow/Runtime/Files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace winnow;
using namespace winnow::runtime;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

class Files : public testing::Test {
protected:
  void SetUp() override {
    Result<TemporaryFolder> made = TemporaryFolder::make();
    ASSERT_TRUE(made) << made.message();
    folder.emplace(std::move(*made));
  }
  std::string path(const std::string &name) const {
    return folder->path() + "/" + name;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto &item : fs::directory_iterator(folder->path()))
      found.push_back(item.path().filename());
    std::sort(found.begin(), found.end());
    return found;
  }
  static std::string content(const std::string &path) {
    Result<std::vector<std::byte>> bytes = readFile(path, 1 << 26);
    if (!bytes)
      return bytes.message();
    return {reinterpret_cast<const char *>(bytes->data()), bytes->size()};
  }
  static std::string failure(const Status &status) {
    return status ? "no error" : status.message();
  }

  std::optional<TemporaryFolder> folder;
};

TEST_F(Files, WritesAndReplaces) {
  ASSERT_TRUE(writeFileAtomically(path("a"), "one"));
  EXPECT_EQ(content(path("a")), "one");
  ASSERT_TRUE(writeFileAtomically(path("a"), ""));
  EXPECT_EQ(content(path("a")), "");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(Files, WhetherAFileCanBeWrittenIsKnownBeforehand) {
  ASSERT_TRUE(writeFileAtomically(path("a"), "one"));
  fs::create_symlink("later", path("link"));
  EXPECT_TRUE(checkWritable(path("a")));
  EXPECT_TRUE(checkWritable(path("new")));
  EXPECT_TRUE(checkWritable(path("link")));
  EXPECT_TRUE(checkWritable("/dev/null"));
  // As it was: nothing is left beside, nothing is replaced.
  EXPECT_THAT(names(), ElementsAre("a", "link"));
  EXPECT_EQ(content(path("a")), "one");
  EXPECT_EQ(failure(checkWritable(path("no/such"))),
            "cannot write '" + path("no/such") +
                "': No such file or directory");
  EXPECT_EQ(failure(checkWritable(path(""))),
            failure(writeFileAtomically(path(""), "x")));
  EXPECT_EQ(failure(checkWritable(folder->path())),
            "cannot write '" + folder->path() + "': Is a directory");
}

TEST_F(Files, TheUmaskDecidesThePermissions) {
  const mode_t before = ::umask(027);
  ASSERT_TRUE(writeFileAtomically(path("a"), "one"));
  ::umask(before);
  struct stat info;
  ASSERT_EQ(::stat(path("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(Files, FollowsALinkToAFile) {
  ASSERT_TRUE(writeFileAtomically(path("real"), "one"));
  fs::create_symlink("real", path("link"));
  ASSERT_TRUE(writeFileAtomically(path("link"), "two"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content(path("real")), "two");
}

TEST_F(Files, FollowsALinkToAFileThatIsNotThereYet) {
  fs::create_symlink("middle", path("link"));
  fs::create_symlink(path("real"), path("middle"));
  ASSERT_TRUE(writeFileAtomically(path("link"), "one"));
  EXPECT_THAT(names(), ElementsAre("link", "middle", "real"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content(path("real")), "one");
}

TEST_F(Files, ALinkToItselfIsAnError) {
  fs::create_symlink("loop", path("loop"));
  EXPECT_THAT(failure(writeFileAtomically(path("loop"), "one")),
              HasSubstr("loop': Too many levels of symbolic links"));
  EXPECT_TRUE(fs::is_symlink(path("loop")));
}

TEST_F(Files, LongNamesFit) {
  const std::string name(255, 'n');
  ASSERT_TRUE(writeFileAtomically(path(name), "one"));
  EXPECT_THAT(names(), ElementsAre(name));
  EXPECT_THAT(failure(writeFileAtomically(path(name + "n"), "one")),
              HasSubstr("File name too long"));
  EXPECT_THAT(names(), ElementsAre(name));
}

TEST_F(Files, ErrorsGiveThePathAndTheSystemsReason) {
  EXPECT_EQ(failure(writeFileAtomically(path("no/such"), "x")),
            "cannot write '" + path("no/such") +
                "': No such file or directory");
  ASSERT_TRUE(writeFileAtomically(path("file"), "x"));
  EXPECT_EQ(failure(writeFileAtomically(path("file/below"), "x")),
            "cannot write '" + path("file/below") + "': Not a directory");
  EXPECT_EQ(failure(writeFileAtomically(folder->path(), "x")),
            "cannot write '" + folder->path() + "': Is a directory");
  EXPECT_EQ(failure(writeFileAtomically("", "x")),
            "cannot write '': No such file or directory");
  EXPECT_EQ(failure(makeFolders(path("file/below"))),
            "cannot create the folder '" + path("file/below") +
                "': Not a directory");
  Result<std::vector<std::byte>> missing = readFile(path("missing"), 10);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.message(),
            "cannot read '" + path("missing") + "': No such file or directory");
  Result<std::vector<std::byte>> directory = readFile(folder->path(), 10);
  ASSERT_FALSE(directory);
  EXPECT_THAT(directory.message(), HasSubstr("Is a directory"));
  EXPECT_THAT(names(), ElementsAre("file"));
}

TEST_F(Files, AFullDeviceIsAnErrorAndStaysADevice) {
  EXPECT_EQ(failure(writeFileAtomically("/dev/full", "x")),
            "cannot write '/dev/full': No space left on device");
  struct stat info;
  ASSERT_EQ(::stat("/dev/full", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
}

TEST_F(Files, AWriteThatStopsHalfwayLeavesTheOldFile) {
  ASSERT_TRUE(writeFileAtomically(path("a"), "old"));
  // A file size limit fails the write in the middle, as a full disk does.
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 4096;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  Status status = writeFileAtomically(path("a"), std::string(100000, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(failure(status),
            "cannot write '" + path("a") + "': File too large");
  EXPECT_EQ(content(path("a")), "old");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(Files, ReadingStopsAtTheLimit) {
  ASSERT_TRUE(writeFileAtomically(path("a"), "12345"));
  EXPECT_TRUE(readFile(path("a"), 5));
  Result<std::vector<std::byte>> bytes = readFile(path("a"), 4);
  ASSERT_FALSE(bytes);
  EXPECT_THAT(bytes.message(), HasSubstr("larger than 4 bytes"));
  // A file without an end.
  Result<std::vector<std::byte>> zero = readFile("/dev/zero", 3 << 20);
  ASSERT_FALSE(zero);
  EXPECT_THAT(zero.message(), HasSubstr("larger than 3145728 bytes"));
}

TEST_F(Files, ConcurrentWritersLeaveOneWholeFile) {
  const std::string a(300000, 'a'), b(200000, 'b');
  auto writer = [&](const std::string &text) {
    for (int i = 0; i < 40; ++i) {
      Status status = writeFileAtomically(path("shared"), text);
      ASSERT_TRUE(status) << status.message();
    }
  };
  std::thread first(writer, a), second(writer, b);
  for (int i = 0; i < 40; ++i) {
    std::string seen = content(path("shared"));
    if (seen.starts_with("cannot"))
      continue; // not there yet
    EXPECT_TRUE(seen == a || seen == b) << seen.size();
  }
  first.join();
  second.join();
  std::string last = content(path("shared"));
  EXPECT_TRUE(last == a || last == b);
  EXPECT_THAT(names(), ElementsAre("shared"));
}

TEST_F(Files, TemporaryFoldersVanishWithTheirContent) {
  std::string gone;
  {
    Result<TemporaryFolder> made = TemporaryFolder::make();
    ASSERT_TRUE(made);
    gone = made->path();
    struct stat info;
    ASSERT_EQ(::stat(gone.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
    ASSERT_TRUE(makeFolders(gone + "/x/y"));
    ASSERT_TRUE(writeFileAtomically(gone + "/x/y/z", "deep"));
    TemporaryFolder moved = std::move(*made);
    EXPECT_TRUE(fs::exists(gone));
  }
  EXPECT_FALSE(fs::exists(gone));
}

} // namespace
