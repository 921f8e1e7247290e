// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Header fields are those of the System V ABI; machine, ABI versions and the
// processor in the flags are LLVM's (BinaryFormat/ELF.h, EF_CUDA_*). The notes
// of kernels, sections ".nv.info.NAME", are read as NVIDIA's cuobjdump prints
// them: a byte of format, a byte that says what it is, 16 bits that are its
// value or the number of bytes that follow.
#include "CubinInfo.h"
#include "ByteReader.h"

#include <algorithm>
#include <functional>

using namespace winnow;
using namespace winnow::runtime;

namespace {

constexpr uint16_t kMachineCuda = 190;
constexpr uint32_t kSectionSymbols = 2, kSectionNoBits = 8;
constexpr size_t kHeaderBytes = 64, kSectionBytes = 64, kSymbolBytes = 24;
/// Of a symbol's st_other: it is a kernel, not a function that one calls.
constexpr uint8_t kEntry = 0x10, kFunction = 2;

// Notes, by cuobjdump's names.
constexpr uint8_t kFormatBytes = 4;
constexpr uint8_t kFrameSize = 0x11;       // EIATTR_FRAME_SIZE
constexpr uint8_t kParameter = 0x17;       // EIATTR_KPARAM_INFO
constexpr uint8_t kParametersBytes = 0x19; // EIATTR_CBANK_PARAM_SIZE
constexpr uint8_t kRegisters = 0x2f;       // EIATTR_REGCOUNT

struct Section {
  std::string name;
  uint32_t type = 0, link = 0;
  uint64_t offset = 0, bytes = 0;
};

struct Note {
  uint8_t what = 0;
  uint16_t value = 0;
  uint64_t offset = 0; ///< of the bytes that follow, if any
};

class Cubin {
public:
  explicit Cubin(std::span<const std::byte> code) : file(code) {}

  Status open(const std::string &arch) {
    if (!file.has(0, kHeaderBytes) || file.at<uint32_t>(0) != 0x464c457f)
      return Error{std::to_string(file.size()) +
                   " bytes that are not an ELF file"};
    if (file.at<uint8_t>(4) != 2 || file.at<uint8_t>(5) != 1 ||
        file.at<uint16_t>(18) != kMachineCuda)
      return Error{"an ELF file for machine " +
                   std::to_string(file.at<uint16_t>(18)) +
                   ", wanted a 64-bit one for CUDA (" +
                   std::to_string(kMachineCuda) + ")"};
    const uint32_t flags = file.at<uint32_t>(48);
    const uint32_t processor =
        file.at<uint8_t>(8) >= 8 ? (flags >> 8) & 0xff : flags & 0xff;
    // "sm_90a" is code for the same processor with more of its instructions.
    const std::string found = "sm_" + std::to_string(processor);
    std::string wanted = arch;
    while (!wanted.empty() && (wanted.back() < '0' || wanted.back() > '9'))
      wanted.pop_back();
    if (!arch.empty() && found != wanted)
      return Error{"code for " + found + ", wanted " + arch};
    return readSections();
  }

  Result<CodeObjectInfo> info() {
    CodeObjectInfo info;
    if (Status status = eachKernel([&](uint32_t symbol, std::string name) {
          KernelResources kernel;
          if (const Section *shared = find(".nv.shared." + name))
            kernel.ldsBytes = static_cast<uint32_t>(shared->bytes);
          for (const Note &note : notes(find(".nv.info")))
            if ((note.what == kRegisters || note.what == kFrameSize) &&
                file.has(note.offset, 8) &&
                file.at<uint32_t>(note.offset) == symbol)
              (note.what == kRegisters ? kernel.vgprs : kernel.scratchBytes) =
                  file.at<uint32_t>(note.offset + 4);
          for (const Note &note : notes(find(".nv.info." + name)))
            if (note.what == kParametersBytes)
              kernel.kernargBytes = note.value;
          kernel.name = std::move(name);
          info.kernels.push_back(std::move(kernel));
        });
        !status)
      return status.takeError();
    std::sort(info.kernels.begin(), info.kernels.end(),
              [](const auto &a, const auto &b) { return a.name < b.name; });
    return info;
  }

