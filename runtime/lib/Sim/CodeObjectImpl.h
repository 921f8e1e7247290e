// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the device needs of a code object beyond its public facts: loadable
// bytes, kernel descriptors and decoded programs.
#ifndef WINNOW_SIM_CODEOBJECTIMPL_H
#define WINNOW_SIM_CODEOBJECTIMPL_H

#include "Disassembler.h"
#include "Elf.h"
#include "Instruction.h"
#include "SourceLines.h"
#include "winnow/Sim/CodeObject.h"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace winnow::sim {

/// The 64-byte kernel descriptor (LLVM AMDGPUUsage, "Code Object V3 Kernel
/// Descriptor"), decoded.
struct KernelDescriptor {
  uint32_t groupSegmentSize = 0;
  uint32_t privateSegmentSize = 0;
  uint32_t kernargSize = 0;
  int64_t entryOffset = 0;
  uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  uint16_t properties = 0;
  uint16_t kernargPreload = 0;

  static KernelDescriptor parse(const uint8_t *bytes);

  /// Vector registers of a wave, VGPRs and AGPRs together, in granules of 8.
  unsigned vectorRegisters() const { return ((rsrc1 & 63) + 1) * 8; }
  /// First AGPR in the unified file.
  unsigned accumOffset() const { return ((rsrc3 & 63) + 1) * 4; }
  unsigned userScalars() const { return rsrc2 >> 1 & 31; }
  unsigned preloadLength() const { return kernargPreload & 127; }
  unsigned preloadOffset() const { return kernargPreload >> 7 & 511; }
  bool property(unsigned bit) const { return properties >> bit & 1; }
  /// FLOAT_ROUND, FLOAT_DENORM, DX10_CLAMP and IEEE, laid out as MODE has them.
  uint32_t initialMode() const {
    return (rsrc1 >> 12 & 0xff) | (rsrc1 >> 21 & 1) << 8 |
           (rsrc1 >> 23 & 1) << 9 | (rsrc1 >> 26 & 1) << 23;
  }
};

struct Kernel {
  const KernelInfo *info = nullptr;
  KernelDescriptor descriptor;
  /// Address of the first instruction, and one past the last.
  uint64_t entry = 0;
  uint64_t end = 0;
};

struct CodeObject::Impl {
  std::vector<uint8_t> bytes;
  ElfFile elf;
  std::vector<KernelInfo> infos;
  std::vector<Kernel> kernels;
  /// Address range that the loadable segments cover.
  uint64_t low = 0, high = 0;
  /// Functions that are no kernels: [begin, end).
  std::vector<std::pair<uint64_t, uint64_t>> functions;

  /// Decoding is lazy, once a kernel.
  mutable std::mutex lock;
  mutable std::unique_ptr<Disassembler> disassembler;
  mutable std::map<const Kernel *, std::unique_ptr<Program>> programs;
  mutable std::unique_ptr<SourceLines> lines;

  /// The file, checked; one that the device is to run has to be for it.
  static Result<std::unique_ptr<Impl>> read(std::span<const std::byte> bytes,
                                            bool isForDevice);

  /// File bytes at a code object address, or an empty span.
  std::span<const uint8_t> at(uint64_t address, uint64_t size) const;
  Result<const Kernel *> kernel(std::string_view name) const;
  Result<const Program *> program(const Kernel &kernel) const;
  /// Assembler text of one instruction.
  std::string text(uint64_t address, uint64_t most) const;
  /// "file:line" of an instruction, or "" without line information.
  std::string sourceLine(uint64_t address) const;
};

/// Decodes a kernel and what it may call.
std::unique_ptr<Program> decodeProgram(const CodeObject::Impl &object,
                                       const Kernel &kernel,
                                       Disassembler &disassembler);

} // namespace winnow::sim

#endif // WINNOW_SIM_CODEOBJECTIMPL_H
