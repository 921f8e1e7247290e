// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files and folders that are not as they should be: a miss and one warning,
// never an error, never wrong code.
#include "Support.h"

#include "CacheEntry.h"

#include <csignal>
#include <ctime>
#include <filesystem>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace winnow;
using namespace winnow::runtime;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
namespace fs = std::filesystem;

namespace {

class CacheDamage : public RtcTest {
protected:
  void SetUp() override {
    RtcTest::SetUp();
    options.folder = path("cache");
    options.logger = [this](LogLevel, const std::string &line) {
      warnings.push_back(line);
    };
  }
  CodeOrigin get() {
    Result<CachedCode> code =
        KernelCache(options).codeFor(text, "gfx950", compiler);
    EXPECT_TRUE(code) << code.message();
    if (!code)
      return CodeOrigin::Memory;
    EXPECT_EQ(textOf(*code->code), fakeCode(text.text, "gfx950"));
    return code->origin;
  }
  std::string entry() const {
    const Digest program = programDigest(text, "gfx950");
    return path("cache/v1/") +
           entryFileName(program, keyDigest(program, compiler.name));
  }
  /// Puts bytes in the entry's place and expects that they are noticed once,
  /// put aside and replaced.
  void expectMended(const std::string &bytes, const std::string &why) {
    warnings.clear();
    ASSERT_TRUE(writeFileAtomically(entry(), bytes));
    const size_t aside = namesIn(path("cache/set-aside")).size();
    EXPECT_EQ(get(), CodeOrigin::Compiled) << why;
    EXPECT_THAT(warnings, ElementsAre(AllOf(HasSubstr("is compiled anew: "),
                                            HasSubstr(why))));
    EXPECT_EQ(get(), CodeOrigin::Disk) << why;
    EXPECT_THAT(namesIn(path("cache/set-aside")), SizeIs(aside + 1));
  }

  CacheOptions options;
  CountingCompiler compiler;
  std::vector<std::string> warnings;
  const Source text = source("one");
};

TEST_F(CacheDamage, DamagedEntriesAreSetAsideAndMadeAnew) {
  EXPECT_EQ(get(), CodeOrigin::Compiled);
  const std::string good = readText(entry());
  expectMended("", "0 bytes, fewer than the header's 104");
  expectMended(good.substr(0, 50), "50 bytes, fewer");
  expectMended(good.substr(0, good.size() - 1), "bytes, its header says");
  expectMended(good + "x", "bytes, its header says");
  std::string flipped = good;
  flipped[good.size() - 20] ^= 4;
  expectMended(flipped, "its checksum does not match");
  std::string newer = good;
  newer[8] = 9;
  expectMended(newer, "format version 9, wanted 1");
  expectMended(std::string(4096, '\0'), "it is no cache entry");
}

TEST_F(CacheDamage, AnEntryOfAnotherKeyOrArchitectureIsNoHit) {
  CacheEntry other;
  other.program = programDigest(source("two"), "gfx950");
  other.key = keyDigest(other.program, compiler.name);
  other.source = "k.hip";
  other.arch = "gfx950";
  other.compiler = compiler.name;
  other.code = bytesOf(fakeCode("two", "gfx950"));
  EXPECT_EQ(get(), CodeOrigin::Compiled);
  expectMended(textOf(encodeEntry(other)), "its key is " + hexText(other.key));
  // Written by a program that is wrong, with a checksum that is right.
  other.program = programDigest(text, "gfx950");
  other.key = keyDigest(other.program, compiler.name);
  other.code = bytesOf(fakeCode(text.text, "gfx942"));
  expectMended(textOf(encodeEntry(other)), "code for gfx942, wanted gfx950");
  other.compiler = "another";
  expectMended(textOf(encodeEntry(other)),
               "its key is not that of its program and compiler");
}

TEST_F(CacheDamage, EveryTruncationAndEveryFlippedBitIsNoticed) {
  CacheEntry entry;
  entry.program = programDigest(text, "gfx950");
  entry.key = keyDigest(entry.program, "counting 1");
  entry.source = "k.hip";
  entry.arch = "gfx950";
  entry.compiler = "counting 1";
  entry.code = bytesOf(fakeCode("", "gfx950"));
  entry.log = "log";
  std::vector<std::byte> bytes = encodeEntry(entry);
  ASSERT_TRUE(decodeEntry(bytes, &entry.key));
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decodeEntry(std::span(bytes).first(size))) << size;
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= std::byte(1 << bit % 8);
    EXPECT_FALSE(decodeEntry(bytes)) << bit;
    bytes[bit / 8] ^= std::byte(1 << bit % 8);
  }
}

