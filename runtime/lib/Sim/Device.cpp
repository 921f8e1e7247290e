// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The public device: its memory, and launches checked before they run.
#include "winnow/Sim/Device.h"

#include "Launch.h"

namespace winnow::sim {

namespace {
// LDS of a gfx950 compute unit, all of which one workgroup may have.
constexpr uint64_t kMostLds = 160 * 1024;
constexpr uint64_t kMostWorkItems = 1024;
// 64 lanes of every wave have their own; the hardware's limit is larger.
constexpr uint32_t kMostScratch = 1u << 20;
constexpr uint32_t kSegmentLoad = 1;
// ELF relocation types of AMDGPU.
constexpr uint32_t kRelocationAbs64 = 3, kRelocationRelative64 = 13;
} // namespace

struct Device::Impl {
  DeviceOptions options;
  Memory memory;
  struct Image {
    std::shared_ptr<const CodeObject> object; // keeps the key alive
    uint64_t base = 0;
  };
  std::map<const CodeObject *, Image> images;

  explicit Impl(DeviceOptions options)
      : options(options), memory(options.poison) {}

  Result<uint64_t> loadImage(const std::shared_ptr<const CodeObject> &object);
};

/// Places the loadable segments in memory; the result is what to add to the
/// code object's addresses.
Result<uint64_t>
Device::Impl::loadImage(const std::shared_ptr<const CodeObject> &object) {
  auto found = images.find(object.get());
  if (found != images.end())
    return found->second.base;
  const CodeObject::Impl &impl = object->impl();
  Result<Allocation *> image =
      memory.alloc(impl.high - impl.low, "code object image");
  if (!image)
    return image.takeError();
  (*image)->isWritten = true;
  uint64_t base = (*image)->base - impl.low;
  uint8_t *bytes = (*image)->bytes.get();
  for (const ElfSegment &s : impl.elf.segments) {
    if (s.type != kSegmentLoad)
      continue;
    uint8_t *to = bytes + (s.address - impl.low);
    std::memset(to, 0, s.memorySize);
    std::memcpy(to, impl.elf.bytes.data() + s.offset, s.fileSize);
  }
  for (const ElfRelocation &r : impl.elf.relocations) {
    uint64_t value = base + uint64_t(r.addend);
    if (r.type == kRelocationAbs64) {
      const ElfSymbol &symbol = impl.elf.dynamicSymbols[r.symbol];
      if (!symbol.isDefined)
        return Error{"code object: symbol '" + std::string(symbol.name) +
                     "' is not defined in it"};
      value += symbol.address;
    } else if (r.type != kRelocationRelative64) {
      return Error{"code object: relocation type " + std::to_string(r.type) +
                   " at " + hex(r.address) + " is not supported"};
    }
    if (!(*image)->contains(base + r.address, 8))
      return Error{"code object: a relocation at " + hex(r.address) +
                   " lies outside the loaded segments"};
    std::memcpy(bytes + (r.address - impl.low), &value, 8);
  }
  images[object.get()] = {object, base};
  return base;
}

Device::Device(DeviceOptions options)
    : state(std::make_unique<Impl>(options)) {}
Device::~Device() = default;

Result<uint64_t> Device::alloc(uint64_t bytes, std::string_view label) {
  Result<Allocation *> made = state->memory.alloc(bytes, label);
  if (!made)
    return made.takeError();
  return (*made)->base;
}

Status Device::free(uint64_t address) { return state->memory.free(address); }

Status Device::write(uint64_t address, std::span<const std::byte> bytes) {
  if (Status s = state->memory.check("write", address, bytes.size()); !s)
    return s;
  Allocation *a = state->memory.find(address, bytes.size());
  if (!bytes.empty())
    std::memcpy(a->bytes.get() + (address - a->base), bytes.data(),
                bytes.size());
  a->markWritten(address - a->base, bytes.size());
  return {};
}

Status Device::read(uint64_t address, std::span<std::byte> bytes) const {
  if (Status s = state->memory.check("read", address, bytes.size()); !s)
    return s;
  const Allocation *a = state->memory.find(address, bytes.size());
  if (!bytes.empty())
    std::memcpy(bytes.data(), a->bytes.get() + (address - a->base),
                bytes.size());
  return {};
}

Status Device::fill(uint64_t address, uint64_t bytes, uint8_t value) {
  if (Status s = state->memory.check("fill", address, bytes); !s)
    return s;
  Allocation *a = state->memory.find(address, bytes);
  std::memset(a->bytes.get() + (address - a->base), value, bytes);
  a->markWritten(address - a->base, bytes);
  return {};
}

/// Scratch of a work item: what the compiler knows, and a stack beyond it when
/// calls go as deep as data says (recursion, calls through pointers).
static uint64_t scratchOf(const KernelInfo &info,
                          const LaunchOptions &options) {
  return uint64_t(info.privateSegmentSize) +
         (info.usesDynamicStack ? options.stackBytes : 0u);
}

/// What a launch may not ask of this kernel.
static Status checkLaunch(const Kernel &kernel, Dim3 grid, Dim3 block,
                          const LaunchOptions &options) {
  const KernelInfo &info = *kernel.info;
  std::string who = "kernel '" + info.name + "': ";
  auto text = [](Dim3 d) {
    return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " +
           std::to_string(d.z) + ")";
  };
  if (!grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z)
    return Error{who + "grid " + text(grid) + " and block " + text(block) +
                 " have to be positive"};
  uint64_t most = std::min<uint64_t>(
      kMostWorkItems,
      info.maxFlatWorkgroupSize ? info.maxFlatWorkgroupSize : kMostWorkItems);
  if (block.x > most || block.y > most || block.z > most ||
      uint64_t(block.x) * block.y * block.z > most)
    return Error{who + "block " + text(block) + " has more than the " +
                 std::to_string(most) + " work items that it was compiled for"};
  const uint32_t *required = info.requiredWorkgroupSize;
  if (required[0] && (required[0] != block.x || required[1] != block.y ||
                      required[2] != block.z))
    return Error{who + "block " + text(block) + " given, " +
                 text({required[0], required[1], required[2]}) +
                 " required by the kernel"};
  if (uint64_t(grid.x) * grid.y > ~uint64_t(0) / grid.z)
    return Error{who + "grid " + text(grid) + " is too large"};
  uint64_t lds = uint64_t(info.groupSegmentSize) + options.dynamicLdsBytes;
  if (lds > kMostLds)
    return Error{who + std::to_string(lds) + " bytes of LDS asked (" +
                 std::to_string(options.dynamicLdsBytes) +
                 " of them dynamic), a gfx950 workgroup has " +
                 std::to_string(kMostLds)};
  if (scratchOf(info, options) > kMostScratch)
    return Error{who + std::to_string(scratchOf(info, options)) +
                 " bytes of scratch a work item, " +
                 std::to_string(kMostScratch) + " are simulated"};
  // COMPUTE_PGM_RSRC2, ENABLE_EXCEPTION_*.
  if ((kernel.descriptor.rsrc2 >> 24 & 0x7f) != 0)
    return Error{who + "it asks for traps on float exceptions, which are not "
                       "simulated"};
  return {};
}

Result<LaunchStats>
Device::launch(const std::shared_ptr<const CodeObject> &object,
               std::string_view kernelName, Dim3 grid, Dim3 block,
               std::span<const std::byte> kernarg,
               const LaunchOptions &options) {
  if (!object)
    return Error{"launch of '" + std::string(kernelName) + "': no code object"};
  const CodeObject::Impl &impl = object->impl();
  Result<const Kernel *> kernel = impl.kernel(kernelName);
  if (!kernel)
    return kernel.takeError();
  if (Status s = checkLaunch(**kernel, grid, block, options); !s)
    return s.takeError();
  Result<const Program *> program = impl.program(**kernel);
  if (!program)
    return program.takeError();
  if ((*program)->entry < 0)
    return Error{"kernel '" + std::string(kernelName) +
                 "': its entry point is no instruction"};
  Result<uint64_t> base = state->loadImage(object);
  if (!base)
    return base.takeError();

  LaunchInput input;
  input.object = &impl;
  input.kernel = *kernel;
  input.program = *program;
  input.memory = &state->memory;
  input.grid = grid;
  input.block = block;
  input.options = options;
  input.poison = state->options.poison;
  input.codeBase = *base;
  input.scratchBytes = uint32_t(scratchOf(*(*kernel)->info, options));
  Result<std::vector<uint8_t>> bytes =
      buildKernarg(*(*kernel)->info, grid, block, kernarg,
                   options.dynamicLdsBytes, input.poison);
  if (!bytes)
    return bytes.takeError();
  input.kernargBytes = std::move(*bytes);
  // The runtime rounds the segment up to 16 bytes, which scalar loads of the
  // last arguments may touch.
  Result<Allocation *> segment = state->memory.alloc(
      (input.kernargBytes.size() + 15) / 16 * 16, "kernarg segment");
  if (!segment)
    return segment.takeError();
  (*segment)->isWritten = true;
  if (!input.kernargBytes.empty())
    std::memcpy((*segment)->bytes.get(), input.kernargBytes.data(),
                input.kernargBytes.size());
  input.kernarg = (*segment)->base;
  // hsa_kernel_dispatch_packet_t: what a kernel may read of it.
  Result<Allocation *> packet = state->memory.alloc(64, "dispatch packet");
  if (!packet)
    return packet.takeError();
  (*packet)->isWritten = true;
  uint8_t *fields = (*packet)->bytes.get();
  // Reserved fields are zero, and compilers read them along with their
  // neighbours.
  std::memset(fields + 10, 0, 2);
  std::memset(fields + 48, 0, 8);
  const uint16_t sizes[3] = {uint16_t(block.x), uint16_t(block.y),
                             uint16_t(block.z)};
  const uint32_t items[3] = {grid.x * block.x, grid.y * block.y,
                             grid.z * block.z};
  std::memcpy(fields + 4, sizes, sizeof(sizes));
  std::memcpy(fields + 12, items, sizeof(items));
  std::memcpy(fields + 40, &input.kernarg, 8);
  input.dispatchPacket = (*packet)->base;

  Result<LaunchStats> stats = runLaunch(input);
  if (options.checks.of(CheckKind::UninitialisedGlobal) == CheckAction::Off)
    state->memory.assumeAllWritten();
  state->memory.drop(input.kernarg);
  state->memory.drop(input.dispatchPacket);
  return stats;
}

} // namespace winnow::sim