  Result<std::vector<CubinParameter>> parameters(const std::string &kernel) {
    const Section *section = find(".nv.info." + kernel);
    if (!section)
      return Error{"the cubin has no kernel '" + kernel + "'"};
    std::vector<CubinParameter> found;
    for (const Note &note : notes(section)) {
      if (note.what != kParameter || !file.has(note.offset, 12))
        continue;
      const size_t ordinal = file.at<uint16_t>(note.offset + 4);
      found.resize(std::max(found.size(), ordinal + 1));
      // The size stands in the upper 14 bits.
      found[ordinal] = {file.at<uint16_t>(note.offset + 6),
                        file.at<uint32_t>(note.offset + 8) >> 18};
    }
    return found;
  }

private:
  Status readSections() {
    // Of program headers only that they are there: they end the file.
    const uint64_t segments =
        uint64_t(file.at<uint16_t>(56)) * file.at<uint16_t>(54);
    if (!file.has(file.at<uint64_t>(32), segments))
      return cutShort("the program header table", file.at<uint64_t>(32),
                      segments);
    const uint64_t offset = file.at<uint64_t>(40);
    const uint64_t count = file.at<uint16_t>(60), names = file.at<uint16_t>(62);
    if (count == 0)
      return {};
    if (file.at<uint16_t>(58) != kSectionBytes || names >= count)
      return Error{"section headers of " +
                   std::to_string(file.at<uint16_t>(58)) +
                   " bytes, names in number " + std::to_string(names) + " of " +
                   std::to_string(count)};
    if (!file.has(offset, count * kSectionBytes))
      return cutShort("the section header table", offset,
                      count * kSectionBytes);
    const uint64_t texts =
        file.at<uint64_t>(offset + names * kSectionBytes + 24);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t at = offset + i * kSectionBytes;
      Section section;
      section.type = file.at<uint32_t>(at + 4);
      section.offset = file.at<uint64_t>(at + 24);
      section.bytes = file.at<uint64_t>(at + 32);
      section.link = file.at<uint32_t>(at + 40);
      if (section.type != kSectionNoBits &&
          !file.has(section.offset, section.bytes))
        return cutShort("a section", section.offset, section.bytes);
      section.name = textOf(texts, file.at<uint32_t>(at));
      sections.push_back(std::move(section));
    }
    return {};
  }

  Status eachKernel(const std::function<void(uint32_t, std::string)> &body) {
    for (const Section &section : sections) {
      if (section.type != kSectionSymbols || section.link >= sections.size())
        continue;
      const uint64_t texts = sections[section.link].offset;
      for (uint64_t s = 0; (s + 1) * kSymbolBytes <= section.bytes; ++s) {
        const uint64_t at = section.offset + s * kSymbolBytes;
        if ((file.at<uint8_t>(at + 4) & 15) != kFunction ||
            !(file.at<uint8_t>(at + 5) & kEntry))
          continue;
        std::string name = textOf(texts, file.at<uint32_t>(at));
        if (name.empty())
          return Error{"kernel " + std::to_string(s) + " has no name"};
        body(static_cast<uint32_t>(s), std::move(name));
      }
    }
    return {};
  }

  std::vector<Note> notes(const Section *section) const {
    std::vector<Note> notes;
    if (!section || section->type == kSectionNoBits)
      return notes;
    const uint64_t end = section->offset + section->bytes;
    for (uint64_t at = section->offset; at + 4 <= end;) {
      Note note{file.at<uint8_t>(at + 1), file.at<uint16_t>(at + 2), at + 4};
      at += 4 + (file.at<uint8_t>(at) == kFormatBytes ? note.value : 0);
      notes.push_back(note);
    }
    return notes;
  }

  const Section *find(const std::string &name) const {
    for (const Section &section : sections)
      if (section.name == name)
        return &section;
    return nullptr;
  }

  std::string textOf(uint64_t texts, uint32_t offset) const {
    return texts < file.size() && offset < file.size() - texts
               ? file.textAt(texts + offset)
               : "";
  }

  Error cutShort(const char *what, uint64_t offset, uint64_t bytes) const {
    return Error{std::string(what) + " at " + std::to_string(offset) + " of " +
                 std::to_string(bytes) + " bytes reaches past the end, " +
                 std::to_string(file.size())};
  }

  const ByteReader file;
  std::vector<Section> sections;
};

} // namespace

Result<CodeObjectInfo> runtime::readCubin(std::span<const std::byte> code,
                                          const std::string &arch) {
  Cubin cubin(code);
  if (Status status = cubin.open(arch); !status)
    return status.takeError();
  return cubin.info();
}

Result<std::vector<CubinParameter>>
runtime::readCubinParameters(std::span<const std::byte> code,
                             const std::string &kernel) {
  Cubin cubin(code);
  if (Status status = cubin.open(""); !status)
    return status.takeError();
  return cubin.parameters(kernel);
}
