// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounded parsing of ELF headers, symbols and relocations.
#include "Elf.h"

#include <cstring>

namespace winnow::sim {

std::string hex(uint64_t value) {
  char text[19];
  char *end = text + sizeof(text);
  char *at = end;
  do {
    *--at = "0123456789abcdef"[value & 15];
    value >>= 4;
  } while (value);
  *--at = 'x';
  *--at = '0';
  return std::string(at, end);
}

namespace {

constexpr uint64_t kHeaderSize = 64;
constexpr uint64_t kSegmentSize = 56;
constexpr uint64_t kSectionSize = 64;
constexpr uint64_t kSymbolSize = 24;
constexpr uint64_t kRelocationSize = 24;
// Far more than any compiler makes; stops a forged count from costing time.
constexpr uint64_t kMostSymbols = 1u << 16;

constexpr uint32_t kSectionSymtab = 2, kSectionRela = 4, kSectionNobits = 8,
                   kSectionRel = 9, kSectionDynsym = 11;

struct Section {
  uint32_t type = 0;
  uint64_t flags = 0, offset = 0, size = 0;
  uint32_t link = 0;
  uint64_t entrySize = 0;
};

class Parser {
public:
  Parser(std::span<const uint8_t> bytes) : bytes(bytes) { file.bytes = bytes; }

  Result<ElfFile> run() {
    if (bytes.size() < kHeaderSize)
      return Error{"code object: " + std::to_string(bytes.size()) +
                   " bytes are too few for an ELF header of " +
                   std::to_string(kHeaderSize)};
    static const uint8_t magic[4] = {0x7f, 'E', 'L', 'F'};
    // Clang's container of code objects for several targets.
    if (std::memcmp(bytes.data(), "__CLANG_OFFLOAD_BUNDLE__", 24) == 0)
      return Error{"code object: an offload bundle of clang, wanted the ELF "
                   "file of one target: compile with --no-gpu-bundle-output, "
                   "or take it out with clang-offload-bundler"};
    if (std::memcmp(bytes.data(), magic, 4) != 0)
      return Error{"code object: not an ELF file (it starts with " +
                   hex(readLittle<uint32_t>(bytes.data())) +
                   ", an ELF file with 0x464c457f)"};
    if (bytes[4] != 2 || bytes[5] != 1)
      return Error{"code object: ELF class " + std::to_string(bytes[4]) +
                   " and data encoding " + std::to_string(bytes[5]) +
                   " found, class 2 (64-bit) and encoding 1 (little-endian) "
                   "wanted"};
    file.osAbi = bytes[7];
    file.abiVersion = bytes[8];
    file.type = at<uint16_t>(16);
    file.machine = at<uint16_t>(18);
    file.flags = at<uint32_t>(48);
    if (Status s = readSegments(); !s)
      return s.takeError();
    if (Status s = readSections(); !s)
      return s.takeError();
    for (const Section &section : sections) {
      if (section.type == kSectionDynsym) {
        if (!file.dynamicSymbols.empty())
          return Error{"code object: two dynamic symbol tables"};
        if (Status s = readSymbols(section, file.dynamicSymbols); !s)
          return s.takeError();
      } else if (section.type == kSectionSymtab) {
        if (!file.staticSymbols.empty())
          return Error{"code object: two symbol tables"};
        if (Status s = readSymbols(section, file.staticSymbols); !s)
          return s.takeError();
      }
    }
    for (const Section &section : sections)
      if (section.type == kSectionRela || section.type == kSectionRel)
        if (Status s = readRelocations(section); !s)
          return s.takeError();
    return std::move(file);
  }

private:
  template <typename T> T at(uint64_t offset) const {
    return readLittle<T>(bytes.data() + offset);
  }
  bool inside(uint64_t offset, uint64_t size) const {
    return offset <= bytes.size() && size <= bytes.size() - offset;
  }
  Error outside(const std::string &what, uint64_t offset, uint64_t size) const {
    return Error{"code object: " + what + " lies at bytes " + hex(offset) +
                 " to +" + hex(size) + ", outside the file of " +
                 hex(bytes.size()) + " bytes"};
  }

  Status readSegments() {
    uint64_t offset = at<uint64_t>(32);
    uint16_t entry = at<uint16_t>(54), count = at<uint16_t>(56);
    if (count && entry != kSegmentSize)
      return Error{"code object: program header entries of " +
                   std::to_string(entry) + " bytes, 56 wanted"};
    if (!inside(offset, count * kSegmentSize))
      return outside("the program header table", offset, count * kSegmentSize);
    for (unsigned i = 0; i < count; ++i) {
      uint64_t header = offset + i * kSegmentSize;
      ElfSegment segment;
      segment.type = at<uint32_t>(header);
      segment.flags = at<uint32_t>(header + 4);
      segment.offset = at<uint64_t>(header + 8);
      segment.address = at<uint64_t>(header + 16);
      segment.fileSize = at<uint64_t>(header + 32);
      segment.memorySize = at<uint64_t>(header + 40);
      if (!inside(segment.offset, segment.fileSize))
        return outside("segment " + std::to_string(i), segment.offset,
                       segment.fileSize);
      file.segments.push_back(segment);
    }
    return {};
  }

