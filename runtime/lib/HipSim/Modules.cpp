// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code objects and launches of the simulated HIP library.
#include "State.h"

#include <cstring>
#include <elf.h>

using namespace winnow;
using namespace winnow::hipsim;

namespace {

/// HIP is given no size: an ELF file ends with its section headers or its last
/// segment, whichever is later.
size_t bytesOfElf(const void *image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64)
    return 0;
  const auto *bytes = static_cast<const char *>(image);
  uint64_t end = std::max<uint64_t>(
      sizeof header,
      header.e_shoff + uint64_t(header.e_shentsize) * header.e_shnum);
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section,
                bytes + header.e_shoff + uint64_t(i) * header.e_shentsize,
                sizeof section);
    if (section.sh_type != SHT_NOBITS)
      end = std::max<uint64_t>(end, section.sh_offset + section.sh_size);
  }
  return end;
}

std::string three(const unsigned (&d)[3]) {
  return std::to_string(d[0]) + "," + std::to_string(d[1]) + "," +
         std::to_string(d[2]);
}

bool isSimulated(const State &all) {
  return all.arch.substr(0, all.arch.find(':')) == "gfx950";
}

/// `extra` as HIP defines it; null if it is not that.
const std::byte *packed(void **extra, size_t &bytes) {
  const std::byte *pointer = nullptr;
  const size_t *size = nullptr;
  for (int i = 0; extra && i < 8 && extra[i] != hip::kBufferEnd; i += 2) {
    if (extra[i] == hip::kBufferPointer)
      pointer = static_cast<const std::byte *>(extra[i + 1]);
    else if (extra[i] == hip::kBufferSize)
      size = static_cast<const size_t *>(extra[i + 1]);
    else
      return nullptr;
  }
  bytes = size ? *size : 0;
  return size ? pointer : nullptr;
}

} // namespace

WINNOW_HIP_EXPORT int hipModuleLoadData(void **to, const void *image) {
  return call("hipModuleLoadData", Needs::NoCapture,
              [&](State &all, std::string &note) -> int {
                if (!to || !image)
                  return hip::InvalidValue;
                *to = nullptr;
                const size_t bytes = bytesOfElf(image);
                note = "bytes=" + std::to_string(bytes);
                if (bytes == 0)
                  return hip::InvalidImage;
                auto module = std::make_unique<Module>();
                module->device = currentDevice;
                if (isSimulated(all)) {
                  auto object = sim::CodeObject::load(
                      {static_cast<const std::byte *>(image), bytes});
                  if (!object) {
                    all.fault = object.message();
                    return hip::NoBinaryForGpu;
                  }
                  module->object = std::move(*object);
                }
                *to = module.get();
                all.modules[module.get()] = std::move(module);
                return hip::Success;
              });
}

WINNOW_HIP_EXPORT int hipModuleUnload(void *handle) {
  return call("hipModuleUnload", Needs::NoCapture,
              [&](State &all, std::string &) -> int {
                auto found = all.modules.find(handle);
                if (found == all.modules.end())
                  return hip::InvalidHandle;
                if (int code = all.drainDevice(found->second->device))
                  return code;
                all.modules.erase(found);
                return hip::Success;
              });
}

WINNOW_HIP_EXPORT int hipModuleGetFunction(void **to, void *handle,
                                           const char *name) {
  return call("hipModuleGetFunction", Needs::Nothing,
              [&](State &all, std::string &note) -> int {
                if (!to || !name)
                  return hip::InvalidValue;
                note = name;
                auto found = all.modules.find(handle);
                if (found == all.modules.end())
                  return hip::InvalidHandle;
                Module &module = *found->second;
                if (module.object && !module.object->find(name))
                  return hip::NotFound;
                std::unique_ptr<Function> &function = module.functions[name];
                if (!function)
                  function = std::make_unique<Function>(
                      Function{&module, std::string(name)});
                *to = function.get();
                return hip::Success;
              });
}

WINNOW_HIP_EXPORT int hipModuleLaunchKernel(void *function, unsigned gridX,
                                            unsigned gridY, unsigned gridZ,
                                            unsigned blockX, unsigned blockY,
                                            unsigned blockZ, unsigned lds,
                                            void *handle, void **parameters,
                                            void **extra) {
  if (dropLaunches.load(std::memory_order_relaxed))
    return hip::Success;
  return call(
      "hipModuleLaunchKernel", Needs::Nothing,
      [&](State &all, std::string &note) -> int {
        std::shared_ptr<Stream> stream = all.find(handle, currentDevice);
        if (!stream)
          return hip::ContextIsDestroyed;
        Function *kernel = nullptr;
        for (auto &[key, module] : all.modules)
          for (auto &[name, candidate] : module->functions)
            if (candidate.get() == function)
              kernel = candidate.get();
        if (!kernel)
          return hip::InvalidHandle;
        const unsigned grid[3] = {gridX, gridY, gridZ};
        const unsigned block[3] = {blockX, blockY, blockZ};
        size_t bytes = 0;
        const std::byte *arguments = packed(extra, bytes);
        note = kernel->name + " grid=" + three(grid) +
               " block=" + three(block) + " lds=" + std::to_string(lds) +
               " bytes=" + std::to_string(bytes) +
               " captured=" + (stream->capture ? "1" : "0");
        if (parameters || !arguments)
          return hip::InvalidValue;
        uint64_t items = 1;
        for (int axis = 0; axis < 3; ++axis) {
          if (grid[axis] == 0 || block[axis] == 0)
            return hip::InvalidConfiguration;
          items *= block[axis];
        }
        if (items > 1024)
          return hip::InvalidConfiguration;
        if (kernel->module->device != stream->device)
          return hip::InvalidHandle;
        if (!kernel->module->object)
          return hip::Success;
        // HIP copies the arguments before it returns; so does this.
        return all.enqueue(
            stream,
            [&all, device = stream->device, object = kernel->module->object,
             name = kernel->name,
             kernarg = std::vector<std::byte>(arguments, arguments + bytes),
             grid = sim::Dim3{gridX, gridY, gridZ},
             block = sim::Dim3{blockX, blockY, blockZ}, lds]() -> int {
              sim::LaunchOptions options;
              options.dynamicLdsBytes = lds;
              options.threads = 0;
              auto stats = all.device(device).launch(object, name, grid, block,
                                                     kernarg, options);
              if (!stats)
                all.fault = stats.message();
              return stats ? hip::Success : hip::LaunchFailure;
            });
      });
}
