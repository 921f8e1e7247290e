// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loading: metadata of good files, refusal by name of foreign ones, and no
// crash on anything.
#include "TestKernels.h"

#include <algorithm>
#include <cstdlib>
#include <gmock/gmock.h>
#include <random>

namespace winnow::sim::test {
namespace {

using ::testing::HasSubstr;

const char *kTwoKernels = R"(
  KERNEL first(const float *a, float *b, int n, u8 flag) {
    SHARED float s[300];
    int t = TX;
    s[t] = a[t]; sync();
    if (t < n && flag) b[t] = s[n - t];
  }
  KERNEL second(u32 *out) { out[TX] = BX; })";

std::string loadError(const std::vector<std::byte> &bytes) {
  auto object = CodeObject::load(bytes);
  return object ? std::string() : object.message();
}

TEST(CodeObject, ListsKernelsAndArguments) {
  auto object = load(compileHip(kTwoKernels));
  ASSERT_EQ(object->kernels().size(), 2u);
  auto first = object->find("first");
  ASSERT_TRUE(first);
  const KernelInfo &info = **first;
  EXPECT_EQ(info.groupSegmentSize, 1200u);
  EXPECT_EQ(info.privateSegmentSize, 0u);
  EXPECT_EQ(info.wavefrontSize, 64u);
  EXPECT_EQ(info.vgprSpillCount, 0u);
  EXPECT_EQ(info.agprCount, 0u);
  EXPECT_GT(info.vgprCount, 0u);
  EXPECT_GT(info.sgprCount, 0u);
  EXPECT_GT(info.codeSize, 32u);
  EXPECT_EQ(info.codeSize % 4, 0u);
  EXPECT_EQ(info.maxFlatWorkgroupSize, 1024u);
  ASSERT_EQ(info.arguments.size(), 4u);
  EXPECT_EQ(info.arguments[0].valueKind, "global_buffer");
  EXPECT_EQ(info.arguments[2].valueKind, "by_value");
  EXPECT_EQ(info.arguments[2].offset, 16u);
  EXPECT_EQ(info.arguments[2].size, 4u);
  EXPECT_EQ(info.arguments[3].offset, 20u);
  EXPECT_EQ(info.arguments[3].size, 1u);
  auto missing = object->find("third");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.message(), HasSubstr("no kernel 'third'"));
  EXPECT_THAT(missing.message(), HasSubstr("'first'"));
  auto unsupported = object->unsupported("first");
  ASSERT_TRUE(unsupported);
  EXPECT_TRUE(unsupported->empty());
  auto text = object->disassemble("second");
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("0x0     s_load_dwordx2"));
  EXPECT_THAT(*text, HasSubstr("s_endpgm"));
}

TEST(CodeObject, NamesWhatIsNotSimulated) {
  auto object =
      load(assemble(kernelAround("  s_nop 0\n  s_setvskip s2, s3\n")));
  auto unsupported = object->unsupported("k");
  ASSERT_TRUE(unsupported);
  ASSERT_EQ(unsupported->size(), 1u);
  EXPECT_EQ(
      (*unsupported)[0],
      "+0x4 s_setvskip s2, s3: the simulator does not know this instruction");
}

TEST(CodeObject, RefusesForeignFilesByName) {
  EXPECT_THAT(loadError(compileHip(kTwoKernels, "gfx942")),
              HasSubstr("it is for gfx942, the simulated device is gfx950"));
  auto good = compileHip(kTwoKernels);
  auto changed = [&](size_t at, uint8_t value) {
    auto bytes = good;
    bytes[at] = std::byte(value);
    return loadError(bytes);
  };
  EXPECT_THAT(loadError({}), HasSubstr("0 bytes are too few"));
  EXPECT_THAT(changed(0, 'M'), HasSubstr("not an ELF file"));
  EXPECT_THAT(changed(4, 1), HasSubstr("ELF class 1"));
  EXPECT_THAT(changed(7, 0), HasSubstr("OS ABI 0 found, 64 (amdhsa) wanted"));
  EXPECT_THAT(changed(16, 1), HasSubstr("ELF type 1 found, 3"));
  EXPECT_THAT(changed(18, 62), HasSubstr("ELF machine 62 found, 224"));
}

TEST(CodeObject, DescribesThoseOfOtherProcessors) {
  for (const char *arch : {"gfx942", "gfx90a", "gfx1100", "gfx950"}) {
    auto code = compileHip(kTwoKernels, arch);
    auto kernels = CodeObject::describe(code);
    ASSERT_TRUE(kernels) << kernels.message();
    ASSERT_EQ(kernels->size(), 2u) << arch;
    for (const KernelInfo &kernel : *kernels) {
      EXPECT_GT(kernel.vgprCount, 0u) << arch << ' ' << kernel.name;
      EXPECT_GT(kernel.codeSize, 0u) << arch << ' ' << kernel.name;
      EXPECT_EQ(kernel.wavefrontSize, arch[3] == '1' ? 32u : 64u) << arch;
    }
    code.resize(code.size() / 2);
    EXPECT_FALSE(CodeObject::describe(code)) << arch;
  }
}

/// WINNOW_FUZZ_FACTOR multiplies the mutations of these tests.
unsigned rounds(unsigned normal) {
  const char *factor = std::getenv("WINNOW_FUZZ_FACTOR");
  return normal *
         (factor ? std::max(1u, unsigned(std::strtoul(factor, nullptr, 10)))
                 : 1);
}

