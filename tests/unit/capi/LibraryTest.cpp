// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library as a file: what it loads with itself, what it lets out, its size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dlfcn.h>
#include <elf.h>
#include <fstream>
#include <link.h>
#include <set>
#include <sstream>

namespace {

/// The parts of a 64-bit shared object that these tests look at.
class SharedObject {
public:
  explicit SharedObject(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream all;
    all << file.rdbuf();
    bytes = all.str();
  }
  template <typename T> T at(size_t offset) const {
    T value;
    EXPECT_LE(offset + sizeof value, bytes.size());
    memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
  void read() {
    const auto header = at<Elf64_Ehdr>(0);
    for (unsigned i = 0; i < header.e_shnum; ++i) {
      const auto section =
          at<Elf64_Shdr>(header.e_shoff + i * header.e_shentsize);
      const auto strings =
          at<Elf64_Shdr>(header.e_shoff + section.sh_link * header.e_shentsize);
      auto text = [&](uint64_t offset) {
        return std::string(bytes.data() + strings.sh_offset + offset);
      };
      // What `strip` leaves: all that is loaded.
      if (section.sh_flags & SHF_ALLOC && section.sh_type != SHT_NOBITS)
        loaded += section.sh_size;
      if (section.sh_type == SHT_DYNAMIC)
        for (uint64_t o = 0; o < section.sh_size; o += sizeof(Elf64_Dyn)) {
          const auto entry = at<Elf64_Dyn>(section.sh_offset + o);
          if (entry.d_tag == DT_NEEDED)
            needed.insert(text(entry.d_un.d_val));
        }
      if (section.sh_type == SHT_DYNSYM)
        for (uint64_t o = 0; o < section.sh_size; o += sizeof(Elf64_Sym)) {
          const auto symbol = at<Elf64_Sym>(section.sh_offset + o);
          if (symbol.st_shndx != SHN_UNDEF &&
              ELF64_ST_BIND(symbol.st_info) != STB_LOCAL)
            exported.insert(text(symbol.st_name));
        }
    }
  }
  std::string bytes;
  std::set<std::string> needed, exported;
  uint64_t loaded = 0;
};

SharedObject object(const char *path) {
  SharedObject read(path);
  read.read();
  return read;
}

TEST(Library, NeedsNeitherLLVMNorRocm) {
  const SharedObject library = object(WINNOW_SHARED);
  ASSERT_FALSE(library.needed.empty());
  for (const std::string &name : library.needed) {
    SCOPED_TRACE(name);
    // Everything that it may need, by name: another one is a decision.
    EXPECT_THAT(name, testing::AnyOf(testing::StartsWith("libc.so"),
                                     testing::StartsWith("libm.so"),
                                     testing::StartsWith("libstdc++.so"),
                                     testing::StartsWith("libgcc_s.so"),
                                     testing::StartsWith("libnettle.so"),
                                     testing::StartsWith("ld-linux-")));
  }
}

TEST(Library, LetsOutTheCInterfaceAlone) {
  const SharedObject library = object(WINNOW_SHARED);
  EXPECT_GT(library.exported.size(), 30u);
  for (const std::string &name : library.exported)
    EXPECT_THAT(name, testing::StartsWith("winnow_"));

  // And all of it: every function that the header declares.
  std::ifstream header(WINNOW_HEADER);
  std::stringstream text;
  text << header.rdbuf();
  const std::string all = text.str();
  size_t declared = 0;
  for (size_t at = all.find("WINNOW_API "); at != std::string::npos;
       at = all.find("WINNOW_API ", at + 1)) {
    const size_t paren = all.find('(', at);
    if (all.compare(at, 21, "WINNOW_API __attribute__") == 0)
      continue;
    const size_t start = all.find_last_of(" *", paren) + 1;
    const std::string name = all.substr(start, paren - start);
    if (!name.starts_with("winnow_"))
      continue; // the macro itself
    ++declared;
    EXPECT_TRUE(library.exported.contains(name)) << name;
  }
  EXPECT_EQ(declared, library.exported.size());
}

TEST(Library, IsSmall) {
  // Two megabytes, stripped; a sanitizer's or debug build is another matter.
  if (std::string(WINNOW_BUILD_TYPE) != "Release")
    GTEST_SKIP() << "a " << WINNOW_BUILD_TYPE << " build";
  EXPECT_LT(object(WINNOW_SHARED).loaded, 2u << 20);
}

std::string contents(const char *path) {
  std::ifstream file(path);
  std::stringstream all;
  all << file.rdbuf();
  return all.str();
}

TEST(Library, TheGuideShowsTheTestedProgram) {
  const std::string guide = contents(WINNOW_SOURCE "/docs/embedding.md");
  const std::string program = contents(WINNOW_SOURCE "/tests/install/decode.c");
  ASSERT_GT(program.size(), 2000u);
  EXPECT_NE(guide.find("```c\n" + program + "```"), std::string::npos)
      << "docs/embedding.md shows another program than tests/install/decode.c";
}

TEST(Library, TheSimulatedHipLetsOutHipAlone) {
  for (const std::string &name : object(WINNOW_HIP_SIM).exported)
    EXPECT_THAT(name, testing::AnyOf(testing::StartsWith("hip"),
                                     testing::StartsWith("winnow_hip_sim_")));
}

} // namespace
