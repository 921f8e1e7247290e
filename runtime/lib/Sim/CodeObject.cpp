// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loading: which kernels a file holds, checked against the file at every step.
#include "CodeObjectImpl.h"
#include "MessagePack.h"

#include <algorithm>
#include <cstdlib>

namespace winnow::sim {

namespace {

constexpr uint16_t kMachineAmdGpu = 224;
constexpr uint8_t kOsAbiHsa = 64;
constexpr uint32_t kMachMask = 0xff;
constexpr uint32_t kMachGfx950 = 0x4f;
constexpr uint32_t kSegmentLoad = 1, kSegmentNote = 4;
constexpr uint32_t kNoteMetadata = 32;
constexpr uint64_t kDescriptorSize = 64;
// A code object spans megabytes; this only bounds what a forged one costs.
constexpr uint64_t kMostSpan = uint64_t(1) << 30;

// EF_AMDGPU_MACH values of the architectures that people have at hand.
std::string machName(uint32_t mach) {
  static const std::pair<uint32_t, const char *> names[] = {
      {0x2c, "gfx900"},  {0x2f, "gfx906"},  {0x30, "gfx908"},
      {0x3f, "gfx90a"},  {0x40, "gfx940"},  {0x4b, "gfx941"},
      {0x4c, "gfx942"},  {0x36, "gfx1030"}, {0x41, "gfx1100"},
      {0x46, "gfx1101"}, {0x47, "gfx1102"}, {0x48, "gfx1200"},
      {0x4e, "gfx1201"}, {0x4f, "gfx950"}};
  for (auto [value, name] : names)
    if (value == mach)
      return name;
  return "EF_AMDGPU_MACH " + hex(mach);
}

uint32_t number(const PackValue &map, const char *name, uint32_t otherwise) {
  const PackValue *value = map.find(name);
  return value && value->kind == PackValue::Kind::Integer
             ? uint32_t(value->integer)
             : otherwise;
}
std::string text(const PackValue &map, const char *name) {
  const PackValue *value = map.find(name);
  return value && value->kind == PackValue::Kind::String
             ? std::string(value->text)
             : std::string();
}

/// The descriptor blob of NT_AMDGPU_METADATA.
Result<std::span<const uint8_t>> findMetadata(const ElfFile &elf) {
  for (const ElfSegment &segment : elf.segments) {
    if (segment.type != kSegmentNote)
      continue;
    std::span<const uint8_t> notes =
        elf.bytes.subspan(segment.offset, segment.fileSize);
    while (notes.size() >= 12) {
      uint64_t nameSize = readLittle<uint32_t>(notes.data());
      uint64_t size = readLittle<uint32_t>(notes.data() + 4);
      uint32_t type = readLittle<uint32_t>(notes.data() + 8);
      uint64_t at = 12 + (nameSize + 3) / 4 * 4;
      if (at > notes.size() || size > notes.size() - at)
        return Error{"code object: a note of " + std::to_string(size) +
                     " bytes runs past its segment"};
      std::string_view name(reinterpret_cast<const char *>(notes.data()) + 12,
                            nameSize);
      if (type == kNoteMetadata && name.starts_with("AMDGPU"))
        return notes.subspan(at, size);
      uint64_t next = at + (size + 3) / 4 * 4;
      if (next > notes.size())
        break;
      notes = notes.subspan(next);
    }
  }
  return Error{"code object: no NT_AMDGPU_METADATA note (code object version 3 "
               "or later is needed)"};
}

Result<KernelInfo> readInfo(const PackValue &kernel) {
  KernelInfo info;
  info.name = text(kernel, ".name");
  if (info.name.empty())
    return Error{"code object: metadata has a kernel without a name"};
  info.kernargSize = number(kernel, ".kernarg_segment_size", 0);
  info.kernargAlign = number(kernel, ".kernarg_segment_align", 8);
  info.groupSegmentSize = number(kernel, ".group_segment_fixed_size", 0);
  info.privateSegmentSize = number(kernel, ".private_segment_fixed_size", 0);
  info.vgprCount = number(kernel, ".vgpr_count", 0);
  info.agprCount = number(kernel, ".agpr_count", 0);
  info.sgprCount = number(kernel, ".sgpr_count", 0);
  info.vgprSpillCount = number(kernel, ".vgpr_spill_count", 0);
  info.sgprSpillCount = number(kernel, ".sgpr_spill_count", 0);
  info.maxFlatWorkgroupSize = number(kernel, ".max_flat_workgroup_size", 1024);
  info.wavefrontSize = number(kernel, ".wavefront_size", 64);
  if (const PackValue *dynamic = kernel.find(".uses_dynamic_stack"))
    info.usesDynamicStack = dynamic->integer != 0;
  if (const PackValue *size = kernel.find(".reqd_workgroup_size"))
    for (unsigned i = 0; i < 3 && i < size->items.size(); ++i)
      info.requiredWorkgroupSize[i] = uint32_t(size->items[i].integer);
  if (const PackValue *arguments = kernel.find(".args");
      arguments && arguments->kind == PackValue::Kind::Array)
    for (const PackValue &argument : arguments->items) {
      KernelArgument a;
      a.name = text(argument, ".name");
      a.offset = number(argument, ".offset", 0);
      a.size = number(argument, ".size", 0);
      a.valueKind = text(argument, ".value_kind");
      if (uint64_t(a.offset) + a.size > info.kernargSize)
        return Error{"code object: argument at offset " +
                     std::to_string(a.offset) + " of " +
                     std::to_string(a.size) + " bytes of kernel '" + info.name +
                     "' passes its kernarg segment of " +
                     std::to_string(info.kernargSize) + " bytes"};
      info.arguments.push_back(std::move(a));
    }
  return info;
}

} // namespace

KernelDescriptor KernelDescriptor::parse(const uint8_t *bytes) {
  KernelDescriptor d;
  d.groupSegmentSize = readLittle<uint32_t>(bytes);
  d.privateSegmentSize = readLittle<uint32_t>(bytes + 4);
  d.kernargSize = readLittle<uint32_t>(bytes + 8);
  d.entryOffset = int64_t(readLittle<uint64_t>(bytes + 16));
  d.rsrc3 = readLittle<uint32_t>(bytes + 44);
  d.rsrc1 = readLittle<uint32_t>(bytes + 48);
  d.rsrc2 = readLittle<uint32_t>(bytes + 52);
  d.properties = readLittle<uint16_t>(bytes + 56);
  d.kernargPreload = readLittle<uint16_t>(bytes + 58);
  return d;
}

CodeObject::CodeObject(std::unique_ptr<Impl> state) : state(std::move(state)) {}
CodeObject::~CodeObject() = default;

const std::vector<KernelInfo> &CodeObject::kernels() const {
  return state->infos;
}

std::span<const uint8_t> CodeObject::Impl::at(uint64_t address,
                                              uint64_t size) const {
  for (const ElfSegment &s : elf.segments)
    if (s.type == kSegmentLoad && address >= s.address &&
        address - s.address <= s.fileSize &&
        size <= s.fileSize - (address - s.address))
      return elf.bytes.subspan(s.offset + (address - s.address), size);
  return {};
}

/// `isForDevice`: the simulated device is to run it.
static Status checkTarget(const ElfFile &elf, bool isForDevice) {
  if (elf.machine != kMachineAmdGpu)
    return Error{"code object: ELF machine " + std::to_string(elf.machine) +
                 " found, 224 (AMDGPU) wanted"};
  if (elf.osAbi != kOsAbiHsa)
    return Error{"code object: OS ABI " + std::to_string(elf.osAbi) +
                 " found, 64 (amdhsa) wanted"};
  uint32_t mach = elf.flags & kMachMask;
  if (isForDevice && mach != kMachGfx950)
    return Error{"code object: it is for " + machName(mach) +
                 ", the simulated device is gfx950"};
  if (elf.type != 3)
    return Error{"code object: ELF type " + std::to_string(elf.type) +
                 " found, 3 (shared object) wanted: link it first"};
  return {};
}

Result<std::shared_ptr<const CodeObject>>
CodeObject::load(std::span<const std::byte> bytes) {
  Result<std::unique_ptr<Impl>> impl = Impl::read(bytes, /*isForDevice=*/true);
  if (!impl)
    return impl.takeError();
  return std::shared_ptr<const CodeObject>(new CodeObject(std::move(*impl)));
}

Result<std::vector<KernelInfo>>
CodeObject::describe(std::span<const std::byte> bytes) {
  Result<std::unique_ptr<Impl>> impl = Impl::read(bytes, /*isForDevice=*/false);
  if (!impl)
    return impl.takeError();
  return std::move((*impl)->infos);
}

Result<std::unique_ptr<CodeObject::Impl>>
CodeObject::Impl::read(std::span<const std::byte> bytes, bool isForDevice) {
  auto impl = std::make_unique<Impl>();
  const uint8_t *data = reinterpret_cast<const uint8_t *>(bytes.data());
  impl->bytes.assign(data, data + bytes.size());
  Result<ElfFile> elf = ElfFile::parse(impl->bytes);
  if (!elf)
    return elf.takeError();
  impl->elf = std::move(*elf);
  if (Status s = checkTarget(impl->elf, isForDevice); !s)
    return s.takeError();

  impl->low = ~uint64_t(0);
  for (const ElfSegment &s : impl->elf.segments) {
    if (s.type != kSegmentLoad)
      continue;
    if (s.memorySize < s.fileSize || s.memorySize > kMostSpan ||
        s.address > kMostSpan)
      return Error{"code object: a segment at " + hex(s.address) + " of " +
                   hex(s.memorySize) + " bytes (" + hex(s.fileSize) +
                   " in the file) is out of the range that is loaded"};
    impl->low = std::min(impl->low, s.address);
    impl->high = std::max(impl->high, s.address + s.memorySize);
  }
  if (impl->low > impl->high)
    return Error{"code object: no loadable segment"};

  Result<std::span<const uint8_t>> blob = findMetadata(impl->elf);
  if (!blob)
    return blob.takeError();
  Result<PackValue> metadata = parseMessagePack(*blob);
  if (!metadata)
    return metadata.takeError();
  const PackValue *kernels = metadata->find("amdhsa.kernels");
  if (!kernels || kernels->kind != PackValue::Kind::Array)
    return Error{"code object: metadata lists no amdhsa.kernels"};

  const ElfFile &file = impl->elf;
  const std::vector<ElfSymbol> &symbols =
      file.staticSymbols.empty() ? file.dynamicSymbols : file.staticSymbols;
  auto findSymbol = [&](std::string_view name) -> const ElfSymbol * {
    for (const ElfSymbol &symbol : symbols)
      if (symbol.isDefined && symbol.name == name)
        return &symbol;
    return nullptr;
  };
  // Hand-written assembler may leave out sizes: then up to the next function.
  auto functionEnd = [&](uint64_t entry, uint64_t size) {
    uint64_t end = entry;
    for (const ElfSegment &s : file.segments)
      if (s.type == kSegmentLoad && s.isExecutable() && entry >= s.address &&
          entry - s.address < s.fileSize)
        end = s.address + s.fileSize;
    if (size && size <= end - entry)
      return entry + size;
    for (const ElfSymbol &symbol : symbols)
      if (symbol.isDefined && symbol.type == 2 && symbol.address > entry)
        end = std::min(end, symbol.address);
    return end;
  };

  impl->infos.reserve(kernels->items.size());
  for (const PackValue &item : kernels->items) {
    Result<KernelInfo> info = readInfo(item);
    if (!info)
      return info.takeError();
    if (isForDevice && info->wavefrontSize != 64)
      return Error{"code object: kernel '" + info->name + "' has waves of " +
                   std::to_string(info->wavefrontSize) + " lanes, 64 wanted"};
    std::string symbolName = sim::text(item, ".symbol");
    const ElfSymbol *symbol = findSymbol(symbolName);
    if (!symbol)
      return Error{"code object: kernel '" + info->name +
                   "' has no descriptor symbol '" + symbolName + "'"};
    std::span<const uint8_t> bytesAt =
        impl->at(symbol->address, kDescriptorSize);
    if (bytesAt.empty())
      return Error{"code object: the descriptor of kernel '" + info->name +
                   "' at " + hex(symbol->address) +
                   " lies outside the loaded segments"};
    Kernel kernel;
    kernel.descriptor = KernelDescriptor::parse(bytesAt.data());
    kernel.entry = symbol->address + uint64_t(kernel.descriptor.entryOffset);
    const ElfSymbol *code = findSymbol(info->name);
    kernel.end = functionEnd(
        kernel.entry, code && code->address == kernel.entry ? code->size : 0);
    if (kernel.entry % 4 || kernel.end <= kernel.entry)
      return Error{"code object: the code of kernel '" + info->name + "' at " +
                   hex(kernel.entry) + " lies outside the executable segments"};
    info->codeSize = kernel.end - kernel.entry;
    // The descriptor is what the hardware obeys.
    info->groupSegmentSize = kernel.descriptor.groupSegmentSize;
    info->privateSegmentSize = kernel.descriptor.privateSegmentSize;
    impl->infos.push_back(std::move(*info));
    kernel.info = &impl->infos.back();
    impl->kernels.push_back(kernel);
  }

  for (const ElfSymbol &symbol : symbols) {
    if (!symbol.isDefined || symbol.type != 2 || symbol.address % 4)
      continue;
    bool isKernel =
        std::any_of(impl->kernels.begin(), impl->kernels.end(),
                    [&](const Kernel &k) { return k.entry == symbol.address; });
    uint64_t end = functionEnd(symbol.address, symbol.size);
    if (!isKernel && end > symbol.address)
      impl->functions.emplace_back(symbol.address, end);
  }
  return impl;
}

Result<const KernelInfo *> CodeObject::find(std::string_view name) const {
  Result<const Kernel *> kernel = state->kernel(name);
  if (!kernel)
    return kernel.takeError();
  return (*kernel)->info;
}

Result<const Kernel *> CodeObject::Impl::kernel(std::string_view name) const {
  std::string known;
  for (const Kernel &kernel : kernels) {
    if (kernel.info->name == name)
      return &kernel;
    known += (known.empty() ? "'" : ", '") + kernel.info->name + "'";
  }
  return Error{"code object: no kernel '" + std::string(name) + "'; it has " +
               (known.empty() ? "none" : known)};
}

std::string CodeObject::Impl::sourceLine(uint64_t address) const {
  std::lock_guard guard(lock);
  if (!lines)
    lines = std::make_unique<SourceLines>(elf.bytes);
  return lines->at(address);
}

Result<const Program *> CodeObject::Impl::program(const Kernel &kernel) const {
  std::lock_guard guard(lock);
  std::unique_ptr<Program> &program = programs[&kernel];
  if (!program) {
    if (!disassembler) {
      Result<std::unique_ptr<Disassembler>> made = Disassembler::create();
      if (!made)
        return made.takeError();
      disassembler = std::move(*made);
    }
    program = decodeProgram(*this, kernel, *disassembler);
  }
  return program.get();
}

std::string CodeObject::Impl::text(uint64_t address, uint64_t most) const {
  std::lock_guard guard(lock);
  if (!disassembler)
    return "?";
  // An instruction has 16 bytes at most, and may end before a segment does.
  for (uint64_t size = std::min<uint64_t>(most, 16); size >= 4; size -= 4)
    if (std::span<const uint8_t> bytesAt = at(address, size); !bytesAt.empty())
      return disassembler->text(bytesAt, address);
  return "?";
}

Result<std::string> CodeObject::disassemble(std::string_view name) const {
  Result<const Kernel *> kernel = state->kernel(name);
  if (!kernel)
    return kernel.takeError();
  Result<const Program *> program = state->program(**kernel);
  if (!program)
    return program.takeError();
  std::string out;
  for (const Instruction &in : (*program)->instructions)
    if (in.address >= (*kernel)->entry && in.address < (*kernel)->end) {
      std::string offset = hex(in.address - (*kernel)->entry);
      out += offset +
             std::string(offset.size() < 8 ? 8 - offset.size() : 1, ' ') +
             state->text(in.address, in.size) + "\n";
    }
  return out;
}

Result<std::vector<std::string>>
CodeObject::unsupported(std::string_view name) const {
  Result<const Kernel *> kernel = state->kernel(name);
  if (!kernel)
    return kernel.takeError();
  Result<const Program *> program = state->program(**kernel);
  if (!program)
    return program.takeError();
  std::vector<std::string> out;
  const Kernel &k = **kernel;
  for (const Instruction &in : (*program)->instructions) {
    if (in.reason < 0 || !in.size)
      continue;
    const std::string &reason = (*program)->reasons[in.reason];
    bool isOwn = in.address >= k.entry && in.address < k.end;
    // A function with more registers than the kernel has is another kernel's.
    if (!isOwn && reason.starts_with("it uses register"))
      continue;
    int64_t offset = int64_t(in.address - k.entry);
    out.push_back((offset < 0 ? "-" : "+") + hex(uint64_t(std::abs(offset))) +
                  " " + state->text(in.address, in.size) + ": " + reason);
  }
  return out;
}

} // namespace winnow::sim