  Status readSections() {
    uint64_t offset = at<uint64_t>(40);
    uint16_t entry = at<uint16_t>(58), count = at<uint16_t>(60);
    if (count && entry != kSectionSize)
      return Error{"code object: section header entries of " +
                   std::to_string(entry) + " bytes, 64 wanted"};
    if (!inside(offset, count * kSectionSize))
      return outside("the section header table", offset, count * kSectionSize);
    for (unsigned i = 0; i < count; ++i) {
      uint64_t header = offset + i * kSectionSize;
      Section section;
      section.type = at<uint32_t>(header + 4);
      section.flags = at<uint64_t>(header + 8);
      section.offset = at<uint64_t>(header + 24);
      section.size = at<uint64_t>(header + 32);
      section.link = at<uint32_t>(header + 40);
      section.entrySize = at<uint64_t>(header + 56);
      if (section.type != kSectionNobits && section.type != 0 &&
          !inside(section.offset, section.size))
        return outside("section " + std::to_string(i), section.offset,
                       section.size);
      sections.push_back(section);
    }
    return {};
  }

  Status readSymbols(const Section &section, std::vector<ElfSymbol> &out) {
    if (section.entrySize != kSymbolSize || section.size % kSymbolSize)
      return Error{"code object: a symbol table of " + hex(section.size) +
                   " bytes in entries of " + std::to_string(section.entrySize) +
                   ", entries of 24 wanted"};
    if (section.size / kSymbolSize > kMostSymbols)
      return Error{
          "code object: " + std::to_string(section.size / kSymbolSize) +
          " symbols, more than the " + std::to_string(kMostSymbols) +
          " that are read"};
    if (section.link >= sections.size() ||
        sections[section.link].type == kSectionNobits ||
        sections[section.link].type == 0)
      return Error{"code object: a symbol table names section " +
                   std::to_string(section.link) +
                   " as its string table, which is none"};
    const Section &strings = sections[section.link];
    for (uint64_t at0 = 0; at0 < section.size; at0 += kSymbolSize) {
      uint64_t entry = section.offset + at0;
      ElfSymbol symbol;
      uint32_t name = at<uint32_t>(entry);
      if (name >= strings.size && name != 0)
        return Error{"code object: symbol " +
                     std::to_string(at0 / kSymbolSize) + " has name offset " +
                     hex(name) + " in a string table of " + hex(strings.size) +
                     " bytes"};
      if (name < strings.size) {
        const char *text = reinterpret_cast<const char *>(bytes.data()) +
                           strings.offset + name;
        uint64_t most = strings.size - name;
        symbol.name = std::string_view(text, ::strnlen(text, most));
      }
      symbol.type = at<uint8_t>(entry + 4) & 15;
      symbol.isDefined = at<uint16_t>(entry + 6) != 0;
      symbol.address = at<uint64_t>(entry + 8);
      symbol.size = at<uint64_t>(entry + 16);
      out.push_back(symbol);
    }
    return {};
  }

  Status readRelocations(const Section &section) {
    // Only relocations of loaded memory matter; those of debug sections are
    // resolved by the linker and never reach a shared object.
    constexpr uint64_t kAlloc = 2;
    if (!(section.flags & kAlloc))
      return {};
    if (section.type == kSectionRel)
      return Error{"code object: REL relocations, RELA wanted"};
    if (section.entrySize != kRelocationSize || section.size % kRelocationSize)
      return Error{"code object: a relocation table of " + hex(section.size) +
                   " bytes in entries of " + std::to_string(section.entrySize) +
                   ", entries of 24 wanted"};
    for (uint64_t at0 = 0; at0 < section.size; at0 += kRelocationSize) {
      uint64_t entry = section.offset + at0;
      ElfRelocation relocation;
      relocation.address = at<uint64_t>(entry);
      relocation.type = at<uint32_t>(entry + 8);
      relocation.symbol = at<uint32_t>(entry + 12);
      relocation.addend = int64_t(at<uint64_t>(entry + 16));
      if (relocation.symbol && relocation.symbol >= file.dynamicSymbols.size())
        return Error{"code object: a relocation names symbol " +
                     std::to_string(relocation.symbol) + " of " +
                     std::to_string(file.dynamicSymbols.size())};
      file.relocations.push_back(relocation);
    }
    return {};
  }

  std::span<const uint8_t> bytes;
  ElfFile file;
  std::vector<Section> sections;
};

} // namespace

Result<ElfFile> ElfFile::parse(std::span<const uint8_t> bytes) {
  return Parser(bytes).run();
}

} // namespace winnow::sim
