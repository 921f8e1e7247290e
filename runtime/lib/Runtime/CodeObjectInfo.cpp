// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ELF fields are those of the System V ABI; flags, descriptors and granules are
// in LLVM's AMDGPUUsage, "ELF Code Object" and "Kernel Descriptor".
#include "CodeObjectInfo.h"
#include "ByteReader.h"
#include "CubinInfo.h"

#include <algorithm>
#include <cstdio>
#include <optional>

using namespace winnow;
using namespace winnow::runtime;

namespace {

constexpr uint16_t kMachineAmdgpu = 224;
constexpr uint32_t kSegmentLoad = 1, kSectionNoBits = 8,
                   kSectionDynamicSymbols = 11;
constexpr size_t kHeaderBytes = 64, kSegmentBytes = 56, kSectionBytes = 64,
                 kSymbolBytes = 24, kDescriptorBytes = 64;

struct Machine {
  const char *name;
  uint32_t flag;        ///< EF_AMDGPU_MACH
  uint32_t vgprGranule; ///< 0: depends on more than the processor
};
constexpr Machine kMachines[] = {
    {"gfx900", 0x2c, 4},  {"gfx906", 0x2f, 4},  {"gfx908", 0x30, 4},
    {"gfx90a", 0x3f, 8},  {"gfx942", 0x4c, 8},  {"gfx950", 0x4f, 8},
    {"gfx1010", 0x33, 0}, {"gfx1030", 0x36, 0}, {"gfx1031", 0x37, 0},
    {"gfx1032", 0x38, 0}, {"gfx1100", 0x41, 0}, {"gfx1101", 0x46, 0},
    {"gfx1102", 0x47, 0}, {"gfx1103", 0x44, 0}, {"gfx1150", 0x43, 0},
    {"gfx1151", 0x4a, 0}, {"gfx1200", 0x48, 0}, {"gfx1201", 0x4e, 0},
};

const Machine *machineNamed(std::string_view name) {
  for (const Machine &machine : kMachines)
    if (name == machine.name)
      return &machine;
  return nullptr;
}

std::string hex(uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%x", value);
  return text;
}

std::string machineText(uint32_t flag) {
  for (const Machine &machine : kMachines)
    if (machine.flag == flag)
      return machine.name;
  return "processor " + hex(flag);
}

struct Segment {
  uint64_t offset, address, bytes;
};

class Parser {
public:
  Parser(std::span<const std::byte> code, const std::string &arch)
      : file(code), arch(arch) {}

  Result<CodeObjectInfo> parse() {
    if (!file.has(0, kHeaderBytes) || file.at<uint32_t>(0) != 0x464c457f)
      return Error{std::to_string(file.size()) +
                   " bytes that are not an ELF file"};
    if (file.at<uint8_t>(4) != 2 || file.at<uint8_t>(5) != 1 ||
        file.at<uint16_t>(18) != kMachineAmdgpu)
      return Error{"an ELF file for machine " +
                   std::to_string(file.at<uint16_t>(18)) +
                   ", wanted a 64-bit one for AMDGPU (" +
                   std::to_string(kMachineAmdgpu) + ")"};
    if (Status status = checkTarget(file.at<uint32_t>(48)); !status)
      return status.takeError();
    if (Status status = readSegments(); !status)
      return status.takeError();
    if (Status status = readSections(); !status)
      return status.takeError();
    std::sort(info.kernels.begin(), info.kernels.end(),
              [](const auto &a, const auto &b) { return a.name < b.name; });
    return std::move(info);
  }

private:
  Status checkTarget(uint32_t flags) {
    const std::string_view target = arch;
    const size_t colon = target.find(':');
    machine = machineNamed(target.substr(0, colon));
    if (machine && (flags & 0xff) != machine->flag)
      return Error{"code for " + machineText(flags & 0xff) + ", wanted " +
                   arch};
    for (size_t at = colon; at != target.npos;) {
      const size_t next = target.find(':', at + 1);
      const std::string_view word = target.substr(
          at + 1, next == target.npos ? target.npos : next - at - 1);
      if (Status status = checkFeature(flags, word); !status)
        return status;
      at = next;
    }
    return {};
  }

  /// Each of the two has two bits: unsupported, any, off, on.
  Status checkFeature(uint32_t flags, std::string_view word) {
    uint32_t has;
    if (word.starts_with("xnack"))
      has = (flags >> 8) & 3;
    else if (word.starts_with("sramecc"))
      has = (flags >> 10) & 3;
    else
      return {};
    const bool on = word.ends_with('+');
    if ((has == 2 && on) || (has == 3 && !on))
      return Error{"code for " + std::string(word.substr(0, word.size() - 1)) +
                   (on ? "-" : "+") + ", wanted " + arch};
    return {};
  }