/// Loads the bytes and, when they load, runs every kernel for a little while.
void tryToRun(const std::vector<std::byte> &bytes) {
  auto object = CodeObject::load(bytes);
  // What the device takes can be described, and what not does no harm.
  EXPECT_TRUE(CodeObject::describe(bytes) || !object);
  if (!object) {
    EXPECT_NE(object.message(), "");
    return;
  }
  for (const KernelInfo &kernel : (*object)->kernels()) {
    Device device;
    auto a = device.alloc(4096, "a");
    ASSERT_TRUE(a);
    std::vector<std::byte> kernarg(std::min<size_t>(kernel.kernargSize, 4096));
    for (size_t i = 0; i + 8 <= kernarg.size(); i += 8)
      std::memcpy(kernarg.data() + i, &*a, 8);
    LaunchOptions options;
    options.instructionLimit = 20000;
    auto stats = device.launch(*object, kernel.name, {1, 1, 1}, {64, 1, 1},
                               kernarg, options);
    if (!stats) {
      EXPECT_NE(stats.message(), "");
    }
  }
}

TEST(CodeObject, SurvivesTruncation) {
  auto good = compileHip(kTwoKernels);
  for (size_t size = 0; size < good.size(); size += size < 1024 ? 7 : 61) {
    auto bytes = good;
    bytes.resize(size);
    tryToRun(bytes);
  }
}

TEST(CodeObject, SurvivesBitFlips) {
  auto good = compileHip(kTwoKernels);
  std::mt19937 random(7);
  for (unsigned round = 0; round < rounds(600); ++round) {
    auto bytes = good;
    unsigned flips = 1 + random() % 8;
    for (unsigned i = 0; i < flips; ++i)
      bytes[random() % bytes.size()] ^= std::byte(1u << (random() % 8));
    tryToRun(bytes);
  }
}

TEST(CodeObject, SurvivesForgedHeadersAndNotes) {
  auto good = compileHip(kTwoKernels);
  std::mt19937 random(11);
  for (unsigned round = 0; round < rounds(600); ++round) {
    auto bytes = good;
    // Whole fields of the headers, the metadata, the descriptors or the code.
    size_t from = round % 3 == 0 ? 0 : round % 3 == 1 ? 0x200 : 0xc00;
    size_t span = std::min<size_t>(0x600, bytes.size() - from - 8);
    static const uint64_t values[] = {
        0,      1,          ~0ull, 0x7fffffff, 0x80000000, 0xfffffffffffff000,
        0xffff, 0x100000000};
    for (unsigned i = 0; i < 3; ++i) {
      uint64_t value = values[random() % 8];
      size_t size = size_t(1) << (random() % 4);
      std::memcpy(bytes.data() + from + random() % span / size * size, &value,
                  size);
    }
    tryToRun(bytes);
  }
}

TEST(CodeObject, SurvivesRandomBytesAfterAGoodHeader) {
  auto good = compileHip(kTwoKernels);
  std::mt19937 random(13);
  for (unsigned round = 0; round < rounds(300); ++round) {
    auto bytes = good;
    size_t from = round % 2 ? 64 : 0x800;
    for (size_t i = from; i < bytes.size(); ++i)
      bytes[i] = std::byte(random());
    tryToRun(bytes);
  }
}

// Valid headers around random machine code: the decoder and every handler.
TEST(CodeObject, SurvivesRandomMachineCode) {
  std::string filler = "  .fill 2048, 4, 0xbf800000\n";
  auto good = assemble(kernelAround(filler));
  std::vector<uint32_t> nops(64, 0xbf800000);
  const std::byte *needle = reinterpret_cast<const std::byte *>(nops.data());
  size_t code =
      size_t(std::search(good.begin(), good.end(), needle, needle + 256) -
             good.begin());
  ASSERT_LT(code, good.size());
  std::mt19937 random(17);
  // First words of every encoding with random operands.
  static const uint32_t prefixes[][2] = {
      {0x80000000, 0x3fffffff}, {0xb0000000, 0x0fffffff},
      {0xbe800000, 0x007fffff}, {0xbf000000, 0x007fffff},
      {0xc0000000, 0x03ffffff}, {0x00000000, 0x7fffffff},
      {0x7e000000, 0x01ffffff}, {0x7c000000, 0x01ffffff},
      {0xd0000000, 0x03ffffff}, {0xd3800000, 0x007fffff},
      {0xd8000000, 0x03ffffff}, {0xdc000000, 0x03ffffff}};
  for (unsigned round = 0; round < rounds(20); ++round) {
    auto bytes = good;
    for (unsigned i = 0; i < 2048; i += 2) {
      auto &prefix = prefixes[random() % 12];
      uint32_t words[2] = {prefix[0] | (uint32_t(random()) & prefix[1]),
                           uint32_t(random())};
      // Half of the time, registers that exist.
      if (random() & 1)
        words[1] &= 0x3f3f3f3f;
      std::memcpy(bytes.data() + code + 4 * i, words, 8);
    }
    // Enter at a different place each time: most runs stop soon.
    for (unsigned at = 0; at < 20; ++at) {
      uint32_t jump = 0xbf820000 | (random() % 2000);
      std::memcpy(bytes.data() + code, &jump, 4);
      tryToRun(bytes);
    }
  }
}

} // namespace
} // namespace winnow::sim::test
