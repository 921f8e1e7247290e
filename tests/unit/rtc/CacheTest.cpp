// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where code is looked for, what parts keys, and who compiles.
#include "Support.h"

#include "CacheEntry.h"

#include <ctime>
#include <filesystem>
#include <set>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>

using namespace winnow;
using namespace winnow::runtime;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

namespace {

class Cache : public RtcTest {
protected:
  void SetUp() override {
    RtcTest::SetUp();
    options.folder = path("cache");
    options.logger = [this](LogLevel, const std::string &line) {
      warnings.push_back(line);
    };
  }
  /// With a cache of its own, as another process would have.
  Result<CachedCode> get(const Source &text, const std::string &arch = "gfx950",
                         std::span<const std::byte> prebuilt = {}) {
    return KernelCache(options).codeFor(text, arch, compiler, prebuilt);
  }
  void expect(const Source &text, CodeOrigin origin,
              const std::string &arch = "gfx950") {
    Result<CachedCode> code = get(text, arch);
    ASSERT_TRUE(code) << code.message();
    EXPECT_EQ(originName(code->origin), std::string(originName(origin)));
    EXPECT_EQ(textOf(*code->code), fakeCode(text.text, arch));
  }
  /// Copies the cache to where it is only read.
  void ship() {
    fs::copy(path("cache"), path("shipped"), fs::copy_options::recursive);
    fs::remove_all(path("cache"));
    options.shipped = path("shipped");
  }