  Status cutShort(const char *what, uint64_t offset, uint64_t bytes) {
    return Error{std::string(what) + " at " + std::to_string(offset) + " of " +
                 std::to_string(bytes) + " bytes reaches past the end, " +
                 std::to_string(file.size())};
  }

  Status readSegments() {
    const uint64_t offset = file.at<uint64_t>(32);
    const uint64_t count = file.at<uint16_t>(56);
    if (count != 0 && file.at<uint16_t>(54) != kSegmentBytes)
      return Error{"program headers of " +
                   std::to_string(file.at<uint16_t>(54)) + " bytes"};
    if (!file.has(offset, count * kSegmentBytes))
      return cutShort("the program header table", offset,
                      count * kSegmentBytes);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t at = offset + i * kSegmentBytes;
      const Segment segment = {file.at<uint64_t>(at + 8),
                               file.at<uint64_t>(at + 16),
                               file.at<uint64_t>(at + 32)};
      if (!file.has(segment.offset, segment.bytes))
        return cutShort("a segment", segment.offset, segment.bytes);
      if (file.at<uint32_t>(at) == kSegmentLoad)
        segments.push_back(segment);
    }
    return {};
  }

  Status readSections() {
    const uint64_t offset = file.at<uint64_t>(40);
    const uint64_t count = file.at<uint16_t>(60);
    if (count != 0 && file.at<uint16_t>(58) != kSectionBytes)
      return Error{"section headers of " +
                   std::to_string(file.at<uint16_t>(58)) + " bytes"};
    if (!file.has(offset, count * kSectionBytes))
      return cutShort("the section header table", offset,
                      count * kSectionBytes);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t at = offset + i * kSectionBytes;
      const uint32_t type = file.at<uint32_t>(at + 4);
      const uint64_t start = file.at<uint64_t>(at + 24);
      const uint64_t bytes = file.at<uint64_t>(at + 32);
      if (type != kSectionNoBits && !file.has(start, bytes))
        return cutShort("a section", start, bytes);
      const uint32_t strings = file.at<uint32_t>(at + 40);
      if (type != kSectionDynamicSymbols || strings >= count)
        continue;
      const uint64_t names =
          file.at<uint64_t>(offset + strings * kSectionBytes + 24);
      for (uint64_t s = 0; s + kSymbolBytes <= bytes; s += kSymbolBytes)
        if (Status status = readSymbol(start + s, names); !status)
          return status;
    }
    return {};
  }

  std::optional<uint64_t> offsetOf(uint64_t address, uint64_t bytes) const {
    for (const Segment &segment : segments)
      if (address >= segment.address &&
          address - segment.address <= segment.bytes &&
          bytes <= segment.bytes - (address - segment.address))
        return segment.offset + (address - segment.address);
    return std::nullopt;
  }

  /// A kernel is named by its descriptor, "NAME.kd".
  Status readSymbol(uint64_t at, uint64_t names) {
    const uint32_t nameOffset = file.at<uint32_t>(at);
    if (nameOffset > file.size() || names > file.size() - nameOffset)
      return Error{"a symbol's name is past the end"};
    std::string name = file.textAt(names + nameOffset);
    if (!name.ends_with(".kd") ||
        file.at<uint64_t>(at + 16) != kDescriptorBytes)
      return {};
    name.resize(name.size() - 3);
    const std::optional<uint64_t> descriptor =
        offsetOf(file.at<uint64_t>(at + 8), kDescriptorBytes);
    if (!descriptor)
      return Error{"the descriptor of kernel '" + name + "' is in no segment"};
    KernelResources kernel;
    kernel.name = std::move(name);
    kernel.ldsBytes = file.at<uint32_t>(*descriptor);
    kernel.scratchBytes = file.at<uint32_t>(*descriptor + 4);
    kernel.kernargBytes = file.at<uint32_t>(*descriptor + 8);
    // GRANULATED_WORKITEM_VGPR_COUNT of COMPUTE_PGM_RSRC1.
    if (machine && machine->vgprGranule != 0)
      kernel.vgprs = ((file.at<uint32_t>(*descriptor + 48) & 0x3f) + 1) *
                     machine->vgprGranule;
    info.kernels.push_back(std::move(kernel));
    return {};
  }

  const ByteReader file;
  const std::string &arch;
  const Machine *machine = nullptr;
  std::vector<Segment> segments;
  CodeObjectInfo info;
};

} // namespace

Result<CodeObjectInfo> runtime::readCodeObject(std::span<const std::byte> code,
                                               const std::string &arch) {
  return arch.starts_with("sm_") ? readCubin(code, arch)
                                 : Parser(code, arch).parse();
}