TEST_F(CacheDamage, WhatIsNoFileAtAllIsAMiss) {
  ASSERT_TRUE(makeFolders(path("cache")));
  ASSERT_EQ(::chmod(path("cache").c_str(), 0700), 0);
  ASSERT_TRUE(makeFolders(entry()));
  ASSERT_EQ(::chmod(path("cache/v1").c_str(), 0700), 0);
  EXPECT_EQ(get(), CodeOrigin::Compiled);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("not a file")));
  EXPECT_EQ(get(), CodeOrigin::Disk);
  ASSERT_EQ(::unlink(entry().c_str()), 0);
  ASSERT_EQ(::mkfifo(entry().c_str(), 0600), 0); // nobody may wait for it
  EXPECT_EQ(get(), CodeOrigin::Compiled);
  EXPECT_EQ(get(), CodeOrigin::Disk);
}

TEST_F(CacheDamage, AClockThatWasSetBackIsNoDamage) {
  EXPECT_EQ(get(), CodeOrigin::Compiled);
  for (time_t seconds : {time_t(0), std::time(nullptr) + 400000000}) {
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, entry().c_str(), times, 0), 0);
    options.maxBytes = sizeOf(entry());
    EXPECT_EQ(get(), CodeOrigin::Disk);
    EXPECT_EQ(get(), CodeOrigin::Disk);
  }
  EXPECT_THAT(warnings, SizeIs(0));
}

TEST_F(CacheDamage, VerifySetsAsideWhatIsDamaged) {
  EXPECT_EQ(get(), CodeOrigin::Compiled);
  std::string bytes = readText(entry());
  bytes[bytes.size() / 2] ^= 1;
  ASSERT_TRUE(writeFileAtomically(entry(), bytes));
  for (bool aside : {false, true}) {
    Result<std::vector<CacheEntryInfo>> entries =
        KernelCache(options).list(aside);
    ASSERT_TRUE(entries) << entries.message();
    ASSERT_THAT(*entries, SizeIs(1));
    EXPECT_EQ(entries->front().problem, "its checksum does not match");
  }
  EXPECT_THAT(*KernelCache(options).list(), SizeIs(0));
  EXPECT_EQ(get(), CodeOrigin::Compiled);
  // Pruning clears what was set aside.
  Result<PruneResult> pruned = KernelCache(options).prune(options.maxBytes);
  ASSERT_TRUE(pruned) << pruned.message();
  EXPECT_EQ(pruned->entries, 1u);
  EXPECT_THAT(namesIn(path("cache/set-aside")), SizeIs(0));
}

TEST_F(CacheDamage, OnlySoManyDamagedFilesAreKept) {
  for (int i = 0; i < 40; ++i) {
    ASSERT_EQ(get(), CodeOrigin::Compiled);
    ASSERT_TRUE(writeFileAtomically(entry(), "x"));
  }
  EXPECT_THAT(namesIn(path("cache/set-aside")), SizeIs(32));
}

TEST_F(CacheDamage, AFolderThatCannotBeMadeLeavesMemory) {
  ASSERT_TRUE(writeFileAtomically(path("file"), "text"));
  options.folder = path("file/cache");
  KernelCache cache(options);
  for (CodeOrigin origin : {CodeOrigin::Compiled, CodeOrigin::Memory}) {
    Result<CachedCode> code = cache.codeFor(text, "gfx950", compiler);
    ASSERT_TRUE(code) << code.message();
    EXPECT_EQ(code->origin, origin);
  }
  EXPECT_THAT(warnings,
              ElementsAre(AllOf(HasSubstr("code is kept in memory only"),
                                HasSubstr("Not a directory"))));
  EXPECT_FALSE(cache.list());
}

TEST_F(CacheDamage, AFolderThatVanishesIsAMissAndOneWarning) {
  KernelCache cache(options);
  fs::remove_all(path("cache"));
  for (const char *word : {"one", "two"}) {
    Result<CachedCode> code = cache.codeFor(source(word), "gfx950", compiler);
    ASSERT_TRUE(code) << code.message();
    EXPECT_EQ(code->origin, CodeOrigin::Compiled);
  }
  EXPECT_THAT(warnings,
              ElementsAre(AllOf(HasSubstr("compiled but not kept"),
                                HasSubstr("No such file or directory"))));
}