  CacheOptions options;
  CountingCompiler compiler;
  std::vector<std::string> warnings;
};

TEST_F(Cache, CompiledOnceThenFromDiskThenFromMemory) {
  const Source text = source("one");
  expect(text, CodeOrigin::Compiled);
  KernelCache cache(options);
  Result<CachedCode> first = cache.codeFor(text, "gfx950", compiler);
  ASSERT_TRUE(first) << first.message();
  EXPECT_EQ(first->origin, CodeOrigin::Disk);
  EXPECT_EQ(first->compiler, "counting 1");
  EXPECT_EQ(first->log, "a warning");
  EXPECT_EQ(first->key.size(), 64u);
  Result<CachedCode> second = cache.codeFor(text, "gfx950", compiler);
  ASSERT_TRUE(second) << second.message();
  EXPECT_EQ(second->origin, CodeOrigin::Memory);
  EXPECT_EQ(second->key, first->key);
  EXPECT_EQ(second->code, first->code);
  EXPECT_EQ(compiler.compiled, 1);
  EXPECT_THAT(warnings, IsEmpty());
  struct stat info;
  ASSERT_EQ(::stat(options.folder.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(Cache, EveryChangeOfWhatMakesTheCodeIsAMiss) {
  const Source text = source("one");
  expect(text, CodeOrigin::Compiled);
  expect(source("two"), CodeOrigin::Compiled);
  expect(source("one", "other.hip"), CodeOrigin::Compiled);
  expect(text, CodeOrigin::Compiled, "gfx942");
  expect(text, CodeOrigin::Compiled, "gfx950:sramecc+:xnack-");
  compiler.name = "counting 2"; // a version, a build or a flag
  expect(text, CodeOrigin::Compiled);
  EXPECT_EQ(compiler.compiled, 6);
  compiler.name = "counting 1";
  expect(text, CodeOrigin::Disk);
  // Neither does what is no part of the code.
  Source same = text;
  same.lowering = "generic";
  same.archs = {"gfx942", "gfx950"};
  expect(same, CodeOrigin::Disk);
}

TEST_F(Cache, KeysAreOfContentsAlone) {
  const Source text{"k.hip", "mfma", {"gfx950"}, "text"};
  std::set<std::string> keys;
  for (const KeyVersions &versions :
       {KeyVersions{1, 1}, KeyVersions{2, 1}, KeyVersions{1, 2}})
    for (const char *identity : {"clang 22 -O3", "clang 22 -O2"})
      keys.insert(hexText(
          keyDigest(programDigest(text, "gfx950", versions), identity)));
  EXPECT_EQ(keys.size(), 6u);
  // The same today, tomorrow, and in any folder.
  EXPECT_EQ(
      hexText(keyDigest(programDigest(text, "gfx950", {1, 1}), "clang 22 -O3")),
      "23fd4214b88c0af5ea258ddea383dd7b12179517efa2a79a7d9f81b5f8f32b66");
  // Fields do not run together.
  EXPECT_NE(programDigest({"k", "", {}, "ab"}, "c"),
            programDigest({"k", "", {}, "a"}, "bc"));
}

TEST_F(Cache, FailuresAreRememberedForTheirKey) {
  KernelCache cache(options);
  compiler.failure = "it crashed";
  for (int i = 0; i < 3; ++i) {
    Result<CachedCode> code = cache.codeFor(source("one"), "gfx950", compiler);
    ASSERT_FALSE(code);
    EXPECT_EQ(code.message(), "it crashed");
  }
  EXPECT_EQ(compiler.compiled, 1);
  compiler.failure.clear();
  EXPECT_TRUE(cache.codeFor(source("two"), "gfx950", compiler));
  EXPECT_FALSE(cache.codeFor(source("one"), "gfx950", compiler));
  EXPECT_EQ(compiler.compiled, 2);
  EXPECT_THAT(namesIn(path("cache/v1")), testing::SizeIs(1));
}

TEST_F(Cache, ThreadsThatMeetShareOneCompilation) {
  KernelCache cache(options);
  WorkerOptions worker = fake();
  auto hiprtc = makeHiprtcCompiler(worker);
  const Source text = source("sleep=50 count=" + path("count"));
  std::vector<std::thread> threads;
  threads.reserve(16);
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([&] {
      Result<CachedCode> code = cache.codeFor(text, "gfx950", *hiprtc);
      ASSERT_TRUE(code) << code.message();
      EXPECT_EQ(textOf(*code->code), fakeCode(text.text, "gfx950"));
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(sizeOf(path("count")), 1u);
}

TEST_F(Cache, TheBundlesOwnCodeComesFirst) {
  const Source text = source("one");
  const std::vector<std::byte> prebuilt = bytesOf(fakeCode("own", "gfx950"));
  Result<CachedCode> code = get(text, "gfx950:sramecc+:xnack-", prebuilt);
  ASSERT_TRUE(code) << code.message();
  EXPECT_EQ(code->origin, CodeOrigin::Prebuilt);
  EXPECT_EQ(*code->code, prebuilt);
  EXPECT_EQ(compiler.compiled, 0);
  // Another architecture's would fault when it runs.
  code = get(text, "gfx942", prebuilt);
  ASSERT_TRUE(code) << code.message();
  EXPECT_EQ(code->origin, CodeOrigin::Compiled);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("the bundle's code of k.hip is "
                                              "not used: code for gfx950, "
                                              "wanted gfx942")));
}

TEST_F(Cache, CodeForOtherFeaturesIsRefused) {
  std::string code = fakeCode("own", "gfx950");
  code[49] = 0x0b; // EF_AMDGPU_FEATURE_XNACK_ON_V4, SRAMECC_OFF_V4
  auto problem = [&](const char *arch) {
    Result<CodeObjectInfo> info = readCodeObject(bytesOf(code), arch);
    return info ? "" : info.message();
  };
  EXPECT_EQ(problem("gfx950"), "");
  EXPECT_EQ(problem("gfx950:sramecc-:xnack+"), "");
  EXPECT_EQ(problem("gfx950:xnack-"), "code for xnack+, wanted gfx950:xnack-");
  EXPECT_EQ(problem("gfx950:sramecc+"),
            "code for sramecc-, wanted gfx950:sramecc+");
}

TEST_F(Cache, TheShippedFolderNeedsNoCompiler) {
  const Source text = source("one");
  expect(text, CodeOrigin::Compiled);
  ship();
  WorkerOptions nothing;
  nothing.worker = path("no-worker");
  auto none = makeClangCompiler(nothing);
  options.neverCompile = true;
  KernelCache cache(options);
  Result<CachedCode> code = cache.codeFor(text, "gfx950", *none);
  ASSERT_TRUE(code) << code.message();
  EXPECT_EQ(code->origin, CodeOrigin::Shipped);
  EXPECT_EQ(code->compiler, "counting 1");
  code = cache.codeFor(source("two"), "gfx950", *none);
  ASSERT_FALSE(code);
  EXPECT_THAT(code.message(),
              AllOf(HasSubstr("no code for k.hip on gfx950: program "),
                    HasSubstr("; no compiler: cannot run"),
                    HasSubstr("no-worker")));
  EXPECT_THAT(warnings, IsEmpty());
}

TEST_F(Cache, WithoutACompilerAnEarlierOnesCodeWillDo) {
  expect(source("one"), CodeOrigin::Compiled);
  WorkerOptions nothing;
  nothing.worker = path("no-worker");
  auto none = makeClangCompiler(nothing);
  for (bool never : {false, true}) {
    options.neverCompile = never;
    Result<CachedCode> code =
        KernelCache(options).codeFor(source("one"), "gfx950", *none);
    ASSERT_TRUE(code) << code.message();
    EXPECT_EQ(code->origin, CodeOrigin::Disk);
    EXPECT_EQ(code->compiler, "counting 1");
    EXPECT_FALSE(KernelCache(options).codeFor(source("two"), "gfx950", *none));
  }
}

TEST_F(Cache, OfSeveralShippedTheOwnCompilersIsTaken) {
  const Source text = source("one");
  for (const char *name : {"counting 1", "counting 2", "counting 3"}) {
    compiler.name = name;
    expect(text, CodeOrigin::Compiled);
  }
  ship();
  for (const char *name : {"counting 3", "counting 2"}) {
    compiler.name = name;
    Result<CachedCode> code = get(text);
    ASSERT_TRUE(code) << code.message();
    EXPECT_EQ(code->origin, CodeOrigin::Shipped);
    EXPECT_EQ(code->compiler, name);
  }
}

TEST_F(Cache, ADamagedShippedEntryIsSkippedAndStays) {
  const Source text = source("one");
  expect(text, CodeOrigin::Compiled);
  ship();
  const std::string file =
      path("shipped/v1/") + namesIn(path("shipped/v1")).front();
  std::string bytes = readText(file);
  bytes.back() ^= 1;
  ASSERT_TRUE(writeFileAtomically(file, bytes));
  expect(text, CodeOrigin::Compiled);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("its checksum does not match")));
  EXPECT_EQ(readText(file), bytes);
}

TEST_F(Cache, NeverCompilingNamesWhatIsMissing) {
  options.neverCompile = true;
  options.shipped = path("shipped");
  const Source text = source("one");
  Result<CachedCode> code = get(text);
  ASSERT_FALSE(code);
  const std::string key =
      hexText(keyDigest(programDigest(text, "gfx950"), compiler.name));
  EXPECT_EQ(code.message(),
            "no code for k.hip on gfx950: key " + key +
                " is not in the bundle, not in the shipped folder '" +
                path("shipped") + "', not in '" + path("cache") +
                "'; nothing may be compiled");
  EXPECT_EQ(compiler.compiled, 0);
  options.neverCompile = false;
  expect(text, CodeOrigin::Compiled);
  options.neverCompile = true;
  expect(text, CodeOrigin::Disk);
}

TEST_F(Cache, ACompilerThatWasReplacedMeanwhileNamesItsOwnCode) {
  const Source text = source("one");
  compiler.from = "counting 2";
  Result<CachedCode> code = get(text);
  ASSERT_TRUE(code) << code.message();
  EXPECT_EQ(code->compiler, "counting 2");
  EXPECT_EQ(compiler.forgotten, 1);
  // It is found under the new compiler's name, not under the old one's.
  compiler.name = "counting 2";
  expect(text, CodeOrigin::Disk);
  compiler.name = "counting 1";
  compiler.from.clear();
  expect(text, CodeOrigin::Compiled);
}

TEST_F(Cache, ListsWhatItHas) {
  expect(source("one"), CodeOrigin::Compiled);
  expect(source("two"), CodeOrigin::Compiled, "gfx942");
  Result<std::vector<CacheEntryInfo>> entries = KernelCache(options).list();
  ASSERT_TRUE(entries) << entries.message();
  ASSERT_EQ(entries->size(), 2u);
  std::set<std::string> archs;
  for (const CacheEntryInfo &entry : *entries) {
    archs.insert(entry.arch);
    EXPECT_EQ(entry.source, "k.hip");
    EXPECT_EQ(entry.compiler, "counting 1");
    EXPECT_EQ(entry.problem, "");
    EXPECT_GT(entry.bytes, 200u);
    EXPECT_GT(entry.lastUsed, 1700000000);
  }
  EXPECT_THAT(archs, ElementsAre("gfx942", "gfx950"));
}

TEST_F(Cache, TheLeastRecentlyUsedGoFirst) {
  std::vector<Source> texts;
  for (const char *word : {"aaaa", "bbbb", "cccc"})
    texts.push_back(source(word));
  for (const Source &text : texts)
    expect(text, CodeOrigin::Compiled);
  const uint64_t each = KernelCache(options).list()->front().bytes;
  // Ages in the wrong order of names and of creation.
  auto setAge = [&](const Source &text, int64_t seconds) {
    const Digest program = programDigest(text, "gfx950");
    const std::string file =
        path("cache/v1/") +
        entryFileName(program, keyDigest(program, compiler.name));
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  };
  const int64_t now = std::time(nullptr);
  setAge(texts[0], now - 100);
  setAge(texts[1], now - 300);
  // A clock that was set back: its use tells nothing.
  setAge(texts[2], now + 100000000);
  options.maxBytes = 2 * each + each / 2;
  expect(texts[0], CodeOrigin::Disk);
  expect(source("dddd"), CodeOrigin::Compiled); // pushes out two
  options.maxBytes = 3 * each + each / 2;
  expect(texts[0], CodeOrigin::Disk);
  expect(texts[2], CodeOrigin::Compiled);
  expect(texts[1], CodeOrigin::Compiled);
}

TEST_F(Cache, ACodeThatIsTooLargeIsNotKept) {
  options.maxBytes = 100;
  expect(source("one"), CodeOrigin::Compiled);
  expect(source("one"), CodeOrigin::Compiled);
  EXPECT_THAT(warnings, testing::Each(HasSubstr("is not kept")));
  EXPECT_THAT(namesIn(path("cache/v1")), IsEmpty());
}

TEST_F(Cache, PruningKeepsWhatWasAskedForAndClearsLeftovers) {
  for (const char *word : {"aaaa", "bbbb", "cccc"})
    expect(source(word), CodeOrigin::Compiled);
  const uint64_t each = KernelCache(options).list()->front().bytes;
  ASSERT_TRUE(writeFileAtomically(path("cache/v1/.tmp-left"), "half"));
  ASSERT_TRUE(writeFileAtomically(path("cache/v1/.lock-left"), ""));
  Result<PruneResult> pruned = KernelCache(options).prune(each);
  ASSERT_TRUE(pruned) << pruned.message();
  EXPECT_EQ(pruned->entries, 2u);
  EXPECT_EQ(pruned->bytes, 2 * each);
  EXPECT_EQ(pruned->leftEntries, 1u);
  EXPECT_EQ(namesIn(path("cache/v1")).size(), 1u);
}

} // namespace