TEST_F(CacheDamage, OtherPeoplesFoldersAreNotTrusted) {
  ASSERT_TRUE(makeFolders(path("cache")));
  ASSERT_EQ(::chmod(path("cache").c_str(), 0777), 0);
  EXPECT_EQ(get(), CodeOrigin::Compiled);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("others may write into it")));
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(::chmod(path("cache").c_str(), 0700), 0);
  ASSERT_EQ(::chown(path("cache").c_str(), 12345, 12345), 0);
  EXPECT_EQ(get(), CodeOrigin::Compiled);
  EXPECT_THAT(warnings.back(), HasSubstr("belongs to user 12345, not to 0"));
}

TEST_F(CacheDamage, AReadOnlyFolderIsReadAndOneWarning) {
  EXPECT_EQ(get(), CodeOrigin::Compiled);
  // Root writes where it likes, so a user does this.
  EXPECT_EQ(waitFor(forked([&] {
              const uid_t user = ::geteuid() == 0 ? 12345 : ::geteuid();
              for (const std::string &each :
                   {path(""), path("cache"), path("cache/v1"), entry()})
                if (::geteuid() == 0 && ::chown(each.c_str(), user, user) != 0)
                  return 1;
              ::chmod(path("cache/v1").c_str(), 0500);
              ::chmod(path("cache").c_str(), 0500);
              if (::geteuid() == 0 && ::setresuid(user, user, user) != 0)
                return 2;
              const bool hit = get() == CodeOrigin::Disk && warnings.empty();
              KernelCache cache(options);
              for (const char *word : {"two", "three"})
                if (!cache.codeFor(source(word), "gfx950", compiler))
                  return 3;
              const bool warned =
                  warnings.size() == 1 &&
                  warnings[0].find("Permission denied") != std::string::npos;
              ::chmod(path("cache").c_str(), 0700);
              ::chmod(path("cache/v1").c_str(), 0700);
              return hit ? warned ? 0 : 5 : 4;
            })),
            0);
}

TEST_F(CacheDamage, AFullDiskLeavesNoHalfEntry) {
  // Each file may only grow to 300 bytes, as on a disk that fills up.
  EXPECT_EQ(waitFor(forked([&] {
              const rlimit limit = {300, 300};
              ::signal(SIGXFSZ, SIG_IGN);
              if (::setrlimit(RLIMIT_FSIZE, &limit) != 0)
                return 1;
              if (get() != CodeOrigin::Compiled)
                return 2;
              return warnings.size() == 1 &&
                             warnings[0].find("File too large") !=
                                 std::string::npos
                         ? 0
                         : 3;
            })),
            0);
  EXPECT_THAT(namesIn(path("cache/v1")), SizeIs(0));
  EXPECT_EQ(get(), CodeOrigin::Compiled);
  EXPECT_EQ(get(), CodeOrigin::Disk);
}

TEST_F(CacheDamage, AFullFileSystemLeavesNoHalfEntry) {
  ASSERT_TRUE(makeFolders(path("small")));
  const int result = waitFor(forked([&] {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", path("small").c_str(), "tmpfs", 0,
                "size=64k,mode=700") != 0)
      return 77;
    options.folder = path("small/cache");
    KernelCache cache(options);
    int kept = 0;
    for (int i = 0; i < 20; ++i) {
      const Source big = source(std::string(8000, 'x') + std::to_string(i));
      Result<CachedCode> code = cache.codeFor(big, "gfx950", compiler);
      if (!code || textOf(*code->code) != fakeCode(big.text, "gfx950"))
        return 1;
    }
    const Result<std::vector<CacheEntryInfo>> entries = cache.list();
    for (const CacheEntryInfo &entry : *entries) {
      if (!entry.problem.empty())
        return 2;
      ++kept;
    }
    if (warnings.size() != 1 ||
        warnings[0].find("No space left on device") == std::string::npos)
      return 3;
    return kept >= 2 && namesIn(path("small/cache/v1")).size() ==
                            static_cast<size_t>(kept)
               ? 0
               : 4;
  }));
  if (result == 77)
    GTEST_SKIP() << "no right to mount a file system of one's own";
  EXPECT_EQ(result, 0);
}

} // namespace
